#pragma once

// An envelope as its sections, to be changed one by one and sealed again.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "embedded/value_tree.h"
#include "waybill/buffers.h"

namespace waybill::fuzz {

// What is stored behind a head, owned.
struct Stored {
  wire::BufferKind kind{};
  Bytes bytes;
  std::string format = {};
  std::vector<std::uint64_t> shape = {};
  bool is_fortran = false;
  std::optional<Compression> compression = {};
  std::uint64_t length = 0;
};

// Header, manifest, code, shared positions, payload, debug information: each the bytes
// of one value.
struct Sections : std::array<Bytes, 6> {
  std::vector<Stored> buffers;
};

inline Bytes& section(Sections& sections, wire::SectionIndex index) {
  return sections[static_cast<std::size_t>(index)];
}

// The sections, if they can be told apart; what is in them may be anything.
std::optional<Sections> take_apart(BytesView envelope);

// An envelope with the digest that belongs to it, not signed.
Bytes put_together(const Sections& sections);

// Numbers what stands for stored buffers in the payload by first use, as the format has
// it: buffers that nothing stands for go, and there is one where there was none.
void fit_buffers(Value& payload, std::vector<Stored>& buffers);

// The shared positions; nothing if they are not numbers.
std::optional<std::vector<std::uint64_t>> shared_in(const Sections& sections);

// Their section.
Bytes section_of(const std::vector<std::uint64_t>& shared);

}  // namespace waybill::fuzz
