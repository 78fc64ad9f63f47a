// Tested by tests/python/cache/test_kept_functions.py.

#include "python/encode/kept_node.h"

#include <algorithm>

#include "python/discovery/guard_looks.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxNode = 16 << 10;

}  // namespace

std::unique_ptr<KeptNode> KeptNode::look(const State& state, PyObject* root) {
  std::vector<MetObject> met;
  auto kept = std::make_unique<KeptNode>();
  kept->guards_ = NodeGuards::note(state, root, met);
  if (!kept->guards_) return nullptr;
  for (const MetObject& one : met) {
    kept->keys_.push_back({one.key, is_guarded_container(one.object.get())});
  }
  return kept;
}

bool KeptNode::set_node(BytesView node, std::size_t base, const Memo& memo,
                        const std::vector<std::uint64_t>& shared) {
  if (node.size() > kMaxNode) return false;
  std::size_t count = 0;
  for (const Key& key : keys_) {
    const MemoEntry* entry = memo.find(key.key);
    if (entry == nullptr && key.is_container) {
      offsets_.push_back(kNowhere);
      continue;
    }
    if (entry == nullptr || entry->offset < base || !entry->is_created) return false;
    offsets_.push_back(entry->offset - base);
    ++count;
  }
  if (memo.count_from(base) != count) return false;
  // A class that its own base refers to is begun twice, and stands where that was last.
  if (offsets_.front() != 0) return false;
  for (const std::uint64_t position : shared) {
    const auto found = std::ranges::find(offsets_, position - base);
    if (found == offsets_.end()) return false;
    shared_.push_back(static_cast<std::uint32_t>(found - offsets_.begin()));
  }
  node_.assign(node.begin(), node.end());
  keys_ = {};
  return true;
}

bool KeptNode::complete(const State& state, PyObject* root, SeenWorld seen,
                        KeptSections sections) {
  if (node_.empty() || sections.size() > kMaxNode) return false;
  const std::vector<Ref> containers = std::move(seen.containers);
  guards_->note(std::move(seen));
  sections_ = std::move(sections);
  std::vector<MetObject> met;
  if (!fits(state, root, met)) return false;
  // Of what code looks into, all that can change is compared.
  return std::ranges::all_of(containers, [&](const Ref& container) {
    return std::ranges::find(met, key_of(container.get()), &MetObject::key) !=
           met.end();
  });
}

}  // namespace waybill::py
