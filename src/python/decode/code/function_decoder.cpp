// Tested by tests/python/cache/test_received_functions.py, which compares it with the
// decoder of all objects.

#include "python/decode/code/function_decoder.h"

#include <vector>

#include "base/hash.h"
#include "python/decode/code/code_maker.h"
#include "python/decode/graph_decoder.h"
#include "python/decode/module_importer.h"
#include "python/decode/scalars.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/namespaces.h"
#include "python/runtime/text.h"
#include "verify/bare_function.h"

namespace waybill::py {

namespace {

using envelope::BareFunction;
using envelope::ManifestView;

Ref simple_constant(const wire::Token& token) {
  if (Ref scalar = scalar_of(token)) return scalar;
  if (token.type == wire::TokenType::kText) return new_text(token.text());
  return Ref::steal(PyBytes_FromStringAndSize(
      token.text().data(), static_cast<Py_ssize_t>(token.bytes.size())));
}

Ref constants_of(const State& state, const BareFunction& function) {
  const Section& section = function.code.constants;
  if (!function.has_simple_constants)
    return decode_constants(state, section, Limits{}, {});
  wire::Reader reader(section.bytes);
  std::uint64_t count = 0;
  reader.read_array(count, {});
  Ref tuple = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
  wire::Token token;
  for (Py_ssize_t i = 0; reader.next(token); ++i) {
    PyTuple_SET_ITEM(tuple.get(), i, simple_constant(token).release());
  }
  return tuple;
}

Ref code_of(const State& state, const BareFunction& function) {
  const CodeKey key = code_key(base::content_hash_of(function.body.bytes),
                               function.file, function.location);
  if (Ref known = state.known_codes.find(key)) return known;
  Ref code = make_code(
      state, function.body, function.code, constants_of(state, function),
      {state.intern_table.get(function.file), function.line, function.line_table});
  state.known_codes.hold(key, code.get(), function.body.bytes.size());
  return code;
}

// What it needs, by the numbers of its imports; false if any of it is not imported.
bool find_modules(const State& state, const BareFunction& function,
                  std::vector<Ref>& modules) {
  const Ref loaded = Ref::share(sys_modules(state));
  modules.reserve(function.manifest.imports.size());
  for (const ManifestView::Import& import : function.manifest.imports) {
    Ref& module = modules.emplace_back();
    if (import.time == ImportTime::kLazy) return false;
    if (import.time == ImportTime::kCall) continue;
    const Ref name = state.intern_table.get(import.module);
    module = imported_module(state, loaded.get(), name.get());
    if (!module) return false;
  }
  return true;
}

}  // namespace

Ref decode_function(const State& state, BytesView bytes, std::size_t& head_size) {
  BareFunction function;
  if (!envelope::read_bare_function(bytes, state.python, function)) return {};
  const Ref code = code_of(state, function);
  // Without the cells that it wants it would read beyond its closure.
  if (PyCode_GetNumFree(reinterpret_cast<PyCodeObject*>(code.get())) != 0) return {};
  std::vector<Ref> modules;
  if (!find_modules(state, function, modules)) return {};
  const Ref globals = new_dict(static_cast<Py_ssize_t>(function.globals.size()) + 3);
  const Ref name = state.intern_table.get_or_null(function.module_name);
  const Ref package = state.intern_table.get_or_null(function.package);
  describe_namespace(state, globals.get(), name.get(), package.get(),
                     function.is_package);
  for (const BareFunction::Global& global : function.globals) {
    const Ref key = state.intern_table.get(global.name);
    check(PyDict_SetItem(globals.get(), key.get(), modules[global.import].get()));
  }
  head_size = function.body.offset + function.body.bytes.size();
  return Ref::steal(PyFunction_New(code.get(), globals.get()));
}

}  // namespace waybill::py
