#pragma once

// What differs between two envelopes, and why: for those whose payloads should be equal
// and are not. Needs no Python, and builds nothing that the envelopes describe.

#include <cstddef>
#include <string>

#include "waybill/envelope.h"

namespace waybill {

struct DiffOptions {
  // Differences of each kind that are listed; the rest is counted.
  std::size_t max_items = 40;
  // Bytes of one value, name of code or file that are shown.
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
// locations and signature; stored buffers by length and digest. References count as
// equal where they mean equal values.
//
// Works on any envelopes that open() gave, whether or not verify() accepts them: what
// cannot be read is compared byte by byte. Values are compared by hashes of 64 bits;
// who wants to deceive can make others that have the same. Cost: linear in the size of
// both; about 24 bytes of memory for each value.
Diff diff(const Envelope& old_one, const Envelope& new_one,
          const DiffOptions& options = {});

}  // namespace waybill
