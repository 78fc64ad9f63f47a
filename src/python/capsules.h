#pragma once

// Keys, policies and limits as Python holds them: capsules, which wipe keys when they
// die, and tuples.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/gate.h"
#include "waybill/signature.h"

namespace waybill::py {

// A capsule around a key or a ring. Throw PyError.
Ref new_signing_key(SigningKey key);
Ref new_key_ring();

// What is in such a capsule, which must outlive the reference. TypeError, thrown as
// PyError, for anything else.
const SigningKey& signing_key_of(PyObject* capsule);
KeyRing& key_ring_of(PyObject* capsule);

// The envelope with this key's signature, in a bytes object that is written once.
// Throws PyError.
Ref sign(const State& state, BytesView envelope, const SigningKey& key);

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
