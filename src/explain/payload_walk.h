#pragma once

// One walk over a payload: its parts, and what naming them takes later.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "explain/code_places.h"
#include "report/paths.h"
#include "waybill/envelope.h"
#include "waybill/explanation.h"

namespace waybill::envelope {

// At most so many parts are kept; the smallest ones count as a part of their holder.
inline constexpr std::size_t kMostParts = 20'000;

struct TreePart {
  static constexpr std::uint32_t kNoDefinition = UINT32_MAX;

  std::uint32_t parent = 0;
  // Which definition of the payload it is, or is the first reference to.
  std::uint32_t definition = kNoDefinition;
  bool stands_for_it = false;  // A reference, with the bytes of the definition.
  bool is_open = true;
  bool is_shared = false;
  ExplainedPart::Kind kind = ExplainedPart::Kind::kValue;
  Link link;
  std::size_t offset = 0;   // Of the value that it is, behind what identifies it.
  std::uint64_t count = 0;  // Values in it, keys included.
  std::uint64_t bytes = 0;
  // Values that it holds, those included that it refers to: what looking at it costs.
  std::uint64_t cost = 0;
};

struct WalkedPayload {
  // In an order in which holders come before their parts; the root is the first.
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
