#pragma once

// Keys, policies and limits as Python objects: capsules, which wipe keys when they are
// destroyed, and tuples.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/gate.h"
#include "waybill/signature.h"

namespace waybill::py {

// Return a capsule around a key or a key ring. Throw PyError.
Ref new_signing_key(SigningKey key);
Ref new_key_ring();

// The key or key ring in a capsule. The capsule must outlive the reference. Throws
// PyError: TypeError for another object.
const SigningKey& signing_key_of(PyObject* capsule);
KeyRing& key_ring_of(PyObject* capsule);

// The envelope with this key's signature, as bytes; copied only once. Throws PyError.
Ref sign(const State& state, BytesView envelope, const SigningKey& key);

// A capsule with a policy, parsed from its text. Throws PyError: ValueError for a text
// that is not a policy.
Ref new_policy(PyObject* text);
// The policy in a capsule. Throws PyError: TypeError for another object.
const Policy& policy_of(PyObject* capsule);

// The options in a tuple (policy, keys, limits). The first two are capsules, the third
// is a tuple as limits_tuple() returns it. None means the default, for each of them and
// for the whole tuple. The capsules must outlive the options. Throws PyError:
// TypeError, ValueError or OverflowError.
LoadOptions load_options_of(PyObject* tuple);

// The members of Limits in their order; None for those without a limit.
Ref limits_tuple(const Limits& limits);

}  // namespace waybill::py
