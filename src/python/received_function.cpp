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

using wire::NodeTag;
using wire::Token;
using wire::TokenType;

constexpr std::size_t kMaxEnvelope = 4 << 10;

// The digest of an envelope without signature, which ends in [bin 8, digest, nil].
bool digest_of(BytesView envelope, std::uint64_t& digest) {
  constexpr std::size_t kTail = 2 + sizeof digest + 1;
  if (envelope.size() < kTail || envelope.back() != 0xc0) return false;
  const std::uint8_t* tail = envelope.data() + envelope.size() - kTail;
  std::memcpy(&digest, tail + 2, sizeof digest);
  return tail[0] == 0xc4 && tail[1] == sizeof digest;
}

bool starts_node(wire::Reader& reader, NodeTag tag) {
  Token token;
  std::uint8_t found = 0;
  return reader.next(token) && token.type == TokenType::kArray && token.count != 0 &&
         reader.take_node_tag(found) && found == static_cast<std::uint8_t>(tag);
}

// Text or nil; false for all else.
bool read_name(wire::Reader& reader, Ref& name) {
  Token token;
  if (!reader.next(token)) return false;
  if (token.type == TokenType::kText) name = interned_text(token.text());
  return token.type == TokenType::kText || token.type == TokenType::kNil;
}

bool read_flag(wire::Reader& reader, bool& flag) {
  Token token;
  if (!reader.next(token)) return false;
  flag = token.integer != 0;
  return token.type == TokenType::kBoolean;
}

}  // namespace

std::unique_ptr<ReceivedFunction> ReceivedFunction::look(const State& state,
                                                         const Envelope& envelope) {
  auto function = std::make_unique<ReceivedFunction>();
  if (!envelope.shared.empty() || !envelope.signature.empty() ||
      envelope.bytes.size() > kMaxEnvelope ||
      !function->read_imports(envelope.manifest) ||
      !function->read_payload(state, envelope)) {
    return nullptr;
  }
  function->envelope_.assign(envelope.bytes.begin(), envelope.bytes.end());
  return function;
}

bool ReceivedFunction::read_imports(const Manifest& manifest) {
  if (manifest.imports.size() > kMaxImports) return false;
  for (const ImportRecord& record : manifest.imports) {
    if (record.time == ImportTime::kLazy) return false;
    Ref& module = imports_.emplace_back().module;
    if (record.time == ImportTime::kLoad) module = interned_text(record.module);
  }
  return true;
}

// [function, code, namespace, [], {kGlobals: {name: module, …}}], where the fields may
// be missing; see docs/wire_format.md.
bool ReceivedFunction::read_payload(const State& state, const Envelope& envelope) {
  wire::Reader reader(envelope.payload.bytes);
  std::uint64_t code = 0;
  std::uint64_t count = 0;
  if (!starts_node(reader, NodeTag::kFunction) ||
      !reader.read_unsigned(code, UINT64_MAX, "") || !read_namespace(state, reader) ||
      !reader.read_array(count, "") || count != 0 || !reader.read_map(count, "")) {
    return false;
  }
  return count == 0 || (count == 1 && read_globals(reader));
}

// Those of packages hold a list, which each function would have to get anew.
bool ReceivedFunction::read_namespace(const State& state, wire::Reader& reader) {
  Ref name, package;
  bool is_package = false;
  bool is_made_up = false;
  if (!starts_node(reader, NodeTag::kNamespace) || !read_name(reader, name) ||
      !read_name(reader, package) || !read_flag(reader, is_package) || is_package ||
      !read_flag(reader, is_made_up) || is_made_up) {
    return false;
  }
  namespace_ = Ref::steal(PyDict_New());
  describe_namespace(state, namespace_.get(), name.get(), package.get(), is_package);
  return true;
}

bool ReceivedFunction::read_globals(wire::Reader& reader) {
  constexpr auto kGlobals = static_cast<std::uint64_t>(wire::FunctionField::kGlobals);
  std::uint64_t field = 0;
  std::uint64_t count = 0;
  if (!reader.read_unsigned(field, UINT64_MAX, "") || field != kGlobals ||
      !reader.read_map(count, "")) {
    return false;
  }
  for (; count != 0; --count) {
    Global& global = globals_.emplace_back();
    Token module;
    std::uint64_t index = 0;
    if (!read_name(reader, global.name) || !global.name || !reader.next(module) ||
        module.type != TokenType::kExtension ||
        module.ext_type != static_cast<std::int8_t>(wire::ExtType::kModule) ||
        !wire::index_of(module.bytes, index) || index >= imports_.size() ||
        !imports_[index].module) {
      return false;
    }
    global.import = index;
    check(PyDict_SetItem(namespace_.get(), global.name.get(), Py_None));
  }
  return true;
}

bool ReceivedFunction::is_of(BytesView envelope) const {
  return envelope.size() == envelope_.size() &&
         std::memcmp(envelope.data(), envelope_.data(), envelope.size()) == 0;
}

void ReceivedFunction::set_code(PyObject* code) {
  code_ = Ref::steal(PyWeakref_NewRef(code, nullptr));
}

Ref ReceivedFunction::make(const State& state) const {
  const Ref code = weakly_referenced(code_.get());
  if (!code) return {};
  const Ref loaded = Ref::share(sys_modules(state));
  std::array<Ref, kMaxImports> modules;
  for (std::size_t i = 0; i < imports_.size(); ++i) {
    PyObject* name = imports_[i].module.get();
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

void ReceivedFunctions::note(const State& state, const Envelope& envelope,
                             PyObject* object) {
  std::uint64_t digest = 0;
  if (!PyFunction_Check(object) || !digest_of(envelope.bytes, digest)) return;
  Entry& entry = entries_[digest % entries_.size()];
  if (entry.digest != digest) {
    entry = {digest, false, nullptr};
    return;
  }
  if (!entry.is_known) {
    entry.is_known = true;
    entry.function = ReceivedFunction::look(state, envelope);
  }
  if (entry.function && entry.function->is_of(envelope.bytes)) {
    entry.function->set_code(PyFunction_GET_CODE(object));
  }
}

}  // namespace waybill::py
