// The encoder's side of the encode cache: when a function or class is kept, and when
// what was kept is taken.
//
// A kept node has the numbers of modules, code and references that it has where nothing
// came before it. So it is taken only where there was plain data alone, and the
// manifest and the code section are its own then. When anything else follows, the
// root of the node is encoded once more the general way, to nowhere: then manifest and
// code section are what they would be, and the bytes that were taken are right.
//
// Tested by tests/python/cache/test_kept_functions.py and test_kept_classes.py.

#include "python/encode/graph_encoder.h"
#include "python/encode/kept_classes.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

// So often a node may be another than it was, or cannot be kept, before it is no longer
// tried.
constexpr std::uint32_t kMaxMisses = 8;

}  // namespace

bool GraphEncoder::meet_kept(PyObject* object) {
  using Phase = KeptUse::Phase;
  switch (kept_.phase) {
    case Phase::kOpen:
      return begin_kept(object);
    case Phase::kWriting:
      if (stack_.size() > kept_.depth) return false;  // A part of the node.
      break;
    case Phase::kTaken:
      kept_.phase = Phase::kClosed;
      encode_taken();
      return false;
    case Phase::kBegun:
      kept_.phase = Phase::kClosed;
      go_on_after_first();
      return false;
    case Phase::kWritten:
    case Phase::kClosed:
      break;
  }
  kept_.phase = Phase::kClosed;
  return false;
}

// Where the node of this root is kept; null if it is sent for the first time.
KeptSlot* GraphEncoder::kept_slot() {
  PyObject* root = kept_.root.get();
  if (PyType_Check(root)) return state_.kept_classes->find(root);
  CodeInfo* info = kept_info(state_, kept_.code.get());
  return info == nullptr ? nullptr : &info->slot;
}

void GraphEncoder::note_kept_miss() {
  KeptSlot* slot = kept_slot();
  if (slot == nullptr) return;
  slot->kept.reset();
  ++slot->misses;
}

bool GraphEncoder::begin_kept(PyObject* object) {
  const bool is_class = PyType_Check(object);
  if (!is_class && !PyFunction_Check(object)) {
    // The class of such an instance comes next.
    if (!state_of_plain(object)) kept_.phase = KeptUse::Phase::kClosed;
    return false;
  }
  kept_.phase = KeptUse::Phase::kClosed;
  if (!shared_.empty()) return false;
  if (is_class && find_by_own_name(state_, object).module) return false;
  kept_.root = Ref::share(object);
  if (!is_class) kept_.code = Ref::share(PyFunction_GET_CODE(object));
  KeptSlot* slot = kept_slot();
  if (slot == nullptr) return false;
  // Looking may run code, in dicts with strange keys, that sends the object too.
  if (std::shared_ptr<const KeptNode> kept = slot->kept) {
    std::vector<MetObject> met;
    if (can_take(*kept, object, met))
      return take(std::move(kept), std::move(met)), true;
    slot = kept_slot();
  }
  if (slot == nullptr || slot->misses >= kMaxMisses) return false;
  kept_.notes = KeptNode::look(state_, object);
  if (!kept_.notes) return note_kept_miss(), false;
  kept_.phase = KeptUse::Phase::kWriting;
  kept_.base = out_.size();
  kept_.depth = stack_.size();
  imports().trace();
  return false;
}

bool GraphEncoder::take_class(std::shared_ptr<const KeptNode> kept, PyObject* type) {
  std::vector<MetObject> met;
  freeze();
  kept_.root = Ref::share(type);
  if (!can_take(*kept, type, met)) return false;
  out_.node(wire::NodeTag::kNewObject, 6);
  known(key_of(type));
  take(std::move(kept), std::move(met));
  return true;
}

bool GraphEncoder::can_take(const KeptNode& kept, PyObject* root,
                            std::vector<MetObject>& met) {
  const auto& offsets = kept.offsets();
  met.reserve(offsets.size());
  bool fits = kept.fits(state_, root, met);
  for (std::size_t i = 1; fits && i < met.size(); ++i) {
    // Its owner has it, and so do we.
    const bool has_one_owner = Py_REFCNT(met[i].object.get()) <= 2;
    fits = memo_.find(met[i].key) == nullptr &&
           (offsets[i] != KeptNode::kNowhere || has_one_owner);
  }
  if (fits) return true;
  ++state_.kept_misses;
  note_kept_miss();
  return false;
}

void GraphEncoder::take(std::shared_ptr<const KeptNode> kept,
                        std::vector<MetObject> met) {
  const std::size_t base = out_.size();
  for (std::size_t i = 1; i < met.size(); ++i) {
    if (kept->offsets()[i] == KeptNode::kNowhere) continue;
    memo_.insert(met[i].key, base + kept->offsets()[i]);
    keep_.push_back(std::move(met[i].object));
  }
  for (const std::uint32_t number : kept->shared()) {
    MemoEntry* entry = memo_.find(met[number].key);
    shared_.push_back(entry->offset);
    entry->reference = static_cast<std::uint32_t>(shared_.size());
  }
  out_.append(kept->node());
  kept_.phase = KeptUse::Phase::kTaken;
  kept_.taken = std::move(kept);
  ++state_.kept_hits;
}

// Gives imports, code and namespaces what the node that was taken has of them.
void GraphEncoder::encode_taken() {
  PyObject* const current = current_;
  const std::size_t size = out_.view().size();  // Insertions stay as they are.
  const std::size_t depth = stack_.size();
  Memo memo;
  std::vector<std::uint64_t> shared;
  std::swap(memo_, memo);
  std::swap(shared_, shared);
  memo_.insert(key_of(kept_.root.get()), size);
  planned(kept_.root.get(), nullptr);
  run(depth);
  std::swap(memo_, memo);
  std::swap(shared_, shared);
  out_.truncate(size);
  current_ = current;
}

// What comes now is to find code, imports, namespaces and modules as they would be if
// this encoder had written all.
void GraphEncoder::go_on_after_first() {
  if (first_->others_) others().go_on_after(*first_->others_);
  written_globals_ = first_->written_globals_;
  namespaces_ = first_->namespaces_;
  module_dicts_ = first_->module_dicts_;
  class_dicts_ = first_->class_dicts_;
  own_modules_ = first_->own_modules_;
  asked_ = first_->asked_;
  written_ids_ = first_->written_ids_;
}

void GraphEncoder::set_kept_node() {
  const bool is_kept = out_.insertions().empty() &&
                       kept_.notes->set_node(out_.view().subspan(kept_.base),
                                             kept_.base, memo_, shared_);
  if (!is_kept) note_kept_miss();
  kept_.phase = is_kept ? KeptUse::Phase::kWritten : KeptUse::Phase::kClosed;
}

void GraphEncoder::keep(KeptSections sections) {
  kept_.phase = KeptUse::Phase::kClosed;
  const bool is_kept = imports().can_be_repeated() &&
                       kept_.notes->complete(state_, kept_.root.get(), imports().seen(),
                                             std::move(sections));
  KeptSlot* slot = kept_slot();
  if (!is_kept || slot == nullptr) return note_kept_miss();
  slot->kept = std::move(kept_.notes);
}

}  // namespace waybill::py
