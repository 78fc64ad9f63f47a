#pragma once

// One walk over a payload: finds its parts, and the data needed to name them.

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

// The most parts that are kept; smaller ones count as bytes of their holder.
inline constexpr std::size_t kMaxExplainedParts = 20'000;

struct TreePart {
  static constexpr std::uint32_t kNoDefinition = UINT32_MAX;

  std::uint32_t parent = 0;
  // The number of the definition that this part is, or is the first reference to.
  std::uint32_t definition = kNoDefinition;
  // The part is a reference, charged with the bytes of the definition.
  bool stands_for_definition = false;
  bool is_open = true;
  bool is_shared = false;
  ExplainedPart::Kind kind = ExplainedPart::Kind::kValue;
  Link link;
  std::size_t offset = 0;   // The value itself starts here, after any id.
  std::uint64_t count = 0;  // Values directly in it, keys included.
  std::uint64_t bytes = 0;
  // Number of values in it, including those it refers to: the cost of visiting it.
  std::uint64_t cost = 0;
};

struct WalkedPayload {
  // Holders precede their parts; the root is the first.
  std::vector<TreePart> parts;
  std::uint64_t omitted_parts = 0;
  std::uint64_t values = 0;
  // The offsets of each class by value and of its name, sorted. Finding the name from
  // the class would cost a pass over its metaclass.
  std::vector<std::pair<std::size_t, std::size_t>> class_names;
};

// Counts the code of the payload with code.take(). Cost: linear in the bytes of the
// payload; memory linear in its depth, classes and shared positions. `progress` may be
// empty; see explain_payload().
WalkedPayload walk_payload(const Envelope& envelope, CodeBodies& code,
                           const std::function<void(std::uint64_t)>& progress);

}  // namespace waybill::envelope
