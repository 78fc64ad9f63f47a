#pragma once

// Payloads that tests write by hand, token by token:
//
//   put(draft.payload, {array(3), "text", 7, reference(0)});
//
// Tests choose the counts themselves, so that counts can be wrong.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wire/writer.h"

namespace waybill::samples {

using Bytes = std::vector<std::uint8_t>;
using wire::ExtType;
using wire::NodeTag;
using wire::Writer;

// A msgpack value, the head of a container, or several of these.
class Token {
 public:
  Token(std::nullptr_t) : write_([](Writer& out) { out.nil(); }) {}
  Token(bool value) : write_([=](Writer& out) { out.boolean(value); }) {}
  Token(double value) : write_([=](Writer& out) { out.real(value); }) {}
  Token(const char* text) : Token(std::string(text)) {}
  Token(std::string text)
      : write_([text = std::move(text)](Writer& out) { out.text(text); }) {}
  Token(std::string_view text) : Token(std::string(text)) {}
  template <std::integral Integer>
  Token(Integer value) {
    if constexpr (std::is_signed_v<Integer>) {
      write_ = [=](Writer& out) { out.integer(value); };
    } else {
      write_ = [=](Writer& out) { out.unsigned_integer(value); };
    }
  }
  template <std::invocable<Writer&> Write>
  Token(Write write) : write_(std::move(write)) {}

  void operator()(Writer& out) const { write_(out); }

 private:
  std::function<void(Writer&)> write_;
};

class Tokens {
 public:
  Tokens(std::initializer_list<Token> tokens) : tokens_(tokens) {}

  void operator()(Writer& out) const {
    for (const Token& token : tokens_) token(out);
  }

 private:
  std::vector<Token> tokens_;
};

inline void put(Writer& out, const Tokens& tokens) { tokens(out); }

inline Bytes packed(const Tokens& tokens) {
  Writer out;
  put(out, tokens);
  return out.take();
}

inline const Token kNil = nullptr;

inline Token times(std::size_t count, Token token) {
  return [count, token = std::move(token)](Writer& out) {
    for (std::size_t i = 0; i < count; ++i) token(out);
  };
}

inline Token array(std::size_t count) {
  return [=](Writer& out) { out.array(count); };
}

inline Token map(std::size_t count) {
  return [=](Writer& out) { out.map(count); };
}

inline Token node(NodeTag tag, std::size_t count) {
  return [=](Writer& out) { out.node(tag, count); };
}

inline Token reference(std::uint64_t number) {
  return [=](Writer& out) { out.index(ExtType::kReference, number); };
}

// A module, by its number in the manifest.
inline Token module_of(std::uint64_t number) {
  return [=](Writer& out) { out.index(ExtType::kModule, number); };
}

inline Token binary(Bytes bytes) {
  return [bytes = std::move(bytes)](Writer& out) { out.binary(bytes); };
}

inline Token extension(ExtType type, Bytes bytes) {
  return [type, bytes = std::move(bytes)](Writer& out) { out.extension(type, bytes); };
}

inline Token singleton(wire::Singleton value) {
  return [=](Writer& out) { out.singleton(value); };
}

inline Tokens main_namespace() {
  return {node(NodeTag::kNamespace, 3), "__main__", kNil, false};
}

inline Tokens code_node(std::uint64_t body) { return {node(NodeTag::kCode, 1), body}; }

inline Tokens stored(std::uint64_t number) {
  return {node(NodeTag::kStored, 1), number};
}

// `module`: a number in the manifest; none: the builtins.
inline Tokens global(std::string_view name, std::optional<std::uint64_t> module = {}) {
  return {node(NodeTag::kGlobal, 2), module ? module_of(*module) : kNil, name};
}

// A function up to its fields, which follow.
inline Tokens function_head(std::uint64_t body, std::size_t fields) {
  return {node(NodeTag::kFunction, 4), body, main_namespace(), array(0), map(fields)};
}

// The end of a node kObject after its arguments, without state and items.
inline Tokens object_end() { return {kNil, array(0), map(0)}; }

// `file`: null if it is that of the enclosing code. `nested`: the number of locations
// that follow.
inline Tokens location(const char* file, std::int64_t line = 1, Bytes table = {},
                       std::size_t nested = 0) {
  const Token name = file != nullptr ? Token(file) : kNil;
  return {array(4), name, line, binary(std::move(table)), array(nested)};
}

}  // namespace waybill::samples
