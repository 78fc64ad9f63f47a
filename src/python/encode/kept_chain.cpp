// Tested by tests/python/cache/test_kept_functions.py, test_kept_classes.py and
// test_kept_chains.py.

#include "python/encode/kept_chain.h"

#include <algorithm>
#include <utility>

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

PyObject* key_of_slot(PyObject* root) {
  return PyType_Check(root) ? root : PyFunction_GET_CODE(root);
}

}  // namespace

KeptChain::KeptChain(EncodeContext& context) : context_(context) {
  const EncodeOptions& options = context.options;
  const bool keeps = context.state.uses_caches && options.hooks.leave_graph_alone() &&
                     !options.root_by_value && !options.passes_over &&
                     !options.names_no_ids && !options.only_names_classes;
  if (keeps) phase_ = Phase::kOpen;
}

bool KeptChain::close() {
  context_.objects.trace(nullptr);
  return std::exchange(phase_, Phase::kClosed) == Phase::kTaken;
}

void KeptChain::follow(const KeptSections& sections) {
  phase_ = Phase::kBegun;
  first_sections_ = &sections;
}

KeptChain::Meeting KeptChain::meet(PyObject* object) {
  switch (phase_) {
    case Phase::kOpen:
    case Phase::kTaken:
    case Phase::kWritten:
      return meet_first(object);
    case Phase::kWriting:
      return context_.stack.size() > depth_ ? Meeting::kInside : Meeting::kEnd;
    case Phase::kBegun:
      close();
      return Meeting::kAfterFirst;
    case Phase::kClosed:
      break;
  }
  return Meeting::kInside;
}

// Where a node of the chain is kept; null if it is sent for the first time, or if the
// node before it is.
KeptSlot* KeptChain::slot(std::size_t place, PyObject* key) const {
  if (place > taken_) return nullptr;
  if (place != 0) return chain_[place - 1].node->successors().find(key);
  State& state = context_.state;
  if (PyType_Check(key)) return state.kept_classes->find(key);
  CodeInfo* info = kept_info(state, key);
  if (info == nullptr) return nullptr;
  // Tables are emptied with the caches; what is kept on code is found here.
  if (info->slot.kept && !info->slot.kept->is_current(state)) info->slot = {};
  return &info->slot;
}

void KeptChain::note_miss(std::size_t place, PyObject* key) const {
  KeptSlot* missed = slot(place, key);
  if (missed == nullptr) return;
  missed->kept.reset();
  ++missed->misses;
}

KeptChain::Meeting KeptChain::meet_first(PyObject* object) {
  const bool is_class = PyType_Check(object);
  if (!is_class && !PyFunction_Check(object)) {
    // The class of such an instance comes next.
    const bool is_known =
        dict_of_ordinary(context_, object) || has_only_slots(context_, object);
    return is_known ? Meeting::kInside : Meeting::kEnd;
  }
  const std::size_t place = chain_.size();
  if (place == kMaxChain ||
      (is_class && find_by_own_name(context_.state, object).module)) {
    return Meeting::kEnd;
  }
  Ref key = Ref::share(key_of_slot(object));
  KeptSlot* found = slot(place, key.get());
  // Looking may run code, in dicts with strange keys, that sends the object too.
  if (std::shared_ptr<KeptNode> kept = found == nullptr ? nullptr : found->kept) {
    Link link{Ref::share(object), key, std::move(kept)};
    if (can_take(link)) return take(std::move(link)), Meeting::kTaken;
    found = slot(place, key.get());  // The function may have another code by now.
  }
  const bool may_be_kept =
      found != nullptr ? found->misses < kMaxMisses : phase_ == Phase::kWritten;
  return may_be_kept ? Meeting::kBegin : Meeting::kEnd;
}

void KeptChain::begin(PyObject* object) {
  Ref key = Ref::share(key_of_slot(object));
  const std::size_t first = met_.size();
  std::shared_ptr<KeptNode> node = KeptNode::look(context_.state, object, met_);
  if (!node) {
    met_.resize(first);
    return note_miss(chain_.size(), key.get());
  }
  for (VisitedObject& one : std::span(met_).subspan(first)) {
    if (one.is_single) one.object = Ref();
  }
  chain_.push_back({Ref::share(object), std::move(key), std::move(node)});
  phase_ = Phase::kWriting;
  trace_.references.clear();
  trace_.has_restarts = false;
  context_.objects.trace(&trace_);
  base_ = context_.out.size();
  depth_ = context_.stack.size();
  stored_ = context_.stored.count();
  context_.imports().trace();
}

std::shared_ptr<KeptNode> KeptChain::kept_class(PyObject* type) const {
  switch (phase_) {
    case Phase::kOpen:
      return context_.state.kept_classes->kept(type);
    case Phase::kTaken:
      return chain_.back().node->successors().kept(type);
    default:
      return nullptr;
  }
}

