#pragma once

// Which envelopes fuzz_loads may load: those that call only what is known to be
// harmless.
//
// Loading calls what the payload names, and a function whose bytecode was mutated may
// crash the interpreter when it is called. Neither is a finding: docs/security.md says
// so. What is left is all that waybill does by itself.

#include <set>

#include "waybill/envelope.h"

namespace waybill::fuzz {

// Code bodies that a compiler wrote.
using KnownBodies = std::set<ContentHash>;

// The bodies in all envelopes of a folder.
KnownBodies bodies_in(const char* folder);

// False if loading could call anything but the harmless callables, or code that is not
// known. Functions that nothing calls may have any code.
bool is_harmless(const Envelope& envelope, const KnownBodies& known);

}  // namespace waybill::fuzz
