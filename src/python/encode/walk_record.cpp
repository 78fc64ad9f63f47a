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

Written measure(const EncodeContext& context) {
  Written now;
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
bool is_reference(const EncodeContext& context, const Written& begin) {
  return wire::size_of_reference(context.out.view().subspan(begin.payload)) != 0;
}

}  // namespace

void WalkRecord::begin(const EncodeContext& context) {
  begin_ = measure(context);
  depth_ = context.stack.size();
  if (++begun_ % kStep != 0 || !progress_) return;
  is_stopped_ = true;
  progress_(begun_, begin_.total());
  is_stopped_ = false;
}

void WalkRecord::written(const EncodeContext& context, PyObject* object) {
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

void WalkRecord::blocked(const EncodeContext& context, PyObject* object,
                         std::string reason) {
  add(object);
  const std::size_t part = parts_.size() - 1;
  keep(part);
  blocker_of_.emplace(object, blockers_.size());
  Blocked& made = blockers_.emplace_back();
  made.part = part;
  made.reason = std::move(reason);
  made.way_count = 1;
  close(context, part, depth_);
  made.ways.push_back({parts_[part].parent, parts_[part].label});
}

void WalkRecord::add(PyObject* object) {
  Part& part = parts_.emplace_back();
  part.parent = around();
  part.object = Ref::share(object);
  part.begin = begin_;
}

void WalkRecord::keep(std::size_t part) {
  for (; !parts_[part].is_listed; part = parts_[part].parent)
    parts_[part].is_listed = true;
}

void WalkRecord::add_reference(const EncodeContext& context, PyObject* object) {
  if (blockers_.empty()) return;
  const auto found = blocker_of_.find(object);
  if (found == blocker_of_.end()) return;
  Blocked& blocker = blockers_[found->second];
  ++blocker.way_count;
  if (blocker.ways.size() == kMaxWays) return;
  blocker.ways.push_back({around(), label_at(context, depth_)});
  keep(around());
}

void WalkRecord::popped(const EncodeContext& context) {
  while (!open_.empty() && open_.back().depth >= context.stack.size()) {
    const Open last = open_.back();
    open_.pop_back();
    close(context, last.part, last.depth);
  }
}

// The parent is still on the stack, so the label is made only for a part that is kept.
void WalkRecord::close(const EncodeContext& context, std::size_t part,
                       std::size_t depth) {
  Part& closed = parts_[part];
  closed.end = measure(context);
  const bool is_last = part + 1 == parts_.size();
  const std::uint64_t least =
      is_simple(closed.object.get()) ? std::max(least_, kMinLeafBytes) : least_;
  if (is_last && part != 0 && !closed.is_listed && closed.bytes() < least) {
    parts_.pop_back();
    ++summed_up_;
    return;
  }
  closed.label = label_at(context, depth);
  if (parts_.size() > most_) fold();
}

// A closed part has at most the bytes of its holder, so when a holder is folded, all
// its descendants are folded too.
void WalkRecord::fold() {
  std::vector<bool> is_open(parts_.size());
  for (const Open& open : open_) is_open[open.part] = true;
  const auto stays = [&](std::size_t i) {
    return is_open[i] || parts_[i].is_listed || parts_[i].bytes() >= least_;
  };
  std::size_t left = parts_.size();
  while (left > most_ / 2 && least_ < kLargest) {
    least_ = std::max(kMinLeafBytes, 2 * least_);
    left = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) left += stays(i) ? 1 : 0;
  }
  std::vector<std::size_t> place_of(parts_.size());
  std::size_t end = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!stays(i)) continue;
    place_of[i] = end;
    parts_[i].parent = place_of[parts_[i].parent];
    if (end != i) parts_[end] = std::move(parts_[i]);
    ++end;
  }
  summed_up_ += parts_.size() - end;
  parts_.resize(end);
  for (Open& open : open_) open.part = place_of[open.part];
  for (Blocked& blocker : blockers_) {
    blocker.part = place_of[blocker.part];
    for (Blocked::Way& way : blocker.ways) way.parent = place_of[way.parent];
  }
  // If more parts than that are kept, the next fold waits until their number doubles.
  most_ = std::max(most_, 2 * end);
}

}  // namespace waybill::py
