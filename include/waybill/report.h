#pragma once

// Reports on an envelope, for people and for scripts: its requirements, its content and
// the size of each part. Needs no Python, and builds nothing that the envelope
// describes.
//
//   auto envelope = waybill::open(bytes);
//   if (envelope) std::cout << waybill::report_text(*envelope);

#include <cstddef>
#include <string>
#include <string_view>

#include "waybill/envelope.h"
#include "waybill/error.h"

namespace waybill {

struct ReportOptions {
  // Nesting of containers shown; at most 64. Deeper ones are counted.
  std::size_t max_depth = 12;
  // Items shown of one container; the rest is counted.
  std::size_t max_items = 40;
  // Bytes shown of one text; also of modules, functions and files, which are stored
  // once and reported at each use.
  std::size_t max_text = 80;
  // Disassembles code bodies by waybill's own opcode tables: 3.11 to 3.15. Makes some
  // hundred bytes of report for each instruction.
  bool instructions = false;
  // Shows the source of the code that the payload uses, if it is present: all of it, up
  // to the 16 MiB that an envelope may have.
  bool source = false;
  // Colours for terminals; report_text() only.
  bool colours = false;
};

// Reports have at most 64 KiB, 512 bytes for each byte of the manifest, 128 for each
// other byte of the envelope, and 1024 + 64 * max_depth + 16 * max_text for each value
// of the payload and each instruction that is shown; with source, 8 bytes for each byte
// of its texts besides.

// The report as lines of text. Control characters in names are escaped, so a hostile
// envelope cannot write to the terminal.
//
// Accepts any opened envelope, verified or not: unreadable parts are reported as such.
std::string report_text(const Envelope& envelope, const ReportOptions& options = {});

// The report as one JSON object, indented by two. Equal envelopes give equal reports.
std::string report_json(const Envelope& envelope, const ReportOptions& options = {});

// {"ok": false, "error": {"code": "truncated", "offset": 3, "detail": "…"}}
std::string error_json(const Error& error);

// `text` with control characters escaped, for terminals.
std::string printable(std::string_view text);

}  // namespace waybill
