// The source of code, as far as it is proven: waybill._source, in Python, finds the
// text and compiles it. Tested by tests/python/source/test_travelling_source.py.

#include <string>

#include "python/encode/code/code_encoder.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/attribute.h"
#include "python/runtime/text.h"
#include "wire/format.h"
#include "wire/writer.h"

namespace waybill::py {

namespace {

// Places in a waybill._source.Unit: the kind, the text, and the fields that follow the
// kind in a unit of the format.
constexpr Py_ssize_t kKind = 0;
constexpr Py_ssize_t kText = 1;
constexpr Py_ssize_t kUnitParts = 12;

void write_field(PyObject* field, wire::Writer& out) {
  if (write_leaf(field, out)) return;
  check(PyTuple_Size(field) < 0 ? -1 : 0);
  write_texts(field, out);
}

CodeSource source_from(PyObject* unit) {
  CodeSource source;
  Ref storage;
  source.text = utf8_of(PyTuple_GET_ITEM(unit, kText), storage);
  wire::Writer recipe;
  write_field(PyTuple_GET_ITEM(unit, kKind), recipe);
  for (PyObject* field : items_of(unit).subspan(kText + 1)) write_field(field, recipe);
  source.recipe = recipe.take();
  return source;
}

// The unit of a code object, or why there is none.
Ref proof_of(const State& state, PyObject* code, PyObject* owner) {
  try {
    return call(late(state, &LateHelpers::prove_source), code,
                owner == nullptr ? Py_None : owner);
  } catch (const PyError&) {
    // What looks for source can be neither loaded nor called so deep in calls. The
    // code can be sent without.
    forgive(PyExc_RecursionError);
    return Ref::steal(PyUnicode_FromString("the stack is too deep to look for it"));
  }
}

}  // namespace

const CodeSource* source_of(const State& state, CodeInfo& info, PyObject* owner,
                            std::string& reason) {
  if (info.source) return info.source.get();
  auto* code = as_object(info.code);
  const Ref proof = proof_of(state, code, owner);
  if (!PyTuple_Check(proof.get())) {
    reason = text_of(proof.get());
    return nullptr;
  }
  if (PyTuple_GET_SIZE(proof.get()) != kUnitParts) {
    raise(PyExc_SystemError, "a source unit has twelve parts");
  }
  auto source = std::make_unique<const CodeSource>(source_from(proof.get()));
  // The code that ran may have sent this code as well.
  if (!info.source) info.source = std::move(source);
  return info.source.get();
}

}  // namespace waybill::py
