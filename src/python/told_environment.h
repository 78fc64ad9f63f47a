#pragma once

// The environment in a manifest: what Python's half finds out, on its way out and in.

#include <Python.h>

#include <cstdint>
#include <vector>

#include "python/runtime/ref.h"
#include "waybill/bytes.h"
#include "waybill/manifest.h"

namespace waybill::py {

// A manifest's section with the environment that `ask` tells of its imports; `ask` is
// waybill._environment.distributions.environment_of. Throws PyError: what that raises,
// or TypeError for an answer of another form.
std::vector<std::uint8_t> with_told_environment(BytesView manifest, PyObject* ask);

}  // namespace waybill::py
