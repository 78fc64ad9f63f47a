#pragma once

// Classes and modules that a payload defines. If this process already has an object
// under the id of a received one, that object stays, and is merged with the payload
// once the payload is built. What is reused from earlier payloads is in python/cache.

#include <Python.h>

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "format/attribute_targets.h"
#include "format/source_units.h"
#include "python/decode/decode_hooks.h"
#include "python/decode/frame.h"
#include "python/runtime/compat.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/envelope.h"

namespace waybill::py {

// Gets the functions and classes that are built from some nodes.
class NodeObserver {
 public:
  // The positions of these nodes, in ascending order.
  virtual const std::vector<std::size_t>& node_starts() const = 0;
  // Called when the node with this number is complete. `did_exist`: whether the object
  // is a class that this process had already in complete form. Throws PyError.
  // `serials`: a dict {class id: serial}, as of the merge of the payload; null for
  // functions.
  virtual void on_node_built(std::size_t number, PyObject* object, bool did_exist,
                             PyObject* serials) = 0;

 protected:
  ~NodeObserver() = default;
};

// The received definitions of one payload. The destructor undoes changes that were not
// applied. Functions that run foreign code throw its exceptions, as PyError.
class ReceivedDefinitions {
 public:
  // All arguments must outlive it.
  ReceivedDefinitions(const State& state, const DecodeHooks& hooks,
                      CollectorPause& collector)
      : state_(state), hooks_(hooks), collector_(collector) {}
  ~ReceivedDefinitions();
  ReceivedDefinitions(const ReceivedDefinitions&) = delete;
  ReceivedDefinitions& operator=(const ReceivedDefinitions&) = delete;

  // The object that this process has under an id; else `object`, which gets the id. The
  // destructor takes the id back unless the claim was closed.
  Ref claim(PyObject* id, PyObject* object, bool& is_existing);
  void close_claim(PyObject* id, PyObject* object);

  // Takes the source ids of classes from an envelope, which must outlive this.
  void use_sources(const VerifiedEnvelope& envelope) { envelope_ = &*envelope; }
  // The other id under which this process has the class with this id: a class of the
  // same source. Null if there is none, or if the process has the class under this id.
  Ref local_id(PyObject* id);
  // Records the source id with which a class was received.
  void record_source_id(PyObject* id, PyObject* type);

  // Adds a class that does not have its attributes yet.
  void open_type(PyObject* type) { open_types_.push_back(type); }
  // Removes the last open class, if that is `object`.
  void close_type(PyObject* object) {
    if (!open_types_.empty() && open_types_.back() == object) open_types_.pop_back();
  }
  const std::vector<PyObject*>& open_types() const { return open_types_; }
  // Whether one of the bases is, or is derived from, an open class.
  bool has_open_base(PyObject* bases) const;
  // The __new__ to call for a class if an open class defines the first __new__ in its
  // MRO: the next __new__ that no open class defines. Null if the first __new__ may be
  // called.
  Ref inherited_new(PyTypeObject* type) const;

  // The module by value whose dict is `globals`, made at the first call. Functions may
  // already have these globals.
  Ref module_for(PyObject* globals);

  // Adds a class to the merge; see Merge.add(). `frame`: its node, with all children.
  // `size`: bytes of the node.
  void add_class(const Frame& frame, std::size_t size);
  // Adds the members that an existing enumeration has at the sender.
  void add_members(const Frame& frame, PyObject* type);
  // Adds a module by value to the merge: all of its content or, if `is_part` is True, a
  // part.
  void add_module(PyObject* module, PyObject* is_part);
  // Adds {name: module}, which later imports will find; false if one of the modules is
  // not by value.
  bool add_imports(PyObject* modules);

  // Finds the targets: attribute values of existing classes to which references exist
  // elsewhere. `start`: where the part of the payload that is to be built starts.
  void find_targets(const VerifiedEnvelope& envelope, std::size_t start);
  bool has_targets() const { return !targets_.empty(); }
  // Where the last target ends, from the start of the payload; 0 if there are none.
  std::size_t targets_end() const;
  // The object that existing classes will have in place of `value`, the target of
  // references with this number: `value` itself if they will take it. Null if no class
  // of the payload has it.
  Ref resolve_early(std::size_t number, PyObject* value);

  // The observer must outlive this.
  void observe(NodeObserver& observer) { observer_ = &observer; }
  // Reports a complete node to the observer: a class once it is merged, others at once.
  void report_node(std::size_t start, PyObject* object, bool did_exist);

  // Merges the existing classes and modules with the payload, and records the new ones.
  void apply();

 private:
  struct BuiltClass {
    std::size_t number;
    Ref type;
    bool did_exist;
  };

  PyObject* find_own_module(PyObject* globals) const;  // Null if there is none.
  PyObject* merge();
  bool is_present(BytesView id);
  void read_sources();
  // The source of the class with this id in the payload; null if it has none.
  const envelope::ClassSource* source_of(PyObject* id);
  // Sets __firstlineno__ of a class that was received with source.
  void set_first_line(PyObject* id, PyObject* type);

  const State& state_;
  const DecodeHooks& hooks_;
  CollectorPause& collector_;
  const Envelope* envelope_ = nullptr;  // Null once its sources were read.
  std::map<std::string_view, envelope::ClassSource> class_sources_;  // By id.
  std::vector<Ref> own_modules_;
  std::vector<PyObject*> open_types_;
  std::vector<Ref> open_claims_;                    // Ids of incomplete objects.
  std::vector<envelope::AttributeTarget> targets_;  // By number.
  Ref merge_;  // An instance of Python's Merge; null until something is added.
  bool is_merged_ = false;
  // Ids and classes that get __firstlineno__ at the end: Python deletes it whenever
  // __module__ is set.
  std::vector<std::pair<Ref, Ref>> lines_pending_;
  NodeObserver* observer_ = nullptr;
  std::vector<BuiltClass> built_classes_;
};

}  // namespace waybill::py
