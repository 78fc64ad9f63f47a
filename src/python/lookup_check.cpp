// Tested by tests/python/test_policy_names.py.

#include "python/lookup_check.h"

#include <string>
#include <string_view>
#include <utility>

#include "python/compat.h"
#include "python/modules.h"
#include "python/py_error.h"
#include "python/ref.h"
#include "python/state.h"
#include "python/text.h"

namespace waybill::py {

namespace {

std::string text_or_nothing(PyObject* text) {
  return text == nullptr || !PyUnicode_Check(text) ? std::string() : text_of(text);
}

struct OwnName {
  Ref module, name;
};

// Of a type: "module.name" is in the type itself if it is a static one.
OwnName own_name(const State& state, PyTypeObject* type) {
  const Ref name = Ref::steal(PyType_GetQualName(type));
  const Ref dict = type_dict(type);
  Ref module = Ref::share(raw_get(dict.get(), state.names.module.get()));
  if (!module || !PyUnicode_Check(module.get())) {
    const std::string_view whole(type->tp_name);
    const std::size_t dot = whole.rfind('.');
    const std::string_view head =
        dot == std::string_view::npos ? "builtins" : whole.substr(0, dot);
    module = Ref::steal(
        PyUnicode_FromStringAndSize(head.data(), static_cast<Py_ssize_t>(head.size())));
  }
  return {module, name};
}

// The name of a method, behind that of a type.
OwnName method_name(const State& state, PyTypeObject* type, PyObject* method) {
  OwnName own = own_name(state, type);
  const Ref name = Ref::steal(PyObject_GetAttr(method, state.names.name.get()));
  own.name = Ref::steal(PyUnicode_FromFormat("%U.%U", own.name.get(), name.get()));
  return own;
}

// What an object says of itself, if it is of a kind that says so truly; of another one
// that can be called the name of its type. Runs no code but the interpreter's own.
OwnName own_name(const State& state, PyObject* object) {
  if (PyMethod_Check(object)) return own_name(state, PyMethod_GET_FUNCTION(object));
  if (PyType_Check(object)) {
    return own_name(state, reinterpret_cast<PyTypeObject*>(object));
  }
  if (PyCFunction_CheckExact(object)) {
    PyObject* self = PyCFunction_GET_SELF(object);
    if (self != nullptr && PyType_Check(self)) {
      return method_name(state, reinterpret_cast<PyTypeObject*>(self), object);
    }
    if (self != nullptr && !PyModule_Check(self)) {
      return method_name(state, Py_TYPE(self), object);
    }
  } else if (!PyFunction_Check(object)) {
    return PyCallable_Check(object) != 0 ? own_name(state, Py_TYPE(object)) : OwnName();
  }
  return {Ref::steal(PyObject_GetAttr(object, state.names.module.get())),
          Ref::steal(PyObject_GetAttr(object, state.names.qualname.get()))};
}

}  // namespace

LookupCheck::LookupCheck(const State& state, const Admission* admission,
                         std::size_t offset, PyObject* module, PyObject* name)
    : state_(state),
      admission_(admission),
      offset_(offset),
      module_(module),
      name_(name) {}

void LookupCheck::demand(Request request, PyObject* module, PyObject* name) const {
  auto objection =
      admission_->objection(request, text_or_nothing(module), text_or_nothing(name));
  if (!objection) return;
  raise_decode(state_, ErrorCode::kRefused, offset_,
               *std::move(objection) + "; the payload calls it " +
                   text_or_nothing(module_) + ":" + text_or_nothing(name_));
}

// All that the name may be used for.
Request LookupCheck::use() const {
  const bool may_be_called =
      !admission_->objection(Request::kCall, text_of(module_), text_or_nothing(name_));
  return may_be_called ? Request::kCall : Request::kLookup;
}

void LookupCheck::entered(PyObject* module) const {
  if (admission_ == nullptr) return;
  PyObject* own = module_name(state_, module);
  if (own != nullptr && PyUnicode_Compare(own, module_) != 0) demand(use(), own, name_);
}

void LookupCheck::passed(PyObject* object, PyObject* rest) const {
  if (admission_ == nullptr || !PyModule_Check(object)) return;
  demand(use(), module_name(state_, object), rest);
}

void LookupCheck::found(PyObject* object) const {
  if (admission_ == nullptr) return;
  if (PyModule_Check(object)) {
    demand(Request::kImport, module_name(state_, object), nullptr);
    if (PyCallable_Check(object) == 0) return;
  }
  const OwnName own = own_name(state_, object);
  if (own.module) demand(use(), own.module.get(), own.name.get());
}

}  // namespace waybill::py
