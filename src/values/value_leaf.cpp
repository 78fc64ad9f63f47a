// Leaves and heads in canonical form, the same as in
// src/python/encode/plain_writer.cpp. Tested by tests/values/value_test.cpp and
// tests/examples/test_plain_data.py.

#include "values/value_leaf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "format/leaf_kind.h"
#include "wire/number.h"
#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using data::Kind;
using wire::ExtType;
using wire::NodeTag;
using wire::Singleton;
using wire::Token;

bool write_text(const std::string& text, wire::Writer& out, Failure& failure) {
  if (!is_countable(text.size(), Kind::kText, failure)) return false;
  if (wire::is_utf8(text)) {
    out.text(text);
    return true;
  }
  if (!wire::is_utf8(text, wire::Surrogates::kAllowed)) {
    failure = {ErrorCode::kMalformed, "text is not UTF-8; use Binary for bytes"};
    return false;
  }
  out.extension(ExtType::kText,
                {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return true;
}

bool write_binary(const data::Binary& bytes, Kind kind, wire::Writer& out,
                  Failure& failure) {
  if (!is_countable(bytes.size(), kind, failure)) return false;
  if (kind == Kind::kByteArray) out.node(NodeTag::kByteArray, 1);
  out.binary(bytes);
  return true;
}

void write_complex(std::complex<double> value, wire::Writer& out) {
  std::array<std::uint8_t, 16> bytes{};
  const double parts[] = {value.real(), value.imag()};
  for (std::size_t part = 0; part < 2; ++part) {
    const std::uint64_t bits = wire::swapped(std::bit_cast<std::uint64_t>(parts[part]));
    std::memcpy(bytes.data() + 8 * part, &bits, sizeof bits);
  }
  out.extension(ExtType::kComplex, bytes);
}

std::complex<double> complex_of(BytesView bytes) {
  const auto part = [&](std::size_t at) {
    return std::bit_cast<double>(wire::read_big_endian(bytes.data() + at, 8));
  };
  return {part(0), part(8)};
}

NodeTag tag_of(Kind kind) {
  switch (kind) {
    case Kind::kSet:
      return NodeTag::kSet;
    case Kind::kFrozenSet:
      return NodeTag::kFrozenSet;
    case Kind::kSlice:
      return NodeTag::kSlice;
    case Kind::kRange:
      return NodeTag::kRange;
    default:
      return NodeTag::kTuple;
  }
}

}  // namespace

bool is_countable(std::size_t count, Kind kind, Failure& failure) {
  // The array of a node counts the tag too.
  if (count < wire::kMaxCount) return true;
  failure = {ErrorCode::kLimitExceeded,
             "a " + std::string(name_of(kind)) +
                 " has 2^32 bytes or items or more, which msgpack cannot store"};
  return false;
}

const char* problem_of(const data::Value& value) {
  const bool is_range = value.kind() == Kind::kRange;
  if (!is_range && value.kind() != Kind::kSlice) return nullptr;
  const std::vector<data::Value>& items = *value.items();
  if (items.size() != 3) return "a slice or range has three items";
  if (!is_range) return nullptr;
  const auto is_integer = [](const data::Value& item) {
    return item.kind() >= Kind::kInteger && item.kind() <= Kind::kBigInteger;
  };
  const bool is_valid =
      std::ranges::all_of(items, is_integer) && items[2] != data::Value(0);
  return is_valid ? nullptr : "a range should have three ints, and a step other than 0";
}

void write_head(Kind kind, std::size_t count, wire::Writer& out) {
  if (kind == Kind::kList) {
    out.array(count);
  } else {
    out.node(tag_of(kind), count);
  }
}

bool read_leaf(const Token& token, data::Value& leaf) {
  switch (leaf_kind(token)) {
    case LeafKind::kNone:
      leaf = data::Value();
      return true;
    case LeafKind::kBoolean:
      leaf = token.integer != 0;
      return true;
    case LeafKind::kInteger:
      leaf = token.integer;
      return true;
    case LeafKind::kUnsigned:
      leaf = token.unsigned_integer;
      return true;
    case LeafKind::kReal:
      leaf = token.real;
      return true;
    case LeafKind::kText:
      leaf = token.text();
      return true;
    case LeafKind::kBytes:
      leaf = data::Binary(token.bytes.begin(), token.bytes.end());
      return true;
    case LeafKind::kLargeInteger:
      leaf = data::Value::integer(token.bytes);
      return true;
    case LeafKind::kComplex:
      leaf = complex_of(token.bytes);
      return true;
    case LeafKind::kEllipsis:
      leaf = data::Ellipsis();
      return true;
    case LeafKind::kNotImplemented:
      leaf = data::NotImplemented();
      return true;
    default:
      return false;
  }
}

bool write_leaf(const data::Value& leaf, wire::Writer& out, Failure& failure) {
  switch (leaf.kind()) {
    case Kind::kBoolean:
      out.boolean(*leaf.get_if<bool>());
      return true;
    case Kind::kInteger:
      out.integer(*leaf.get_if<std::int64_t>());
      return true;
    case Kind::kUnsigned:
      out.unsigned_integer(*leaf.get_if<std::uint64_t>());
      return true;
    case Kind::kBigInteger: {
      const data::Binary& bytes = leaf.get_if<data::BigInteger>()->bytes();
      if (!is_countable(bytes.size(), leaf.kind(), failure)) return false;
      out.extension(ExtType::kInteger, bytes);
      return true;
    }
    case Kind::kReal:
      out.real(*leaf.get_if<double>());
      return true;
    case Kind::kComplex:
      write_complex(*leaf.get_if<std::complex<double>>(), out);
      return true;
    case Kind::kText:
      return write_text(*leaf.get_if<std::string>(), out, failure);
    case Kind::kBinary:
      return write_binary(*leaf.get_if<data::Binary>(), leaf.kind(), out, failure);
    case Kind::kByteArray:
      return write_binary(leaf.get_if<data::ByteArray>()->bytes, leaf.kind(), out,
                          failure);
    case Kind::kEllipsis:
      out.singleton(Singleton::kEllipsis);
      return true;
    case Kind::kNotImplemented:
      out.singleton(Singleton::kNotImplemented);
      return true;
    case Kind::kStandard:
      failure = {ErrorCode::kRefused,
                 "a " + leaf.get_if<data::Standard>()->type +
                     ": objects of the standard library cannot be written"};
      return false;
    default:
      out.nil();
      return true;
  }
}

}  // namespace waybill::envelope
