#pragma once

// Values of a single token.

#include <Python.h>

#include "python/runtime/ref.h"
#include "wire/reader.h"

namespace waybill::py {

// None, a bool or a number; null without an error for any other token.
inline Ref scalar_of(const wire::Token& token) {
  switch (token.type) {
    case wire::TokenType::kNil:
      return Ref::share(Py_None);
    case wire::TokenType::kBoolean:
      return Ref::share(token.integer != 0 ? Py_True : Py_False);
    case wire::TokenType::kInteger:
      return Ref::steal(PyLong_FromLongLong(token.integer));
    case wire::TokenType::kUnsigned:
      return Ref::steal(PyLong_FromUnsignedLongLong(token.unsigned_integer));
    case wire::TokenType::kReal:
      return Ref::steal(PyFloat_FromDouble(token.real));
    default:
      return {};
  }
}

}  // namespace waybill::py
