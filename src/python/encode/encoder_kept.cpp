// The encoder's side of the encode cache: when a function or class is kept, and when
// what was kept is taken.
//
// Where nothing but plain data follows, manifest and code section are those that were
// kept with the last node of the chain. When anything else follows, the roots of the
// nodes are encoded once more the general way, to nowhere: then manifest and code
// section are what they would be, and the bytes that were taken are right.
//
// Tested by tests/python/cache/test_kept_functions.py, test_kept_classes.py and
// test_kept_chains.py.

#include <algorithm>

#include "python/encode/graph_encoder.h"
#include "python/encode/kept_table.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

// So often a node may be another than it was, or cannot be kept, before it is no longer
// tried.
constexpr std::uint32_t kMaxMisses = 8;

// When more nodes are kept behind others, all are forgotten.
constexpr std::uint64_t kMaxKeptSuccessors = 512;

}  // namespace

bool GraphEncoder::meet_kept(PyObject* object) {
  using Phase = KeptUse::Phase;
  switch (kept_.phase) {
    case Phase::kOpen:
    case Phase::kTaken:
    case Phase::kWritten:
      return begin_kept(object);
    case Phase::kWriting:
      if (stack_.size() > kept_.depth) return false;  // A part of the node.
      break;
    case Phase::kBegun:
      kept_.phase = Phase::kClosed;
      go_on_after_first();
      break;
    case Phase::kClosed:
      break;
  }
  kept_.phase = Phase::kClosed;
  return false;
}

void GraphEncoder::end_kept() {
  const bool is_taken = kept_.phase == KeptUse::Phase::kTaken;
  kept_.phase = KeptUse::Phase::kClosed;
  if (is_taken) encode_taken();
}

// Where a node of the chain is kept; null if it is sent for the first time, or if the
// node before it is.
KeptSlot* GraphEncoder::kept_slot(std::size_t place, PyObject* key) {
  if (place > kept_.taken) return nullptr;
  if (place != 0) return kept_.chain[place - 1].node->successors().find(key);
  if (PyType_Check(key)) return state_.kept_classes->find(key);
  CodeInfo* info = kept_info(state_, key);
  if (info == nullptr) return nullptr;
  // Tables are emptied with the caches; what is kept on code is found here.
  if (info->slot.kept && !info->slot.kept->is_current(state_)) info->slot = {};
  return &info->slot;
}

void GraphEncoder::note_kept_miss(std::size_t place, PyObject* key) {
  KeptSlot* slot = kept_slot(place, key);
  if (slot == nullptr) return;
  slot->kept.reset();
  ++slot->misses;
}

bool GraphEncoder::begin_kept(PyObject* object) {
  const bool is_class = PyType_Check(object);
  if (!is_class && !PyFunction_Check(object)) {
    // The class of such an instance comes next.
    if (!state_of_plain(object)) end_kept();
    return false;
  }
  const std::size_t place = kept_.chain.size();
  if (place == KeptUse::kMaxChain ||
      (is_class && find_by_own_name(state_, object).module)) {
    return end_kept(), false;
  }
  Ref key = Ref::share(is_class ? object : PyFunction_GET_CODE(object));
  KeptSlot* slot = kept_slot(place, key.get());
  // Looking may run code, in dicts with strange keys, that sends the object too.
  if (std::shared_ptr<KeptNode> kept = slot == nullptr ? nullptr : slot->kept) {
    KeptUse::Link link{Ref::share(object), std::move(key), std::move(kept)};
    if (can_take(link)) return take(std::move(link)), true;
    key = std::move(link.key);
    slot = kept_slot(place, key.get());
  }
  const bool may_be_kept = slot != nullptr ? slot->misses < kMaxMisses
                                           : kept_.phase == KeptUse::Phase::kWritten;
  end_kept();
  if (!may_be_kept) return false;
  std::shared_ptr<KeptNode> node = KeptNode::look(state_, object, kept_.met);
  if (!node) return note_kept_miss(place, key.get()), false;
  kept_.chain.push_back({Ref::share(object), std::move(key), std::move(node)});
  kept_.phase = KeptUse::Phase::kWriting;
  kept_.references.clear();
  kept_.base = out_.size();
  kept_.depth = stack_.size();
  imports().trace();
  return false;
}

std::shared_ptr<KeptNode> GraphEncoder::kept_class(PyObject* type) const {
  switch (kept_.phase) {
    case KeptUse::Phase::kOpen:
      return state_.kept_classes->kept(type);
    case KeptUse::Phase::kTaken:
      return kept_.chain.back().node->successors().kept(type);
    default:
      return nullptr;
  }
}

bool GraphEncoder::take_class(std::shared_ptr<KeptNode> kept, PyObject* type) {
  KeptUse::Link link{Ref::share(type), Ref::share(type), std::move(kept)};
  freeze();
  if (!can_take(link)) return false;
  out_.node(wire::NodeTag::kNewObject, 6);
  known(key_of(type));
  take(std::move(link));
  return true;
}

