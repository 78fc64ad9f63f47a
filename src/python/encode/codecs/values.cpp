// Builtin types that are neither leaves nor containers.
// Tested by tests/python/kinds/test_values.py.

#include <memory>
#include <utility>

#include "format/buffer_table.h"
#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/attribute.h"
#include "python/runtime/buffer_view.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

using wire::BufferKind;
using wire::NodeTag;

void describe_cell(EncodeContext& context, PyObject* cell, Plan& plan) {
  context.out.node(NodeTag::kCell, 1);
  PyObject* content = PyCell_GET(cell);
  if (content == nullptr) {
    plan.raw().singleton(wire::Singleton::kEmpty);
  } else {
    plan.add_child(Ref::share(content), Label::of_text(".cell_contents"));
  }
}

void describe_code(EncodeContext& context, PyObject* code, Plan&) {
  const std::uint32_t body = context.use_code(code);
  context.out.node(NodeTag::kCode, 1);
  context.out.unsigned_integer(body);
}

void describe_byte_array(EncodeContext& context, PyObject* object, Plan&) {
  context.binary(std::make_unique<BufferView>(object), BufferKind::kByteArray, false);
}

// Whether the exporter of a buffer declares that its memory belongs to `object` and
// that readers copy it, as in waybill._kinds.torch_storages.
bool is_memory_of(PyObject* owner, PyObject* object) {
  if (PyType_HasFeature(Py_TYPE(owner), Py_TPFLAGS_IMMUTABLETYPE)) return false;
  const Ref dict = Ref::steal_or_null(PyObject_GenericGetDict(owner, nullptr));
  if (!dict) {
    PyErr_Clear();
    return false;
  }
  return PyDict_GetItemString(dict.get(), "waybill_memory_of") == object;
}

// The object whose reducer returned a buffer; null if none did.
PyObject* innermost_reduced(const EncodeContext& context, PyObject* buffer) {
  PyObject* reduced = nullptr;
  for (const WalkStack::Frame& frame : context.stack) {
    const bool is_plan = frame.kind == WalkStack::Frame::Kind::kPlan;
    if (is_plan && frame.object.get() != buffer) reduced = frame.object.get();
  }
  return reduced;
}

// Whether a buffer is the memory of the reduced object, as for arrays. Other memory may
// be reused by the reducer for the next object.
bool is_own_memory(PyObject* owner, PyObject* reduced, const BufferView& view) {
  if (owner == reduced) return true;
  if (Py_TYPE(owner) != Py_TYPE(reduced)) return false;
  try {
    const BufferView whole(reduced);  // The owner may be a transposed view of it.
    return whole.bytes().data() == view.bytes().data() &&
           whole.bytes().size() == view.bytes().size();
  } catch (const PyError&) {
    PyErr_Clear();
    return false;
  }
}

// Writes a buffer that is too small to be stored, by the view that the PickleBuffer
// holds, without asking the owner for another; false for large buffers.
bool write_small_buffer(EncodeContext& context, PyObject* object) {
  const Py_buffer* held = PyPickleBuffer_GetBuffer(object);
  if (held == nullptr) throw PyError();
  const auto size = static_cast<std::size_t>(held->len);
  if (size >= envelope::kMinStoredSize || PyBuffer_IsContiguous(held, 'A') == 0) {
    return false;
  }
  if (held->readonly == 0) context.out.node(NodeTag::kByteArray, 1);
  context.out.binary({static_cast<const std::uint8_t*>(held->buf), size});
  return true;
}

// Writes a buffer out of band if the callback asks for it, else as bytes or bytearray.
void describe_buffer(EncodeContext& context, PyObject* object, Plan&) {
  PyObject* const callback = context.hooks().buffer_callback;
  if (callback == nullptr && write_small_buffer(context, object)) return;
  // The view holds the memory: the callback may release the PickleBuffer.
  auto view = std::make_unique<BufferView>(object, true);
  const bool is_read_only = view->is_read_only();
  wire::Writer& out = context.out;
  if (callback != nullptr) {
    const Ref in_band = call(callback, object);
    if (check(PyObject_IsTrue(in_band.get())) == 0) {
      out.node(NodeTag::kBuffer, 2);
      out.unsigned_integer(context.next_buffer());
      out.boolean(is_read_only);
      return;
    }
  }
  PyObject* const owner = view->owner();
  PyObject* const reduced = innermost_reduced(context, object);
  const bool has_owner = owner != nullptr && reduced != nullptr;
  const bool is_source = has_owner && is_memory_of(owner, reduced);
  const bool is_lent = is_source || (has_owner && is_own_memory(owner, reduced, *view));
  context.binary(std::move(view),
                 is_source      ? BufferKind::kSource
                 : is_read_only ? BufferKind::kReadOnly
                                : BufferKind::kWritable,
                 is_lent);
}

void describe_bounds(EncodeContext& context, PyObject* object, Plan& plan) {
  context.out.node(PySlice_Check(object) ? NodeTag::kSlice : NodeTag::kRange, 3);
  for (const char* step : {".start", ".stop", ".step"}) {
    plan.add_child(get_attribute(object, step + 1), Label::of_text(step));
  }
  plan.mark_creation();
}

void describe_lazy_import(EncodeContext& context, PyObject* placeholder, Plan&) {
  const LazyTarget target = lazy_target(placeholder);
  if (!target.module) context.fail("is a lazy import whose module is unknown");
  context.imports().add_lazy(target);
  context.out.node(NodeTag::kLazyImport, 2);
  write_text(target.module.get(), context.out);
  if (target.attribute) {
    write_text(target.attribute.get(), context.out);
  } else {
    context.out.nil();
  }
}

}  // namespace waybill::py
