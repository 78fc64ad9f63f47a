// Nothing that a program can change is taken from the time before: modules are looked
// up in sys.modules each time, classes are compared with what they were, globals are
// new dicts. What is spared is taking the envelope apart, verifying it, and building
// what is there.
//
// Tested by tests/python/test_received_functions.py and test_known_classes.py.

#include "python/received_envelope.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "python/code_builder.h"
#include "python/compat.h"
#include "python/module_importer.h"
#include "python/modules.h"
#include "python/namespaces.h"

namespace waybill::py {

namespace {

// What is looked at to tell envelopes apart: what follows the header is the manifest,
// with functions and lines, then the code, with names.
constexpr std::size_t kKeyBytes = 64;

std::uint64_t key_of(BytesView bytes) {
  return base::hash_of(bytes.first(std::min(bytes.size(), kKeyBytes)));
}

bool is_text_or_number(PyObject* object) {
  return object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object) ||
         PyFloat_CheckExact(object) || PyUnicode_CheckExact(object);
}

}  // namespace

bool KnownGlobals::note(const State& state, PyObject* globals,
                        const std::vector<Ref>& imports) {
  plain_ = Ref::steal(PyDict_Copy(globals));
  const Ref loaded = Ref::share(sys_modules(state));
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(globals, &position, &name, &value)) {
    if (!PyUnicode_CheckExact(name)) return false;
    if (name == state.names.builtins.get()) {
      if (value != find_module(state, state.names.builtins_plain.get())) return false;
      continue;
    }
    if (is_text_or_number(value)) continue;
    const auto import = std::ranges::find_if(imports, [&](const Ref& module) {
      return module && raw_get(loaded.get(), module.get()) == value;
    });
    if (import == imports.end() || !PyModule_Check(value)) return false;
    modules_.push_back(
        {Ref::share(name), static_cast<std::size_t>(import - imports.begin())});
  }
  for (const Module& module : modules_) {
    check(PyDict_SetItem(plain_.get(), module.name.get(), Py_None));
  }
  return true;
}

Ref KnownGlobals::make(const Ref* modules) const {
  Ref globals = Ref::steal(PyDict_Copy(plain_.get()));
  for (const Module& module : modules_) {
    check(
        PyDict_SetItem(globals.get(), module.name.get(), modules[module.import].get()));
  }
  return globals;
}

std::unique_ptr<ReceivedEnvelope> ReceivedEnvelope::make(const State& state,
                                                         const Envelope& envelope,
                                                         std::uint32_t times) {
  const std::vector<ImportRecord>& imports = envelope.manifest.imports;
  const bool is_lazy = std::ranges::any_of(imports, [](const ImportRecord& import) {
    return import.time == ImportTime::kLazy;
  });
  if (is_lazy || imports.size() > kMaxImports) return nullptr;
  auto received = std::make_unique<ReceivedEnvelope>();
  received->head_ = envelope::CheckedHead::make(envelope);
  if (!received->head_) return nullptr;
  received->times_ = times;
  for (const ImportRecord& import : imports) {
    Ref& name = received->imports_.emplace_back();
    if (import.time == ImportTime::kLoad) name = state.name_table.get(import.module);
  }
  for (const envelope::KnownNode& node : received->head_->known_nodes()) {
    Maker& maker = received->makers_.emplace_back();
    for (const envelope::KnownNode::Class& found : node.classes) {
      const auto* id = reinterpret_cast<const char*>(found.id.data());
      maker.classes.emplace_back(Ref::steal(
          PyBytes_FromStringAndSize(id, static_cast<Py_ssize_t>(found.id.size()))));
    }
  }
  return received;
}

// False if a module is not imported, or if functions would find other builtins.
bool ReceivedEnvelope::look_around(const State& state, Surroundings& found) const {
  const Ref loaded = Ref::share(sys_modules(state));
  PyObject* builtins = module_in(loaded.get(), state.names.builtins_plain.get());
  if (builtins != builtins_.get()) return false;
  for (std::size_t i = 0; i < imports_.size(); ++i) {
    PyObject* name = imports_[i].get();
    if (name == nullptr) continue;
    found.modules[i] = imported_module(state, loaded.get(), name);
    if (!found.modules[i]) return false;
  }
  return true;
}

Ref ReceivedEnvelope::make_object(const State& state, const Maker& maker,
                                  Surroundings& around) const {
  if (maker.classes.empty()) {
    const Ref code = weakly_referenced(maker.code.get());
    if (!code) return {};
    Ref& globals = around.globals[maker.globals];
    if (!globals) globals = globals_[maker.globals].make(around.modules.data());
    return Ref::steal(PyFunction_New(code.get(), globals.get()));
  }
  Ref type;
  for (auto known = maker.classes.rbegin(); known != maker.classes.rend(); ++known) {
    type = known->find(state);
    if (!type) return {};
  }
  return type;
}

