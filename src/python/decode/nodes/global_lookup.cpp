// Tested by tests/python/functions/test_functions.py,
// tests/python/untrusted/test_policy.py.

#include <optional>
#include <string>
#include <utility>

#include "python/decode/lookup_check.h"
#include "python/decode/nodes/node_codecs.h"
#include "python/runtime/attribute.h"
#include "python/runtime/modules.h"
#include "python/runtime/py_error.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

using wire::NodeTag;

// Where the name that starts at `start` ends in a dotted path.
Py_ssize_t end_of_name(PyObject* path, Py_ssize_t start) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(path);
  const Py_ssize_t dot = PyUnicode_FindChar(path, '.', start, length, 1);
  if (dot == -2) throw PyError();
  return dot < 0 ? length : dot;
}

// Follows the path by getattr, as pickle's find_class does: the module is imported by
// now, so its lazy attributes count too.
Ref follow(Ref object, PyObject* path, const LookupCheck& check) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(path);
  if (end_of_name(path, 0) == length) {
    return Ref::steal(PyObject_GetAttr(object.get(), path));
  }
  for (Py_ssize_t start = 0; start <= length;) {
    const Py_ssize_t end = end_of_name(path, start);
    const Ref name = Ref::steal(PyUnicode_Substring(path, start, end));
    object = get_attribute(object.get(), name);
    start = end + 1;
    if (start > length) break;
    const Ref rest = Ref::steal(PyUnicode_Substring(path, start, length));
    check.check_step(object.get(), rest.get());
  }
  return object;
}

// Raises DecodeError if the module is one of waybill's own: its helpers differ between
// versions.
void refuse_other_waybill(GraphDecoder& decoder, const Ref& module, PyObject* path) {
  const std::string advice = advice_on_versions(module.get());
  if (advice.empty()) return;
  std::string detail = "no ";
  detail += PrintableText(path).view();
  detail += " in ";
  detail += PrintableText(module.get()).view();
  decoder.fail(ErrorCode::kUnknownFormat, detail + ": " + advice);
}

// A global of the payload: its module and the path in it.
struct GlobalRequest {
  GraphDecoder& decoder;
  std::size_t offset;
  std::optional<std::size_t> index;  // In the manifest; none: the module builtins.
  Ref module;  // The name of the module; null where it is not needed.
  PyObject* path;

  Ref name() const {
    return index ? decoder.modules().name(*index)
                 : decoder.state().names.builtins_plain;
  }
  LookupCheck check() const { return check_of(module.get(), path); }
  LookupCheck check_of(PyObject* name, PyObject* new_path) const {
    return {decoder.state(), decoder.hooks().gate, decoder.denied_names(), offset, name,
            new_path};
  }
};

// Calls find_class(), which also imports.
Ref call_find_class(const GlobalRequest& global, const LookupCheck& check,
                    PyObject* module, PyObject* path) {
  Ref object = call(global.decoder.hooks().find_class, module, path);
  check.check_object(object.get());
  return object;
}

Ref look_up_renamed(const GlobalRequest& global, const Renaming::Name& renamed) {
  global.check().check_renamed(renamed.module.get(), renamed.path.get());
  const LookupCheck check = global.check_of(renamed.module.get(), renamed.path.get());
  ModuleImporter& modules = global.decoder.modules();
  if (global.index) modules.mark_relocated(*global.index);
  if (global.decoder.hooks().find_class != nullptr) {
    return call_find_class(global, check, renamed.module.get(), renamed.path.get());
  }
  Ref module =
      modules.import_for(renamed.module.get(), global.module.get(), global.path);
  check.check_module(module.get());
  Ref object = follow(std::move(module), renamed.path.get(), check);
  check.check_object(object.get());
  return object;
}

// The object at the place to which a library is known to have moved it; null if it is
// missing there.
Ref look_up_moved(const GlobalRequest& global) {
  Renaming& renaming = global.decoder.modules().renaming();
  const Renaming::Name moved = renaming.moved_name(global.module.get(), global.path);
  if (!moved) return {};
  try {
    Ref object = look_up_renamed(global, moved);
    renaming.record_moved_name(global.module.get(), global.path, moved);
    return object;
  } catch (const PyError&) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError) &&
        !PyErr_ExceptionMatches(PyExc_ImportError)) {
      throw;
    }
    PyErr_Clear();  // The caller raises the error about the name in the payload.
    return {};
  }
}

// Handles the current AttributeError, which says that the module lacks the name.
Ref look_up_missing(GlobalRequest& global) {
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw PyError();
  const Ref error = take_error();
  if (!global.module) global.module = global.name();
  refuse_other_waybill(global.decoder, global.module, global.path);
  if (Ref object = look_up_moved(global)) return object;
  global.decoder.modules().renaming().explain(error.get(), global.module.get(),
                                              global.path);
  restore_error(error);
  throw PyError();
}

}  // namespace

// The frame holds the number of the module and not the module: find_class() imports by
// itself, and policies apply to the name in the manifest.
Ref look_up_global(GraphDecoder& decoder, Frame& frame) {
  const State& state = decoder.state();
  ModuleImporter& modules = decoder.modules();
  PyObject* number = frame.part<NodeTag::kGlobal>("module");
  GlobalRequest global{
      decoder, frame.offset, {}, {}, frame.part<NodeTag::kGlobal>("name")};
  if (number != Py_None) global.index = PyLong_AsSize_t(number);
  const Renaming& renaming = modules.renaming();
  const bool has_find_class = decoder.hooks().find_class != nullptr;
  if (decoder.hooks().gate != nullptr || has_find_class || renaming.has_rules()) {
    global.module = global.name();
  }
  if (const auto renamed = renaming.name(global.module.get(), global.path)) {
    return look_up_renamed(global, renamed);
  }
  if (has_find_class) {
    if (Ref renamed = renaming.module(global.module.get())) {
      return look_up_renamed(global, {std::move(renamed), Ref::share(global.path)});
    }
    return call_find_class(global, global.check(), global.module.get(), global.path);
  }
  const LookupCheck check = global.check();
  Ref module = global.index ? modules.get(*global.index) : builtins_module(state);
  check.check_module(module.get());
  Ref object;
  try {
    object = follow(std::move(module), global.path, check);
  } catch (const PyError&) {
    return look_up_missing(global);
  }
  check.check_object(object.get());
  return object;
}

}  // namespace waybill::py
