// Tested by tests/python/untrusted/test_signatures.py and test_secrets.py.

#include "python/keys.h"

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
    raise(PyExc_TypeError, "a %s is needed, not a %.100s", kCapsule<T>,
          Py_TYPE(capsule)->tp_name);
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
  const Result<envelope::Resigning> signed_one =
      envelope::Resigning::make(envelope, key);
  if (!signed_one) raise(state, signed_one.error());
  Ref bytes = Ref::steal(
      PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(signed_one->size())));
  signed_one->write_at(reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(bytes.get())));
  return bytes;
}

}  // namespace waybill::py
