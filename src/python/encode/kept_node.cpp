// Tested by tests/python/cache/test_kept_functions.py and test_kept_classes.py.

#include "python/encode/kept_node.h"

#include <algorithm>

namespace waybill::py {

namespace {

constexpr std::size_t kMaxNode = 16 << 10;

}  // namespace

std::shared_ptr<KeptNode> KeptNode::look(const State& state, PyObject* root,
                                         std::vector<VisitedObject>& visited) {
  auto kept = std::make_shared<KeptNode>();
  kept->first_ = visited.size();
  kept->guards_ = ReachGuards::note(state, root, visited);
  return kept->guards_ ? kept : nullptr;
}

bool KeptNode::set_node(BytesView node, std::size_t base, const Memo& memo,
                        std::span<const VisitedObject> visited,
                        std::span<const WrittenReference> references) {
  if (node.size() > kMaxNode) return false;
  std::size_t noted = 0;
  for (const VisitedObject& one : visited.subspan(first_)) {
    const MemoEntry* entry = memo.find(one.key);
    const bool is_written = entry != nullptr && entry->offset >= base;
    noted += is_written;
    if (one.is_single && !is_written) {
      offsets_.push_back(kNowhere);
      continue;
    }
    if (!is_written || !entry->is_created) return false;
    offsets_.push_back(entry->offset - base);
  }
  if (memo.count_from(base) != noted) return false;
  for (const WrittenReference& one : references) {
    const auto found = std::ranges::find(visited, one.key, &VisitedObject::key);
    if (found == visited.end() || one.end - one.begin != kReferenceSize) return false;
    const auto number = static_cast<std::size_t>(found - visited.begin());
    references_.push_back({one.begin - base, number});
  }
  node_.assign(node.begin(), node.end());
  return true;
}

bool KeptNode::set_sections(KeptSections sections, bool has_source, SeenWorld seen) {
  std::optional<KeptSections>& kept = sections_[has_source ? 1 : 0];
  if (kept) return true;
  if (sections.size() > kMaxNode) return false;
  guards_->note(std::move(seen));
  kept = std::move(sections);
  return true;
}

}  // namespace waybill::py