Ref ReceivedEnvelope::decode(State& state, BytesView bytes) {
  Surroundings around;
  if (!is_noted_ || !look_around(state, around)) return {};
  if (head_->is_all_of(bytes)) return make_object(state, makers_.front(), around);
  if (!head_->continue_with(bytes)) return {};
  std::vector<WatchedNode> nodes;
  nodes.reserve(makers_.size());
  for (const Maker& maker : makers_) {
    const envelope::KnownNode& known = head_->known_nodes()[nodes.size()];
    Ref object = make_object(state, maker, around);
    if (!object) return {};
    nodes.push_back(
        {known.start, known.end(), known.code_uses.size(), std::move(object)});
  }
  const Limits limits;
  const Envelope& envelope = head_->envelope();
  ModuleImporter importer(state, envelope.manifest);
  for (std::size_t i = 0; i < imports_.size(); ++i) importer.have(i, around.modules[i]);
  CodeBuilder code(state, envelope, limits);
  GraphDecoder decoder(state, envelope, code, importer, DecodeHooks{}, limits);
  decoder.watch(nodes);
  return decoder.decode();
}

bool ReceivedEnvelope::fits(BytesView bytes) {
  return head_->is_all_of(bytes) || head_->continue_with(bytes);
}

std::vector<WatchedNode> ReceivedEnvelope::watched() const {
  std::vector<WatchedNode> nodes;
  for (const envelope::KnownNode& known : head_->known_nodes()) {
    if (known.classes.empty()) nodes.emplace_back(known.start);
    for (const envelope::KnownNode::Class& found : known.classes) {
      nodes.emplace_back(known.start + found.offset);
    }
  }
  return nodes;
}

void ReceivedEnvelope::note(const State& state, const std::vector<WatchedNode>& nodes) {
  // What a class did when it was made may be in what was made after it.
  const bool is_all_there = std::ranges::all_of(nodes, [](const WatchedNode& node) {
    return node.object && (PyFunction_Check(node.object.get()) || node.was_known);
  });
  if (!is_all_there) return;
  builtins_ = Ref::share(find_module(state, state.names.builtins_plain.get()));
  if (!is_noted_) globals_.clear();  // Of an attempt that failed.
  std::vector<PyObject*> dicts;
  auto node = nodes.begin();
  bool can_make = true;
  for (Maker& maker : makers_) {
    if (maker.classes.empty()) {
      can_make = can_make && note_function(state, (node++)->object.get(), maker, dicts);
    }
    for (KnownClass& known : maker.classes) {
      can_make = can_make && known.note(state, (node++)->object.get());
    }
  }
  if (!can_make) {
    head_->forget_known_nodes();
    makers_.clear();
    globals_.clear();
  }
  is_noted_ = true;
}

// Functions that share their globals do so again. What their globals were the first
// time they are each time, since they come from the same bytes.
bool ReceivedEnvelope::note_function(const State& state, PyObject* function,
                                     Maker& maker, std::vector<PyObject*>& dicts) {
  maker.code = Ref::steal(PyWeakref_NewRef(PyFunction_GET_CODE(function), nullptr));
  if (is_noted_) return true;
  PyObject* globals = PyFunction_GET_GLOBALS(function);
  // A function takes its module from its globals when it is made.
  if (raw_get(globals, state.names.name.get()) != PyFunction_GET_MODULE(function)) {
    return false;
  }
  const auto found = std::ranges::find(dicts, globals);
  maker.globals = static_cast<std::size_t>(found - dicts.begin());
  if (found != dicts.end()) return true;
  if (dicts.size() == kMaxGlobals) return false;
  dicts.push_back(globals);
  return globals_.emplace_back().note(state, globals, imports_);
}

ReceivedEnvelopes::Visit::Visit(ReceivedEnvelopes& all, BytesView bytes)
    : all_(all), bytes_(bytes), key_(key_of(bytes)) {
  for (Entry& entry : all.set_of(key_).entries) {
    if (!entry.is_start_of(key_, bytes)) continue;
    known_ = std::move(entry.envelope);
    place_ = &entry;
    came_again_ = true;
    return;
  }
  std::uint64_t& seen = all.seen_[key_ % all.seen_.size()];
  came_again_ = std::exchange(seen, key_) == key_;
}

ReceivedEnvelopes::Visit::~Visit() {
  if (!known_) return;
  // While it was away, what ran may have loaded the like.
  Entry& place = place_ != nullptr && !place_->envelope ? *place_ : place_for();
  // What gives way is destroyed when the table is whole.
  const Entry old = std::exchange(place, Entry{key_, std::move(known_)});
}

// One of the same kind, or one that is free, or the one whose turn it is to give way.
ReceivedEnvelopes::Entry& ReceivedEnvelopes::Visit::place_for() const {
  Set& set = all_.set_of(key_);
  for (Entry& entry : set.entries) {
    if (entry.is_start_of(key_, bytes_)) return entry;
  }
  for (Entry& entry : set.entries) {
    if (!entry.envelope) return entry;
  }
  Entry& entry = set.entries[set.next];
  set.next = (set.next + 1) % set.entries.size();
  return entry;
}

Ref ReceivedEnvelopes::Visit::decode(State& state) {
  return known_ ? known_->decode(state, bytes_) : Ref();
}

}  // namespace waybill::py
