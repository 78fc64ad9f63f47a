// Nothing that a program can change is taken from the time before: modules are looked
// up in sys.modules each time, classes are compared with what they were, globals are
// new dicts. What is spared is taking the envelope apart, verifying it, and building
// what is there.
//
// Tested by tests/python/cache/test_received_functions.py and test_known_classes.py.

#include "python/cache/received_envelope.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "python/cache/methods.h"
#include "python/decode/code_builder.h"
#include "python/decode/module_importer.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/namespaces.h"

namespace waybill::py {

namespace {

std::uint64_t key_of(BytesView bytes) {
  return base::hash_of(
      bytes.first(std::min(bytes.size(), ReceivedEnvelopes::kKeyBytes)));
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
  while (PyDict_Next(plain_.get(), &position, &name, &value)) {
    if (!PyUnicode_CheckExact(name)) return false;
    if (name == state.names.builtins.get()) {
      if (value != state.builtins.get()) return false;
      continue;
    }
    if (is_text_or_number(value)) continue;
    const auto is_it = [&](const Ref& module) {
      return module && raw_get(loaded.get(), module.get()) == value;
    };
    const auto import = std::ranges::find_if(imports, is_it);
    if (import == imports.end() || !PyModule_Check(value) ||
        std::any_of(import + 1, imports.end(), is_it)) {
      return false;
    }
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

std::unique_ptr<ReceivedEnvelope> ReceivedEnvelope::make(
    const State& state, const VerifiedEnvelope& envelope, std::uint32_t times) {
  const std::vector<ImportRecord>& imports = envelope->manifest.imports;
  const bool is_lazy = std::ranges::any_of(imports, [](const ImportRecord& import) {
    return import.time == ImportTime::kLazy;
  });
  if (is_lazy || imports.size() > kMaxImports) return nullptr;
  auto received = std::make_unique<ReceivedEnvelope>(state);
  received->head_ = envelope::CheckedHead::make(envelope);
  if (!received->head_) return nullptr;
  received->times_ = times;
  for (const ImportRecord& import : imports) {
    Ref& name = received->imports_.emplace_back();
    if (import.time == ImportTime::kLoad) name = state.name_table.get(import.module);
  }
  for (const envelope::KnownNode& node : received->head_->known_nodes()) {
    Maker& maker = received->makers_.emplace_back();
    if (node.tag == wire::NodeTag::kFunction) continue;
    for (const envelope::KnownNode::Class& found : node.classes) {
      const auto* id = reinterpret_cast<const char*>(found.id.data());
      maker.classes.emplace_back(Ref::steal(
          PyBytes_FromStringAndSize(id, static_cast<Py_ssize_t>(found.id.size()))));
    }
  }
  return received;
}

// False if a module is not imported, or if functions would find other builtins.
bool ReceivedEnvelope::look_around(Surroundings& found) const {
  const Ref loaded = Ref::share(sys_modules(state_));
  PyObject* builtins = module_in(loaded.get(), state_.names.builtins_plain.get());
  if (builtins != state_.builtins.get()) return false;
  for (std::size_t i = 0; i < imports_.size(); ++i) {
    PyObject* name = imports_[i].get();
    if (name == nullptr) continue;
    found.modules[i] = imported_module(state_, loaded.get(), name);
    if (!found.modules[i]) return false;
  }
  return true;
}

Ref ReceivedEnvelope::make_object(const Maker& maker, Surroundings& around) const {
  if (maker.is_function()) {
    const Ref code = weakly_referenced(maker.code.get());
    if (!code) return {};
    Ref& globals = around.globals[maker.globals];
    if (!globals) globals = globals_[maker.globals].make(around.modules.data());
    return Ref::steal(PyFunction_New(code.get(), globals.get()));
  }
  Ref type;
  for (auto known = maker.classes.rbegin(); known != maker.classes.rend(); ++known) {
    type = known->find(state_);
    if (!type) return {};
  }
  return type;
}

Ref ReceivedEnvelope::decode(State& state, BytesView bytes) {
  Surroundings around;
  if (!is_noted_ || !look_around(around)) return {};
  if (head_->is_all_of(bytes)) return make_object(makers_.front(), around);
  if (!head_->continue_with(bytes)) return {};
  if (head_->is_known_node_alone()) return make_object(makers_.front(), around);
  std::vector<MadeNode> nodes;
  nodes.reserve(makers_.size());
  for (const Maker& maker : makers_) {
    const envelope::KnownNode& known = head_->known_nodes()[nodes.size()];
    Ref object = make_object(maker, around);
    if (!object) return {};
    nodes.push_back(
        {known.start, known.end(), known.code_uses.size(), std::move(object)});
  }
  const Limits limits;
  const VerifiedEnvelope& envelope = head_->envelope();
  ModuleImporter importer(state, envelope->manifest);
  for (std::size_t i = 0; i < imports_.size(); ++i) importer.have(i, around.modules[i]);
  CodeBuilder code(state, envelope, limits);
  GraphDecoder decoder(state, envelope, code, importer, DecodeHooks{}, limits);
  decoder.pass_over(nodes);
  return decoder.decode();
}

bool ReceivedEnvelope::begin(BytesView bytes) {
  cancel();
  if (head_->is_all_of(bytes)) {
    head_->rewind();
  } else if (!head_->continue_with(bytes)) {
    return false;
  }
  for (std::size_t i = 0; i < makers_.size(); ++i) {
    const envelope::KnownNode& known = head_->known_nodes()[i];
    if (makers_[i].is_function()) {
      starts_.push_back(known.start);
      watched_.push_back({i, 0});
    }
    for (std::size_t type = 0; type < makers_[i].classes.size(); ++type) {
      starts_.push_back(known.start + known.classes[type].offset);
      watched_.push_back({i, type});
    }
  }
  was_all_there_ = can_tell_changes_ = true;
  return true;
}

void ReceivedEnvelope::cancel() {
  for (Maker& maker : makers_) maker.function = Ref();
  starts_.clear();
  watched_.clear();
  built_ = 0;
}

// What it is now is what the payload says; what runs later may change it.
void ReceivedEnvelope::built(std::size_t number, PyObject* object, bool was_there) {
  Maker& maker = makers_[watched_[number].maker];
  if (maker.is_function()) {
    maker.function = Ref::share(object);
    maker.code = Ref::steal(PyWeakref_NewRef(PyFunction_GET_CODE(object), nullptr));
  } else {
    // What a class does when it is made may show in all that is made after it.
    was_all_there_ = was_all_there_ && was_there;
    const bool is_noted = maker.classes[watched_[number].type].note(state_, object);
    can_tell_changes_ = can_tell_changes_ && is_noted;
  }
  ++built_;
}

void ReceivedEnvelope::finish() {
  const bool is_whole = built_ == watched_.size() && was_all_there_;
  // Globals come from the same bytes each time, so they are equal each time.
  const bool can_make = is_whole && can_tell_changes_ && (is_noted_ || note_globals());
  is_noted_ = is_whole;
  cancel();
  if (is_whole && !can_make) {
    head_->forget_known_nodes();
    makers_.clear();
  }
}

// Functions that share their globals do so again. False if some cannot be made again.
bool ReceivedEnvelope::note_globals() {
  globals_.clear();
  std::vector<PyObject*> dicts;
  for (Maker& maker : makers_) {
    if (!maker.is_function()) continue;
    PyObject* function = maker.function.get();
    PyObject* globals = PyFunction_GET_GLOBALS(function);
    // A function takes its module from its globals when it is made.
    if (raw_get(globals, state_.names.name.get()) != PyFunction_GET_MODULE(function)) {
      return false;
    }
    if (shares_what_changes(maker)) return false;
    const auto found = std::ranges::find(dicts, globals);
    maker.globals = static_cast<std::size_t>(found - dicts.begin());
    if (found != dicts.end()) continue;
    if (dicts.size() == kMaxGlobals) return false;
    dicts.push_back(globals);
    if (!globals_.emplace_back().note(state_, globals, imports_)) return false;
  }
  return true;
}

// Whether a method of a class that stays would have to see what the function writes
// into globals that they came with, and that only the function gets anew.
bool ReceivedEnvelope::shares_what_changes(const Maker& function) const {
  PyObject* object = function.function.get();
  const auto has_them = [&](const KnownClass& type) {
    return type.has_globals(PyFunction_GET_GLOBALS(object));
  };
  const bool is_shared = std::ranges::any_of(makers_, [&](const Maker& maker) {
    return std::ranges::any_of(maker.classes, has_them);
  });
  return is_shared && may_write_globals(PyFunction_GET_CODE(object));
}

ReceivedEnvelopes::Visit::Visit(ReceivedEnvelopes& all, BytesView bytes)
    : all_(all), bytes_(bytes), key_(key_of(bytes)) {
  for (Entry& entry : all.set_of(key_).entries) {
    if (!entry.is_start_of(key_, bytes)) continue;
    known_ = std::move(entry.envelope);
    place_ = &entry;
    return;
  }
}

ReceivedEnvelopes::Visit::~Visit() {
  if (!known_) return;
  known_->cancel();  // If reading has failed.
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

bool ReceivedEnvelopes::came_before(BytesView head) {
  const std::uint64_t hash = base::hash_of(head);
  return std::exchange(seen_[hash % seen_.size()], hash) == hash;
}

Ref ReceivedEnvelopes::Visit::decode(State& state) {
  return known_ ? known_->decode(state, bytes_) : Ref();
}

}  // namespace waybill::py
