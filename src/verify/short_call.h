#pragma once

// Short calls build dates, decimals, paths and the like: calls whose arguments are a
// few leaves and earlier objects. They are verified and built in one step.

#include <cstddef>
#include <cstdint>

#include "waybill/bytes.h"
#include "wire/lead.h"
#include "wire/reader.h"

namespace waybill::envelope {

// The values of a kObject node after its tag, [callable, [argument, …], nil, [], {}]:
// the callable is a reference, and each argument is a reference or a leaf that is not
// another extension.
struct ShortCall {
  static constexpr std::size_t kMaxArguments = 8;

  std::size_t arguments = 0;
  std::size_t size = 0;  // In bytes; 0 if the values are not a short call.

  // The number of values in it.
  std::size_t values() const { return 5 + arguments; }
};

// The size of a nil, bool, number, text or binary at the start of `bytes`; 0 for other
// values and for incomplete ones.
inline std::size_t size_of_leaf(BytesView bytes) {
  if (bytes.empty()) return 0;
  const wire::Lead& lead = wire::kLeads[bytes[0]];
  if (lead.head > bytes.size()) return 0;
  if (lead.counts == wire::Counts::kNothing) return lead.head;
  if (lead.counts != wire::Counts::kBytes ||
      wire::bytes_type(bytes[0]) == wire::TokenType::kExtension) {
    return 0;
  }
  const std::uint64_t length = wire::length_of(lead, bytes.data());
  return length <= bytes.size() - lead.head ? lead.head + length : 0;
}

// Reads a short call at the start of `bytes`. Calls `take_reference` with the number of
// each reference, the callable's first, and `take_leaf` with the bytes of each leaf, in
// order. If one of them returns false, there is no short call.
template <typename TakeReference, typename TakeLeaf>
ShortCall short_call_at(BytesView bytes, TakeReference take_reference,
                        TakeLeaf take_leaf) {
  const auto number_of = [](BytesView reference) {
    return wire::read_big_endian(reference.data() + 2, reference.size() - 2);
  };
  std::size_t at = wire::size_of_reference(bytes);
  if (at == 0 || at == bytes.size() || (bytes[at] & 0xf0) != wire::kEmptyArray) {
    return {};
  }
  const std::size_t count = bytes[at] & 0x0f;
  if (count > ShortCall::kMaxArguments || !take_reference(number_of(bytes.first(at)))) {
    return {};
  }
  ++at;
  for (std::size_t i = 0; i < count; ++i) {
    const BytesView argument = bytes.subspan(at);
    std::size_t size = wire::size_of_reference(argument);
    if (size != 0) {
      if (!take_reference(number_of(argument.first(size)))) return {};
    } else {
      size = size_of_leaf(argument);
      if (size == 0 || !take_leaf(argument.first(size))) return {};
    }
    at += size;
  }
  const BytesView rest = bytes.subspan(at);
  if (rest.size() < 3 || rest[0] != wire::kNilByte || rest[1] != wire::kEmptyArray ||
      rest[2] != wire::kEmptyMap) {
    return {};
  }
  return {count, at + 3};
}

}  // namespace waybill::envelope
