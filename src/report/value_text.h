#pragma once

// A value of a payload, or a constant, as one short line in the manner of Python's
// repr.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/value_view.h"
#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// What indices and hashes in values stand for.
struct ValueNames {
  // Qualified names of the code bodies, by index and by hash.
  std::vector<std::string> code;
  std::map<ContentHash, std::size_t> code_by_hash;
  const Manifest* manifest = nullptr;
  // What is stored behind the head, by number.
  std::span<const StoredBuffer> buffers = {};
};

// Reads all code bodies; the name of one that cannot be read is empty. The envelope
// must outlive the result.
ValueNames names_of(const Envelope& envelope);

// The value that is next in `reader`, cut after about `max_text` bytes. Where it cannot
// be read, what came before that and "…". Control characters in text are escaped as in
// Python's repr; other text may hold lone surrogates.
// Cost: by `max_text`, and by the functions and classes that are passed over.
std::string value_text(wire::Reader reader, const ValueNames& names,
                       std::size_t max_text);

// The same of a value with no code in it.
std::string value_text(const ValueView& value, std::size_t max_text);

// The text, or about `max_text` bytes of it and "…": its start, or its end, which is
// what tells files apart. For what stands once in an envelope and is told at each use.
std::string start_of(std::string_view text, std::size_t max_text);
std::string end_of(std::string_view text, std::size_t max_text);

// Without quotes, with what Python's repr escapes; of bytes also what is no ASCII.
std::string escaped(std::string_view text, bool is_binary);

// 1000 x 3 x 'd', or how many bytes if that is all that is known of it.
std::string items_text(const StoredBuffer& buffer, std::size_t max_text);

// 'text', as Python would write it, cut likewise.
std::string quoted(std::string_view text, std::size_t max_text);

}  // namespace waybill::envelope
