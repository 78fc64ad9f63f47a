#pragma once

// Makes one code object.

#include <Python.h>

#include "envelope/code_body.h"
#include "python/ref.h"
#include "python/state.h"

namespace waybill::py {

// Where a code object stands in its file.
struct CodePlace {
  Ref file;  // str; null if it is not known.
  std::uint32_t line = 0;
  BytesView line_table;
};

// The code object of a body, which must have been read without an error, with the
// constants that were made of it. Throws PyError: DecodeError for what would harm the
// interpreter already when the code object is made.
Ref make_code(const State& state, const Section& body,
              const envelope::CodeFields& fields, const Ref& constants,
              const CodePlace& place);

}  // namespace waybill::py
