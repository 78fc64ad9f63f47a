// Loads mutated envelopes twice, so that the second time uses the caches: no memory
// error, no internal error, errors at an offset in the input; an envelope that loads
// once loads again. The results are dropped and never called.
//
// Input: an envelope. Mutations change its sections and values, and seal it again
// (mutator.cpp). The options of loads() are WAYBILL_LOADS_OPTIONS. If these allow calls
// (WAYBILL_MAY_CALL), only envelopes with harmless calls are loaded (callables.h). A
// guard refuses every other access to the system (guard.h).

#include <algorithm>
#include <cstdint>
#include <vector>

#include "embedded/callables.h"
#include "embedded/guard.h"
#include "embedded/memory.h"
#include "embedded/mutator.h"
#include "embedded/python.h"

namespace fuzz = waybill::fuzz;
using waybill::py::Ref;

namespace {

const fuzz::CompiledBodies& golden_bodies() {
  static const fuzz::CompiledBodies bodies = fuzz::bodies_in(WAYBILL_GOLDEN);
  return bodies;
}

// An envelope that does not open may be loaded: loads() refuses it, and calls nothing.
bool may_be_loaded(waybill::BytesView bytes) {
  if (!WAYBILL_MAY_CALL) return true;
  const auto envelope = waybill::open(bytes);
  return !envelope || fuzz::is_harmless(*envelope, golden_bodies());
}

Ref prepare() {
  golden_bodies();  // Reads files that fence_in() makes unreachable.
  const Ref module = fuzz::start_python("loading");
  Ref check = Ref::steal_or_null(
      PyObject_CallMethod(module.get(), "check_with", "sO", WAYBILL_LOADS_OPTIONS,
                          WAYBILL_MAY_CALL ? Py_True : Py_False));
  if (!check) fuzz::give_up();
  fuzz::fence_in();
  return check;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Ref& check = *new Ref(prepare());  // Python is never ended.
  if (!may_be_loaded({data, size})) return 0;
  const Ref input = Ref::steal_or_null(PyBytes_FromStringAndSize(
      reinterpret_cast<const char*>(data), static_cast<Py_ssize_t>(size)));
  Ref checked;
  {
    const fuzz::Guard guard;
    checked = Ref::steal_or_null(PyObject_CallOneArg(check.get(), input.get()));
  }
  if (!checked) fuzz::give_up();
  fuzz::check_memory_growth();
  return 0;
}

// Tries a few mutations until the result may be loaded, since skipped inputs find
// nothing.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  constexpr unsigned kTries = 4;
  const std::vector<std::uint8_t> before(data, data + size);
  std::size_t mutated = size;
  for (unsigned i = 0; i < kTries; ++i) {
    std::ranges::copy(before, data);
    mutated = fuzz::mutate_envelope(data, size, max_size, seed * kTries + i);
    if (may_be_loaded({data, mutated})) break;
  }
  return mutated;
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(
    const std::uint8_t* first, std::size_t first_size, const std::uint8_t* second,
    std::size_t second_size, std::uint8_t* out, std::size_t max_size, unsigned seed) {
  return fuzz::cross_over({first, first_size}, {second, second_size}, out, max_size,
                          seed);
}
