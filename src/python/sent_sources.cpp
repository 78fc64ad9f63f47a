// Tested by tests/python/source/test_compared.py.

#include "python/sent_sources.h"

#include <set>
#include <utility>

#include "format/source_locations.h"
#include "python/decode/code/code_builder.h"
#include "python/runtime/py_error.h"
#include "waybill/envelope.h"

namespace waybill::py {

namespace {

// Another Python compiles to other bytecode, and this one cannot read that.
void demand_same_python(const State& state, const Envelope& envelope) {
  if (envelope.code.empty() || envelope.python == state.python) return;
  const std::string version = std::to_string(envelope.python.major) + "." +
                              std::to_string(envelope.python.minor);
  raise(state, Error{ErrorCode::kPythonMismatch, 0,
                     "the code was made by Python " + to_string(envelope.python) +
                         ", and this is Python " + to_string(state.python) +
                         "; compare with the version that made it: --python python" +
                         version});
}

}  // namespace

Ref sent_sources(const State& state, BytesView head) {
  const Limits limits;
  Result<Envelope> opened = open_head(head, limits);
  if (!opened) raise(state, opened.error());
  const Result<VerifiedEnvelope> envelope = verify(*std::move(opened), limits);
  if (!envelope) raise(state, envelope.error());
  demand_same_python(state, **envelope);
  CodeBuilder codes(state, *envelope, limits);
  const UnitCompiler units(state, **envelope);
  Ref found = Ref::steal(PyList_New(0));
  std::set<std::uint32_t> seen;
  for (const std::uint32_t body : envelope::code_uses_of(**envelope)) {
    const Ref code = codes.next_use(body);
    if (!seen.insert(body).second) continue;
    const Ref unit = units.unit_or_none(body);
    check(PyList_Append(found.get(),
                        Ref::steal(PyTuple_Pack(2, unit.get(), code.get())).get()));
  }
  return found;
}

}  // namespace waybill::py
