// Tested by tests/python/api/test_prepare.py.

#include "python/prepared_call.h"

#include <optional>
#include <utility>

#include "base/hash.h"
#include "python/encode/definitions/definition_cache.h"
#include "python/encode/graph_encoder.h"
#include "python/runtime/text.h"
#include "python/sealing.h"

namespace waybill::py {

namespace {

// The call owns its arguments and keywords, so the encoder need not record these
// objects.
Ref call_of(PyObject* function, Ref arguments, Ref keywords) {
  Ref call = Ref::steal(PyTuple_New(3));
  PyTuple_SET_ITEM(call.get(), 0, Ref::share(function).release());
  PyTuple_SET_ITEM(call.get(), 1, arguments.release());
  PyTuple_SET_ITEM(call.get(), 2, keywords.release());
  return call;
}

Ref call_without_arguments(PyObject* function) {
  return call_of(function, Ref::steal(PyTuple_New(0)), Ref::steal(PyDict_New()));
}

// A copy, because encoding adds local modules to the set.
Ref copy_of_set(PyObject* set) {
  return set == nullptr ? Ref() : Ref::steal(PySet_New(set));
}

}  // namespace

// The common start of the payloads of all calls. Immutable once it is complete.
struct PreparedCall::Prefix {
  Ref by_value;
  Ref array_plan;  // See ArrayViews.
  std::optional<GraphEncoder> graph;
  CachedHead head;  // For calls with plain data.

  Prefix(State& state, PyObject* function, EncodeHooks hooks)
      : by_value(copy_of_set(hooks.by_value)) {
    hooks.by_value = by_value.get();
    EncodeOptions options{.hooks = hooks};
    graph.emplace(state, options);
    graph->encode_first(call_without_arguments(function).get());
    array_plan = graph->context().arrays.make_plan(state);
    if (array_plan) {
      options.array_plan = array_plan.get();
      graph.emplace(state, options);
      graph->encode_first(call_without_arguments(function).get());
    }
    if (graph->context().has_others()) set_head(state);
  }

 private:
  void set_head(const State& state) {
    OtherSections others(state, graph->context().infos(), by_value.get());
    others.fork_from(graph->context().others());
    others.imports.finish();
    OtherSections::WrittenSections written;
    Parts parts;
    others.write(state, written, parts);
    head.sections = CachedSections(parts);
    if (const PayloadDefinitions* definitions = graph->context().definitions_if_any()) {
      head.written = definitions->write();
    }
    graph->context().imports().set_needs_of_code(
        std::move(others.imports).needs_of_code());
  }
};

PreparedCall::PreparedCall(State& state, PyObject* function, const EncodeHooks& hooks)
    : state_(state),
      function_(Ref::share(function)),
      by_value_(copy_of_set(hooks.by_value)),
      replace_(Ref::share(hooks.replace)),
      environment_(Ref::share(hooks.environment)),
      application_(hooks.application.begin(), hooks.application.end()),
      hooks_(hooks) {
  hooks_.by_value = by_value_.get();
  hooks_.application = application_;
  if (PyCallable_Check(function) == 0) {
    raise(PyExc_TypeError, "'%.200s' object is not callable",
          Py_TYPE(function)->tp_name);
  }
  refresh();
}

PreparedCall::~PreparedCall() = default;

void PreparedCall::refresh() {
  prefix_ = std::make_shared<const Prefix>(state_, function_.get(), hooks_);
}

Ref PreparedCall::encode(Ref arguments, Ref keywords) const {
  return encode(std::move(arguments), std::move(keywords), hooks_);
}

Ref PreparedCall::encode(Ref arguments, Ref keywords, const EncodeHooks& hooks) const {
  const std::shared_ptr<const Prefix> prefix = prefix_;
  const Ref by_value = copy_of_set(prefix->by_value.get());
  EncodeOptions options{.hooks = hooks};
  options.hooks.by_value = by_value.get();
  const Ref call = call_of(function_.get(), std::move(arguments), std::move(keywords));
  const auto encode = [&](GraphEncoder& graph) {
    graph.encode_rest(*prefix->graph, prefix->head, call.get());
  };
  return write_graph(state_, options, encode, seal);
}

Ref PreparedCall::digest() const {
  EncodeHooks plain_hooks = hooks_;
  plain_hooks.application = {};
  plain_hooks.key = nullptr;
  plain_hooks.compression_level = 0;
  plain_hooks.environment = nullptr;
  const Ref bytes =
      encode(Ref::steal(PyTuple_New(0)), Ref::steal(PyDict_New()), plain_hooks);
  const ContentHash hash = base::content_hash_of(bytes_of(bytes.get()));
  return new_bytes(hash);
}

int PreparedCall::traverse(visitproc visit, void* arg) const {
  for (const Ref* ref : {&function_, &by_value_, &replace_, &environment_}) {
    if (const int stop = py::visit(*ref, visit, arg)) return stop;
  }
  if (!prefix_) return 0;
  if (const int stop = py::visit(prefix_->array_plan, visit, arg)) return stop;
  return prefix_->graph->context().traverse(visit, arg);
}

}  // namespace waybill::py
