// Functions that are received again and again.
//
// Nothing that a program can change is taken from the time before: modules are looked
// up in sys.modules each time, and the globals are a new dict. What is spared is taking
// the envelope apart, verifying it, and making the code object.
//
// Tested by tests/python/test_received_functions.py.

#include "python/received_function.h"

#include <cstring>

#include "python/compat.h"
#include "python/module_importer.h"
#include "python/modules.h"
#include "python/namespaces.h"
#include "python/text.h"

namespace waybill::py {

namespace {

using envelope::BareFunction;

constexpr std::size_t kMaxEnvelope = 4 << 10;

// The digest of an envelope without signature, which ends in [bin 8, digest, nil].
bool digest_of(BytesView envelope, std::uint64_t& digest) {
  constexpr std::size_t kTail = 2 + sizeof digest + 1;
  if (envelope.size() < kTail || envelope.back() != wire::kNilByte) return false;
  const std::uint8_t* tail = envelope.data() + envelope.size() - kTail;
  std::memcpy(&digest, tail + 2, sizeof digest);
  return tail[0] == 0xc4 && tail[1] == sizeof digest;
}

}  // namespace

std::unique_ptr<ReceivedFunction> ReceivedFunction::look(const State& state,
                                                         const BareFunction& from,
                                                         BytesView envelope) {
  // The namespaces of packages hold a list, which each would have to get anew.
  if (from.is_package || envelope.size() > kMaxEnvelope ||
      from.manifest.imports.size() > kMaxImports) {
    return nullptr;
  }
  auto function = std::make_unique<ReceivedFunction>();
  function->envelope_.assign(envelope.begin(), envelope.end());
  for (const envelope::ManifestView::Import& import : from.manifest.imports) {
    Ref& module = function->imports_.emplace_back();
    if (import.time == ImportTime::kLoad) module = state.name_table.get(import.module);
  }
  const Ref name = state.name_table.get_or_null(from.module_name);
  const Ref package = state.name_table.get_or_null(from.package);
  function->builtins_ = builtins_module(state);
  function->namespace_ = Ref::steal(PyDict_New());
  PyObject* globals = function->namespace_.get();
  describe_namespace(state, globals, name.get(), package.get(), from.is_package);
  for (const BareFunction::Global& global : from.globals) {
    function->globals_.push_back({state.name_table.get(global.name), global.import});
    check(PyDict_SetItem(globals, function->globals_.back().name.get(), Py_None));
  }
  return function;
}

bool ReceivedFunction::is_of(BytesView envelope) const {
  return envelope.size() == envelope_.size() &&
         std::memcmp(envelope.data(), envelope_.data(), envelope.size()) == 0;
}

Ref ReceivedFunction::make(const State& state) const {
  const Ref code = code_ ? weakly_referenced(code_.get()) : Ref();
  // Functions find the builtins of their time.
  if (!code || builtins_module(state).get() != builtins_.get()) return {};
  const Ref loaded = Ref::share(sys_modules(state));
  std::array<Ref, kMaxImports> modules;
  for (std::size_t i = 0; i < imports_.size(); ++i) {
    PyObject* name = imports_[i].get();
    if (name == nullptr) continue;
    modules[i] = imported_module(state, loaded.get(), name);
    if (!modules[i]) return {};
  }
  const Ref globals = Ref::steal(PyDict_Copy(namespace_.get()));
  for (const Global& global : globals_) {
    check(
        PyDict_SetItem(globals.get(), global.name.get(), modules[global.import].get()));
  }
  return Ref::steal(PyFunction_New(code.get(), globals.get()));
}

Ref ReceivedFunctions::make_again(const State& state, BytesView envelope) {
  std::uint64_t digest = 0;
  if (!digest_of(envelope, digest)) return {};
  Entry& entry = entries_[digest % entries_.size()];
  if (entry.digest != digest || !entry.function || !entry.function->is_of(envelope)) {
    return {};
  }
  // Looking at modules may run code, which may load the same and more.
  std::unique_ptr<ReceivedFunction> function = std::move(entry.function);
  Ref made = function->make(state);
  if (entry.digest == digest) entry.function = std::move(function);
  return made;
}

void ReceivedFunctions::note(const State& state, const BareFunction& function,
                             BytesView envelope, PyObject* code) {
  std::uint64_t digest = 0;
  if (!digest_of(envelope, digest)) return;
  Entry& entry = entries_[digest % entries_.size()];
  if (entry.digest != digest) {
    entry = {digest, false, nullptr};
    return;
  }
  // Making objects may run finalizers, which may load: the entry is looked at anew.
  if (!entry.is_known) {
    entry.is_known = true;
    auto made = ReceivedFunction::look(state, function, envelope);
    if (entry.digest == digest) entry.function = std::move(made);
  }
  if (!entry.function) return;
  Ref reference = Ref::steal(PyWeakref_NewRef(code, nullptr));
  if (entry.digest == digest && entry.function && entry.function->is_of(envelope)) {
    entry.function->set_code(std::move(reference));
  }
}

}  // namespace waybill::py