bool KeptChain::take_class(std::shared_ptr<KeptNode> kept, PyObject* type) {
  Link link{Ref::share(type), Ref::share(type), std::move(kept)};
  context_.freeze();
  if (!can_take(link)) return false;
  context_.out.node(wire::NodeTag::kNewObject, 6);
  context_.known(key_of(type));
  take(std::move(link));
  return true;
}

bool KeptChain::can_take(const Link& link) {
  const KeptNode& node = *link.node;
  WrittenObjects& objects = context_.objects;
  const std::size_t first = met_.size();
  met_.reserve(first + node.offsets().size());
  const std::size_t references = objects.shared().size() + node.references().size();
  bool fits = references <= KeptNode::kMaxReferences &&
              node.fits(context_.state, link.root.get(), met_);
  // The root may have been noted: this is where it stands.
  for (std::size_t i = first + 1; fits && i < met_.size(); ++i) {
    fits = objects.find(met_[i].key) == nullptr;
  }
  if (fits) return true;
  met_.resize(first);
  ++context_.state.kept_misses;
  note_miss(chain_.size(), link.key.get());
  return false;
}

void KeptChain::take(Link link) {
  const KeptNode& node = *link.node;
  WrittenObjects& objects = context_.objects;
  wire::Writer& out = context_.out;
  const std::size_t base = out.size();
  for (std::size_t i = 1; i < node.offsets().size(); ++i) {
    VisitedObject& one = met_[node.first() + i];
    if (node.offsets()[i] == KeptNode::kNowhere) {
      one.object = Ref();
    } else {
      objects.note(one.key, base + node.offsets()[i]);
    }
  }
  std::size_t done = 0;
  for (const KeptNode::Reference& one : node.references()) {
    out.append(node.node().subspan(done, one.position - done));
    objects.refer_to(*objects.find(met_[one.number].key), out);
    done = one.position + KeptNode::kReferenceSize;
  }
  out.append(node.node().subspan(done));
  chain_.push_back(std::move(link));
  ++taken_;
  phase_ = Phase::kTaken;
  ++context_.state.kept_hits;
}

void KeptChain::set_node() {
  const Link& link = chain_.back();
  const wire::Writer& out = context_.out;
  close();
  // What is kept has each object in one place.
  if (trace_.has_restarts) return;
  const bool is_kept =
      out.insertions().empty() && context_.stored.count() == stored_ &&
      link.node->set_node(out.view().subspan(base_), base_, context_.objects.memo(),
                          met_, trace_.references);
  if (!is_kept) return note_miss(chain_.size() - 1, link.key.get());
  phase_ = Phase::kWritten;
}

const KeptSections* KeptChain::sections() const {
  if (phase_ == Phase::kTaken) return chain_.back().node->sections(has_source());
  return phase_ == Phase::kBegun ? first_sections_ : nullptr;
}

bool KeptChain::has_source() const {
  return context_.hooks().source != SourceUse::kNone;
}

bool KeptChain::is_to_be_kept() const {
  // Source that is not there may be there the next time.
  return phase_ == Phase::kWritten && !context_.others_if_any()->code.lacks_source();
}

bool KeptChain::lacks_sections() const {
  return phase_ == Phase::kTaken && sections() == nullptr;
}

void KeptChain::keep(KeptSections sections) {
  phase_ = Phase::kClosed;
  // Nothing is written any more. What nobody else has is to count as such.
  context_.objects.let_go();
  context_.stack.drop_spare_plans();
  met_.clear();
  ImportCollector& imports = context_.imports();
  const std::vector<std::uintptr_t> containers = imports.let_go_of_containers();
  const bool is_kept = imports.can_be_repeated() &&
                       chain_.back().node->set_sections(std::move(sections),
                                                        has_source(), imports.seen()) &&
                       still_fits(containers);
  // A chain that is taken whole, but for its sections, stands there already.
  const std::size_t first = std::min(taken_, chain_.size() - 1);
  if (!is_kept) return note_miss(first, chain_[first].key.get());
  State& state = context_.state;
  KeptSlot* place = slot(first, chain_[first].key.get());
  for (std::size_t i = taken_; place != nullptr && i < chain_.size(); ++i) {
    place->kept = chain_[i].node;
    if (i + 1 == chain_.size()) break;
    KeptTable& successors = place->kept->successors();
    PyObject* key = chain_[i + 1].key.get();
    successors.find(key);  // The first time.
    place = successors.find(key);
    ++state.kept_successors;
  }
  if (state.kept_successors > kMaxKeptSuccessors) forget_kept(state);
}

// Whether all nodes of the chain are what they were when they were looked at or taken.
// Of what code looks into, all that can change has to be compared.
bool KeptChain::still_fits(const std::vector<std::uintptr_t>& containers) const {
  std::vector<VisitedObject> met;
  const auto fits = [&](const Link& link) {
    return link.node->fits(context_.state, link.root.get(), met);
  };
  return std::ranges::all_of(chain_, fits) &&
         std::ranges::all_of(containers, [&](std::uintptr_t key) {
           return std::ranges::find(met, key, &VisitedObject::key) != met.end();
         });
}

}  // namespace waybill::py
