#pragma once

// Classes and modules that come in a payload, and what the receiver has of them: those
// that came before under the same id stay, and are changed once the payload is built.

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

// Who wants to see what nodes of functions and classes become.
class NodeWatcher {
 public:
  // Where they start, in ascending order.
  virtual const std::vector<std::size_t>& starts() const = 0;
  // Called when the node with this number is complete. `was_there`: a class that was
  // there, and complete, before. Throws PyError.
  virtual void built(std::size_t number, PyObject* object, bool was_there) = 0;

 protected:
  ~NodeWatcher() = default;
};

// For one payload. What is not applied when it goes is taken back. Functions that run
// code of others throw what that raises, as PyError.
class Arrivals {
 public:
  // All must outlive it.
  Arrivals(const State& state, const DecodeHooks& hooks, CollectorPause& collector)
      : state_(state), hooks_(hooks), collector_(collector) {}
  ~Arrivals();
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  // What an id that was seen before means, or else `object`, which has it from now on.
  // An object that is not closed when this goes is forgotten.
  Ref claim(PyObject* id, PyObject* object, bool& is_known);
  void close_claim(PyObject* id, PyObject* object);

  // Classes have the ids by their source that this envelope tells, which outlives this.
  void use_sources(const VerifiedEnvelope& envelope) { envelope_ = &*envelope; }
  // The id under which this process has a class that comes with this id: another, if it
  // is there under that and has the same source. Null if it is this id.
  Ref id_here(PyObject* id);
  // Notes the id by its source that a class came with.
  void note_source(PyObject* id, PyObject* type);

  // A class that has not got its attributes yet. They are closed from the last to the
  // first; another object is none.
  void open_type(PyObject* type) { open_types_.push_back(type); }
  void close_type(PyObject* object) {
    if (!open_types_.empty() && open_types_.back() == object) open_types_.pop_back();
  }
  const std::vector<PyObject*>& open_types() const { return open_types_; }
  // Whether one of these is, or is derived from, an open class.
  bool has_open_base(PyObject* bases) const;
  // The __new__ that instances of a class have until it has got its attributes; null if
  // that is the class's own.
  Ref new_without_attributes(PyTypeObject* type) const;

  // The module of this payload whose dict a namespace is, made when it is first asked
  // for; functions may have the namespace by then.
  Ref module_of(PyObject* globals);

  // What a class is now and what the payload says of it; see Merge.add() in _merge.py.
  // `frame`: its node, with all children. `size`: bytes of the node.
  void add_class(const Frame& frame, std::size_t size);
  // Makes members that an enumeration, which is here already, has at its sender.
  void add_members(const Frame& frame, PyObject* type);
  // What add_class() does, of a module that came by value, with all that it holds or,
  // if `is_part` is True, a part of that.
  void add_module(PyObject* module, PyObject* is_part);
  // {name: module} that imports have to find from now on; false if one of them did not
  // come by value.
  bool add_imports(PyObject* modules);

  // Finds what is the value of an attribute of a class that is there already and is
  // referred to from elsewhere. `start`: of what is to be built of the payload.
  void find_targets(const VerifiedEnvelope& envelope, std::size_t start);
  bool has_targets() const { return !targets_.empty(); }
  // The last of them ends there, counted from the start of the payload; 0 if there are
  // none.
  std::size_t end_of_targets() const;
  // The object that the class will have in place of `value`, which is what references
  // by this number mean; null if that is the value.
  Ref settle(std::size_t number, PyObject* value);

  // It must outlive this.
  void watch(NodeWatcher& watcher) { watcher_ = &watcher; }
  // Tells the watcher of a node that starts there. Classes are shown once they are what
  // they will be.
  void show(std::size_t start, PyObject* object, bool was_there);

  // Changes the classes that were here before, and takes note of all that came.
  void apply();

 private:
  struct Shown {
    std::size_t number;
    Ref type;
    bool was_there;
  };

  PyObject* module_with(PyObject* globals) const;  // Null if there is none yet.
  PyObject* merge();
  bool is_here(BytesView id);
  void read_sources();
  // Tells a class at which line it stands, if it came with source.
  void tell_line(PyObject* id, PyObject* type);

  const State& state_;
  const DecodeHooks& hooks_;
  CollectorPause& collector_;
  const Envelope* envelope_ = nullptr;  // Null if its sources have been read.
  std::map<std::string_view, envelope::ClassSource> class_sources_;  // By id.
  std::vector<Ref> own_modules_;
  std::vector<PyObject*> open_types_;
  std::vector<Ref> open_claims_;  // Ids of objects that are not complete.
  std::vector<envelope::AttributeTarget> targets_;  // By number.
  Ref merge_;  // A waybill._merge.Merge; null until there is something for it.
  bool is_merged_ = false;
  // Ids and classes that get their lines at the end: Python forgets the line of a class
  // whenever __module__ is set.
  std::vector<std::pair<Ref, Ref>> with_lines_;
  NodeWatcher* watcher_ = nullptr;
  std::vector<Shown> shown_;
};

}  // namespace waybill::py
