// Sends an object graph that a blueprint describes, and receives it: equal, with the
// same sharing and cycles, the same bytes and the same fingerprint.
//
// Input: a blueprint, see blueprints.py. round_trip.py makes the checks.

#include <cstdint>

#include "embedded/memory.h"
#include "embedded/python.h"

namespace fuzz = waybill::fuzz;
using waybill::py::Ref;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Ref& check = *new Ref(
      [] { return fuzz::attribute_of(fuzz::start_python("round_trip"), "check"); }());
  const Ref input = Ref::steal_or_null(PyBytes_FromStringAndSize(
      reinterpret_cast<const char*>(data), static_cast<Py_ssize_t>(size)));
  const Ref checked = Ref::steal_or_null(PyObject_CallOneArg(check.get(), input.get()));
  if (!checked) fuzz::give_up();
  fuzz::check_memory_growth();
  return 0;
}
