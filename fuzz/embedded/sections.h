#pragma once

// An envelope as its sections, to be changed one by one and sealed again.

#include <array>
#include <optional>

#include "embedded/value_tree.h"

namespace waybill::fuzz {

// Header, manifest, code, shared positions, payload, debug information: each the bytes
// of one value.
using Sections = std::array<Bytes, 6>;

inline Bytes& section(Sections& sections, wire::SectionIndex index) {
  return sections[static_cast<std::size_t>(index)];
}

// The sections, if they can be told apart; what is in them may be anything.
std::optional<Sections> take_apart(BytesView envelope);

// An envelope with the digest that belongs to it, not signed.
Bytes put_together(const Sections& sections);

// The shared positions; nothing if they are not numbers.
std::optional<std::vector<std::uint64_t>> shared_in(const Sections& sections);

// Their section.
Bytes section_of(const std::vector<std::uint64_t>& shared);

}  // namespace waybill::fuzz
