#pragma once

// Walks an object graph and writes the payload: leaves and containers directly, all
// other objects by plans that codecs make.

#include <Python.h>

#include <cstddef>
#include <memory>

#include "python/encode/encode_context.h"
#include "python/encode/plain_writer.h"

namespace waybill::py {

class GraphEncoder {
 public:
  GraphEncoder(State& state, const EncodeOptions& options)
      : context_(state, options),
        defines_(options.hooks.allows_definitions() && !options.root_by_value &&
                 !options.skips_blockers && !options.omits_ids &&
                 !options.only_names_classes && !options.is_definition),
        is_watched_(options.hooks.persistent_id != nullptr || options.skips_blockers) {}
  GraphEncoder(const GraphEncoder&) = delete;
  GraphEncoder& operator=(const GraphEncoder&) = delete;

  // Writes `root`, and finishes the imports. Throws PyError: EncodeError with the path
  // to what cannot travel, or MemoryError. Call once.
  void encode(PyObject* root);
  // Writes a function or class as a definition, and does not finish the imports. The
  // memo must have the definitions that it needs.
  void encode_definition(PyObject* root);

  // Two parts of encode() for payloads that begin alike. encode_first() writes the head
  // of a tuple and its first item, and does not finish the imports. encode_rest() is
  // called in an encoder of its own for each payload, and writes the other items.
  // `first` has written the first item of an equal tuple; `head` is the head of a
  // payload in which only plain data follows. Both must outlive this encoder.
  void encode_first(PyObject* tuple);
  void encode_rest(const GraphEncoder& first, const CachedHead& head, PyObject* tuple);

  EncodeContext& context() { return context_; }
  const EncodeContext& context() const { return context_; }
  // The cached definitions and other sections, if the value contains only plain data;
  // null if the context has them.
  const CachedHead* head() const;
  // Whether the other sections contain only the needs of the definitions.
  bool is_head_new() const { return is_head_new_; }
  BytesView payload() const { return context_.out.view(); }

 private:
  using Frame = WalkStack::Frame;

  // Each write function writes `object`, or its head, and returns whether it has
  // changed the stack by pushing or freezing frames.
  bool write_value(PyObject* object) {
    context_.current = object;
    return is_watched_ ? write_watched(object, &GraphEncoder::write_content)
                       : write_content(object);
  }
  // Calls `write` unless a hook writes the object; skips objects that cannot travel.
  using WriteFunction = bool (GraphEncoder::*)(PyObject* object);
  bool write_watched(PyObject* object, WriteFunction write);
  bool write_recorded(PyObject* object, WriteFunction write);
  // Whether the current exception comes from the progress callback.
  bool is_stopped() const {
    const WalkRecord* record = context_.options.record;
    return record != nullptr && record->is_stopped();
  }
  // Handles the error of an object that has pushed no frame: writes nil, or throws
  // again.
  void skip_blocker(PyObject* object, std::size_t size, std::size_t depth);
  // write_value() without asking for a persistent id.
  bool write_content(PyObject* object);
  // Whether the object may be visited again, here or in a later payload of the stream.
  bool can_recur(PyObject* object) const {
    return Py_REFCNT(object) > 1 || context_.hooks().memo != nullptr;
  }
  // Writes a common leaf inline unless there is a persistent_id hook. Returns whether
  // it wrote.
  [[gnu::always_inline]] bool write_inline(PyObject* object) {
    return context_.hooks().persistent_id == nullptr &&
           write_common(object, context_.out);
  }
  // Writes a reference to an object that is already written. Returns whether it wrote.
  bool refer_if_written(PyObject* object) {
    if (Py_REFCNT(object) == 1 || is_watched_ || context_.hooks().by_value != nullptr) {
      return false;
    }
    MemoEntry* entry = context_.objects.find(key_of(object));
    if (entry == nullptr || !entry->is_created) return false;
    context_.objects.refer_to(*entry, context_.out);
    return true;
  }
  bool write_container(PyObject* object);
  bool write_set(PyObject* object, wire::NodeTag tag);

  // Calls `write`, and adds paths from `root` to its errors.
  template <typename Function>
  void write_with_paths(PyObject* root, Function write);
  void push_after_first(PyObject* tuple);
  void pop() {
    context_.stack.pop();
    context_.current = nullptr;  // The frame may have been its only owner.
    if (context_.options.record != nullptr)
      context_.options.record->on_popped(context_);
  }
  // Processes the frames of the stack above this depth.
  void run(std::size_t depth = 0);
  // Each function processes the top frame until it pushes another one or pops the
  // frame.
  inline void step_sequence();  // Inlined into run().
  inline void step_dict();
  void step_frozen_dict();
  void end_dict();
  void step_plan();
  void close_early(const Frame& frame, MemoEntry& entry);
  void begin_global(const Frame& frame, PyObject* name);
  void demand_length(const Frame& frame) {
    if (frame.has_changed()) context_.fail_of_length(frame.object.get());
  }

  // ---- Objects that are neither leaves nor containers: encode_objects.cpp -----------

  // Writes an instance as its class and its dict, without calling object.__reduce_ex__.
  // False if that method would return anything else, or if the class is not written
  // yet.
  bool write_instance(PyObject* object);
  // Writes a module by value, or those of its names that are not written yet.
  bool write_own_module(PyObject* module);
  bool write_object(PyObject* object);

  // Each function writes `object` if a hook handles it, else returns false.
  bool write_persistent(PyObject* object);
  bool write_overridden(PyObject* object);
  // Writes a stand-in for an object that an extension made, if code refers to it.
  bool write_stand_in(PyObject* object);
  // Writes the object that follows the methods of a class; see DeferredGlobals.
  bool write_after_methods();

  // Makes the plan of an object and pushes it. `reduction`: what a hook returned in
  // place of the object's own reducer, or null.
  bool write_planned(PyObject* object, PyObject* reduction);
  // Finds another way to write an object that its reducer refused, and clears the
  // error. Returns false, and leaves the error set, if there is no other way.
  bool write_refused(PyObject* object);
  void push_plan(PyObject* object, std::unique_ptr<Plan> plan);

  // Writes a reference to a function or class that is a definition, or becomes one;
  // false if it cannot be one.
  bool write_defined(PyObject* object);
  // Called when the imports of all values are known.
  void finish_imports();

  EncodeContext context_;
  const bool defines_;     // Functions and classes may become definitions.
  const bool is_watched_;  // Each object goes through write_watched().
  const CachedHead* first_head_ = nullptr;  // See encode_rest().
  std::shared_ptr<const CachedHead> head_;
  bool is_head_new_ = false;
};

// Writes a graph by `encode`, and returns the result of `write` for the encoder. If
// arrays share memory, the graph is written twice: the first walk finds these arrays.
template <typename Encode, typename Write>
Ref write_graph(State& state, EncodeOptions options, Encode encode, Write write) {
  Ref plan;
  {
    GraphEncoder graph(state, options);
    encode(graph);
    plan = graph.context().arrays.make_plan(state);
    if (!plan) return write(state, graph);
  }
  options.array_plan = plan.get();
  GraphEncoder graph(state, options);
  encode(graph);
  return write(state, graph);
}

}  // namespace waybill::py
