// Builds each kind of node. verify() has checked the shapes; the types of the
// children's objects are checked here. Tested by
// tests/python/functions/test_functions.py, tests/python/kinds/test_reduce.py,
// tests/python/untrusted/test_untrusted_input.py.

#include "python/decode/nodes/node_codecs.h"

#include <algorithm>
#include <string>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

using wire::FunctionField;
using wire::NodeTag;

Ref make_byte_array(GraphDecoder&, Frame& frame) {
  return frame.node->children[0];  // The decoder has read it as a bytearray.
}

Ref make_slice(GraphDecoder&, Frame& frame) {
  const auto part = frame.parts<NodeTag::kSlice>();
  return Ref::steal(PySlice_New(part("start"), part("stop"), part("step")));
}

// Accepts only ints, because a range has no other values. max_unfolded limits the
// number of ints in the range.
Ref make_range(GraphDecoder& decoder, Frame& frame) {
  const bool are_ints = std::ranges::all_of(
      frame.node->children, [](const Ref& child) { return PyLong_Check(child.get()); });
  const auto part = frame.parts<NodeTag::kRange>();
  if (!are_ints || PyObject_IsTrue(part("step")) == 0) {
    decoder.fail(ErrorCode::kMalformed,
                 "a range should have three ints, and a step other than 0");
  }
  Ref range = call(as_object(&PyRange_Type), part("start"), part("stop"), part("step"));
  const std::size_t max_length = decoder.limits().max_unfolded;
  if (max_length == Limits::kNone) return range;
  const Py_ssize_t length = PyObject_Size(range.get());
  if (length >= 0 && static_cast<std::size_t>(length) <= max_length) return range;
  PyErr_Clear();  // A range too long for len().
  decoder.fail(ErrorCode::kLimitExceeded, "a range of more ints than the " +
                                              std::to_string(max_length) +
                                              " values that max_unfolded allows");
}

Ref make_namespace(GraphDecoder& decoder, Frame& frame) {
  if (Ref existing = decoder.find_namespace(frame)) return existing;
  Ref globals = Ref::steal(PyDict_New());
  const auto text_or_null = [&](PartOf<NodeTag::kNamespace> part) {
    PyObject* text = frame.part(part);
    return text == Py_None ? nullptr : text;
  };
  describe_namespace(decoder.state(), globals.get(), text_or_null("name"),
                     text_or_null("package"),
                     frame.part<NodeTag::kNamespace>("is_package") == Py_True);
  decoder.record_namespace(frame, globals);
  return globals;
}

Ref make_module(GraphDecoder& decoder, Frame& frame) {
  return decoder.received_definitions().module_for(
      frame.part<NodeTag::kModule>("namespace"));
}

Ref finish_module(GraphDecoder& decoder, Frame& frame) {
  decoder.received_definitions().add_module(frame.object.get(),
                                            frame.part<NodeTag::kModule>("is_part"));
  return {};
}

Ref load_persistent(GraphDecoder& decoder, Frame& frame) {
  PyObject* load = decoder.hooks().persistent_load;
  if (load == nullptr) {
    decoder.fail(ErrorCode::kUndeclared,
                 "an object with a persistent id, which only an Unpickler with "
                 "persistent_load() can find");
  }
  return call(load, frame.part<NodeTag::kPersistent>("id"));
}

Ref take_buffer(GraphDecoder& decoder, Frame& frame) {
  PyObject* buffers = decoder.hooks().buffers;
  Ref buffer = buffers == nullptr ? Ref() : Ref::steal_or_null(PyIter_Next(buffers));
  if (!buffer) {
    if (PyErr_Occurred()) throw PyError();
    decoder.fail(ErrorCode::kUndeclared, "a buffer that was not given in `buffers`");
  }
  if (PyLong_AsUnsignedLongLong(frame.part<NodeTag::kBuffer>("number")) !=
      decoder.next_buffer()) {
    decoder.fail(
        ErrorCode::kMalformed,
        "a buffer out of band whose number does not follow that of the one before");
  }
  if (frame.part<NodeTag::kBuffer>("is_readonly") == Py_False) return buffer;
  Ref view = Ref::steal(PyMemoryView_FromObject(buffer.get()));
  if (PyMemoryView_GET_BUFFER(view.get())->readonly != 0) return buffer;
  return Ref::steal(PyObject_CallMethod(view.get(), "toreadonly", nullptr));
}

