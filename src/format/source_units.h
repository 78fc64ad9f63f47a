#pragma once

// Source units: text from which another Python compiles code that does what the
// sender's bytecode does. They are in the debug information; a reader that can run the
// bytecode skips them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/envelope.h"
#include "wire/format.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill::envelope {

// One code body to compile again. The views point into the envelope.
struct SourceUnit {
  std::uint32_t code = 0;    // Index of the body.
  std::uint64_t start = 0;   // Offset of the text in all texts, in bytes.
  std::uint64_t length = 0;  // Length of the text, in bytes.
  wire::UnitKind kind = wire::UnitKind::kFunction;
  std::string_view name, qualified_name;
  std::string_view class_name;  // Null if it does not matter.
  std::uint32_t flags = 0;      // wire::UnitFlag bits.
  std::uint32_t optimization = 0;
  std::uint32_t lines = 0;
  std::uint32_t column = 0;
  std::vector<std::string_view> futures, free_names, imports;
  BytesView encoded_fields;  // From kKind on.
};

// The ids of a class: its own, and its source id, which is the same on every Python.
struct ClassSource {
  BytesView id;
  BytesView source_id;
  std::uint32_t first_line = 0;  // The first line of its statement; 0 if unknown.
};

// The sources of an envelope.
struct Sources {
  std::size_t offset = 0;
  std::uint64_t text_length = 0;  // The size of all texts, decompressed.
  bool is_compressed = false;
  BytesView texts;                // The stored bytes.
  std::vector<SourceUnit> units;  // By ascending index of code.
  std::vector<ClassSource> classes;

  // The unit of a code body; null if it has none. Cost: logarithmic.
  const SourceUnit* unit_of(std::uint32_t code) const;
};

// Reads the sources. Returns false with an error in the reader: a value of the wrong
// type, an index that is not below `code_count`, indices that do not ascend, a text
// outside of the texts. Compressed texts are not decompressed.
bool read_sources(wire::Reader& reader, std::size_t code_count, Sources& sources);

// The sources in a section that verify() has accepted, or in an empty section.
Sources sources_of(const Envelope& envelope, const Section& section);

// All texts, decompressed. Errors: kMalformed for damaged texts and invalid UTF-8.
Result<std::string> texts_of(const Sources& sources);

// Writes the texts as one value, compressed if that makes them smaller. Throws
// std::bad_alloc.
void write_texts(wire::Writer& out, std::string_view texts);

}  // namespace waybill::envelope
