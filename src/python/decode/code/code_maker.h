#pragma once

// Makes one code object.

#include <Python.h>

#include "format/code_body.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Where a code object stands in its file.
struct CodeLocation {
  Ref file;  // str; null if it is not known.
  std::uint32_t line = 0;
  BytesView line_table;
};

// The code object of a body, which must have passed verify(),
// with the constants that were made of it: the interpreter trusts what it is given
// here. Throws PyError: DecodeError where names and kinds of locals contradict each
// other.
Ref make_code(const State& state, const Section& body,
              const envelope::CodeFields& fields, const Ref& constants,
              const CodeLocation& location);

}  // namespace waybill::py
