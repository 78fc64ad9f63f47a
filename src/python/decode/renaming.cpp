// Tested by tests/python/imports/test_renames.py and test_known_moves.py.

#include "python/decode/renaming.h"

#include <string>
#include <utility>

#include "python/runtime/attribute.h"
#include "python/runtime/objects.h"
#include "python/runtime/py_error.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

Ref call_rules(PyObject* rules, const char* method, PyObject* first, PyObject* second) {
  return Ref::steal(PyObject_CallMethodObjArgs(rules, interned(method).get(), first,
                                               second, nullptr));
}

// Records that `module:path` has another name here.
void record(PyObject* rules, PyObject* module, PyObject* path,
            const Renaming::Name& other) {
  const Ref old = Ref::steal(PyUnicode_FromFormat("%U:%U", module, path));
  const Ref renamed =
      Ref::steal(PyUnicode_FromFormat("%U:%U", other.module.get(), other.path.get()));
  call_rules(rules, "_record", old.get(), renamed.get());
}

Ref row_of(const Distribution& distribution) {
  return new_tuple({new_text(distribution.name), new_text(distribution.version),
                    new_list(distribution.modules, new_text)});
}

}  // namespace

void Renaming::check_import_allowed(PyObject* name, PyObject* old) const {
  if (gate_ == nullptr) return;
  auto refusal = gate_->refusal(Request::kImport, text_of(name), {});
  if (!refusal) return;
  raise_decode(state_, ErrorCode::kRefused, 0,
               *std::move(refusal) + "; the payload calls it " + text_of(old));
}

Ref Renaming::module(PyObject* name) const {
  if (rules_ == nullptr) return {};
  Ref renamed = null_if_none(call_rules(rules_, "_module", name, nullptr));
  if (!renamed) return {};
  check_import_allowed(renamed.get(), name);
  call_rules(rules_, "_record", name, renamed.get());
  return renamed;
}

Renaming::Name Renaming::name_of(PyObject* answer) const {
  if (answer == Py_None) return {};
  PyObject *module, *path;
  if (!PyArg_ParseTuple(answer, "UU", &module, &path)) throw PyError();
  check_import_allowed(module, module);
  return {Ref::share(module), Ref::share(path)};
}

Renaming::Name Renaming::name(PyObject* module, PyObject* path) const {
  if (rules_ == nullptr) return {};
  Name found = name_of(call_rules(rules_, "_name", module, path).get());
  if (!found) return {};
  record(rules_, module, path, found);
  return found;
}

bool Renaming::has_names_of(PyObject* module) const {
  return rules_ != nullptr &&
         call_rules(rules_, "_has_names_of", module, nullptr).get() == Py_True;
}

PyObject* Renaming::moves() const {
  return rules_ != nullptr ? rules_
                           : lazy_helper(state_, &LazyHelpers::default_renames);
}

Ref Renaming::moved_module(PyObject* name, PyObject* error) const {
  Ref moved = null_if_none(call_rules(moves(), "_known_module", name, error));
  if (moved) check_import_allowed(moved.get(), name);
  return moved;
}

Renaming::Name Renaming::moved_name(PyObject* module, PyObject* path) const {
  return name_of(call_rules(moves(), "_known_name", module, path).get());
}

void Renaming::record_moved_module(PyObject* name, PyObject* moved) {
  has_used_moves_ = true;
  call_rules(moves(), "_record", name, moved);
}

void Renaming::record_moved_name(PyObject* module, PyObject* path, const Name& moved) {
  has_used_moves_ = true;
  record(moves(), module, path, moved);
}

Ref Renaming::environment() const {
  if (!manifest_.environment) return Ref::share(Py_None);
  const Environment& sender = *manifest_.environment;
  return new_tuple({new_text(sender.python), new_text(sender.implementation),
                    new_text(sender.platform), new_list(sender.distributions, row_of)});
}

void Renaming::explain(PyObject* error, PyObject* module, PyObject* path) const {
  const Ref sender = environment();
  call(lazy_helper(state_, &LazyHelpers::explain_name), error, module, path,
       sender.get());
}

}  // namespace waybill::py
