#pragma once

// The kind of a value by its first token, and the names of kinds.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "wire/reader.h"

namespace waybill::envelope {

enum class LeafKind : std::uint8_t {
  kNone,
  kBoolean,
  kInteger,   // Fits std::int64_t.
  kUnsigned,  // Fits only std::uint64_t.
  kReal,
  kText,
  kBytes,
  kLargeInteger,
  kComplex,
  kEllipsis,
  kNotImplemented,
  kEmpty,
  kUnknownSingleton,
  kModule,
  kReference,
  kCode,
  kUnknown,  // Another extension.
  kList,     // An array, or a node.
  kDict,
};

inline LeafKind leaf_kind(const wire::Token& token) {
  using enum LeafKind;
  constexpr LeafKind kTypes[] = {kNone, kBoolean, kInteger, kUnsigned, kReal,
                                 kText, kBytes,   kUnknown, kList,     kDict};
  constexpr LeafKind kExtensions[] = {kUnknown, kReference, kModule,  kLargeInteger,
                                      kComplex, kText,      kUnknown, kCode};
  constexpr LeafKind kSingletons[] = {kEllipsis, kNotImplemented, kEmpty};
  if (token.type != wire::TokenType::kExtension) {
    return kTypes[static_cast<std::size_t>(token.type)];
  }
  if (token.is(wire::ExtType::kSingleton)) {
    const bool is_known =
        token.bytes.size() == 1 && token.bytes[0] < std::size(kSingletons);
    return is_known ? kSingletons[token.bytes[0]] : kUnknownSingleton;
  }
  const auto type = static_cast<std::uint8_t>(token.ext_type);
  return type < std::size(kExtensions) ? kExtensions[type] : kUnknown;
}

// The name of a kind in Python, and in reports.
struct LeafNames {
  std::string_view type, report;
};
constexpr LeafNames names_of(LeafKind kind) {
  constexpr std::string_view kOther = "singleton";
  constexpr LeafNames kNames[] = {
      {"None", "none"},
      {"bool", "bool"},
      {"int", "int"},
      {"int", "int"},
      {"float", "float"},
      {"str", "str"},
      {"bytes", "bytes"},
      {"int", "int"},
      {"complex", "complex"},
      {kOther, "ellipsis"},
      {kOther, "not_implemented"},
      {kOther, "empty"},
      {kOther, "unknown_singleton"},
      {"module", "module"},
      {kOther, "reference"},
      {kOther, "unknown_extension"},
      {kOther, "unknown_extension"},
      {"list", "list"},
      {"dict", "dict"},
  };
  static_assert(std::size(kNames) == static_cast<std::size_t>(LeafKind::kDict) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace waybill::envelope
