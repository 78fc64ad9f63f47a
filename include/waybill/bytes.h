#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

namespace waybill {

// Bytes with another owner, which must outlive the view.
using BytesView = std::span<const std::uint8_t>;

// A temporary that owns its bytes, such as a vector returned by a call. Functions that
// return views of their input are deleted for these.
template <typename T>
concept TemporaryBytes = !std::is_reference_v<T> && std::convertible_to<T, BytesView> &&
                         !std::ranges::borrowed_range<T> && !std::is_const_v<T>;

// Bytes to insert into others at `offset`, without copying them.
struct Insertion {
  std::size_t offset;
  BytesView bytes;
};

}  // namespace waybill
