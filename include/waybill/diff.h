#pragma once

// Compares two envelopes, and reports what differs and why, for payloads that should be
// equal. Needs no Python, and builds nothing that the envelopes describe.

#include <cstddef>
#include <string>

#include "waybill/envelope.h"

namespace waybill {

struct DiffOptions {
  // Differences listed of each kind; the rest is counted.
  std::size_t max_items = 40;
  // Bytes shown of one value, code name or file name.
  std::size_t max_text = 80;
  // One JSON object, as docs/cli.md describes it, instead of lines of text.
  bool json = false;
  // Colours for terminals; text only.
  bool colours = false;
};

struct Diff {
  // Whether any byte of the envelopes differs.
  bool differs = false;
  // A summary in one line, then the differences. Control characters are escaped.
  std::string report;
};

// Compares header, imports, code by hash and name, values of the payload, source
// locations and signature; stored buffers by length and digest. References are
// equal if their targets are.
//
// Accepts any opened envelopes, verified or not: unreadable parts are compared byte by
// byte. Values are compared by hashes of 64 bits, which an attacker can make collide.
// Cost: linear in the size of both; about 24 bytes of memory for each value.
Diff diff(const Envelope& old_envelope, const Envelope& new_envelope,
          const DiffOptions& options = {});

}  // namespace waybill
