#pragma once

// Keys as Python holds them: capsules, which wipe them when they die.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"
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

}  // namespace waybill::py
