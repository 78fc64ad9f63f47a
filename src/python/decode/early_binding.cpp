// Tested by tests/python/classes/test_made_by_functions.py.

#include "python/decode/early_binding.h"

#include "python/decode/graph_decoder.h"

namespace waybill::py {

using wire::NodeTag;

void bind_early(std::pmr::vector<Frame>& stack, PyObject* object) {
  if (stack.size() < 2 || (!PyType_Check(object) && !PyFunction_Check(object))) {
    return;
  }
  Frame& around = stack[stack.size() - 2];
  if (around.is_namespace) {
    const bool is_taken =
        around.is_known && around.key && has_name(around, around.key.get());
    if (!is_taken && around.key && PyUnicode_CheckExact(around.key.get())) {
      check(PyDict_SetItem(around.object.get(), around.key.get(), object));
      around.is_bound = true;
    }
  } else if (around.kind == FrameKind::kAttributes) {
    const bool is_new = !around.is_known && !around.is_opaque;
    const bool is_plain = Py_IS_TYPE(around.object.get(), &PyType_Type);
    if (!is_new || !is_plain || !around.key || !PyType_Check(object)) return;
    check(PyObject_SetAttr(around.object.get(), around.key.get(), object));
  } else if (around.awaits<NodeTag::kCell>("content")) {
    check(PyCell_Set(around.object.get(), object));
  } else if (around.kind == FrameKind::kList && stack.size() >= 4) {
    const Frame& fields = stack[stack.size() - 3];
    if (!fields.awaits_field(wire::FunctionField::kCells)) return;
    const std::vector<Ref>& cells = stack[stack.size() - 4].node->cells;
    if (around.position < cells.size()) {
      check(PyCell_Set(cells[around.position].get(), object));
    }
  }
}

}  // namespace waybill::py
