#pragma once

// Starts Python for a test, and evaluates expressions there.

#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/interpreter.h"
#include "waybill/object.h"

namespace waybill::embedding {

using Bytes = std::vector<std::uint8_t>;

// A running interpreter. Fails the test if there is none.
Interpreter started(const InterpreterOptions& options = {});

// The value of an expression, with `waybill` and `sys` at hand, after these statements.
// Needs the GIL. Throws std::runtime_error with what was raised.
Object evaluate(const std::string& expression, const std::string& statements = "");

// The str() of the value of an expression. Takes the GIL.
std::string text_of(const std::string& expression, const std::string& statements = "");
// The value of an expression of type bytes. Takes the GIL.
Bytes bytes_of(const std::string& expression, const std::string& statements = "");
// The str() of the value of an expression that uses `data`. Takes the GIL.
std::string text_of(const Bytes& data, const std::string& expression);

}  // namespace waybill::embedding