Ref take_stored(GraphDecoder& decoder, Frame& frame) {
  return decoder.stored(
      PyLong_AsUnsignedLongLong(frame.part<NodeTag::kStored>("number")));
}

// The object that this process already has under the id, or the received one.
Ref claim_identified(GraphDecoder& decoder, Frame& frame) {
  PyObject* id = frame.part<NodeTag::kIdentified>("id");
  bool is_existing = false;
  Ref object = decoder.received_definitions().claim(
      id, frame.part<NodeTag::kIdentified>("value"), is_existing);
  decoder.received_definitions().close_claim(id, object.get());
  return object;
}

Ref apply_replacement(GraphDecoder& decoder, Frame& frame) {
  decoder.replace_enclosing(frame.part<NodeTag::kReplacement>("object"));
  return Ref::share(Py_None);
}

Ref find_stream_object(GraphDecoder& decoder, Frame& frame) {
  const auto part = frame.parts<NodeTag::kStreamReference>();
  PyObject* object =
      raw_get(decoder.history().payload_at(part("payload")), part("position"));
  if (object == nullptr) {
    decoder.fail(ErrorCode::kBadReference,
                 "an object of an earlier payload of the stream, which only the "
                 "Unpickler that read the earlier payload has");
  }
  return Ref::share(object);
}

Ref make_cell(GraphDecoder& decoder, Frame& frame) {
  Ref cell = Ref::steal(PyCell_New(nullptr));
  if (frame.remaining == 0) decoder.add_fresh_cell(cell);
  return cell;
}

Ref fill_cell(GraphDecoder& decoder, Frame& frame) {
  if (!frame.node->children.empty() &&
      !decoder.is_empty(frame.part<NodeTag::kCell>("content"))) {
    check(PyCell_Set(frame.object.get(), frame.part<NodeTag::kCell>("content")));
  }
  return {};
}

Ref make_function(GraphDecoder& decoder, Frame& frame) {
  const std::size_t body = PyLong_AsSize_t(frame.part<NodeTag::kFunction>("code"));
  Ref code = decoder.code().next_use(body);
  PyObject* globals = frame.part<NodeTag::kFunction>("namespace");
  PyObject* cells = frame.part<NodeTag::kFunction>("closure");
  if (!PyDict_CheckExact(globals) || !PyList_CheckExact(cells)) {
    decoder.fail(ErrorCode::kMalformed, "a function without namespace or cells");
  }
  Ref closure = Ref::steal(PyList_AsTuple(cells));
  Py_ssize_t count = PyTuple_GET_SIZE(closure.get());
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyCell_Check(PyTuple_GET_ITEM(closure.get(), i))) continue;
    decoder.fail(ErrorCode::kMalformed, "a closure with an item that is not a cell");
  }
  if (decoder.code().is_foreign()) {
    closure = decoder.code().closure_for(code.get(), body, closure.get());
    count = PyTuple_GET_SIZE(closure.get());
  }
  auto* code_object = as_code(code.get());
  if (count != PyCode_GetNumFree(code_object)) {
    decoder.fail(ErrorCode::kMalformed,
                 "a closure with more or fewer cells than its code");
  }
  Ref function = Ref::steal(PyFunction_New(code.get(), globals));
  if (count != 0) check(PyFunction_SetClosure(function.get(), closure.get()));
  frame.node->cells = decoder.take_fresh_cells();
  return function;
}

Ref make_code(GraphDecoder& decoder, Frame& frame) {
  return decoder.code().next_use(PyLong_AsSize_t(frame.part<NodeTag::kCode>("code")));
}

