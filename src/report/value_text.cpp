// The walk over a value ends as soon as the line is full.
// Tested by tests/report/value_text_test.cpp; names and types by
// tests/values/value_refusals_test.cpp, tests/cli/test_cat.py and
// tests/explain/explain_payload_test.cpp.

#include "report/value_text.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "format/code_body.h"
#include "format/leaf_kind.h"
#include "format/manifest_codec.h"
#include "format/payload_cursor.h"
#include "text/format_text.h"
#include "wire/lead.h"
#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using wire::NodeTag;
using wire::Reader;
using wire::Token;

constexpr std::size_t kMaxOpen = 32;  // The deepest nesting that is written.

std::string binary_text(BytesView bytes, std::size_t max_text) {
  const std::string_view text = wire::as_text(bytes);
  const std::size_t end = std::min(text.size(), max_text);
  return "b'" + escaped(text.substr(0, end), true) +
         (end < text.size() ? format_text("…' ({} bytes)", text.size()) : "'");
}

// 1.0, 1e+300, nan: never the text of an int.
std::string real_text(double value) {
  std::string text = format_text("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

// `bytes`: two's complement of any length, big-endian.
std::string integer_text(BytesView bytes, std::size_t max_text) {
  const bool is_negative = !bytes.empty() && (bytes[0] & 0x80) != 0;
  if (bytes.size() > max_text) return format_text("<int of {} bytes>", bytes.size());
  std::vector<std::uint8_t> magnitude(bytes.begin(), bytes.end());
  if (is_negative) {
    unsigned carry = 1;
    for (std::size_t i = magnitude.size(); i-- != 0;) {
      carry += static_cast<std::uint8_t>(~magnitude[i]);
      magnitude[i] = static_cast<std::uint8_t>(carry);
      carry >>= 8;
    }
  }
  std::string digits;
  for (const std::uint8_t byte : magnitude) digits += format_text("{:02x}", byte);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  return format_text("{}0x{}", is_negative ? "-" : "", digits.empty() ? "0" : digits);
}

class ValueTextWriter {
 public:
  ValueTextWriter(Reader reader, const ValueNames& names, std::size_t max_text)
      : cursor_(std::move(reader)), names_(names), max_text_(max_text) {}

  std::string write() {
    while (cursor_.next() && add_event() && !is_whole_ && out_.size() <= max_text_) {
    }
    if (!is_whole_) {
      out_.resize(wire::prefix_size(out_, max_text_));
      out_ += "…";
    }
    return std::move(out_);
  }

 private:
  bool add_event() {
    if (cursor_.event() == CursorEvent::kOpen) return open();
    if (cursor_.event() == CursorEvent::kLeaf) {
      out_ += leaf_text(cursor_.token());
    } else {
      // Python writes a tuple of one as (x,).
      const auto& own = cursor_.container();
      const bool is_tuple = own.tag == static_cast<std::uint8_t>(NodeTag::kTuple);
      if (is_tuple && own.count == 1) out_ += ',';
      out_ += own.annotation;
    }
    is_whole_ = cursor_.depth() == 0;
    const auto& around = cursor_.around();
    if (around.left != 0) out_ += around.is_key() ? ": " : ", ";
    return true;
  }

  // Opens a container, which is closed with `end`.
  bool add_brackets(const char* start, const char* end) {
    if (cursor_.depth() == kMaxOpen) return false;
    out_ += start;
    cursor_.container().annotation = end;
    return true;
  }

  bool open() {
    const auto& own = cursor_.container();
    if (own.is_map) return add_brackets("{", "}");
    const bool is_node = own.count != cursor_.token().count;  // Excludes the tag.
    if (!is_node) return add_brackets("[", "]");
    switch (static_cast<NodeTag>(own.tag)) {
      case NodeTag::kTuple:
        return add_brackets("(", ")");
      case NodeTag::kSet:
        return own.count == 0 ? add_brackets("set(", ")") : add_brackets("{", "}");
      case NodeTag::kFrozenSet:
        return own.count == 0 ? add_brackets("frozenset(", ")")
                              : add_brackets("frozenset({", "})");
      case NodeTag::kGlobal:
        return write_summary("", &ValueTextWriter::read_global);
      case NodeTag::kFunction:
      case NodeTag::kCode:
        return write_summary(own.shape->name, &ValueTextWriter::read_code_name);
      case NodeTag::kClass:
        return write_summary("class", &ValueTextWriter::read_class_name);
      case NodeTag::kNamespace:
        return write_summary("namespace", &ValueTextWriter::read_text);
      case NodeTag::kStored:
        return write_summary("stored buffer", &ValueTextWriter::read_stored);
      default:
        break;
    }
    out_ += own.shape != nullptr ? own.shape->name : "unknown";
    return add_brackets("(", ")");
  }

  // Writes a node as its name alone: <function f>. `name` reads the name ahead.
  bool write_summary(std::string_view kind,
                     std::string (ValueTextWriter::*name)(Reader&) const) {
    Reader ahead = cursor_.reader();
    const std::string text = (this->*name)(ahead);
    out_ += kind.empty() ? text : format_text("<{} {}>", kind, text);
    cursor_.container().annotation = "";
    // The rest of the node may be long; after the outermost value nothing is read.
    is_whole_ = cursor_.depth() == 0;
    return is_whole_ || cursor_.skip();
  }

  std::string read_global(Reader& ahead) const {
    const auto global = global_name(ahead, names_.manifest);
    if (!global) return "?";
    const bool has_module = global->module.data() != nullptr;
    return (has_module ? cut(global->module) : "?") + "." + cut(global->name);
  }

  std::string read_code_name(Reader& ahead) const {
    std::uint64_t index = 0;
    if (!ahead.read_unsigned(index, UINT32_MAX, "a code index")) return "?";
    return index < names_.code.size() ? cut(names_.code[index]) : "?";
  }

  std::string read_stored(Reader& ahead) const {
    std::uint64_t number = 0;
    if (!ahead.read_unsigned(number, UINT64_MAX, "a number")) return "?";
    if (number >= names_.buffers.size()) return format_text("{}", number);
    return format_text("{}: {}", number, items_text(names_.buffers[number], max_text_));
  }

  std::string read_class_name(Reader& ahead) const {
    for (std::size_t i = position_of(NodeTag::kClass, "name"); i != 0; --i) {
      if (!ahead.skip()) return "?";
    }
    return read_text(ahead);
  }

  std::string read_text(Reader& ahead) const {
    std::string_view text;
    return read_any_text(ahead, text, "a name") ? cut(text) : "?";
  }

  std::string cut(std::string_view text) const {
    return std::string(text.substr(0, wire::prefix_size(text, max_text_)));
  }

  std::string module_name(const Token& token) const {
    const ImportRecord* import =
        names_.manifest == nullptr ? nullptr : import_of(token, *names_.manifest);
    return import != nullptr ? cut(import->module) : "?";
  }

  std::string leaf_text(const Token& token) const {
    std::uint64_t index = 0;
    switch (leaf_kind(token)) {
      case LeafKind::kNone:
        return "None";
      case LeafKind::kBoolean:
        return token.integer != 0 ? "True" : "False";
      case LeafKind::kInteger:
        return format_text("{}", token.integer);
      case LeafKind::kUnsigned:
        return format_text("{}", token.unsigned_integer);
      case LeafKind::kReal:
        return real_text(token.real);
      case LeafKind::kText:
        return quoted(token.text(), max_text_);
      case LeafKind::kBytes:
        return binary_text(token.bytes, max_text_);
      case LeafKind::kReference:
        wire::index_of(token.bytes, index);
        return format_text("<reference {}>", index);
      case LeafKind::kModule:
        return "<module " + module_name(token) + ">";
      case LeafKind::kLargeInteger:
        return integer_text(token.bytes, max_text_);
      case LeafKind::kComplex:
        return complex_text(token.bytes);
      case LeafKind::kCode:
        return "<code " + nested_code_name(token.bytes) + ">";
      case LeafKind::kEllipsis:
        return "Ellipsis";
      case LeafKind::kNotImplemented:
        return "NotImplemented";
      case LeafKind::kEmpty:
        return "<empty>";
      case LeafKind::kUnknownSingleton:
        return "<unknown>";
      default:
        return format_text("<extension {}>", token.ext_type);
    }
  }

  static std::string complex_text(BytesView bytes) {
    if (bytes.size() != 16) return "<complex>";
    const auto part = [&](std::size_t at) {
      return std::bit_cast<double>(wire::read_big_endian(bytes.data() + at, 8));
    };
    return format_text("({}{:+}j)", part(0), part(8));
  }

  std::string nested_code_name(BytesView bytes) const {
    ContentHash hash{};
    if (bytes.size() != hash.size()) return "?";
    std::copy(bytes.begin(), bytes.end(), hash.begin());
    const auto found = names_.code_by_hash.find(hash);
    return found != names_.code_by_hash.end() ? cut(names_.code[found->second]) : "?";
  }

  PayloadCursor<const char*> cursor_;  // The annotation: the closing bracket.
  const ValueNames& names_;
  std::size_t max_text_;
  std::string out_;
  bool is_whole_ = false;
};

ValueNames names_without_code(const Envelope& envelope) {
  ValueNames names;
  names.manifest = &envelope.manifest;
  names.buffers = envelope.buffers;
  return names;
}

using Classes = std::vector<std::pair<std::size_t, std::size_t>>;

std::string name_of_global(const ValueView& value, const NameOptions& options) {
  const auto global = global_name(value.reader_inside(), &value.envelope().manifest);
  if (!global) return {};
  const std::string owner = global->is_builtin ? std::string(options.builtins)
                                               : std::string(global->module) + ".";
  return start_of(owner + start_of(global->name, options.max_size), options.max_size);
}

std::string name_of_code(const ValueView& value, const NameOptions& options) {
  const std::size_t index = value.code_index();
  if (index == SIZE_MAX) return {};
  if (options.code != nullptr)
    return start_of((*options.code)[index], options.max_size);
  CodeFields fields;
  read_code_body(value.envelope().code[index], fields);
  return start_of(fields.qualified_name, options.max_size);
}

// The offset of the name of a class by value.
std::size_t name_offset_of_class(const ValueView& value, const NameOptions& options) {
  if (options.classes == nullptr)
    return value.value(position_of(NodeTag::kClass, "name"));
  const auto found = std::ranges::lower_bound(*options.classes, value.offset(), {},
                                              &Classes::value_type::first);
  const bool has_name =
      found != options.classes->end() && found->first == value.offset();
  return has_name ? found->second : SIZE_MAX;
}

}  // namespace

ValueNames names_of(const Envelope& envelope) {
  ValueNames names = names_without_code(envelope);
  for (const CodeBody& body : envelope.code) {
    CodeFields fields;
    read_code_body(body, fields);
    names.code_by_hash.emplace(body.hash, names.code.size());
    names.code.emplace_back(fields.qualified_name);
  }
  return names;
}

std::string value_text(Reader reader, const ValueNames& names, std::size_t max_text) {
  return ValueTextWriter(std::move(reader), names, max_text).write();
}

std::string value_text(const ValueView& value, std::size_t max_text) {
  return value_text(reader_at(value.envelope(), value.offset()),
                    names_without_code(value.envelope()), max_text);
}

std::string start_of(std::string_view text, std::size_t max_text) {
  const std::size_t end = wire::prefix_size(text, max_text);
  return std::string(text.substr(0, end)) + (end < text.size() ? "…" : "");
}

std::string end_of(std::string_view text, std::size_t max_text) {
  if (text.size() <= max_text) return std::string(text);
  text.remove_prefix(text.size() - max_text);
  while (!text.empty() && wire::continues_character(text.front()))
    text.remove_prefix(1);
  return "…" + std::string(text);
}

std::string escaped(std::string_view text, bool is_binary) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (c == '\\' || c == '\'') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f || (is_binary && byte > 0x7e)) {
      out += format_text("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string items_text(const StoredBuffer& buffer, std::size_t max_text) {
  const std::string format = quoted(buffer.format, max_text);
  std::string text;
  for (const std::uint64_t extent : buffer.shape) text += format_text("{} x ", extent);
  if (text.empty() || buffer.format.empty() || text.size() > max_text) {
    text = format_text("{} byte{}", buffer.length, buffer.length == 1 ? "" : "s");
    return buffer.format.empty() ? text : text + " of " + format;
  }
  return text + format;
}

std::string quoted(std::string_view text, std::size_t max_text) {
  const std::size_t end = wire::prefix_size(text, max_text);
  return "'" + escaped(text.substr(0, end), false) + (end < text.size() ? "…'" : "'");
}

std::string name_of(const ValueView& named, const NameOptions& options) {
  std::size_t offset = named.offset();
  for (int step = 0; step < kMaxHops; ++step) {
    const ValueView value(named.envelope(), offset);
    if (value.is_text()) return start_of(value.text(), options.max_size);
    if (const auto* import = import_of(value.token(), value.envelope().manifest)) {
      return start_of(import->module, options.max_size);
    }
    const Shape* shape = value.shape();
    if (shape == nullptr) return {};
    switch (shape->tag) {
      case NodeTag::kGlobal:
        return name_of_global(value, options);
      case NodeTag::kFunction:
      case NodeTag::kCode:
        return name_of_code(value, options);
      case NodeTag::kClass:
        offset = name_offset_of_class(value, options);
        break;
      case NodeTag::kObject:
      case NodeTag::kNewObject:
      case NodeTag::kReplacement:
      case NodeTag::kNamespace:
      case NodeTag::kModule:
      case NodeTag::kClassDict:
      case NodeTag::kLazyImport:
        offset = value.reader_inside().offset();
        break;
      default:
        return {};
    }
  }
  return {};
}

std::string type_of(const ValueView& value) {
  if (value.shape() == nullptr)
    return std::string(names_of(leaf_kind(value.token())).type);
  if (!value.is(NodeTag::kStored)) return std::string(value.shape()->name);
  const StoredBuffer* row = value.stored();
  if (row == nullptr || row->kind == wire::BufferKind::kBytes) return "bytes";
  return row->kind == wire::BufferKind::kByteArray ? "bytearray" : "memoryview";
}

}  // namespace waybill::envelope
