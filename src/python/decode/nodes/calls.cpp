// The calls that a payload makes, and what its arguments may be.
// Tested by tests/python/kinds/test_reduce.py,
// tests/python/untrusted/test_untrusted_input.py.

#include <span>

#include "python/decode/nodes/creators.h"
#include "python/decode/standard_types.h"
#include "python/runtime/objects.h"

namespace waybill::py {

namespace {

using wire::NodeTag;

// Whether a dict that is made of it has keys that nobody has looked at: of a range, or
// of a list of pairs.
bool has_unseen_keys(PyObject* argument) {
  if (PyDict_Check(argument) || PyUnicode_Check(argument) || PyBytes_Check(argument)) {
    return false;
  }
  return Py_TYPE(argument)->tp_iter != nullptr || PySequence_Check(argument) != 0;
}

// A dict that is called into being puts its keys in their places by itself.
void demand_counted_keys(GraphDecoder& decoder, PyObject* callable,
                         std::span<PyObject* const> arguments) {
  if (!decoder.counts_keys_of(callable)) return;
  for (PyObject* argument : arguments) {
    if (!has_unseen_keys(argument)) continue;
    decoder.fail(ErrorCode::kLimitExceeded,
                 "a dict that is made of something else than a dict, so that "
                 "max_key_steps cannot count what its keys take");
  }
}

// Refuses arguments, which are in a list, that the gate does not let the callable have.
void demand_fitting(GraphDecoder& decoder, PyObject* callable, PyObject* list) {
  if (!PyList_CheckExact(list)) {
    decoder.fail(ErrorCode::kMalformed, "arguments that are no array");
  }
  const std::span<PyObject* const> arguments = items_of(list);
  demand_counted_keys(decoder, callable, arguments);
  if (const StandardType* type = standard_type(decoder, callable)) {
    demand_arguments(decoder, *type, arguments);
  }
}

}  // namespace

Ref call_reducer(GraphDecoder& decoder, Frame& frame) {
  demand_fitting(decoder, frame.part<NodeTag::kObject>("callable"),
                 frame.part<NodeTag::kObject>("args"));
  Ref arguments = Ref::steal(PySequence_Tuple(frame.part<NodeTag::kObject>("args")));
  return Ref::steal(PyObject_Call(frame.part<NodeTag::kObject>("callable"),
                                  arguments.get(), nullptr));
}

Ref call_new(GraphDecoder& decoder, Frame& frame) {
  PyObject* type = frame.part<NodeTag::kNewObject>("class");
  if (!PyType_Check(type) ||
      !PyDict_CheckExact(frame.part<NodeTag::kNewObject>("kwargs")) ||
      !PyList_CheckExact(frame.part<NodeTag::kNewObject>("args"))) {
    decoder.fail(ErrorCode::kMalformed, "an instance of something that is no class");
  }
  // The slot, as pickle calls it: looking __new__ up would make a method of it.
  auto* cls = reinterpret_cast<PyTypeObject*>(type);
  if (cls->tp_new == nullptr) {
    PyErr_Format(PyExc_TypeError, "cannot create '%.200s' instances", cls->tp_name);
    throw PyError();
  }
  demand_fitting(decoder, type, frame.part<NodeTag::kNewObject>("args"));
  const Ref arguments =
      Ref::steal(PyList_AsTuple(frame.part<NodeTag::kNewObject>("args")));
  PyObject* keywords = frame.part<NodeTag::kNewObject>("kwargs");
  if (PyDict_GET_SIZE(keywords) != 0 && standard_type(decoder, type) != nullptr) {
    decoder.fail(ErrorCode::kLimitExceeded, "keywords that this type does not write");
  }
  // What takes arguments means something by them.
  if (PyTuple_GET_SIZE(arguments.get()) == 0 && PyDict_GET_SIZE(keywords) == 0) {
    if (const Ref inherited = decoder.arrivals().new_without_attributes(cls)) {
      return Ref::steal(PyObject_CallOneArg(inherited.get(), type));
    }
  }
  return Ref::steal(cls->tp_new(cls, arguments.get(),
                                PyDict_GET_SIZE(keywords) == 0 ? nullptr : keywords));
}

}  // namespace waybill::py
