// Tested by tests/python/source/test_opaque.py.

#include "python/decode/nodes/node_codecs.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <vector>

#include "format/shapes.h"
#include "python/runtime/attribute.h"
#include "python/runtime/objects.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

using wire::NodeTag;

bool is_opaque(const State& state, PyObject* object) {
  return type_of(object) == lazy_helper(state, &LazyHelpers::opaque);
}

// The items of a list or tuple; empty for other objects.
std::span<PyObject* const> items_if_any(PyObject* object) {
  if (object == nullptr || !(PyList_Check(object) || PyTuple_Check(object))) return {};
  return items_of(object);
}

// The first opaque object; null if there is none.
PyObject* opaque_among(const State& state, std::span<PyObject* const> objects) {
  const auto found = std::ranges::find_if(objects, [&](PyObject* object) {
    return object != nullptr && is_opaque(state, object);
  });
  return found == objects.end() ? nullptr : *found;
}

// The first opaque object among the callables that make or complete an object, and
// their arguments; null if there is none. Code must not get opaque arguments.
PyObject* opaque_maker(const State& state, const Frame& frame) {
  const std::vector<Ref>& children = frame.node->children;
  const auto part = [&](std::size_t position) {
    return position < children.size() ? children[position].get() : nullptr;
  };
  constexpr PartOf<NodeTag::kObject> kMaker = "callable", kArguments = "args";
  static_assert(kMaker.position == PartOf<NodeTag::kNewObject>("class").position &&
                kArguments.position == PartOf<NodeTag::kNewObject>("args").position);
  PyObject* const called[] = {part(kMaker.position)};
  if (PyObject* found = opaque_among(state, called)) return found;
  if (PyObject* found = opaque_among(state, items_if_any(part(kArguments.position)))) {
    return found;
  }
  if (frame.node->codec->tag != NodeTag::kObject) return nullptr;
  PyObject* setter = part(PartOf<NodeTag::kObject>("setter").position);
  if (setter == nullptr) return nullptr;
  PyObject* value = part(PartOf<NodeTag::kObject>("state").position);
  PyObject* const given[] = {setter, value};
  PyObject* found = opaque_among(state, given);
  return found != nullptr ? found : opaque_among(state, items_if_any(value));
}

// Whether an error of waybill is about this process and not about the payload.
bool is_about_this_process(const State& state, const Frame& frame, PyObject* error) {
  if (is_instance_of(state, error, &LazyHelpers::missing_module_error) ||
      is_instance_of(state, error, &LazyHelpers::python_mismatch_error)) {
    return true;
  }
  // Another version of waybill may have the name.
  return frame.node->codec->tag == NodeTag::kGlobal &&
         !is_instance_of(state, error, &LazyHelpers::policy_error);
}

// Calls a method of the Payload in waybill._kinds.opaque.
Ref call_payload(GraphDecoder& decoder, const char* name,
                 std::initializer_list<PyObject*> arguments) {
  const Ref method = get_attribute(decoder.hooks().opaque, name);
  return Ref::steal(
      PyObject_Vectorcall(method.get(), arguments.begin(), arguments.size(), nullptr));
}

Ref part_of_code(GraphDecoder& decoder, PyObject* index) {
  return decoder.code().describe_next_use(PyLong_AsSize_t(index));
}

Ref module_name(GraphDecoder& decoder, PyObject* index) {
  if (index == Py_None) return decoder.state().names.builtins_plain;
  return decoder.modules().name(PyLong_AsSize_t(index));
}

}  // namespace

Ref opaque_cause(GraphDecoder& decoder, const Frame& frame) {
  const NodeTag tag = frame.node->codec->tag;
  const bool is_code =
      tag == NodeTag::kFunction || tag == NodeTag::kCode || tag == NodeTag::kClass;
  if (is_code && decoder.code().refusal()) return decoder.code().refusal();
  const State& state = decoder.state();
  PyObject* part = nullptr;
  if (tag == NodeTag::kClassDict) {
    PyObject* const type[] = {frame.part<NodeTag::kClassDict>("class")};
    part = opaque_among(state, type);
  }
  if (frame.is_reduced()) part = opaque_maker(state, frame);
  return part == nullptr ? Ref() : get_attribute(part, "_error");
}

bool can_be_opaque(const State& state, const Frame& frame) {
  if (frame.object && (!frame.is_reduced() || PyType_Check(frame.object.get()))) {
    return false;
  }
  if (!PyErr_ExceptionMatches(PyExc_Exception) ||
      PyErr_ExceptionMatches(PyExc_MemoryError) ||
      PyErr_ExceptionMatches(PyExc_RecursionError)) {
    return false;
  }
  const Ref error = take_error();
  const bool is_substitutable =
      !is_instance_of(state, error.get(), &LazyHelpers::error) ||
      is_about_this_process(state, frame, error.get());
  restore_error(error);
  return is_substitutable;
}

Ref make_opaque(GraphDecoder& decoder, const Frame& frame, PyObject* error) {
  const Ref kind = new_text(envelope::shape_of(frame.node->codec->tag).name);
  const Ref position = Ref::steal(PyLong_FromSize_t(decoder.position_of(frame)));
  PyObject* id = Py_None;
  if (frame.node->codec->tag == NodeTag::kClass) {
    id = frame.part<NodeTag::kClass>("id");
  }
  PyObject* instance_type = Py_None;
  if (frame.object) instance_type = type_of(frame.object.get());
  return call_payload(decoder, "stand_in",
                      {kind.get(), position.get(), error, id, instance_type});
}

void describe_opaque(GraphDecoder& decoder, const Frame& frame) {
  const auto tag = static_cast<std::uint8_t>(frame.node->codec->tag);
  const envelope::Shape& shape = *envelope::shape_of(tag);
  const Ref parts = Ref::steal(PyDict_New());
  for (std::size_t i = 0; i < frame.node->children.size(); ++i) {
    Ref child = frame.node->children[i];
    if (!child) continue;  // See GraphDecoder::finish_instance().
    const envelope::Rule rule = shape.part(i)->rule;
    if (rule == envelope::Rule::kCodeIndex) child = part_of_code(decoder, child.get());
    if (rule == envelope::Rule::kModuleOrNil) child = module_name(decoder, child.get());
    const Ref name = new_text(envelope::part_name(tag, i));
    check(PyDict_SetItem(parts.get(), name.get(), child.get()));
  }
  call_payload(decoder, "describe", {frame.object.get(), parts.get()});
}

}  // namespace waybill::py
