#pragma once

// Whether a code object has a form that the interpreter can be given: what can be told
// of the code without following where it leads.

#include <cstddef>
#include <cstdint>

#include "waybill/error.h"

namespace waybill::bytecode {

// What the check must know of a code object. The views point into memory of the
// caller's.
struct CodeShape {
  // Python's version as major * 100 + minor.
  int version = 0;
  BytesView instructions;     // co_code, as PyCode_GetCode gives it.
  BytesView exception_table;  // co_exceptiontable
  BytesView local_kinds;      // co_localspluskinds
  std::size_t name_count = 0;
  std::size_t constant_count = 0;
  std::uint32_t stack_size = 0;
  // Where instructions and exception table begin in what they were read from. Errors
  // count from there.
  std::size_t instructions_offset = 0;
  std::size_t exceptions_offset = 0;
};

// Whether code of this version can be checked. Of another one nothing is known here.
bool is_known_version(int version);

// Checks, of a version that is known,
// - that each opcode is one of its canonical code, with its inline caches, all zero;
// - that operands are within what they count: names, constants, locals, free variables,
//   and the few things that a number stands for; that cells are asked of locals which
//   are cells or free variables;
// - that jumps, and the exception table, lead to where an instruction starts;
// - that the last instruction lets control go nowhere else;
// - that each handler finds room on the stack for what it is given.
// Not checked is what takes following the code: heights of the stack, types of
// constants and values, whether a local has a value, what the flags say. Code that
// passes can still crash the interpreter when it runs; it does no harm before that.
//
// Errors: kUnknownTag (an opcode the version does not have), kMalformed, and
// kPythonMismatch (a version that is not known).
// Cost: one pass, about twenty processor instructions for each of co_code; no
// allocation below 2 KiB of instructions. Thread-safe.
Result<void> check_soundness(const CodeShape& code);

}  // namespace waybill::bytecode
