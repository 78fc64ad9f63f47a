#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

namespace waybill {

// Bytes that somebody else owns and that must outlive the view.
using BytesView = std::span<const std::uint8_t>;

// A temporary that frees its bytes at the end of the expression, such as a vector that
// a call returns. What answers with views of its input is deleted for these.
template <typename T>
concept TemporaryBytes = !std::is_reference_v<T> && std::convertible_to<T, BytesView> &&
                         !std::ranges::borrowed_range<T> && !std::is_const_v<T>;

// Bytes that belong between others, before those at `offset`, and are not copied there.
struct Insertion {
  std::size_t offset;
  BytesView bytes;
};

}  // namespace waybill
