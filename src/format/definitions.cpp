// Tested by tests/verify/verify_test.cpp and tests/diff/diff_test.cpp.

#include "format/definitions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "wire/format.h"
#include "wire/reader.h"

namespace waybill::envelope {
PositionIndex index_positions(std::span<const std::uint64_t> shared) {
  PositionIndex index;
  for (const std::uint64_t position : shared) {
    index.emplace_back(position, static_cast<std::uint32_t>(index.size()));
  }
  std::ranges::sort(index);
  return index;
}

bool resolve_value_references(Envelope& envelope,
                              const PositionIndex& definition_index) {
  std::vector<std::uint64_t>& positions = envelope.shared;
  std::vector<std::uint32_t>& value_shared = envelope.definitions.value_shared;
  std::vector<bool> is_listed;
  std::size_t end = definition_index.size();
  value_shared.clear();
  for (std::size_t i = end; i < positions.size(); ++i) {
    const auto entry = std::ranges::lower_bound(
        definition_index, positions[i], {}, [](const auto& row) { return row.first; });
    if (entry == definition_index.end() || entry->first != positions[i]) {
      value_shared.push_back(static_cast<std::uint32_t>(end));
      positions[end++] = positions[i];
      continue;
    }
    value_shared.push_back(entry->second);
    if (positions.size() - definition_index.size() == 1)
      break;  // A single position cannot repeat.
    is_listed.resize(definition_index.size());
    if (is_listed[entry->second]) return false;
    is_listed[entry->second] = true;
  }
  positions.resize(end);
  return true;
}

bool begins_with_definitions(BytesView payload) {
  constexpr std::uint8_t kStart[] = {
      wire::kEmptyArray | 4, wire::kFixedExtension,
      static_cast<std::uint8_t>(wire::ExtType::kNode),
      static_cast<std::uint8_t>(wire::NodeTag::kDefinitions)};
  return payload.size() > sizeof kStart &&
         std::ranges::equal(payload.first(sizeof kStart), kStart);
}

bool find_definitions(Envelope& envelope, Error& error) {
  const Section& payload = envelope.payload;
  envelope.definitions = {};
  if (!begins_with_definitions(payload.bytes)) return true;
  constexpr std::size_t kHead = 4;  // The node's array head and tag.
  wire::Reader reader(payload.bytes.subspan(kHead), {}, payload.offset + kHead);
  std::uint64_t shared = 0;
  Definitions& definitions = envelope.definitions;
  const auto read_definition = [&](std::uint64_t& start) {
    start = reader.offset() - payload.offset;
    return reader.skip();
  };
  const bool is_read =
      reader.read_unsigned(shared, UINT64_MAX,
                           "the number of shared positions of definitions") &&
      (shared <= envelope.shared.size() ||
       reader.fail(ErrorCode::kBadReference, payload.offset + kHead,
                   "definitions claim " + std::to_string(shared) +
                       " shared positions, and the envelope has " +
                       std::to_string(envelope.shared.size()))) &&
      reader.read_list(definitions.starts, "definitions", read_definition);
  if (!is_read) {
    definitions = {};
    error = reader.error();
    return false;
  }
  definitions.shared = static_cast<std::size_t>(shared);
  definitions.value = reader.offset() - payload.offset;
  const auto own = std::span(envelope.shared).first(definitions.shared);
  if (resolve_value_references(envelope, index_positions(own))) return true;
  error = {ErrorCode::kBadReference, payload.offset + kHead,
           "the value lists a shared position twice"};
  return false;
}

}  // namespace waybill::envelope
