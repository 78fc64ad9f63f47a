#pragma once

// Dates, decimals, paths and the like: objects that a call makes, with a few leaves and
// objects that came before, and nothing more. They are verified and built at once.

#include <cstddef>
#include <cstdint>

#include "waybill/bytes.h"
#include "wire/lead.h"
#include "wire/reader.h"

namespace waybill::envelope {

// [callable, [argument, …], nil, [], {}] without its head and tag, where the callable
// is a reference, and each argument a reference or a leaf that is no other extension.
struct ShortCall {
  static constexpr std::size_t kMaxArguments = 8;

  std::size_t arguments = 0;
  std::size_t size = 0;  // Of all of it; 0 if it is not so.

  // How many values there are.
  std::size_t values() const { return 5 + arguments; }
};

// The size of a nil, bool, number, text or binary; 0 if something else is there, or not
// all of it.
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

// The call at the start of these bytes. In order, `take_reference` is given the number
// of each reference, that of the callable first, and `take_leaf` the bytes of each
// leaf; there is no such call if one of them returns false.
template <typename TakeReference, typename TakeLeaf>
ShortCall short_call_at(BytesView bytes, TakeReference take_reference,
                        TakeLeaf take_leaf) {
  const auto number_of = [](BytesView reference) {
    return wire::big_endian(reference.data() + 2, reference.size() - 2);
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
