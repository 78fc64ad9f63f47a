// What is referred to: objects that were written before, and what a receiver imports.
//
// Every object that might be met twice is noted with the offset of its
// node; when it is met again a reference is written, and the first time that happens
// the object gets the next number among the shared ones. A container with one reference
// in the process cannot be met twice by walking, so it is not noted.
//
// A reducer may still hand such a container out a second time; then there are two.
//
// Tested by tests/python/kinds/test_sharing.py,
// tests/python/classes/test_class_identity.py.

#include "python/encode/graph_encoder.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

// Room for so many objects is made at once.
constexpr std::size_t kUsualObjects = 16;

// So often one object may be begun before it is there.
constexpr std::size_t kMaxOpen = 50;

}  // namespace

using wire::ExtType;
using wire::NodeTag;

bool GraphEncoder::known(std::uintptr_t key) {
  MemoEntry* entry = memo_.find(key);
  if (entry == nullptr) {
    if (options_.hooks.memo != nullptr && earlier(key)) return true;
    memo_.insert(key, out_.size());
    // Tagged keys stand for objects that their functions keep alive.
    if ((key & 1) == 0) {
      if (keep_.empty()) keep_.reserve(kUsualObjects);
      keep_.push_back(Ref::share(reinterpret_cast<PyObject*>(key)));
    }
    return false;
  }
  if (!entry->is_created) {
    restart_node(reinterpret_cast<PyObject*>(key));
    entry->offset = out_.size();
    return false;
  }
  reference(*entry);
  return true;
}

// Its arguments hold something that refers back to it. What is built by now need not be
// built again, so this time its creation may get by without itself; pickle does the
// same. The node around is closed early then.
void GraphEncoder::restart_node(PyObject* object) {
  restarted_ = object;
  // What is kept has each object in one place.
  if (kept_.phase == KeptUse::Phase::kWriting) kept_.phase = KeptUse::Phase::kClosed;
  std::size_t open = 0;
  for (const Frame& frame : stack_) {
    if (frame.kind != Frame::Kind::kPlan || frame.object.get() != object) continue;
    ++open;
    if (frame.plan->early() == Plan::Early::kNone) open = kMaxOpen;
  }
  if (open < kMaxOpen) return;
  fail("needs itself to be built: it is among the arguments of its own reducer");
}

void GraphEncoder::close_early(const Frame& frame, MemoEntry& entry) {
  const Plan::Early how = frame.plan->early();
  if (how == Plan::Early::kClass || how == Plan::Early::kClassWithWord) {
    out_.map(0);  // A reader knows the class by its id.
    if (how == Plan::Early::kClassWithWord) out_.boolean(false);
    return;
  }
  out_.node(NodeTag::kReplacement, 1);
  reference(entry);
  out_.array(0);
  out_.map(0);
  if (how == Plan::Early::kReducedWithSetter) out_.nil();
}

void GraphEncoder::reference(MemoEntry& entry) {
  if (entry.reference == 0) {
    shared_.push_back(entry.offset);
    entry.reference = static_cast<std::uint32_t>(shared_.size());
  }
  const std::size_t begin = out_.size();
  out_.index(ExtType::kReference, entry.reference - 1);
  if (kept_.phase == KeptUse::Phase::kWriting) {
    kept_.references.push_back({begin, out_.size(), entry.key});
  }
}

void GraphEncoder::note_class(PyObject* type) {
  const Ref dict = type_dict(reinterpret_cast<PyTypeObject*>(type));
  if (class_dicts_.find(key_of(dict.get())) != nullptr) return;
  class_dicts_.insert(key_of(dict.get()), key_of(type));
}

PyObject* GraphEncoder::class_of(PyObject* dict) {
  const MemoEntry* entry = class_dicts_.find(key_of(dict));
  return entry == nullptr ? nullptr : reinterpret_cast<PyObject*>(entry->offset);
}

void GraphEncoder::module_index(std::uint32_t index, wire::Writer& out) {
  if (index == kNoIndex) fail("is found by name in a module that travels by value");
  out.index(ExtType::kModule, index);
}

void GraphEncoder::global(const GlobalName& name) {
  out_.node(NodeTag::kGlobal, 2);
  PyObject* module = module_name(state_, name);
  if (PyUnicode_Compare(module, state_.names.builtins_plain.get()) == 0) {
    out_.nil();
  } else {
    module_index(imports().reference(name), out_);
  }
  write_text(name.path.get(), out_);
}

bool GraphEncoder::module(PyObject* object) {
  if (kept_.phase != KeptUse::Phase::kClosed) meet_kept(object);
  PyObject* name = importable_name(state_, object);
  if (name == nullptr) {
    const GlobalName place = find_inner_module(state_, object);
    if (!place.module || is_by_value(place.module.get())) return false;
    return global(place), true;
  }
  if (is_by_value(object)) return false;
  module_index(imports().module_value(object, name), out_);
  return true;
}

}  // namespace waybill::py
