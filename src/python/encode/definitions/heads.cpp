// Tested by tests/python/cache/test_kept_functions.py.

#include "python/encode/definitions/heads.h"

#include <algorithm>
#include <utility>

#include "python/guards/guards.h"

namespace waybill::py {

std::uint64_t WrittenDefinitions::position_of(const Place& place) const {
  const Start& start = starts[place.definition];
  std::uint64_t position = start.position + place.offset;
  for (const Shift& shift : start.shifts) {
    if (shift.from > place.offset) break;
    position += static_cast<std::uint64_t>(shift.by);
  }
  return position;
}

std::shared_ptr<const KeptHead> KeptHeads::take(const State& state,
                                                Heads::iterator found) {
  std::rotate(heads_.begin(), found, found + 1);
  std::shared_ptr<const KeptHead> head = heads_.front();
  if (holds(state, head->seen)) return head;
  std::erase(heads_, head);
  return nullptr;
}

void KeptHeads::keep(KeptHead head) {
  if (head.sections.size() + head.written.bytes.size() > kMostBytes) return;
  if (heads_.size() == kMost) heads_.pop_back();
  heads_.insert(heads_.begin(), std::make_shared<const KeptHead>(std::move(head)));
}

}  // namespace waybill::py
