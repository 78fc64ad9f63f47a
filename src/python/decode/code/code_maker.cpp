// Tested by tests/python/functions/test_foreign_code.py and
// tests/python/untrusted/test_untrusted_input.py.

#include "python/decode/code/code_maker.h"

#include <algorithm>

#include "python/runtime/compat.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

Ref names(const State& state, const std::vector<std::string_view>& views) {
  Ref tuple = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(views.size())));
  Py_ssize_t count = 0;
  for (const std::string_view view : views) {
    PyTuple_SET_ITEM(tuple.get(), count++, state.intern_table.get(view).release());
  }
  return tuple;
}

// Names of the locals whose kind has one of the bits.
Ref locals_of(const State& state, const envelope::CodeFields& fields,
              std::uint8_t bits) {
  const BytesView kinds = fields.local_kinds;
  const auto is_one = [bits](std::uint8_t kind) { return (kind & bits) != 0; };
  Ref tuple =
      Ref::steal(PyTuple_New(std::count_if(kinds.begin(), kinds.end(), is_one)));
  Py_ssize_t count = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!is_one(kinds[i])) continue;
    PyTuple_SET_ITEM(tuple.get(), count++,
                     state.intern_table.get(fields.local_names[i]).release());
  }
  return tuple;
}

// The code object; null if its kinds of locals contradict their names.
Ref try_new_code(const State& state, const CodeParts& parts, std::size_t offset) {
  try {
    return new_code(parts);
  } catch (const PyError&) {
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) throw;
    raise_decode(state, ErrorCode::kMalformed, offset,
                 "code that the interpreter does not accept");
  }
}

}  // namespace

Ref make_code(const State& state, const Section& body,
              const envelope::CodeFields& fields, const Ref& constants,
              const CodeLocation& location) {
  const Ref instructions = new_bytes(fields.instructions);
  const Ref all_names = names(state, fields.names);
  const Ref variables = locals_of(state, fields, kLocalPlain);
  const Ref free_names = locals_of(state, fields, kLocalFree);
  const Ref cells = locals_of(state, fields, kLocalCell);
  const Ref file = location.file ? location.file : state.intern_table.get("<waybill>");
  const Ref name = state.intern_table.get(fields.name);
  const Ref qualified = fields.qualified_name == fields.name
                            ? name
                            : state.intern_table.get(fields.qualified_name);
  const Ref line_table = new_bytes(location.line_table);
  const Ref exceptions = new_bytes(fields.exception_table);
  CodeParts parts{};
  parts.argument_count = static_cast<int>(fields.argument_count);
  parts.positional_only_count = static_cast<int>(fields.positional_only_count);
  parts.keyword_only_count = static_cast<int>(fields.keyword_only_count);
  parts.local_count = static_cast<int>(PyTuple_GET_SIZE(variables.get()));
  parts.stack_size = static_cast<int>(fields.stack_size);
  parts.flags = static_cast<int>(fields.flags);
  parts.instructions = instructions.get();
  parts.constants = constants.get();
  parts.names = all_names.get();
  parts.variable_names = variables.get();
  parts.free_names = free_names.get();
  parts.cell_names = cells.get();
  parts.file = file.get();
  parts.name = name.get();
  parts.qualified_name = qualified.get();
  parts.first_line = static_cast<int>(location.line);
  parts.line_table = line_table.get();
  parts.exception_table = exceptions.get();
  parts.local_kinds = {reinterpret_cast<const char*>(fields.local_kinds.data()),
                       fields.local_kinds.size()};
  Ref code = try_new_code(state, parts, body.offset);
  if (code) return code;
  raise_decode(state, ErrorCode::kMalformed, body.offset,
               "kinds of locals that contradict their names");
}

}  // namespace waybill::py
