// Tested by tests/python/cache/test_kept_functions.py.

#include "python/encode/kept_function.h"

#include <algorithm>

namespace waybill::py {

namespace {

constexpr std::size_t kMaxNode = 16 << 10;

}  // namespace

std::unique_ptr<KeptFunction> KeptFunction::look(const State& state,
                                                 PyObject* function) {
  std::vector<MetObject> met;
  auto kept = std::make_unique<KeptFunction>();
  kept->guards_ = FunctionGuards::note(state, function, met);
  if (!kept->guards_) return nullptr;
  for (const MetObject& one : met) {
    kept->keys_.push_back({one.key, PyTuple_CheckExact(one.object.get()) != 0});
  }
  return kept;
}

bool KeptFunction::set_node(BytesView node, std::size_t base, const Memo& memo,
                            const std::vector<std::uint64_t>& shared) {
  if (node.size() > kMaxNode) return false;
  std::size_t count = 0;
  for (const Key& key : keys_) {
    const MemoEntry* entry = memo.find(key.key);
    if (entry == nullptr && key.is_tuple) {
      offsets_.push_back(kNowhere);
      continue;
    }
    if (entry == nullptr || entry->offset < base || !entry->is_created) return false;
    offsets_.push_back(entry->offset - base);
    ++count;
  }
  if (memo.count_from(base) != count) return false;
  for (const std::uint64_t position : shared) {
    const auto found = std::ranges::find(offsets_, position - base);
    if (found == offsets_.end()) return false;
    shared_.push_back(static_cast<std::uint32_t>(found - offsets_.begin()));
  }
  node_.assign(node.begin(), node.end());
  keys_ = {};
  return true;
}

bool KeptFunction::complete(const State& state, PyObject* function, SeenWorld seen,
                            KeptSections sections) {
  if (node_.empty() || sections.size() > kMaxNode) return false;
  guards_->note(std::move(seen));
  sections_ = std::move(sections);
  std::vector<MetObject> met;
  return fits(state, function, met);
}

}  // namespace waybill::py
