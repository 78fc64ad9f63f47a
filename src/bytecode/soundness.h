#pragma once

// Checks that a code object has a form that the interpreter accepts, as far as that can
// be decided without following control flow.

#include <cstddef>
#include <cstdint>

#include "waybill/error.h"

namespace waybill::bytecode {

// The parts of a code object that the check needs. The views point into the caller's
// memory.
struct CodeShape {
  // Python's version as major * 100 + minor.
  int version = 0;
  BytesView instructions;     // co_code as compact_code() gives it.
  BytesView exception_table;  // co_exceptiontable
  BytesView local_kinds;      // co_localspluskinds
  std::size_t name_count = 0;
  std::size_t constant_count = 0;
  std::uint32_t stack_size = 0;
  // Offsets of instructions and exception table in their source, for errors.
  std::size_t instructions_offset = 0;
  std::size_t exceptions_offset = 0;
};

// Whether there is an opcode table for this version.
bool is_known_version(int version);

// Checks, for a known version,
// - that each opcode is in the version's canonical code, and that co_code has less than
//   2 GiB;
// - that operands are within their bounds: names, constants, locals, free variables,
//   and the choices that a number selects; that instructions on cells get a local that
//   is a cell or free variable;
// - that jumps, and the exception table, lead to the start of an instruction;
// - that the last instruction ends control flow;
// - that each handler has room on the stack for its operands.
// Not checked is what needs control flow: stack heights, types of constants and values,
// unbound locals, the meaning of flags. Code that passes can still crash the
// interpreter when it runs; it does no harm before that.
//
// Gives the size of co_code.
//
// Errors: kUnknownTag (an opcode that the version does not have), kMalformed, and
// kPythonMismatch (an unknown version).
// Cost: one pass, about twenty processor instructions for each of co_code; no
// allocation below 2 KiB of co_code, and a quarter byte for each unit above.
// Thread-safe.
Result<std::size_t> check_soundness(const CodeShape& code);

}  // namespace waybill::bytecode
