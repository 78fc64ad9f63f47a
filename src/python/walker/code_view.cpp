// Takes a code object apart for the bytecode layer.
// Tested by tests/python/functions/test_functions.py and the discovery corpus.

#include "python/walker/code_view.h"

#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

// Tuples inside tuples that the analysis looks into.
constexpr int kConstantDepth = 4;

}  // namespace

CodeTables::CodeTables(PyCodeObject* code)
    : instructions_(Ref::steal(PyCode_GetCode(code))) {
  for (PyObject* name : items_of(code->co_names)) names_.push_back(text_of(name));
  for (PyObject* name : items_of(code->co_localsplusnames)) {
    local_names_.push_back(text_of(name));
  }
  for (PyObject* object : items_of(code->co_consts)) {
    constants_.push_back(constant(object, kConstantDepth));
  }
  view_.version = kPythonVersion;
  view_.instructions = bytes_of(instructions_.get());
  view_.exception_table = bytes_of(code->co_exceptiontable);
  view_.names = names_;
  view_.local_names = local_names_;
  view_.local_kinds = bytes_of(code->co_localspluskinds);
  view_.constants = constants_;
  view_.argument_count = static_cast<std::uint32_t>(
      code->co_argcount + code->co_kwonlyargcount +
      ((code->co_flags & CO_VARARGS) != 0) + ((code->co_flags & CO_VARKEYWORDS) != 0));
}

std::string_view CodeTables::text_of(PyObject* text) {
  Ref storage;
  const std::string_view view = utf8_of(text, storage);
  if (storage) texts_.push_back(std::move(storage));
  return view;
}

ConstantView CodeTables::constant(PyObject* object, int depth) {
  using Kind = ConstantView::Kind;
  ConstantView view;
  if (object == Py_None) {
    view.kind = Kind::kNone;
  } else if (PyUnicode_CheckExact(object)) {
    view.kind = Kind::kText;
    view.text = text_of(object);
  } else if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) {
      view.kind = Kind::kInteger;
      view.integer = value;
    }
  } else if (PyTuple_CheckExact(object) && depth > 0) {
    auto items = std::make_unique<std::vector<ConstantView>>();
    for (PyObject* item : items_of(object)) {
      items->push_back(constant(item, depth - 1));
    }
    view.kind = Kind::kTuple;
    view.items = *items;
    tuples_.push_back(std::move(items));
  } else if (PyCode_Check(object)) {
    view.kind = Kind::kCode;
  }
  return view;
}

}  // namespace waybill::py
