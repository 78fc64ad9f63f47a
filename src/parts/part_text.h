#pragma once

// Values of a payload as text, for people and for paths.

#include <cstddef>
#include <string>

#include "waybill/envelope.h"
#include "wire/token.h"

namespace waybill::envelope {

// The value at `offset`, which has no code in it, as Python would write it, cut after
// about `most` bytes.
std::string text_at(const Envelope& envelope, std::size_t offset, std::size_t most);

// What Python calls a value that is no node, and a stored buffer.
std::string leaf_type(const wire::Token& token);
std::string stored_type(wire::BufferKind kind);

}  // namespace waybill::envelope
