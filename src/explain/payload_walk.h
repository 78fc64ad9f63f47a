#pragma once

// One walk over a payload: its parts, and what naming them takes later.

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "explain/code_places.h"
#include "explain/part_tree.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

struct WalkedPayload {
  std::vector<TreePart> parts;
  std::uint64_t summed_up = 0;
  std::uint64_t values = 0;
  // Where each class by value stands, and where its name does; in order. To go there
  // from the class would take as long as its metaclass is.
  std::vector<std::pair<std::size_t, std::size_t>> class_names;
};

// Takes the code that the payload uses. Cost: by the bytes of the payload, memory by
// its depth, classes and shared positions. `progress` may be empty; see
// explain_payload().
WalkedPayload walk_payload(const Envelope& envelope, CodeBook& code,
                           const std::function<void(std::uint64_t)>& progress);

}  // namespace waybill::envelope