Ref make_lazy_import(GraphDecoder& decoder, Frame& frame) {
  // Nothing checks the object once the import is resolved.
  if (decoder.hooks().gate != nullptr || decoder.hooks().find_class != nullptr) {
    decoder.fail(ErrorCode::kRefused,
                 "a lazy import, which neither a policy nor find_class() can check");
  }
  Ref module = Ref::share(frame.part<NodeTag::kLazyImport>("module"));
  Ref name = Ref::share(frame.part<NodeTag::kLazyImport>("name"));
  const Renaming& renaming = decoder.modules().renaming();
  Renaming::Name renamed;
  if (name.get() != Py_None) renamed = renaming.name(module.get(), name.get());
  if (renamed) {
    module = std::move(renamed.module);
    name = std::move(renamed.path);
  } else if (Ref other = renaming.module(module.get())) {
    module = std::move(other);
  }
  return call(decoder.state().make_lazy_import.get(), module.get(), name.get());
}

Ref class_dict(GraphDecoder& decoder, Frame& frame) {
  PyObject* type = frame.part<NodeTag::kClassDict>("class");
  if (!PyType_Check(type)) {
    decoder.fail(ErrorCode::kMalformed,
                 "the class dict of an object that is not a class");
  }
  return type_dict(as_type(type));
}

Ref make_class(GraphDecoder& decoder, Frame& frame) {
  ReceivedDefinitions& definitions = decoder.received_definitions();
  constexpr PartOf<NodeTag::kClass> kId = "id";
  if (frame.part(kId) != Py_None) {
    if (Ref here = definitions.local_id(frame.part(kId))) {
      frame.node->children[kId.position] = std::move(here);
    }
  }
  PyObject* id = frame.part(kId);
  Ref existing = id == Py_None ? Ref() : identified_object(decoder.state(), id);
  if (existing && PyType_Check(existing.get())) {
    frame.is_existing = true;
    definitions.record_source_id(id, existing.get());
    definitions.add_members(frame, existing.get());
    return existing;
  }
  const auto part = frame.parts<NodeTag::kClass>();
  PyObject* has_open_base =
      definitions.has_open_base(part("bases")) ? Py_True : Py_False;
  // The classes of another Python version are converted.
  PyObject* maker = decoder.code().is_foreign()
                        ? lazy_helper(decoder.state(), &LazyHelpers::make_foreign_class)
                        : decoder.state().make_class.get();
  Ref made = call(maker, part("metaclass"), part("name"), part("bases"),
                  part("namespace"), has_open_base);
  if (id == Py_None) return made;
  Ref claimed = definitions.claim(id, made.get(), frame.is_existing);
  definitions.record_source_id(id, claimed.get());
  if (frame.is_existing) definitions.add_members(frame, claimed.get());
  return claimed;
}

Ref finish_class(GraphDecoder& decoder, Frame& frame) {
  PyObject* id = frame.part<NodeTag::kClass>("id");
  if (!frame.is_existing) {
    call(decoder.state().finish_class.get(), frame.object.get());
    decoder.received_definitions().close_claim(id, frame.object.get());
  }
  if (id != Py_None && PyType_Check(frame.object.get())) {
    decoder.received_definitions().add_class(frame, decoder.size_from(frame.offset));
  }
  return {};
}

// The number of parts that precede this one.
template <NodeTag kTag>
consteval std::uint8_t parts_before(PartOf<kTag> part) {
  return static_cast<std::uint8_t>(part.position);
}

