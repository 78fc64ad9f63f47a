// Classes by value: what is needed to make the class, then what is set on it. The parts
// are told by waybill._classes, in Python.
// Tested by tests/python/test_classes.py.

#include "python/codec.h"
#include "python/compat.h"
#include "python/modules.h"
#include "python/plain_writer.h"

namespace waybill::py {

void describe_class(GraphEncoder& encoder, PyObject* type, Plan& plan) {
  const char* const kLabels[] = {".__class__", ".__name__", ".__bases__", "", ""};
  Ref parts = ordinary_class_parts(encoder.state(), type);
  if (!parts) {
    parts = Ref::steal(PyObject_CallOneArg(encoder.state().class_parts.get(), type));
  }
  if (PyUnicode_Check(parts.get())) {
    // A name other than its own, under which its module has it.
    Ref module = Ref::steal(PyObject_GetAttr(type, encoder.state().names.module.get()));
    const GlobalName name =
        find_global(encoder.state(), type, module.get(), parts.get());
    if (!name.module) encoder.fail("is a class that its module does not have");
    encoder.global(name);
    return;
  }
  if (!PyTuple_Check(parts.get()) || PyTuple_GET_SIZE(parts.get()) != 5) {
    encoder.fail("is a class whose parts cannot be told");
  }
  encoder.note_class(type);
  const Ref id = encoder.id_of(type);
  encoder.out().node(wire::NodeTag::kClass, 6);
  plan.may_close_early(Plan::Early::kClass);
  write_leaf(id.get(), encoder.out());
  for (Py_ssize_t i = 0; i < 5; ++i) {
    // The class is there once its namespace is; its attributes may refer to it.
    if (i == 4) plan.creates();
    PyObject* part = PyTuple_GET_ITEM(parts.get(), i);
    const bool is_dict = i >= 3;
    plan.child(Ref::share(part), is_dict ? Label{} : Label::of_text(kLabels[i]));
  }
}

}  // namespace waybill::py
