#pragma once

// Source locations: file, first line and line table of code, as they stand in the debug
// information. They form a tree beside the tree of nested code.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// What locations belong to.
struct CodeTree {
  // Indices of code, in the order in which the payload uses it.
  std::span<const std::uint32_t> uses;
  // For each code body, the indices of the code nested in it, in order.
  std::span<const std::vector<std::uint32_t>> nested;
};

// The views point into the debug information, or into the manifest.
struct SourceLocation {
  std::size_t depth = 0;   // How many locations are around it.
  std::uint32_t code = 0;  // Its index; only where a CodeTree is given.
  // As the location with this number, of those that none is around; then the rest is
  // as it was.
  bool is_repeat = false;
  std::size_t earlier = 0;
  std::string_view file;       // May hold lone surrogates; null if no file was named.
  std::size_t after_file = 0;  // Where what follows the file starts.
  std::uint32_t first_line = 0;
  Section line_table;
};

// Reads the debug information, and gives the locations one by one: each before those of
// the code nested in it. Not thread-safe.
class SourceLocationReader {
 public:
  // `first_file`: of the manifest; null if it names none. With `code`, counts and
  // repeats have to fit that. The reader stands before the debug information; it and
  // the tree must outlive this.
  SourceLocationReader(wire::Reader& reader, std::string_view first_file,
                       const CodeTree* code = nullptr)
      : reader_(reader), code_(code), file_(first_file) {}

  // False after the last location, when all of the debug information has been read, and
  // when the reader has an error.
  bool next(SourceLocation& location);

  // Whether the location that was read last has nothing nested that is still to come,
  // and neither have those around it.
  bool is_whole() const { return open_.empty(); }

  // The part with the sources, not read; empty if there is none. Call once next() has
  // returned false.
  const Section& sources() const { return sources_; }

 private:
  struct Open {
    std::uint64_t left;
    std::string_view file;
    std::uint32_t code;
  };

  bool fail(std::size_t offset, std::string detail);
  bool start();
  bool finish();
  bool pass_part(std::uint64_t key);
  bool read_key(std::uint64_t& key);
  bool find_code(SourceLocation& location, std::size_t offset);
  bool read_repeat(SourceLocation& location, std::int64_t earlier, std::size_t offset);
  bool read_file(std::string_view& file);
  bool read_nested(const SourceLocation& location);
  void close();

  wire::Reader& reader_;
  const CodeTree* code_;
  std::string_view file_;  // Named last.
  bool is_started_ = false;
  std::uint64_t keys_left_ = 0;
  std::uint64_t next_key_ = 0;
  std::uint64_t count_ = 0;  // Of locations that none is around,
  std::uint64_t done_ = 0;   // and those of them that came.
  std::vector<Open> open_;
  Section sources_;
};

// Which code each function and code node of the payload has, in order; up to what
// cannot be read.
std::vector<std::uint32_t> code_uses_of(const Envelope& envelope);

// The part of the debug information with the sources, not read; empty if there is none,
// or if what stands before it cannot be read.
Section sources_section(const Envelope& envelope);

// Indices of the code that stands directly among the constants of each body, in order.
std::vector<std::vector<std::uint32_t>> nested_of(const Envelope& envelope);

// The location of the first use of each code body, by its index in the code section.
struct FirstLocation : SourceLocation {
  bool is_known = false;
  std::uint64_t later = 0;  // A hash of the locations of further uses.
};

// Works on envelopes that verify() would refuse: from where the debug information
// cannot be read, or does not fit the code, no more locations are known.
// Cost: one pass over payload, constants and debug information; no recursion.
std::vector<FirstLocation> first_locations(const Envelope& envelope);

}  // namespace waybill::envelope
