// Tested by tests/python/untrusted/test_signatures.py and test_secrets.py.

#include "python/keys.h"

#include <algorithm>
#include <memory>

#include "trust/signature_tail.h"

namespace waybill::py {
namespace {

template <typename T>
constexpr const char* kCapsule = nullptr;
template <>
constexpr const char* kCapsule<SigningKey> = "waybill.security.SigningKey";
template <>
constexpr const char* kCapsule<KeyRing> = "waybill.security.KeyRing";

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
    PyErr_Format(PyExc_TypeError, "a %s is needed, not a %.100s", kCapsule<T>,
                 Py_TYPE(capsule)->tp_name);
    throw PyError();
  }
  return *static_cast<T*>(PyCapsule_GetPointer(capsule, kCapsule<T>));
}

}  // namespace

Ref new_signing_key(SigningKey key) { return new_capsule(std::move(key)); }

Ref new_key_ring() { return new_capsule(KeyRing()); }

const SigningKey& signing_key_of(PyObject* capsule) {
  return content_of<SigningKey>(capsule);
}

KeyRing& key_ring_of(PyObject* capsule) { return content_of<KeyRing>(capsule); }

Ref sign(const State& state, BytesView envelope, const SigningKey& key) {
  const Result<std::size_t> size = envelope::size_before_signature(envelope);
  if (!size) raise(state, size.error());
  const std::size_t whole = *size + envelope::tail_size(key.algorithm());
  Ref bytes =
      Ref::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(whole)));
  auto* begin = reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(bytes.get()));
  std::uint8_t* at = std::ranges::copy(envelope.first(*size), begin).out;
  envelope::write_tail(key, begin, at);
  return bytes;
}

}  // namespace waybill::py
