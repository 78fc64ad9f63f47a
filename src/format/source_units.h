#pragma once

// Source text beside code: from a unit another Python compiles what the bytecode of the
// sender's Python does. Units stand in the debug information; who can run the bytecode
// passes over them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/envelope.h"
#include "wire/format.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill::envelope {

// How one code body is compiled again. The views point into the envelope.
struct SourceUnit {
  std::uint32_t code = 0;    // Index of the body.
  std::uint64_t start = 0;   // The text, in bytes from the start of all texts,
  std::uint64_t length = 0;  // and how long it is.
  wire::UnitKind kind = wire::UnitKind::kFunction;
  std::string_view name, qualified_name;
  std::string_view class_name;  // Null if it does not matter.
  std::uint32_t flags = 0;      // Of wire::UnitFlag.
  std::uint32_t optimization = 0;
  std::uint32_t lines = 0;
  std::uint32_t column = 0;
  std::vector<std::string_view> futures, free_names, imports;
  BytesView recipe;  // All fields from kKind on, as they stand there.
};

// An id of a class, the id that its source gives, the same whichever Python made it,
// and where it stands.
struct ClassSource {
  BytesView id;
  BytesView text_id;
  std::uint32_t first_line = 0;  // Of its statement; 0 if that is not known.
};

// The sources of an envelope, as they stand there.
struct Sources {
  std::size_t offset = 0;
  std::uint64_t text_length = 0;  // Of all texts, before they are compressed.
  bool is_compressed = false;
  BytesView texts;                // As they are stored.
  std::vector<SourceUnit> units;  // By ascending index of code.
  std::vector<ClassSource> classes;

  // The unit of a code body; null if it has none. Cost: by the logarithm of their
  // number.
  const SourceUnit* unit_of(std::uint32_t code) const;
};

// Reads the sources, at which the reader stands. False when the reader has an error: a
// value of the wrong type, an index that is not below `code_count`, indices that do not
// ascend, a text outside of the texts. Texts that are compressed are not looked at.
bool read_sources(wire::Reader& reader, std::size_t code_count, Sources& sources);

// The same for a section that verify() has accepted, or for an empty one.
Sources sources_of(const Envelope& envelope, const Section& section);

// All texts, decompressed. Errors: kMalformed, where they are damaged or no UTF-8.
// Cost: a copy. Throws std::bad_alloc.
Result<std::string> texts_of(const Sources& sources);

// Writes the texts as one value, compressed if that makes them smaller. Throws
// std::bad_alloc.
void write_texts(wire::Writer& out, std::string_view texts);

}  // namespace waybill::envelope
