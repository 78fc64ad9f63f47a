#pragma once

// Owned references to Python objects. The only file that counts references by hand.

#include <Python.h>

#include <utility>

#include "python/runtime/py_error.h"

namespace waybill::py {

// Owns one reference, or nothing. Needs the GIL wherever it is copied or destroyed.
class Ref {
 public:
  Ref() = default;

  // Takes over a new reference; null means that a Python error is set, and throws it.
  [[gnu::always_inline]] static Ref steal(PyObject* object) {
    if (object == nullptr) throw PyError();
    return Ref(object);
  }
  // Takes over a new reference that may be null without an error.
  static Ref steal_or_null(PyObject* object) { return Ref(object); }
  // Takes a new reference to a borrowed object; null stays null.
  static Ref share(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }

  Ref(const Ref& other) : object_(other.object_) { Py_XINCREF(object_); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  [[gnu::always_inline]] ~Ref() { Py_XDECREF(object_); }

  // Borrowed: valid while this Ref (or another owner) lives.
  PyObject* get() const { return object_; }
  // Gives the reference away, to a caller or to a C function that steals.
  [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Ref(PyObject* object) : object_(object) {}

  PyObject* object_ = nullptr;
};

// For tp_traverse and m_traverse: visits a reference that may be null.
inline int visit(const Ref& ref, visitproc visit, void* arg) {
  return ref ? visit(ref.get(), arg) : 0;
}

}  // namespace waybill::py
