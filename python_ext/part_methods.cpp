// Functions for the parts of a mapped file.
// Tested by tests/python/api/test_open.py and test_open_loading.py.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "conversions.h"
#include "methods.h"
#include "options.h"
#include "python/capsules.h"
#include "python/opened_file.h"

namespace waybill::extension {

namespace {

constexpr char kOpenedFileCapsule[] = "waybill.OpenedFile";

py::OpenedFile& file_of(PyObject* capsule) {
  return content_of<py::OpenedFile>(capsule, kOpenedFileCapsule);
}

// An offset in the payload, which an earlier call has returned.
std::size_t offset_of(const py::OpenedFile& file, PyObject* number) {
  const std::size_t offset = number_of(number);
  const Section& payload = file.envelope()->payload;
  if (offset >= payload.offset && offset - payload.offset < payload.bytes.size()) {
    return offset;
  }
  py::raise(PyExc_ValueError, "the payload has no part at byte %zu", offset);
}

Ref open_parts(PyObject* module, PyObject* const* arguments) {
  const bool is_head = PyBytes_CheckExact(arguments[0]) || arguments[0] == Py_None;
  if (!is_head || !PyMemoryView_Check(arguments[1])) {
    py::raise(PyExc_TypeError, "open_parts() takes bytes and a memoryview");
  }
  const long number = signed_number_of(arguments[2]);
  const LoadOptions options = py::load_options_of(arguments[3]);
  auto file = std::make_unique<py::OpenedFile>(
      state_of(module), Ref::share(arguments[0]), Ref::share(arguments[1]), options,
      static_cast<py::OpenedFile::Check>(std::clamp(number, 0L, 2L)));
  return to_capsule(std::move(file), kOpenedFileCapsule);
}

Ref root_part(PyObject*, PyObject* capsule) {
  return to_object(root_of(file_of(capsule).envelope()));
}

Ref describe(PyObject*, PyObject* const* arguments) {
  const py::OpenedFile& file = file_of(arguments[0]);
  const Part part = describe_part(file.envelope(), offset_of(file, arguments[1]));
  Ref item = Ref::share(Py_None);
  Ref shape = Ref::share(Py_None);
  if (part.array) {
    item = new_text(part.array->item);
    const Ref extents = new_list(part.array->shape, to_object<std::uint64_t>);
    shape = Ref::steal(PyList_AsTuple(extents.get()));
  }
  return tuple_of(part.type, part.count, part.size, part.text, item, shape);
}

Ref part_steps(PyObject*, PyObject* const* arguments) {
  py::OpenedFile& file = file_of(arguments[0]);
  return new_list(file.steps(offset_of(file, arguments[1])),
                  [](const Step& step) { return to_object(step.offset); });
}

// Steps that share one key in the payload share its object.
Ref part_keys(PyObject*, PyObject* const* arguments) {
  py::OpenedFile& file = file_of(arguments[0]);
  std::map<std::size_t, Ref> texts;
  return new_list(file.steps(offset_of(file, arguments[1])), [&](const Step& step) {
    Ref key = Ref::share(Py_None);
    if (step.kind == Step::Kind::kIndex) {
      key = to_object(step.index);
    } else if (step.name.data() != nullptr) {
      Ref& shared = texts[step.key_offset];
      if (!shared || step.kind == Step::Kind::kAttribute) shared = new_text(step.name);
      key = shared;
    }
    return tuple_of(key, step.key_offset);
  });
}

Ref text_of_step(PyObject*, PyObject* const* arguments) {
  py::OpenedFile& file = file_of(arguments[0]);
  const std::vector<Step>& steps = file.steps(offset_of(file, arguments[1]));
  const std::size_t index = number_of(arguments[2]);
  if (index < steps.size()) return new_text(step_text(file.envelope(), steps[index]));
  py::raise(PyExc_IndexError, "the part has %zu steps, and none at index %zu",
            steps.size(), index);
}

Ref has_keys(PyObject*, PyObject* const* arguments) {
  py::OpenedFile& file = file_of(arguments[0]);
  return to_object(file.has_keys(offset_of(file, arguments[1])));
}

Ref find_step(PyObject*, PyObject* const* arguments) {
  py::OpenedFile& file = file_of(arguments[0]);
  PyObject* const key = arguments[2];
  const std::size_t offset = offset_of(file, arguments[1]);
  const Step* found = nullptr;
  if (PyUnicode_Check(key)) {
    Ref storage;
    found = file.find_step(offset, py::utf8_of(key, storage));
  } else {
    found = file.find_step(offset, number_of(key));
  }
  if (found == nullptr) return Ref::share(Py_None);
  return tuple_of(file.index_of(offset, *found), found->offset);
}

Ref find_path(PyObject*, PyObject* const* arguments) {
  const py::OpenedFile& file = file_of(arguments[0]);
  const Ref path =
      Ref::steal(PyUnicode_AsEncodedString(arguments[1], "utf-8", "surrogatepass"));
  const Result<std::size_t> offset = find_part(
      file.envelope(), {PyBytes_AS_STRING(path.get()),
                        static_cast<std::size_t>(PyBytes_GET_SIZE(path.get()))});
  if (offset) return to_object(*offset);
  PyErr_SetObject(PyExc_LookupError, new_text(offset.error().detail).get());
  throw PyError();
}

Ref load_part(PyObject* module, PyObject* const* arguments) {
  const Ref held = Ref::share(arguments[0]);  // Code of the payload may drop the file.
  py::OpenedFile& file = file_of(held.get());
  py::DecodeHooks hooks;
  hooks.memory = arguments[2];
  if (!PyMemoryView_Check(hooks.memory) || !file.has_same_size(hooks.memory)) {
    py::raise(PyExc_TypeError, "load_part() takes a mapping of the same file");
  }
  const DecodeOptions options(arguments[4], hooks);
  return file.load(state_of(module), offset_of(file, arguments[1]), options.hooks,
                   options.load_options.value_or(LoadOptions{}), is_true(arguments[3]));
}

}  // namespace

PyMethodDef kPartMethods[] = {
    method<open_parts, 4>("open_parts"),
    method<root_part>("root_part"),
    method<describe, 2>("describe_part"),
    method<part_steps, 2>("part_steps"),
    method<part_keys, 2>("part_keys"),
    method<text_of_step, 3>("step_text"),
    method<has_keys, 2>("has_keys"),
    method<find_step, 3>("find_step"),
    method<find_path, 2>("find_path"),
    method<load_part, 5>("load_part"),
    {},  // Ends the table.
};

}  // namespace waybill::extension
