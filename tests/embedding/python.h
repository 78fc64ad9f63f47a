#pragma once

// A Python for one test, and what tests ask it.

#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/interpreter.h"
#include "waybill/object.h"

namespace waybill::embedding {

using Bytes = std::vector<std::uint8_t>;

// One that is running, or the test has failed.
Interpreter started(const InterpreterOptions& options = {});

// The value of an expression, with `waybill` and `sys` at hand, after these statements.
// Needs the GIL. Throws std::runtime_error with what was raised.
Object evaluate(const std::string& expression, const std::string& statements = "");

// The same as text, as str() has it. Takes the GIL.
std::string text_of(const std::string& expression, const std::string& statements = "");
// The same, of an expression that gives bytes.
Bytes bytes_of(const std::string& expression, const std::string& statements = "");
// What `expression` makes of `data`.
std::string text_of(const Bytes& data, const std::string& expression);

}  // namespace waybill::embedding
