// Reads a code body, and checks what CPython does not check when it creates a code
// object: that lengths and counts agree. Instructions are checked by verify().
// Tested by tests/verify/verify_test.cpp.

#include "format/code_body.h"

#include <string>

#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using wire::CodeField;
using wire::ExtType;
using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::uint64_t kMaxStack = INT32_MAX / 16;
constexpr std::uint32_t kHasRest = 0x04;         // co_flags: *args
constexpr std::uint32_t kHasKeywordRest = 0x08;  // co_flags: **kwargs

bool read_names(Reader& reader, std::vector<std::string_view>& names,
                std::string_view what) {
  names.clear();
  return reader.read_list(names, what, [&](std::string_view& name) {
    return read_any_text(reader, name, "a name in code");
  });
}

bool read_constants(Reader& reader, BytesView body, std::size_t start,
                    CodeFields& fields) {
  fields.constants.offset = reader.offset();
  Reader inside = reader;
  if (!reader.skip()) return false;
  fields.constants.bytes = body.subspan(fields.constants.offset - start,
                                        reader.offset() - fields.constants.offset);
  if (inside.read_array(fields.constant_count, "the constants")) return true;
  return reader.fail(inside.error());
}

bool counts_agree(const CodeFields& fields) {
  return fields.positional_only_count <= fields.argument_count &&
         parameter_count_of(fields) <= fields.local_names.size();
}

}  // namespace

std::uint64_t parameter_count_of(const CodeFields& fields) {
  return std::uint64_t{fields.argument_count} + fields.keyword_only_count +
         ((fields.flags & kHasRest) != 0) + ((fields.flags & kHasKeywordRest) != 0);
}

std::vector<std::string_view> free_names_of(const CodeFields& fields) {
  constexpr std::uint8_t kFree = 0x80;  // CO_FAST_FREE
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < fields.local_kinds.size(); ++i) {
    if ((fields.local_kinds[i] & kFree) != 0) names.push_back(fields.local_names[i]);
  }
  return names;
}

std::optional<BytesView> nested_code(Reader constant) {
  Token token;
  if (constant.next(token) && token.is(ExtType::kCode)) {
    return token.bytes;
  }
  return std::nullopt;
}

bool read_any_text(Reader& reader, std::string_view& text, std::string_view what) {
  text = reader.short_text();
  if (text.data() != nullptr && wire::is_utf8(text)) {
    return reader.skip_short_text(text);
  }
  Token token;
  if (!reader.next(token)) return false;
  text = token.text();
  if (token.type == TokenType::kText && wire::is_utf8(text)) return true;
  if (token.is(ExtType::kText) && wire::is_utf8(text, wire::Surrogates::kAllowed))
    return true;
  return reader.fail(ErrorCode::kMalformed, token.offset,
                     std::string(what) + " should be UTF-8 text");
}

bool read_code_body(Reader& reader, BytesView body, CodeFields& fields) {
  const std::size_t start = reader.offset();
  const auto fail = [&](const char* detail) {
    return reader.fail(ErrorCode::kMalformed, start, detail);
  };
  std::uint64_t count = 0;
  if (!reader.read_array(count, "a code body")) return false;
  if (count != wire::kCodeFieldCount) return fail("a code body should have 13 fields");
  if (!read_number(reader, fields.argument_count, INT32_MAX, "co_argcount") ||
      !read_number(reader, fields.positional_only_count, INT32_MAX,
                   "co_posonlyargcount") ||
      !read_number(reader, fields.keyword_only_count, INT32_MAX, "co_kwonlyargcount") ||
      !read_number(reader, fields.stack_size, kMaxStack, "co_stacksize") ||
      !read_number(reader, fields.flags, UINT32_MAX, "co_flags") ||
      !read_any_text(reader, fields.name, "co_name") ||
      !read_any_text(reader, fields.qualified_name, "co_qualname") ||
      !reader.read_binary(fields.instructions, "co_code") ||
      !read_constants(reader, body, start, fields) ||
      !read_names(reader, fields.names, "co_names") ||
      !read_names(reader, fields.local_names, "co_localsplusnames") ||
      !reader.read_binary(fields.local_kinds, "co_localspluskinds") ||
      !reader.read_binary(fields.exception_table, "co_exceptiontable")) {
    return false;
  }
  if (!reader.at_end()) return fail("a code body is longer than its fields");
  if (fields.instructions.empty() || fields.instructions.size() % 2 != 0) {
    return fail("co_code should have two bytes for each instruction, and at least one");
  }
  if (fields.local_kinds.size() != fields.local_names.size()) {
    return fail(
        "co_localspluskinds should have one byte for each of co_localsplusnames");
  }
  if (!counts_agree(fields)) return fail("a code body has more parameters than locals");
  return true;
}

}  // namespace waybill::envelope
