// One reader goes from the first byte to the last. Whatever is not as a bare function
// has it is left to those who read all envelopes.
// Tested by tests/verify/bare_function_test.cpp.

#include "verify/bare_function.h"

#include "format/frame.h"
#include "format/shapes.h"
#include "format/source_locations.h"
#include "verify/code_soundness.h"
#include "verify/payload_check.h"
#include "wire/format.h"
#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

bool read_exactly(Reader& reader, std::uint64_t expected) {
  std::uint64_t number = 0;
  return reader.read_unsigned(number, UINT64_MAX, {}) && number == expected;
}

bool read_array_of(Reader& reader, std::uint64_t expected) {
  std::uint64_t count = 0;
  return reader.read_array(count, {}) && count == expected;
}

bool read_node(Reader& reader, NodeTag tag) {
  std::uint8_t found = 0;
  return read_array_of(reader, shape_of(tag).most + 1U) &&
         reader.take_node_tag(found) && found == static_cast<std::uint8_t>(tag);
}

bool read_name(Reader& reader, std::string_view& name) {
  return reader.read_text(name, {}) && wire::is_utf8(name);
}

bool read_name_or_nil(Reader& reader, std::string_view& name) {
  return reader.read_nil() || read_name(reader, name);
}

bool read_flag(Reader& reader, bool& flag) {
  Token token;
  if (!reader.next(token) || token.type != TokenType::kBoolean) return false;
  flag = token.integer != 0;
  return true;
}

bool are_simple(const CodeFields& code) {
  Reader reader(code.constants.bytes);
  std::uint64_t count = 0;
  if (!reader.read_array(count, {})) return false;
  for (; count != 0; --count) {
    Token token;
    if (!reader.next(token) || token.type > TokenType::kBinary) return false;
    if (token.type == TokenType::kText && !wire::is_utf8(token.text())) return false;
  }
  return true;
}

// As verify() checks them; code among them is not for here.
bool are_sound(const CodeFields& code) {
  const Envelope no_envelope;
  PayloadCheck check(no_envelope, Limits{});
  Reader reader(code.constants.bytes);
  return check.check_constants(reader) && check.nested().empty();
}

bool read_code(Reader& reader, const PythonVersion& python, BareFunction& function) {
  std::uint64_t length = 0;
  Section& body = function.body;
  if (!read_array_of(reader, 1) || !read_array_of(reader, 2) ||
      !reader.read_unsigned(length, UINT32_MAX, {})) {
    return false;
  }
  body.offset = reader.offset();
  if (!reader.take(body.bytes, length)) return false;
  Reader fields(body.bytes, {}, body.offset);
  if (!read_code_body(fields, body.bytes, function.code) ||
      !check_instructions(body, function.code, python)) {
    return false;
  }
  function.has_simple_constants = are_simple(function.code);
  return function.has_simple_constants || are_sound(function.code);
}

bool read_namespace(Reader& reader, BareFunction& function) {
  return read_node(reader, NodeTag::kNamespace) &&
         read_name_or_nil(reader, function.module_name) &&
         read_name_or_nil(reader, function.package) &&
         read_flag(reader, function.is_package);
}

bool read_global(Reader& reader, BareFunction& function) {
  BareFunction::Global& global = function.globals.emplace_back();
  Token token;
  std::uint64_t import = 0;
  if (!read_name(reader, global.name) || !reader.next(token) ||
      !token.is(wire::ExtType::kModule) || !wire::index_of(token.bytes, import) ||
      import >= function.manifest.imports.size()) {
    return false;
  }
  global.import = import;
  // A function takes these two from its globals when it is made.
  if (global.name == "__builtins__" || global.name == "__name__") return false;
  return function.manifest.imports[import].time == ImportTime::kLoad;
}

// {kGlobals: {name: module, …}}, or nothing.
bool read_fields(Reader& reader, BareFunction& function) {
  std::uint64_t count = 0;
  if (!reader.read_map(count, {}) || count > 1) return false;
  if (count == 0) return true;
  if (!read_exactly(reader,
                    static_cast<std::uint64_t>(wire::FunctionField::kGlobals)) ||
      !reader.read_map(count, {})) {
    return false;
  }
  function.globals.reserve(count);  // At least two bytes each are left.
  for (; count != 0; --count) {
    if (!read_global(reader, function)) return false;
  }
  return true;
}

bool read_payload(Reader& reader, BareFunction& function) {
  return read_node(reader, NodeTag::kFunction) && read_exactly(reader, 0) &&
         read_namespace(reader, function) && read_array_of(reader, 0) &&
         read_fields(reader, function);
}

bool read_location(Reader& reader, BytesView bytes, const PythonVersion& python,
                   BareFunction& function) {
  SourceLocationReader locations(reader, function.manifest.first_file());
  SourceLocation location;
  if (!locations.next(location) || location.is_repeat || !locations.is_whole() ||
      !wire::is_utf8(location.file) ||
      !check_lines(location.line_table, function.code.instructions.size(), python)) {
    return false;
  }
  function.file = location.file;
  function.line = location.first_line;
  function.line_table = location.line_table.bytes;
  function.location =
      bytes.subspan(location.after_file, reader.offset() - location.after_file);
  // Source is for the decoder of all objects, which lets it travel on.
  return !locations.next(location) && !reader.failed() &&
         locations.sources().bytes.empty();
}

}  // namespace

bool read_bare_function(BytesView bytes, const PythonVersion& python,
                        BareFunction& function) {
  Reader reader(bytes);
  PythonVersion made_by;
  BytesView application;
  Digest digest;
  BytesView signature;
  const bool has_function =
      read_header(reader, made_by, application) && made_by == python &&
      read_manifest(reader, function.manifest) && read_code(reader, python, function) &&
      read_array_of(reader, 0) &&  // No shared positions.
      read_payload(reader, function);
  return has_function && read_location(reader, bytes, python, function) &&
         read_end(reader, bytes, digest, signature) && reader.at_end();
}

}  // namespace waybill::envelope
