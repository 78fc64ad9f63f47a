// Tested by tests/python/explain.

#include "python/encode/walk_record.h"

#include <algorithm>
#include <utility>

#include "python/encode/encode_context.h"
#include "python/runtime/objects.h"
#include "wire/reader.h"

namespace waybill::py {

namespace {

// Smaller simple values (numbers, text) are not listed as separate parts.
constexpr std::uint64_t kMinLeafBytes = 64;

WrittenAmounts measure(const EncodeContext& context) {
  WrittenAmounts now;
  now.payload = context.out.size();
  if (const OtherSections* others = context.others_if_any()) {
    now.code = others->code.size();
  }
  now.buffer_bytes = context.stored.size();
  now.buffers = context.stored.count();
  return now;
}

Label label_at(const EncodeContext& context, std::size_t depth) {
  return depth == 0 ? Label{} : context.stack.label_at(depth - 1);
}

// Whether the bytes written since `begin` start with a reference.
bool is_reference(const EncodeContext& context, const WrittenAmounts& begin) {
  return wire::size_of_reference(context.out.view().subspan(begin.payload)) != 0;
}

}  // namespace

void WalkRecord::on_begin(EncodeContext& context, PyObject* object) {
  begin_ = measure(context);
  depth_ = context.stack.size();
  if (++begin_count_ % kProgressInterval != 0 || !progress_) return;
  // The callback may change what is being written.
  context.objects.hold(object);
  context.freeze();
  is_stopped_ = true;
  progress_(begin_count_, begin_.total());
  is_stopped_ = false;
}

void WalkRecord::on_written(const EncodeContext& context, PyObject* object) {
  const bool is_open = context.stack.size() > depth_;
  if (!is_open && is_reference(context, begin_)) return add_reference(context, object);
  // The dict of an instance is part of the instance.
  if (depth_ != 0 && context.stack.is_at_state(depth_ - 1)) return;
  add(object);
  if (is_open) {
    open_.push_back({parts_.size() - 1, depth_});
  } else {
    close(context, parts_.size() - 1, depth_);
  }
}

void WalkRecord::on_blocked(const EncodeContext& context, PyObject* object,
                            std::string reason) {
  add(object);
  const std::size_t part = parts_.size() - 1;
  mark_listed(part);
  blocker_of_.emplace(object, blockers_.size());
  BlockedObject& new_blocker = blockers_.emplace_back();
  new_blocker.part = part;
  new_blocker.reason = std::move(reason);
  new_blocker.edge_count = 1;
  close(context, part, depth_);
  new_blocker.edges.push_back({parts_[part].parent, parts_[part].label});
}

void WalkRecord::add(PyObject* object) {
  Part& part = parts_.emplace_back();
  part.parent = innermost_part();
  part.object = Ref::share(object);
  part.begin = begin_;
}

void WalkRecord::mark_listed(std::size_t part) {
  for (; !parts_[part].is_listed; part = parts_[part].parent)
    parts_[part].is_listed = true;
}

void WalkRecord::add_reference(const EncodeContext& context, PyObject* object) {
  if (blockers_.empty()) return;
  const auto found = blocker_of_.find(object);
  if (found == blocker_of_.end()) return;
  BlockedObject& blocker = blockers_[found->second];
  ++blocker.edge_count;
  if (blocker.edges.size() == kMaxEdges) return;
  blocker.edges.push_back({innermost_part(), label_at(context, depth_)});
  mark_listed(innermost_part());
}

void WalkRecord::on_popped(const EncodeContext& context) {
  while (!open_.empty() && open_.back().depth >= context.stack.size()) {
    const OpenPart last = open_.back();
    open_.pop_back();
    close(context, last.part, last.depth);
  }
}

// The parent is still on the stack, so the label is created only for a part that is
// kept.
void WalkRecord::close(const EncodeContext& context, std::size_t part,
                       std::size_t depth) {
  Part& closed = parts_[part];
  closed.end = measure(context);
  const bool is_last = part + 1 == parts_.size();
  const std::uint64_t min_bytes =
      is_simple(closed.object.get()) ? std::max(min_bytes_, kMinLeafBytes) : min_bytes_;
  if (is_last && part != 0 && !closed.is_listed && closed.bytes() < min_bytes) {
    parts_.pop_back();
    ++omitted_count_;
    return;
  }
  closed.label = label_at(context, depth);
  if (parts_.size() > max_parts_) fold();
}

// A closed part has at most the bytes of its holder, so when a holder is folded, all
// its descendants are folded too.
void WalkRecord::fold() {
  std::vector<bool> is_open(parts_.size());
  for (const OpenPart& open : open_) is_open[open.part] = true;
  const auto is_retained = [&](std::size_t i) {
    return is_open[i] || parts_[i].is_listed || parts_[i].bytes() >= min_bytes_;
  };
  std::size_t remaining = parts_.size();
  while (remaining > max_parts_ / 2 && min_bytes_ < kLargest) {
    min_bytes_ = std::max(kMinLeafBytes, 2 * min_bytes_);
    remaining = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) remaining += is_retained(i) ? 1 : 0;
  }
  std::vector<std::size_t> new_index_of(parts_.size());
  std::size_t end = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!is_retained(i)) continue;
    new_index_of[i] = end;
    parts_[i].parent = new_index_of[parts_[i].parent];
    if (end != i) parts_[end] = std::move(parts_[i]);
    ++end;
  }
  omitted_count_ += parts_.size() - end;
  parts_.resize(end);
  for (OpenPart& open : open_) open.part = new_index_of[open.part];
  for (BlockedObject& blocker : blockers_) {
    blocker.part = new_index_of[blocker.part];
    for (BlockedObject::Edge& edge : blocker.edges)
      edge.parent = new_index_of[edge.parent];
  }
  // If more parts than the maximum are kept, the next fold waits until their number
  // doubles.
  max_parts_ = std::max(max_parts_, 2 * end);
}

}  // namespace waybill::py
