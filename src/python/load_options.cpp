// Tested by tests/python/untrusted/test_policy.py and
// tests/python/untrusted/test_bombs.py.

#include "python/load_options.h"

#include <iterator>
#include <memory>

#include "python/keys.h"
#include "python/runtime/py_error.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

constexpr char kPolicyCapsule[] = "waybill.security.Policy";

using PolicyPointer = std::shared_ptr<const Policy>;

const PolicyPointer& pointer_of(PyObject* capsule) {
  void* pointer = PyCapsule_IsValid(capsule, kPolicyCapsule) != 0
                      ? PyCapsule_GetPointer(capsule, kPolicyCapsule)
                      : nullptr;
  if (pointer != nullptr) return *static_cast<PolicyPointer*>(pointer);
  raise(PyExc_TypeError, "a policy should be a waybill.security.Policy");
}

void free_policy(PyObject* capsule) {
  delete static_cast<PolicyPointer*>(PyCapsule_GetPointer(capsule, kPolicyCapsule));
}

// In the order in which Python has them.
constexpr std::size_t Limits::* kCeilings[] = {
    &Limits::max_bytes,  &Limits::max_values,   &Limits::max_depth,
    &Limits::max_text,   &Limits::max_integer,  &Limits::max_items,
    &Limits::max_memory, &Limits::max_unfolded, &Limits::max_key_steps,
};

Limits limits_of(PyObject* tuple) {
  Limits limits;
  if (!PyTuple_Check(tuple) ||
      PyTuple_GET_SIZE(tuple) != static_cast<Py_ssize_t>(std::size(kCeilings))) {
    raise(PyExc_TypeError, "limits should be a waybill.security.Limits");
  }
  Py_ssize_t index = 0;
  for (std::size_t Limits::* ceiling : kCeilings) {
    PyObject* value = PyTuple_GET_ITEM(tuple, index++);
    limits.*ceiling = value == Py_None ? Limits::kNone : PyLong_AsSize_t(value);
    check(PyErr_Occurred() != nullptr ? -1 : 0);
  }
  return limits;
}

}  // namespace

Ref new_policy(PyObject* text) {
  if (!PyUnicode_Check(text)) {
    raise(PyExc_TypeError, "the rules of a policy should be a str");
  }
  Result<Policy> policy = Policy::from_text(text_of(text));
  if (!policy) raise(PyExc_ValueError, "%s", policy.error().detail.c_str());
  auto pointer = std::make_unique<PolicyPointer>(
      std::make_shared<const Policy>(*std::move(policy)));
  Ref capsule = Ref::steal(PyCapsule_New(pointer.get(), kPolicyCapsule, free_policy));
  pointer.release();
  return capsule;
}

const Policy& policy_of(PyObject* capsule) { return *pointer_of(capsule); }

LoadOptions load_options_of(PyObject* tuple) {
  PyObject* policy = nullptr;
  PyObject* keys = nullptr;
  PyObject* limits = nullptr;
  if (!PyArg_ParseTuple(tuple, "OOO", &policy, &keys, &limits)) throw PyError();
  LoadOptions load_options;
  if (policy != Py_None) load_options.policy = pointer_of(policy);
  if (keys != Py_None) {
    load_options.keys = {std::shared_ptr<const KeyRing>(), &key_ring_of(keys)};
  }
  if (limits != Py_None) load_options.limits = limits_of(limits);
  return load_options;
}

Ref limits_tuple(const Limits& limits) {
  Ref tuple = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(std::size(kCeilings))));
  Py_ssize_t index = 0;
  for (std::size_t Limits::* ceiling : kCeilings) {
    Ref value = limits.*ceiling == Limits::kNone
                    ? Ref::share(Py_None)
                    : Ref::steal(PyLong_FromSize_t(limits.*ceiling));
    PyTuple_SET_ITEM(tuple.get(), index++, value.release());
  }
  return tuple;
}

}  // namespace waybill::py
