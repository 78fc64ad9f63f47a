#pragma once

// Which envelopes fuzz_loads may load: those that call only harmless callables.
//
// Loading calls the callables that the payload names, and a mutated function may crash
// the interpreter when it is called. Neither is a finding: docs/security.md says so.
// The harness tests only what waybill does itself.

#include <set>

#include "waybill/envelope.h"

namespace waybill::fuzz {

// Hashes of code bodies that a compiler wrote.
using CompiledBodies = std::set<ContentHash>;

// The bodies in all envelopes of a folder.
CompiledBodies bodies_in(const char* folder);

// False if loading could call a callable that is not harmless, or code that is not
// among `compiled`. Functions that nothing calls may have any code.
bool is_harmless(const Envelope& envelope, const CompiledBodies& compiled);

}  // namespace waybill::fuzz
