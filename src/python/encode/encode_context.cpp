// Tested by tests/python/kinds/test_sharing.py and
// tests/python/classes/test_class_identity.py.

#include "python/encode/encode_context.h"

#include <utility>

#include "format/buffer_table.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/text.h"
#include "python/runtime/version_caches.h"

namespace waybill::py {

namespace {

// How often the node of an object may be started before the object is created.
constexpr std::size_t kMaxOpen = 50;

// The line of the class statement, which is available from 3.13 on; 0 if unknown.
std::uint32_t first_line_of(const State& state, PyTypeObject* type) {
  PyObject* line = raw_get(type, state.names.first_line.get());
  if (line == nullptr || !PyLong_CheckExact(line)) return 0;
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(line, &overflow);
  return number > 0 && number <= INT32_MAX ? static_cast<std::uint32_t>(number) : 0;
}

}  // namespace

EncodeContext::EncodeContext(State& interpreter, const EncodeOptions& given)
    : state(interpreter),
      options(given),
      objects(options.hooks, arena),
      stack(arena),
      namespaces(arena),
      by_value(state, options.hooks.by_value),
      extensions(state, by_value),
      needs(state, by_value, extensions, dicts),
      deferred(state, by_value, stack) {}

void EncodeContext::make_definitions() {
  definitions_.emplace(*this);
  if (const auto* first = first_ == nullptr ? nullptr : first_->definitions_if_any()) {
    definitions_->fork_from(*first);
  }
}

void EncodeContext::make_others() {
  others_.emplace(state, infos(), options.hooks.by_value);
  if (options.is_definition) others_->imports.record_uses();
  if (first_ != nullptr && first_->others_) others_->fork_from(*first_->others_);
  if (definitions_) definitions_->register_in(*others_);
}

bool EncodeContext::refer_or_add(std::uintptr_t key) {
  MemoEntry* entry = objects.find(key);
  if (entry == nullptr) {
    if (objects.refer_to_earlier(key, out)) return true;
    objects.add(key, out.size());
    return false;
  }
  if (!entry->is_created) {
    restart_node(*entry);
    return false;
  }
  objects.refer_to(*entry, out);
  return true;
}

// The arguments of the object refer back to it. Objects that are built already need not
// be built again, so the second attempt may succeed; pickle does the same. The outer
// node is then closed early.
void EncodeContext::restart_node(MemoEntry& entry) {
  objects.restart(entry, out.size());
  std::size_t open = 0;
  for (const WalkStack::Frame& frame : stack) {
    if (frame.kind != WalkStack::Frame::Kind::kPlan) continue;
    if (key_of(frame.object.get()) != entry.key) continue;
    ++open;
    if (frame.plan->early() == Plan::EarlyClose::kNone) open = kMaxOpen;
  }
  if (open < kMaxOpen) return;
  fail("needs itself to be built: it is among the arguments of its own reducer");
}

Ref EncodeContext::id_of(PyObject* object) {
  if (options.omits_ids) return Ref::share(Py_None);
  Ref id = ids.id_of(state, object);
  if (!PyType_Check(object)) return id;
  const Ref source_id = source_id_of(state, object, wants_source());
  if (source_id) {
    code().add_class(bytes_of(id.get()), bytes_of(source_id.get()),
                     first_line_of(state, as_type(object)));
  }
  return id;
}

std::uint32_t EncodeContext::use_code(PyObject* code_object) {
  const std::uint32_t body = code().add_use(code_object);
  CodeInfo& info = infos().get(code_object);
  const bool is_wanted = wants_source() || info.was_received_as_source ||
                         is_from_source(state, stack.innermost_class());
  if (!is_wanted) return body;
  std::string reason;
  const CodeSource* source = source_of(state, info, stack.innermost_class(), reason);
  if (source != nullptr && options.by_source) return code().number_of(*source);
  if (source != nullptr) {
    code().add_source(body, *source);
    return body;
  }
  if (hooks().source == SourceUse::kDemanded) {
    fail("has no source that another Python could compile: " + reason);
  }
  code().record_lack_of_source();
  return body;
}

void EncodeContext::binary(PyObject* bytes) {
  const BytesView view = bytes_of(bytes);
  if (view.size() >= envelope::kMinStoredSize) {
    stored.add(bytes, out);
  } else {
    out.binary(view);
  }
}

void EncodeContext::binary(std::unique_ptr<BufferView> view, wire::BufferKind kind,
                           bool is_lent) {
  const BytesView bytes = view->bytes();
  if (bytes.size() >= envelope::kMinStoredSize) {
    stored.add(std::move(view), kind, is_lent, out);
    return;
  }
  const bool is_writable =
      kind == wire::BufferKind::kByteArray || kind == wire::BufferKind::kWritable;
  if (is_writable) out.node(wire::NodeTag::kByteArray, 1);
  out.binary(bytes);
}

void EncodeContext::record_substitution(PyObject* object, std::string policy) {
  imports().substitute({std::move(policy), Py_TYPE(object)->tp_name, path()});
}

// The head of the container has its length. Only a finalizer can have changed it:
// containers are frozen before other code runs.
void EncodeContext::fail_of_length(PyObject* container) {
  current = container;
  fail("changed its length while it was written");
}

void EncodeContext::prepare_for_forks() {
  stored.settle(true);
  deferred.clear();
  extensions.clear_types();
  stack.drop_spare_plans();
  types.forget_all();
}

void EncodeContext::fork_from(const EncodeContext& first) {
  first_ = &first;
  objects.fork_from(first.objects);
  stored.fork_from(first.stored);
  out.append_in_place(first.out.view());
}

void EncodeContext::load_first() {
  is_first_loaded_ = true;
  if (first_->others_) others();
  dicts = first_->dicts;
  namespaces = first_->namespaces;
  ids = first_->ids;
  needs.fork_from(first_->needs);
}

int EncodeContext::traverse(visitproc visitor, void* arg) const {
  for (const Ref& object : objects.held()) {
    if (const int stop = visit(object, visitor, arg)) return stop;
  }
  if (definitions_) {
    if (const int stop = definitions_->traverse(visitor, arg)) return stop;
  }
  return needs.traverse(visitor, arg);
}

}  // namespace waybill::py
