// Tested by tests/python/imports/test_environment_in_file.py.

#include "python/told_environment.h"

#include <string>
#include <utility>

#include "format/environment.h"
#include "format/manifest_codec.h"
#include "python/runtime/py_error.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

// A list of the names of all modules, but for relative ones: these are of the
// function's package.
Ref modules_of(BytesView manifest) {
  Ref names = Ref::steal(PyList_New(0));
  if (manifest.empty()) return names;
  wire::Reader reader(manifest);
  envelope::ManifestView view;
  envelope::read_manifest(reader, view);  // It was written by this process.
  for (const envelope::ManifestView::Import& import : view.imports) {
    if (import.module.starts_with('.')) continue;
    check(PyList_Append(names.get(), new_text(import.module).get()));
  }
  return names;
}

std::vector<std::string> texts_of(PyObject* list) {
  std::vector<std::string> texts;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* text = PyList_GET_ITEM(list, i);
    if (!PyUnicode_Check(text)) {
      PyErr_SetString(PyExc_TypeError, "names of modules should be str");
      throw PyError();
    }
    texts.push_back(text_of(text));
  }
  return texts;
}

Distribution distribution_of(PyObject* row) {
  PyObject *name, *version, *modules;
  if (!PyArg_ParseTuple(row, "UUO!:distribution", &name, &version, &PyList_Type,
                        &modules)) {
    throw PyError();
  }
  return {text_of(name), text_of(version), texts_of(modules)};
}

Environment environment_of(PyObject* told) {
  PyObject *python, *implementation, *platform, *rows;
  if (!PyArg_ParseTuple(told, "UUUO!:environment", &python, &implementation, &platform,
                        &PyList_Type, &rows)) {
    throw PyError();
  }
  Environment environment{
      text_of(python), text_of(implementation), text_of(platform), {}};
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rows); ++i) {
    PyObject* row = PyList_GET_ITEM(rows, i);
    if (!PyTuple_Check(row)) {
      PyErr_SetString(PyExc_TypeError, "a distribution should be a tuple");
      throw PyError();
    }
    environment.distributions.push_back(distribution_of(row));
  }
  return environment;
}

}  // namespace

std::vector<std::uint8_t> with_told_environment(BytesView manifest, PyObject* ask) {
  const Ref modules = modules_of(manifest);
  const Ref told = Ref::steal(PyObject_CallOneArg(ask, modules.get()));
  if (!PyTuple_Check(told.get())) {
    PyErr_SetString(PyExc_TypeError, "an environment should be a tuple");
    throw PyError();
  }
  return envelope::with_environment(manifest, environment_of(told.get()));
}

}  // namespace waybill::py
