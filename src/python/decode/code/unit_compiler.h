#pragma once

// Compiles code of another Python version from its source.

#include <Python.h>

#include <string>

#include "format/code_body.h"
#include "format/source_units.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "python/walker/code_info.h"
#include "waybill/envelope.h"

namespace waybill::py {

// The source location of a code object.
struct CodeLocation {
  Ref file;  // str; null if unknown.
  std::uint32_t line = 0;
  BytesView line_table;
};

// Compiles the units of one envelope. check_python() and verify() must have accepted
// the envelope, which must outlive this.
class UnitCompiler {
 public:
  // Throws PyError: DecodeError for damaged texts.
  UnitCompiler(const State& state, const Envelope& envelope);

  // The hash of all inputs of compile(): the unit and the body. Throws PyError if the
  // body has no unit.
  ContentHash key_of(std::size_t body) const;

  // The unit of a body as a tuple for waybill._source; None if it has none. Throws
  // PyError: DecodeError for a text that is cut within a character.
  Ref unit_or_none(std::size_t body) const;

  // The bytes of the unit's text and of the body.
  std::size_t size_of(std::size_t body) const;

  // Compiles the code object of a body that has a unit. The code object keeps its
  // source. Throws PyError: PythonMismatchError for syntax that is newer than this
  // Python and for code that does not match the body, DecodeError for text beyond the
  // compiler's limits.
  Ref compile(std::size_t body, const envelope::CodeFields& fields,
              const CodeLocation& location) const;
  // Whether this body has a source that the code object does not have yet.
  bool adds_source(std::size_t body, PyObject* code) const;
  // Gives the source of a body, if it has one, to its code object, so that the code can
  // be sent on with the source. Throws PyError.
  void attach_source(std::size_t body, PyObject* code) const;

 private:
  void record_source(std::size_t body, CodeInfo& info) const;
  Ref tuple_of(const envelope::SourceUnit& unit) const;
  const envelope::SourceUnit& unit_at(std::size_t body) const;
  std::string_view text_of(const envelope::SourceUnit& unit) const;

  const State& state_;
  const Envelope& envelope_;
  envelope::Sources sources_;
  std::string texts_;
};

// The properties of a body that its compiled code must have, as a tuple: counts of
// arguments, flags, names of arguments, free names.
Ref signature_of(const envelope::CodeFields& fields);

}  // namespace waybill::py