bool GraphEncoder::can_take(const KeptUse::Link& link) {
  const KeptNode& node = *link.node;
  const std::size_t first = kept_.met.size();
  kept_.met.reserve(first + node.offsets().size());
  bool fits = shared_.size() + node.references().size() <= KeptNode::kMaxReferences &&
              node.fits(state_, link.root.get(), kept_.met);
  // The root may have been noted: this is where it stands.
  for (std::size_t i = first + 1; fits && i < kept_.met.size(); ++i) {
    fits = memo_.find(kept_.met[i].key) == nullptr;
  }
  if (fits) return true;
  kept_.met.resize(first);
  ++state_.kept_misses;
  note_kept_miss(kept_.chain.size(), link.key.get());
  return false;
}

void GraphEncoder::take(KeptUse::Link link) {
  const KeptNode& node = *link.node;
  const std::size_t base = out_.size();
  for (std::size_t i = 1; i < node.offsets().size(); ++i) {
    memo_.insert(kept_.met[node.first() + i].key, base + node.offsets()[i]);
  }
  std::size_t done = 0;
  for (const KeptNode::Reference& one : node.references()) {
    out_.append(node.node().subspan(done, one.position - done));
    reference(*memo_.find(kept_.met[one.number].key));
    done = one.position + KeptNode::kReferenceSize;
  }
  out_.append(node.node().subspan(done));
  kept_.chain.push_back(std::move(link));
  ++kept_.taken;
  kept_.phase = KeptUse::Phase::kTaken;
  ++state_.kept_hits;
}

// Gives imports, code and namespaces what the nodes that were taken have of them.
void GraphEncoder::encode_taken() {
  PyObject* const current = current_;
  const std::size_t size = out_.view().size();  // Insertions stay as they are.
  const std::size_t depth = stack_.size();
  Memo memo;
  std::vector<std::uint64_t> shared;
  std::swap(memo_, memo);
  std::swap(shared_, shared);
  imports().trace();
  for (std::size_t i = 0; i < kept_.taken; ++i) {
    PyObject* root = kept_.chain[i].root.get();
    memo_.insert(key_of(root), size);
    planned(root, nullptr);
    run(depth);
  }
  std::swap(memo_, memo);
  std::swap(shared_, shared);
  out_.truncate(size);
  current_ = current;
}

// What was kept in the middle of payloads has no sections, until it is the last.
void GraphEncoder::end_kept_chain() {
  if (kept_.phase != KeptUse::Phase::kTaken || taken_sections() != nullptr) return;
  end_kept();
  kept_.phase = KeptUse::Phase::kWritten;
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
  const KeptUse::Link& link = kept_.chain.back();
  const bool is_kept = out_.insertions().empty() &&
                       link.node->set_node(out_.view().subspan(kept_.base), kept_.base,
                                           memo_, kept_.met, kept_.references);
  if (!is_kept) note_kept_miss(kept_.chain.size() - 1, link.key.get());
  kept_.phase = is_kept ? KeptUse::Phase::kWritten : KeptUse::Phase::kClosed;
}

void GraphEncoder::keep(KeptSections sections) {
  kept_.phase = KeptUse::Phase::kClosed;
  const bool is_kept =
      imports().can_be_repeated() &&
      kept_.chain.back().node->set_sections(std::move(sections), imports().seen()) &&
      still_fits(imports().seen_containers());
  // A chain that is taken whole, but for its sections, stands there already.
  const std::size_t first = std::min(kept_.taken, kept_.chain.size() - 1);
  if (!is_kept) return note_kept_miss(first, kept_.chain[first].key.get());
  KeptSlot* slot = kept_slot(first, kept_.chain[first].key.get());
  for (std::size_t i = kept_.taken; slot != nullptr && i < kept_.chain.size(); ++i) {
    slot->kept = kept_.chain[i].node;
    if (i + 1 == kept_.chain.size()) break;
    KeptTable& successors = slot->kept->successors();
    PyObject* key = kept_.chain[i + 1].key.get();
    successors.find(key);  // The first time.
    slot = successors.find(key);
    ++state_.kept_successors;
  }
  if (state_.kept_successors > kMaxKeptSuccessors) forget_kept(state_);
}

// Whether all nodes of the chain are what they were when they were looked at or taken.
// Of what code looks into, all that can change has to be compared.
bool GraphEncoder::still_fits(const std::vector<Ref>& containers) const {
  std::vector<MetObject> met;
  const auto fits = [&](const KeptUse::Link& link) {
    return link.node->fits(state_, link.root.get(), met);
  };
  return std::ranges::all_of(kept_.chain, fits) &&
         std::ranges::all_of(containers, [&](const Ref& container) {
           return std::ranges::find(met, key_of(container.get()), &MetObject::key) !=
                  met.end();
         });
}

}  // namespace waybill::py
