#pragma once

// Walks an object graph and writes the payload: leaves and containers at once, all else
// as plans that codecs make.

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
        defines_(options.hooks.allow_definitions() && !options.root_by_value &&
                 !options.passes_over && !options.names_no_ids &&
                 !options.only_names_classes && !options.is_definition),
        is_watched_(options.hooks.persistent_id != nullptr || options.passes_over) {}
  GraphEncoder(const GraphEncoder&) = delete;
  GraphEncoder& operator=(const GraphEncoder&) = delete;

  // Writes `root`, and finishes the imports. Throws PyError: EncodeError with the path
  // to what cannot travel, or MemoryError. Call once.
  void encode(PyObject* root);
  // The same without the imports: of a function or class, to stand among the
  // definitions of payloads. The memo has those that it needs.
  void encode_definition(PyObject* root);

  // The same in two parts, so that many payloads can begin alike: the head of a tuple
  // and its first item, whose imports are not finished; and in an encoder of its own
  // for each payload, what comes after that. `first` has written the first item of an
  // equal tuple, and outlives this; `head` is that of a payload in which only plain
  // data came after it, and outlives this, too.
  void encode_first(PyObject* tuple);
  void encode_rest(const GraphEncoder& first, const CachedHead& head, PyObject* tuple);

  // What was written.
  EncodeContext& context() { return context_; }
  const EncodeContext& context() const { return context_; }
  // The definitions and the other sections as they were written before, where nothing
  // but plain data is in the value; null if they are those of the context.
  const CachedHead* head() const;
  // Whether the other sections are those of the definitions alone.
  bool is_head_new() const { return is_head_new_; }
  BytesView payload() const { return context_.out.view(); }

 private:
  using Frame = WalkStack::Frame;

  // Each writes `object`, or its head, and answers whether the stack is another than
  // before: frames were pushed, or frozen.
  bool write_value(PyObject* object) {
    context_.current = object;
    return is_watched_ ? write_watched(object, &GraphEncoder::write_content)
                       : write_content(object);
  }
  // The same by `write`, with what hooks have to say, and past what cannot travel.
  using Write = bool (GraphEncoder::*)(PyObject* object);
  bool write_watched(PyObject* object, Write write);
  bool write_recorded(PyObject* object, Write write);
  // After an error of what has not pushed anything: writes nil, or throws it again.
  void pass_over(PyObject* object, std::size_t size, std::size_t depth);
  // value() without asking for a persistent id.
  bool write_content(PyObject* object);
  // Later payloads of a stream may hold any object of this one.
  bool may_recur(PyObject* object) const {
    return Py_REFCNT(object) > 1 || context_.hooks().memo != nullptr;
  }
  // value() for what no hook has a say in, without a call.
  [[gnu::always_inline]] bool write_inline(PyObject* object) {
    return context_.hooks().persistent_id == nullptr &&
           write_common(object, context_.out);
  }
  // known() for what is there already, without a call and without noting what is not.
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

  // Carries out `work`, which writes what is in `root`; its errors get their path.
  template <typename Work>
  void walk(PyObject* root, Work work);
  void push_behind_first(PyObject* tuple);
  void pop() {
    context_.stack.pop();
    context_.current = nullptr;  // It may be gone with what the frame held.
    if (context_.options.record != nullptr) context_.options.record->popped(context_);
  }
  // Carries out what is on the stack above this depth.
  void run(std::size_t depth = 0);
  // Each carries its frame on until it pushes another, or ends.
  inline void step_sequence();  // Parts of run(), in its source.
  inline void step_dict();
  void step_frozen_dict();
  void end_dict();
  void step_plan();
  void close_early(const Frame& frame, MemoEntry& entry);
  void begin_global(const Frame& frame, PyObject* name);
  void demand_length(const Frame& frame) {
    if (frame.has_changed()) context_.fail_of_length(frame.object.get());
  }

  // ---- What is neither leaf nor container: encode_objects.cpp ----------------------

  // Writes an instance that object.__reduce_ex__ would take apart as its class and its
  // dict, without asking that; false if it is none, or if its class comes first.
  bool write_instance(PyObject* object);
  // Writes a module by value, or what a reader has not of it.
  bool write_own_module(PyObject* module);
  bool write_object(PyObject* object);

  // Each writes `object` if a hook takes it on, or answers false.
  bool write_persistent(PyObject* object);
  bool write_overridden(PyObject* object);
  // Writes a stand-in for what an extension made, if code refers to it.
  bool write_stand_in(PyObject* object);
  // Writes what stands in a class behind its methods.
  bool end_of_methods();

  // `answer`: what a hook gave in place of the object's own reducer, or null.
  bool write_planned(PyObject* object, PyObject* answer);
  // Writes an object that refused to travel another way, and forgets the refusal.
  // False, with the error still set, if there is none.
  bool write_refused(PyObject* object);
  void push_plan(PyObject* object, std::unique_ptr<Plan> plan);

  // Writes a reference to a function or class among the definitions; false if it cannot
  // stand there.
  bool write_defined(PyObject* object);
  // After the imports of all values are known.
  void finish_imports();

  EncodeContext context_;
  const bool defines_;     // Functions and classes may stand among definitions.
  const bool is_watched_;  // A hook is asked, or what cannot travel passed over.
  const CachedHead* first_head_ = nullptr;  // See encode_rest().
  std::shared_ptr<const CachedHead> head_;
  bool is_head_new_ = false;
};

// What `write` makes of the encoder with which `encode` has written a graph: twice, if
// arrays in it share memory, since only then it is known which do.
template <typename Encode, typename Write>
Ref write_graph(State& state, EncodeOptions options, Encode encode, Write write) {
  Ref plan;
  {
    GraphEncoder graph(state, options);
    encode(graph);
    plan = graph.context().arrays.plan(state);
    if (!plan) return write(state, graph);
  }
  options.array_plan = plan.get();
  GraphEncoder graph(state, options);
  encode(graph);
  return write(state, graph);
}

}  // namespace waybill::py
