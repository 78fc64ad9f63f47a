// Mutated envelopes, loaded twice, so that what is kept from the first is used: no
// error of memory, no internal error, an offset inside the input, and what loads once
// loads again. What was loaded is dropped, and never called.
//
// Input: an envelope. Mutations know its sections and values (mutator.cpp) and seal it
// again. The options of loads() are WAYBILL_LOADS_OPTIONS. Where they let payloads call
// anything (WAYBILL_MAY_CALL), only envelopes that call nothing but what is harmless
// are loaded (callables.h). A guard refuses all else that reaches outside (guard.h).

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

const fuzz::KnownBodies& known_bodies() {
  static const fuzz::KnownBodies known = fuzz::bodies_in(WAYBILL_GOLDEN);
  return known;
}

// What does not open is loads()'s to refuse, and calls nothing.
bool may_be_loaded(waybill::BytesView bytes) {
  if (!WAYBILL_MAY_CALL) return true;
  const auto envelope = waybill::open(bytes);
  return !envelope || fuzz::is_harmless(*envelope, known_bodies());
}

Ref prepare() {
  known_bodies();  // Their files are out of reach once the fences stand.
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
  fuzz::demand_flat_memory();
  return 0;
}

// Most mutations are tried again until they may be loaded: what is skipped teaches
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