// In order of the tags. The decoder itself builds lists, tuples, sets and dicts.
constexpr NodeCodec kCodecs[] = {
    {NodeTag::kByteArray, 0, nullptr, make_byte_array},
    {NodeTag::kSlice, 0, nullptr, make_slice},
    {NodeTag::kRange, 0, nullptr, make_range},
    {NodeTag::kGlobal, 0, nullptr, look_up_global},
    {NodeTag::kNamespace, envelope::shape_of(NodeTag::kNamespace).max_count,
     make_namespace, nullptr},
    {NodeTag::kCell, 0, make_cell, fill_cell},
    {NodeTag::kFunction, parts_before<NodeTag::kFunction>("fields"), make_function,
     nullptr},
    {NodeTag::kCode, 0, nullptr, make_code},
    {NodeTag::kLazyImport, 0, nullptr, make_lazy_import},
    {NodeTag::kClassDict, 0, nullptr, class_dict},
    {NodeTag::kObject, parts_before<NodeTag::kObject>("state"), call_reducer,
     finish_reduced},
    {NodeTag::kNewObject, parts_before<NodeTag::kNewObject>("state"), call_new,
     finish_new},
    {NodeTag::kClass, parts_before<NodeTag::kClass>("attributes"), make_class,
     finish_class},
    {NodeTag::kPersistent, 0, nullptr, load_persistent},
    {NodeTag::kBuffer, 0, nullptr, take_buffer},
    {NodeTag::kIdentified, 0, nullptr, claim_identified},
    {NodeTag::kModule, parts_before<NodeTag::kModule>("dict"), make_module,
     finish_module},
    {NodeTag::kStreamReference, 0, nullptr, find_stream_object},
    {NodeTag::kReplacement, 0, nullptr, apply_replacement},
    {NodeTag::kStored, 0, nullptr, take_stored},
};

}  // namespace

const NodeCodec* node_codec(std::uint8_t tag) {
  for (const NodeCodec& codec : kCodecs) {
    if (static_cast<std::uint8_t>(codec.tag) == tag) return &codec;
  }
  return nullptr;
}

Ref attribute_of_function(const State& state, wire::FunctionField field) {
  const envelope::Part* part =
      envelope::function_part(static_cast<std::uint64_t>(field));
  if (part == nullptr || part->rule != envelope::Rule::kObject) return {};
  return state.intern_table.get(std::string("__").append(part->name).append("__"));
}

void set_class_attribute(const State& state, PyObject* cls, PyObject* name,
                         PyObject* value) {
  const bool is_usual =
      Py_IS_TYPE(cls, &PyType_Type) && PyUnicode_CheckExact(name) &&
      PyUnicode_CompareWithASCIIString(name, "_sa_class_manager") != 0;
  if (is_usual) {
    check(PyObject_SetAttr(cls, name, value));
    return;
  }
  call(state.set_class_attribute.get(), cls, name, value);
}

void set_function_field(GraphDecoder& decoder, PyObject* function,
                        const std::vector<Ref>& cells, std::uint64_t field,
                        PyObject* value) {
  switch (static_cast<FunctionField>(field)) {
    case FunctionField::kGlobals:
      return;  // The decoder has put the globals into the namespace.
    case FunctionField::kImports:
      if (decoder.received_definitions().add_imports(value)) return;
      decoder.fail(ErrorCode::kMalformed,
                   "an import that is not a module of the payload");
    case FunctionField::kCells:
      if (!PyList_CheckExact(value) ||
          static_cast<std::size_t>(PyList_GET_SIZE(value)) != cells.size()) {
        decoder.fail(ErrorCode::kMalformed,
                     "a function with more or fewer cell contents than new cells");
      }
      for (std::size_t i = 0; i < cells.size(); ++i) {
        PyObject* content = PyList_GET_ITEM(value, static_cast<Py_ssize_t>(i));
        if (!decoder.is_empty(content)) check(PyCell_Set(cells[i].get(), content));
      }
      return;
    default:
      break;
  }
  if (kKeepsAnnotations && PyFunction_Check(function) &&
      static_cast<FunctionField>(field) == FunctionField::kAnnotate) {
    call(lazy_helper(decoder.state(), &LazyHelpers::set_annotations), function, value);
    return;
  }
  const Ref attribute =
      attribute_of_function(decoder.state(), static_cast<FunctionField>(field));
  if (!attribute) {
    decoder.fail(ErrorCode::kUnknownTag,
                 "field " + std::to_string(field) + " of a function is not known");
  }
  check(PyObject_SetAttr(function, attribute.get(), value));
}

}  // namespace waybill::py
