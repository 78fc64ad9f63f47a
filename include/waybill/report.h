#pragma once

// An envelope for people and for scripts: what it needs, what it holds and how large
// each part is. Needs no Python, and builds nothing that the envelope describes.
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
  // Containers inside containers that are shown; at most 64. What is deeper is counted.
  std::size_t max_depth = 12;
  // Items of one container that are shown; the rest is counted.
  std::size_t max_items = 40;
  // Bytes of one text that are shown. Of what stands once in an envelope and is told at
  // each use: modules, functions and files.
  std::size_t max_text = 80;
  // Code bodies are disassembled, by opcode tables of waybill's own: 3.11 to 3.15.
  // Makes some hundred bytes of report for each instruction.
  bool instructions = false;
  // The source of the code that the payload uses, where it travels beside it: all of
  // it, however long, up to the 16 MiB that an envelope may have.
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
// Works on any envelope that open() gave, whether or not verify() accepts it: a part
// that cannot be read is reported as such.
std::string report_text(const Envelope& envelope, const ReportOptions& options = {});

// The same as one JSON object, indented by two. Equal envelopes give equal reports.
// docs/cli.md describes the keys.
std::string report_json(const Envelope& envelope, const ReportOptions& options = {});

// {"ok": false, "error": {"code": "truncated", "offset": 3, "detail": "…"}}
std::string error_json(const Error& error);

// `text` with control characters escaped, for terminals.
std::string printable(std::string_view text);

}  // namespace waybill
