// Tested by tests/python/untrusted/test_signatures.py, test_secrets.py, test_policy.py
// and test_bombs.py.

#include "python/capsules.h"

#include <iterator>
#include <memory>

#include "python/runtime/objects.h"
#include "python/runtime/py_error.h"
#include "python/runtime/text.h"
#include "trust/signature_tail.h"

namespace waybill::py {

namespace {

using PolicyPointer = std::shared_ptr<const Policy>;

template <typename T>
constexpr const char* kCapsule = nullptr;
template <>
constexpr const char* kCapsule<SigningKey> = "waybill.security.SigningKey";
template <>
constexpr const char* kCapsule<KeyRing> = "waybill.security.KeyRing";
template <>
constexpr const char* kCapsule<PolicyPointer> = "waybill.security.Policy";

template <typename T>
Ref new_capsule(T value) {
  auto owned = std::make_unique<T>(std::move(value));
  Ref capsule = Ref::steal(PyCapsule_New(owned.get(), kCapsule<T>, [](PyObject* self) {
    delete static_cast<T*>(PyCapsule_GetPointer(self, kCapsule<T>));
  }));
  (void)owned.release();
  return capsule;
}

template <typename T>
T& content_of(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kCapsule<T>) == 0) {
    raise(PyExc_TypeError, "expected a %s, not a %.100s", kCapsule<T>,
          Py_TYPE(capsule)->tp_name);
  }
  return *static_cast<T*>(PyCapsule_GetPointer(capsule, kCapsule<T>));
}

const PolicyPointer& pointer_of(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kCapsule<PolicyPointer>) == 0) {
    raise(PyExc_TypeError, "a policy should be a waybill.security.Policy");
  }
  return content_of<PolicyPointer>(capsule);
}

// In the order of waybill.security.Limits.
constexpr std::size_t Limits::* kLimits[] = {
    &Limits::max_bytes,  &Limits::max_values,   &Limits::max_depth,
    &Limits::max_text,   &Limits::max_integer,  &Limits::max_items,
    &Limits::max_memory, &Limits::max_unfolded, &Limits::max_key_steps,
};

Limits limits_of(PyObject* tuple) {
  Limits limits;
  if (!PyTuple_Check(tuple) ||
      PyTuple_GET_SIZE(tuple) != static_cast<Py_ssize_t>(std::size(kLimits))) {
    raise(PyExc_TypeError, "limits should be a waybill.security.Limits");
  }
  Py_ssize_t index = 0;
  for (std::size_t Limits::* limit : kLimits) {
    PyObject* value = PyTuple_GET_ITEM(tuple, index++);
    limits.*limit = value == Py_None ? Limits::kNone : PyLong_AsSize_t(value);
    check(PyErr_Occurred() != nullptr ? -1 : 0);
  }
  return limits;
}

}  // namespace

Ref new_signing_key(SigningKey key) { return new_capsule(std::move(key)); }

Ref new_key_ring() { return new_capsule(KeyRing()); }

const SigningKey& signing_key_of(PyObject* capsule) {
  return content_of<SigningKey>(capsule);
}

KeyRing& key_ring_of(PyObject* capsule) { return content_of<KeyRing>(capsule); }

Ref sign(const State& state, BytesView envelope, const SigningKey& key) {
  const envelope::SignedCopy copy =
      require(state, envelope::SignedCopy::make(envelope, key));
  Ref bytes = Ref::steal(
      PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(copy.size())));
  copy.write_at(reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(bytes.get())));
  return bytes;
}

Ref new_policy(PyObject* text) {
  if (!PyUnicode_Check(text)) {
    raise(PyExc_TypeError, "the rules of a policy should be a str");
  }
  Result<Policy> policy = Policy::from_text(text_of(text));
  if (!policy) raise(PyExc_ValueError, "%s", policy.error().detail.c_str());
  return new_capsule<PolicyPointer>(std::make_shared<const Policy>(*std::move(policy)));
}

const Policy& policy_of(PyObject* capsule) { return *pointer_of(capsule); }

LoadOptions load_options_of(PyObject* tuple) {
  if (tuple == Py_None) return {};
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
  return new_tuple(kLimits, [&](std::size_t Limits::* limit) {
    return limits.*limit == Limits::kNone
               ? Ref::share(Py_None)
               : Ref::steal(PyLong_FromSize_t(limits.*limit));
  });
}

}  // namespace waybill::py
