#pragma once

// Source locations in the debug information: file, first line and line table of code.
// They form a tree parallel to the tree of nested code.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// The code that locations belong to.
struct CodeTree {
  // Indices of code, in the order of use in the payload.
  std::span<const std::uint32_t> uses;
  // For each code body, the indices of the code nested directly in it, in order.
  std::span<const std::vector<std::uint32_t>> nested;
};

// The views point into the debug information, or into the manifest.
struct SourceLocation {
  std::size_t depth = 0;   // Number of enclosing locations.
  std::uint32_t code = 0;  // Index of the code; only with a CodeTree.
  // The location equals that of top-level number `earlier`; the other fields keep their
  // values.
  bool is_repeat = false;
  std::size_t earlier = 0;
  std::string_view file;       // May hold lone surrogates; null if no file is named.
  std::size_t after_file = 0;  // Offset after the file.
  std::uint32_t first_line = 0;
  Section line_table;
};

// Reads the debug information, and returns the locations one by one: each before those
// of the code nested in it. Not thread-safe.
class SourceLocationReader {
 public:
  // `first_file` is the first file of the manifest; null if there is none. If `code` is
  // given, counts and repeats must match it. The reader is at the debug information;
  // reader and tree must outlive this.
  SourceLocationReader(wire::Reader& reader, std::string_view first_file,
                       const CodeTree* code = nullptr)
      : reader_(reader), code_(code), file_(first_file) {}

  // False after the last location, when all of the debug information is read, or with
  // an error in the reader.
  bool next(SourceLocation& location);

  // Whether the last location and all that enclose it are complete.
  bool is_whole() const { return open_.empty(); }

  // The part with the sources, unread; empty if there is none. Valid once next() has
  // returned false.
  const Section& sources() const { return sources_; }

 private:
  struct OpenLocation {
    std::uint64_t left;
    std::string_view file;
    std::uint32_t code;
  };

  bool fail(std::size_t offset, std::string detail);
  bool start();
  bool finish();
  bool skip_part(std::uint64_t key);
  bool read_key(std::uint64_t& key);
  bool find_code(SourceLocation& location, std::size_t offset);
  bool read_repeat(SourceLocation& location, std::int64_t earlier, std::size_t offset);
  bool read_file(std::string_view& file);
  bool read_nested(const SourceLocation& location);
  void close();

  wire::Reader& reader_;
  const CodeTree* code_;
  std::string_view file_;  // The file named last.
  bool is_started_ = false;
  std::uint64_t keys_left_ = 0;
  std::uint64_t next_key_ = 0;
  std::uint64_t count_ = 0;  // The number of top-level locations.
  std::uint64_t done_ = 0;   // The number of top-level locations that are read.
  std::vector<OpenLocation> open_;
  Section sources_;
};

// Indices of the code of each function and code node of the payload, in order, up to
// the first unreadable value.
std::vector<std::uint32_t> code_uses_of(const Envelope& envelope);

// The sources in the debug information, as bytes that are not read yet. Empty if there
// are none, or if the debug information before them cannot be read.
Section sources_section(const Envelope& envelope);

// For each body, the indices of the code directly among its constants, in order.
std::vector<std::vector<std::uint32_t>> nested_of(const Envelope& envelope);

// The location of the first use of each code body, by its index in the code section.
struct FirstLocation : SourceLocation {
  bool is_known = false;
  std::uint64_t later = 0;  // A hash of the locations of further uses.
};

// Accepts envelopes that verify() refuses: reading stops where the debug information is
// unreadable or does not fit the code.
std::vector<FirstLocation> first_locations(const Envelope& envelope);

}  // namespace waybill::envelope
