#pragma once

// Code that another Python wrote, compiled anew from its source.

#include <Python.h>

#include <string>

#include "format/code_body.h"
#include "format/source_units.h"
#include "python/decode/code/code_maker.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "python/walker/code_info.h"
#include "waybill/envelope.h"

namespace waybill::py {

// Of one envelope, which check_python() has accepted and verify(), and which outlives
// this.
class UnitCompiler {
 public:
  // Throws PyError: DecodeError where texts are damaged.
  UnitCompiler(const State& state, const Envelope& envelope);

  // What a code object is known by that is compiled from the unit of this body: text,
  // recipe and body. Throws PyError if the body has none.
  ContentHash key_of(std::size_t body) const;

  // The unit of a body as waybill._source has it, a tuple; None if it has none. Throws
  // PyError: DecodeError for a text that is cut within a character.
  Ref unit_or_none(std::size_t body) const;

  // Bytes of its text and body.
  std::size_t size_of(std::size_t body) const;

  // The code object of a body that has a unit. It keeps its source. `file`: a str, or
  // null. Runs the compiler; throws PyError: PythonMismatchError for syntax that is
  // newer than this Python and for what does not fit the body, DecodeError for text
  // that is beyond the compiler's limits.
  Ref compile(std::size_t body, const envelope::CodeFields& fields,
              const CodeLocation& location) const;
  // Whether a source came beside this body that the code is not known to have come
  // with.
  bool is_news(std::size_t body, PyObject* code) const;
  // Lets code of this Python, whose body has this index, travel on with the source that
  // came beside it, as compiled code does; does nothing if none came. Throws PyError.
  void keep(std::size_t body, PyObject* code) const;

 private:
  // Notes the source of a code object, and that it came.
  void note(std::size_t body, CodeInfo& info) const;
  Ref tuple_of(const envelope::SourceUnit& unit) const;
  const envelope::SourceUnit& at(std::size_t body) const;
  std::string_view text_of(const envelope::SourceUnit& unit) const;

  const State& state_;
  const Envelope& envelope_;
  envelope::Sources sources_;
  std::string texts_;
};

// What a body says of its code, which code compiled elsewhere has to agree with: counts
// of arguments, flags, names of arguments, free names. A tuple.
Ref signature_of(const envelope::CodeFields& fields);

}  // namespace waybill::py
