// Keys and signatures for waybill.security, which has the classes around them.

#include <string>

#include "border.h"
#include "methods.h"
#include "python/capsules.h"
#include "waybill/signature.h"

namespace waybill::extension {
namespace {

template <typename T>
T unwrapped(const State& state, Result<T> result) {
  if (!result) py::raise(state, result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// The text of a str or bytes. No copy: it may be a secret.
std::string_view view_of(PyObject* object) {
  if (PyBytes_Check(object)) {
    return {PyBytes_AS_STRING(object),
            static_cast<std::size_t>(PyBytes_GET_SIZE(object))};
  }
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) throw PyError();
  return {text, static_cast<std::size_t>(size)};
}

// Where keys come from, as the first argument says.
struct Source {
  const char* name;
  Result<SigningKey> (*read)(std::string_view what);
  Result<void> (*add)(KeyRing& ring, std::string_view what);
};

constexpr Source kSources[] = {
    {"text", [](std::string_view what) { return SigningKey::from_text(what); },
     [](KeyRing& ring, std::string_view what) { return ring.add_text(what); }},
    {"file",
     [](std::string_view what) { return SigningKey::from_file(std::string(what)); },
     [](KeyRing& ring, std::string_view what) {
       return ring.add_file(std::string(what));
     }},
    {"environment",
     [](std::string_view what) {
       return SigningKey::from_environment(std::string(what));
     },
     [](KeyRing& ring, std::string_view what) {
       return ring.add_environment(std::string(what));
     }},
};

const Source& source_of(PyObject* name) {
  const std::string_view wanted = view_of(name);
  for (const Source& source : kSources) {
    if (wanted == source.name) return source;
  }
  PyErr_SetString(PyExc_ValueError, "keys come from text, file or environment");
  throw PyError();
}

Ref generate_key(PyObject*, PyObject* algorithm) {
  const std::string_view wanted = view_of(algorithm);
  for (const auto known : {SignatureAlgorithm::kEd25519, SignatureAlgorithm::kMac}) {
    if (wanted == name_of(known)) {
      return py::new_signing_key(SigningKey::generate(known));
    }
  }
  PyErr_SetString(PyExc_ValueError, "the algorithms are 'ed25519' and 'mac'");
  throw PyError();
}

Ref read_key(PyObject* module, PyObject* const* arguments) {
  const Source& source = source_of(arguments[0]);
  return py::new_signing_key(
      unwrapped(state_of(module), source.read(view_of(arguments[1]))));
}

Ref describe_key(PyObject*, PyObject* key) {
  const SigningKey& signer = py::signing_key_of(key);
  const Ref algorithm = text(name_of(signer.algorithm()));
  const Ref id = text(to_string(signer.id()));
  return Ref::steal(PyTuple_Pack(2, algorithm.get(), id.get()));
}

Ref public_text(PyObject* module, PyObject* key) {
  return text(unwrapped(state_of(module), py::signing_key_of(key).public_text()));
}

Ref save_key(PyObject* module, PyObject* const* arguments) {
  const std::string path(view_of(arguments[1]));
  unwrapped(state_of(module), py::signing_key_of(arguments[0]).save(path));
  return Ref::share(Py_None);
}

Ref key_ring(PyObject*, PyObject*) { return py::new_key_ring(); }

Ref add_keys(PyObject* module, PyObject* const* arguments) {
  KeyRing& ring = py::key_ring_of(arguments[0]);
  const Source& source = source_of(arguments[1]);
  unwrapped(state_of(module), source.add(ring, view_of(arguments[2])));
  return Ref::share(Py_None);
}

Ref add_key(PyObject*, PyObject* const* arguments) {
  py::key_ring_of(arguments[0]).add(py::signing_key_of(arguments[1]));
  return Ref::share(Py_None);
}

Ref key_ids(PyObject*, PyObject* ring) {
  const Ref ids = Ref::steal(PyList_New(0));
  for (const KeyId& id : py::key_ring_of(ring).ids()) {
    check(PyList_Append(ids.get(), text(to_string(id)).get()));
  }
  return ids;
}

Ref sign(PyObject* module, PyObject* const* arguments) {
  const Input input(arguments[0]);
  return py::sign(state_of(module), input.bytes(), py::signing_key_of(arguments[1]));
}

Ref with_application(PyObject* module, PyObject* const* arguments) {
  const Input input(arguments[0]);
  const Input field(arguments[1]);
  return to_bytes(unwrapped(state_of(module),
                            waybill::with_application(input.bytes(), field.bytes())));
}

// The envelope that the bytes are, after its signature has proven right.
Envelope checked(const State& state, BytesView bytes, const KeyRing& ring) {
  unwrapped(state, ring.check(bytes));
  return unwrapped(state, open_whole(bytes));
}

Ref verify(PyObject* module, PyObject* const* arguments) {
  const State& state = state_of(module);
  const Input input(arguments[0]);
  const KeyRing& ring = py::key_ring_of(arguments[1]);
  unwrapped(state, waybill::verify(checked(state, input.bytes(), ring)));
  return Ref::share(Py_None);
}

Ref application(PyObject* module, PyObject* const* arguments) {
  const State& state = state_of(module);
  const Input input(arguments[0]);
  PyObject* ring = given(arguments[1]);
  const Envelope envelope = ring != nullptr
                                ? checked(state, input.bytes(), py::key_ring_of(ring))
                                : unwrapped(state, open_whole(input.bytes()));
  const BytesView field = envelope.application;
  if (field.empty()) return Ref::share(Py_None);
  return to_bytes(field);
}

}  // namespace

PyMethodDef kKeyMethods[] = {
    method<generate_key>("generate_key", "generate_key(algorithm, /) -> key"),
    method<read_key, 2>("read_key", "read_key(source, what, /) -> key"),
    method<describe_key>("describe_key", "describe_key(key, /) -> (algorithm, id)"),
    method<public_text>("public_text", "public_text(key, /) -> str"),
    method<save_key, 2>("save_key", "save_key(key, path, /)"),
    method<key_ring>("key_ring", "key_ring() -> ring", METH_NOARGS),
    method<add_keys, 3>("add_keys", "add_keys(ring, source, what, /)"),
    method<add_key, 2>("add_key", "add_key(ring, key, /)"),
    method<key_ids>("key_ids", "key_ids(ring, /) -> list of str"),
    method<sign, 2>("sign", "sign(data, key, /) -> bytes"),
    method<verify, 2>("verify", "verify(data, ring, /)"),
    method<with_application, 2>("with_application",
                                "with_application(data, application, /) -> bytes"),
    method<application, 2>("application",
                           "application(data, ring, /) -> bytes or None"),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace waybill::extension
