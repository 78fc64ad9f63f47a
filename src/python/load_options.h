#pragma once

// Load options, as Python hands them over.

#include <Python.h>

#include "python/runtime/ref.h"
#include "waybill/gate.h"

namespace waybill::py {

// A capsule with a policy, parsed from its text. Throws PyError: ValueError for text
// that is no policy.
Ref new_policy(PyObject* text);
// The policy in such a capsule. Throws PyError: TypeError for anything else.
const Policy& policy_of(PyObject* capsule);

// (policy, keys, limits): capsules or None, and a tuple as limits_tuple() gives it or
// None. The capsules must outlive the options. Throws PyError: TypeError, ValueError or
// OverflowError.
LoadOptions load_options_of(PyObject* tuple);

// The ceilings in the order of struct Limits; None where there is none.
Ref limits_tuple(const Limits& limits);

}  // namespace waybill::py
