// The encoder's side of the encode cache: when a function is kept, and when what was
// kept is taken.
//
// A kept node has the numbers of modules, code and references that it has where nothing
// came before it. So it is taken only where there was plain data alone, and the
// manifest and the code section are its own then. When anything else follows, the
// function is encoded once more the general way, to nowhere: then manifest and code
// section are what they would be, and the bytes that were taken are right.
//
// Tested by tests/python/cache/test_kept_functions.py.

#include "python/encode/graph_encoder.h"
#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

// So often a function may be another than it was, or cannot be kept, before it is no
// longer tried.
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

bool GraphEncoder::begin_kept(PyObject* object) {
  kept_.phase = KeptUse::Phase::kClosed;
  if (!PyFunction_Check(object) || !shared_.empty()) return false;
  kept_.code = Ref::share(PyFunction_GET_CODE(object));
  CodeInfo* info = kept_info(state_, kept_.code.get());
  // Code without an info is sent for the first time.
  if (info == nullptr) return false;
  // Looking may run code, in dicts with strange keys, that sends the function too.
  if (std::shared_ptr<const KeptFunction> kept = info->kept) {
    if (take(std::move(kept), object)) return ++state_.kept_hits, true;
    ++state_.kept_misses;
    info->kept.reset();
    ++info->misses;
  }
  if (info->misses >= kMaxMisses) return false;
  kept_.notes = KeptFunction::look(state_, object);
  if (!kept_.notes) {
    ++info->misses;
    return false;
  }
  kept_.phase = KeptUse::Phase::kWriting;
  kept_.function = Ref::share(object);
  kept_.info = info;
  kept_.base = out_.size();
  kept_.depth = stack_.size();
  imports().trace();
  return false;
}

bool GraphEncoder::take(std::shared_ptr<const KeptFunction> kept, PyObject* function) {
  std::vector<MetObject> met;
  met.reserve(kept->offsets().size());
  if (!kept->fits(state_, function, met)) return false;
  // The function itself, which is the first, has just been noted.
  constexpr std::uint64_t kNowhere = KeptFunction::kNowhere;
  for (std::size_t i = 1; i < met.size(); ++i) {
    if (memo_.find(met[i].key) != nullptr) return false;
    // Its owner has it, and so do we.
    const bool has_one_owner = Py_REFCNT(met[i].object.get()) <= 2;
    if (kept->offsets()[i] == kNowhere && !has_one_owner) return false;
  }
  const std::size_t base = out_.size();
  for (std::size_t i = 1; i < met.size(); ++i) {
    if (kept->offsets()[i] == kNowhere) continue;
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
  kept_.function = Ref::share(function);
  kept_.taken = std::move(kept);
  return true;
}

// Gives imports, code and namespaces what the function that was taken has of them.
void GraphEncoder::encode_taken() {
  PyObject* const current = current_;
  const std::size_t size = out_.view().size();  // Insertions stay as they are.
  const std::size_t depth = stack_.size();
  Memo memo;
  std::vector<std::uint64_t> shared;
  std::swap(memo_, memo);
  std::swap(shared_, shared);
  memo_.insert(key_of(kept_.function.get()), size);
  planned(kept_.function.get(), nullptr);
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
  if (!is_kept) ++kept_.info->misses;
  kept_.phase = is_kept ? KeptUse::Phase::kWritten : KeptUse::Phase::kClosed;
}

void GraphEncoder::keep(KeptSections sections) {
  kept_.phase = KeptUse::Phase::kClosed;
  const bool is_kept = imports().can_be_repeated() &&
                       kept_.notes->complete(state_, kept_.function.get(),
                                             imports().seen(), std::move(sections));
  if (is_kept) {
    kept_.info->kept = std::move(kept_.notes);
  } else {
    ++kept_.info->misses;
  }
}

}  // namespace waybill::py
