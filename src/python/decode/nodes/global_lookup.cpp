// Tested by tests/python/functions/test_functions.py,
// tests/python/untrusted/test_policy.py.

#include <string>

#include "python/decode/lookup_check.h"
#include "python/decode/nodes/creators.h"
#include "python/runtime/attribute.h"
#include "python/runtime/modules.h"
#include "python/runtime/namespaces.h"
#include "python/runtime/own_names.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

using wire::NodeTag;

// Where the first name of a dotted path ends; its length if it has no dot.
Py_ssize_t end_of_name(PyObject* path, Py_ssize_t start) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(path);
  const Py_ssize_t dot = PyUnicode_FindChar(path, '.', start, length, 1);
  if (dot == -2) throw PyError();
  return dot < 0 ? length : dot;
}

// Follows the path by getattr, as pickle's find_class does: the module has been
// imported by now, and what it provides lazily counts too.
Ref follow(Ref object, PyObject* path, const LookupCheck& check) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(path);
  if (end_of_name(path, 0) == length) {
    return Ref::steal(PyObject_GetAttr(object.get(), path));
  }
  for (Py_ssize_t start = 0; start <= length;) {
    const Py_ssize_t end = end_of_name(path, start);
    const Ref name = Ref::steal(PyUnicode_Substring(path, start, end));
    object = Ref::steal(PyObject_GetAttr(object.get(), name.get()));
    start = end + 1;
    if (start > length) break;
    const Ref rest = Ref::steal(PyUnicode_Substring(path, start, length));
    check.passed(object.get(), rest.get());
  }
  return object;
}

// Raises DecodeError if the error that is set says that waybill itself has no `path` in
// its module: its own helpers differ between versions.
void refuse_other_waybill(GraphDecoder& decoder, const Ref& module, PyObject* path) {
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return;
  const PendingError error;
  const std::string advice = advice_on_versions(module.get());
  if (advice.empty()) return error.restore();
  std::string detail = "no ";
  detail += PrintableText(path).view();
  detail += " in ";
  detail += PrintableText(module.get()).view();
  decoder.fail(ErrorCode::kUnknownFormat, detail + ": " + advice);
}

}  // namespace

// The module came as its number: find_class() imports as it sees fit, and policies are
// about the name that the manifest gives it, whatever it calls itself.
Ref look_up_global(GraphDecoder& decoder, Frame& frame) {
  const State& state = decoder.state();
  ModuleImporter& modules = decoder.modules();
  const bool is_builtin = frame.part<NodeTag::kGlobal>("module") == Py_None;
  const std::size_t index =
      is_builtin ? 0 : PyLong_AsSize_t(frame.part<NodeTag::kGlobal>("module"));
  PyObject* path = frame.part<NodeTag::kGlobal>("name");
  const Gate* gate = decoder.hooks().gate;
  PyObject* find_class = decoder.hooks().find_class;
  Ref name;
  if (gate != nullptr || find_class != nullptr) {
    name = is_builtin ? state.names.builtins_plain : modules.name(index);
  }
  const LookupCheck check(state, gate, decoder.denied_names(), frame.offset, name.get(),
                          path);
  Ref object;
  if (find_class != nullptr) {
    object =
        Ref::steal(PyObject_CallFunctionObjArgs(find_class, name.get(), path, nullptr));
  } else {
    Ref module = is_builtin ? builtins_module(state) : modules.get(index);
    check.entered(module.get());
    try {
      object = follow(std::move(module), path, check);
    } catch (const PyError&) {
      if (is_builtin) throw;
      refuse_other_waybill(decoder, modules.name(index), path);
      throw;
    }
  }
  check.found(object.get());
  return object;
}

}  // namespace waybill::py
