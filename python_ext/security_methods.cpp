// Functions for waybill.security: policies, limits, the restrictions of the process,
// keys and signatures.

#include <Python.h>

#include <memory>
#include <string>

#include "conversions.h"
#include "methods.h"
#include "python/capsules.h"
#include "waybill/signature.h"

namespace waybill::extension {

namespace {

// ---- Policies and limits -----------------------------------------------------------

Ref policy(PyObject*, PyObject* rules) { return py::new_policy(rules); }

Ref policy_warnings(PyObject*, PyObject* policy) {
  return new_list(py::policy_of(policy).warnings(), new_text);
}

Ref ask(PyObject*, PyObject* const* arguments) {
  for (int i = 1; i < 4; ++i) {
    if (PyUnicode_Check(arguments[i])) continue;
    py::raise(PyExc_TypeError, "request, module and name should be str");
  }
  const Policy& policy = py::policy_of(arguments[0]);
  const std::string wanted = py::text_of(arguments[1]);
  for (const Request request :
       {Request::kImport, Request::kLookup, Request::kCall, Request::kCode}) {
    if (name_of(request) != wanted) continue;
    const Verdict verdict =
        policy.ask(request, py::text_of(arguments[2]), py::text_of(arguments[3]));
    const Ref rule =
        verdict.rule != nullptr ? new_text(verdict.rule->text()) : Ref::share(Py_None);
    return tuple_of(verdict.allows, rule);
  }
  py::raise(PyExc_ValueError,
            "a request should be 'import', 'lookup', 'call' or 'code'");
}

void restrict_process(PyObject*, PyObject* load_options) {
  LoadOptions restriction = py::load_options_of(load_options);
  if (restriction.keys) {  // Keys added to the ring later do not count.
    restriction.keys = std::make_shared<const KeyRing>(restriction.keys->clone());
  }
  waybill::restrict_process(restriction);
}

Ref restrictions(PyObject*, PyObject*) { return to_object(process_restrictions()); }

void add(PyObject* module, const char* name, const Ref& value) {
  check(PyModule_AddObjectRef(module, name, value.get()));
}

// ---- Keys and signatures ------------------------------------------------------------

// The text of a str or bytes. It may be a secret, so it is not copied.
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

// A source of keys, by its name in Python. `value` is a text, the path of a file or the
// name of an environment variable.
struct Source {
  const char* name;
  Result<SigningKey> (*read)(std::string_view value);
  Result<void> (*add)(KeyRing& ring, std::string_view value);
};

constexpr Source kSources[] = {
    {"text", [](std::string_view value) { return SigningKey::from_text(value); },
     [](KeyRing& ring, std::string_view value) { return ring.add_text(value); }},
    {"file",
     [](std::string_view value) { return SigningKey::from_file(std::string(value)); },
     [](KeyRing& ring, std::string_view value) {
       return ring.add_file(std::string(value));
     }},
    {"environment",
     [](std::string_view value) {
       return SigningKey::from_environment(std::string(value));
     },
     [](KeyRing& ring, std::string_view value) {
       return ring.add_environment(std::string(value));
     }},
};

const Source& source_of(PyObject* name) {
  const std::string_view wanted = view_of(name);
  for (const Source& source : kSources) {
    if (wanted == source.name) return source;
  }
  py::raise(PyExc_ValueError,
            "a source of keys should be 'text', 'file' or 'environment'");
}

Ref generate_key(PyObject*, PyObject* algorithm) {
  const std::string_view wanted = view_of(algorithm);
  for (const auto choice : {SignatureAlgorithm::kEd25519, SignatureAlgorithm::kMac}) {
    if (wanted == name_of(choice)) {
      return py::new_signing_key(SigningKey::generate(choice));
    }
  }
  py::raise(PyExc_ValueError, "an algorithm should be 'ed25519' or 'mac'");
}

Ref read_key(PyObject* module, PyObject* const* arguments) {
  const Source& source = source_of(arguments[0]);
  return py::new_signing_key(
      require(state_of(module), source.read(view_of(arguments[1]))));
}

Ref describe_key(PyObject*, PyObject* key) {
  const SigningKey& signer = py::signing_key_of(key);
  return tuple_of(name_of(signer.algorithm()), to_string(signer.id()));
}

Ref public_text(PyObject* module, PyObject* key) {
  return new_text(require(state_of(module), py::signing_key_of(key).public_text()));
}

void save_key(PyObject* module, PyObject* const* arguments) {
  const std::string path(view_of(arguments[1]));
  require(state_of(module), py::signing_key_of(arguments[0]).save(path));
}

Ref key_ring(PyObject*, PyObject*) { return py::new_key_ring(); }

void add_keys(PyObject* module, PyObject* const* arguments) {
  KeyRing& ring = py::key_ring_of(arguments[0]);
  const Source& source = source_of(arguments[1]);
  require(state_of(module), source.add(ring, view_of(arguments[2])));
}

void add_key(PyObject*, PyObject* const* arguments) {
  py::key_ring_of(arguments[0]).add(py::signing_key_of(arguments[1]));
}

Ref key_ids(PyObject*, PyObject* ring) {
  return new_list(py::key_ring_of(ring).ids(),
                  [](const KeyId& id) { return new_text(to_string(id)); });
}

Ref sign(PyObject* module, PyObject* const* arguments) {
  const Input input(arguments[0]);
  return py::sign(state_of(module), input.bytes(), py::signing_key_of(arguments[1]));
}

Ref with_application(PyObject* module, PyObject* const* arguments) {
  const Input input(arguments[0]);
  const Input field(arguments[1]);
  return new_bytes(require(state_of(module),
                           waybill::with_application(input.bytes(), field.bytes())));
}

// Opens an envelope after checking its signature.
Envelope open_signed(const State& state, BytesView bytes, const KeyRing& ring) {
  require(state, ring.check(bytes));
  return require(state, open_whole(bytes));
}

void verify(PyObject* module, PyObject* const* arguments) {
  const State& state = state_of(module);
  const Input input(arguments[0]);
  const KeyRing& ring = py::key_ring_of(arguments[1]);
  require(state, waybill::verify(open_signed(state, input.bytes(), ring)));
}

Ref application(PyObject* module, PyObject* const* arguments) {
  const State& state = state_of(module);
  const Input input(arguments[0]);
  PyObject* ring = none_to_null(arguments[1]);
  const Envelope envelope =
      ring != nullptr ? open_signed(state, input.bytes(), py::key_ring_of(ring))
                      : require(state, open_whole(input.bytes()));
  const BytesView field = envelope.application;
  if (field.empty()) return Ref::share(Py_None);
  return new_bytes(field);
}

}  // namespace

PyMethodDef kSecurityMethods[] = {
    method<policy>("policy"),
    method<policy_warnings>("policy_warnings"),
    method<ask, 4>("ask"),
    method<restrict_process>("restrict_process"),
    method<restrictions>("restrictions", METH_NOARGS),
    method<generate_key>("generate_key"),
    method<read_key, 2>("read_key"),
    method<describe_key>("describe_key"),
    method<public_text>("public_text"),
    method<save_key, 2>("save_key"),
    method<key_ring>("key_ring", METH_NOARGS),
    method<add_keys, 3>("add_keys"),
    method<add_key, 2>("add_key"),
    method<key_ids>("key_ids"),
    method<sign, 2>("sign"),
    method<verify, 2>("verify"),
    method<with_application, 2>("with_application"),
    method<application, 2>("application"),
    {},  // Ends the table.
};

void add_security_constants(PyObject* module) {
  add(module, "LIMITS", py::limits_tuple(Limits{}));
  add(module, "STRICT_LIMITS", py::limits_tuple(kStrictLimits));
  add(module, "STANDARD_TYPES", new_text(standard_types_policy()));
}

}  // namespace waybill::extension
