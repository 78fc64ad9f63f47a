#pragma once

// Values of a payload as text: a value, or a constant, as one short line like Python's
// repr; the name of a node, and its type.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/value_view.h"
#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// The tables that indices and hashes in values refer to.
struct ValueNames {
  // Qualified names of the code bodies, by index and by hash.
  std::vector<std::string> code;
  std::map<ContentHash, std::size_t> code_by_hash;
  const Manifest* manifest = nullptr;
  std::span<const StoredBuffer> buffers = {};  // Indexed by number.
};

// Reads all code bodies; the name of an unreadable one is empty. The envelope must
// outlive the result.
ValueNames names_of(const Envelope& envelope);

// The next value in `reader`, cut after about `max_text` bytes; at an error, the text
// up to it and "…". Control characters in text are escaped as in Python's repr; other
// text may hold lone surrogates. Cost: linear in `max_text` and in the functions and
// classes that are skipped.
std::string value_text(wire::Reader reader, const ValueNames& names,
                       std::size_t max_text);

// value_text() for a value that holds no code.
std::string value_text(const ValueView& value, std::size_t max_text);

// About the first, or last, `max_text` bytes, with "…" for the rest. The end of a path
// is what distinguishes files. For text that an envelope stores once and a report
// repeats.
std::string start_of(std::string_view text, std::size_t max_text);
std::string end_of(std::string_view text, std::size_t max_text);

// Escapes the characters that Python's repr escapes, and adds no quotes. `is_binary`
// escapes non-ASCII bytes too.
std::string escaped(std::string_view text, bool is_binary);

// "1000 x 3 x 'd'", or the number of bytes if shape or format is unknown.
std::string items_text(const StoredBuffer& buffer, std::size_t max_text);

// 'text' as Python would write it, cut after about `max_text` bytes.
std::string quoted(std::string_view text, std::size_t max_text);

struct NameOptions {
  // Optional indexes for callers that ask for many names. Without them, name_of() reads
  // a code body for each function, and skips the parts before the name of a class.
  // Names of code bodies, by index.
  const std::vector<std::string>* code = nullptr;
  // Offsets of classes by value, sorted, each with the offset of the class's name.
  const std::vector<std::pair<std::size_t, std::size_t>>* classes = nullptr;
  std::size_t max_size = std::string::npos;  // Bytes after which a name is cut.
  std::string_view builtins = "builtins.";   // Prefix of the names of built-ins.
};

// The name of a node: "f" for a function by value, "os" for a module, "datetime.date"
// for an object that this callable makes. Empty if it has none. The envelope has passed
// verify().
std::string name_of(const ValueView& value, const NameOptions& options = {});

// The Python type of a value; for a node without one, the name of its shape.
std::string type_of(const ValueView& value);

}  // namespace waybill::envelope
