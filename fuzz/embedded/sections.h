#pragma once

// The sections of an envelope, which can be changed one by one and sealed again.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "embedded/value_tree.h"
#include "waybill/buffers.h"

namespace waybill::fuzz {

// A stored buffer that owns its bytes.
struct OwnedBuffer {
  wire::BufferKind kind{};
  Bytes bytes;
  std::string format = {};
  std::vector<std::uint64_t> shape = {};
  bool is_fortran = false;
  std::optional<Compression> compression = {};
  std::uint64_t length = 0;
};

// Header, manifest, code, shared positions, length of the payload, payload, debug
// information: the bytes of one value each.
struct Sections : std::array<Bytes, 7> {
  std::vector<OwnedBuffer> buffers;
};

inline Bytes& section(Sections& sections, wire::SectionIndex index) {
  return sections[static_cast<std::size_t>(index)];
}

// Sets the payload, and its length.
void set_payload(Sections& sections, Bytes payload);

// Splits an envelope into its sections, whatever their content; nothing if the bytes
// are no envelope.
std::optional<Sections> split(BytesView envelope);

// Seals an unsigned envelope with the correct digest.
Bytes seal_sections(const Sections& sections);

// Numbers the references of the payload to stored buffers by first use, as the format
// requires. Removes unused buffers, and adds missing ones.
void fit_buffers(Value& payload, std::vector<OwnedBuffer>& buffers);

// The shared positions; nothing if they are not numbers.
std::optional<std::vector<std::uint64_t>> shared_in(const Sections& sections);

// The section that lists these shared positions.
Bytes section_of(const std::vector<std::uint64_t>& shared);

}  // namespace waybill::fuzz
