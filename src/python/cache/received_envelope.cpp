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
#include "python/decode/plain_decoder.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/namespaces.h"

namespace waybill::py {

namespace {

std::uint64_t key_of(BytesView bytes, std::size_t size) {
  return base::hash_of(bytes.first(std::min(bytes.size(), size)));
}

class UsesOfEnvelope final : public Recipe::CodeUses {
 public:
  UsesOfEnvelope(const State& state, const VerifiedEnvelope& envelope)
      : builder_(state, envelope, limits_) {}

  void go_to(std::size_t use) override {
    builder_.skip_uses(use - passed_);
    passed_ = use;
  }
  Ref next(std::size_t body) override {
    ++passed_;
    return builder_.next_use(body);
  }

 private:
  Limits limits_;
  CodeBuilder builder_;
  std::size_t passed_ = 0;
};

}  // namespace

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
bool ReceivedEnvelope::find_modules(Modules& modules) const {
  const Ref loaded = Ref::share(sys_modules(state_));
  PyObject* builtins = module_in(loaded.get(), state_.names.builtins_plain.get());
  if (builtins != state_.builtins.get()) return false;
  for (std::size_t i = 0; i < imports_.size(); ++i) {
    PyObject* name = imports_[i].get();
    if (name == nullptr) continue;
    modules[i] = imported_module(state_, loaded.get(), name);
    if (!modules[i]) return false;
  }
  return true;
}

// False if a class has changed, or if a name is gone from a module.
bool ReceivedEnvelope::make_nodes(const Modules& modules, std::span<Ref> nodes) const {
  for (std::size_t i = 0; i < makers_.size(); ++i) {
    const std::vector<KnownClass>& classes = makers_[i].classes;
    for (auto known = classes.rbegin(); known != classes.rend(); ++known) {
      nodes[i] = known->find(state_);
      if (!nodes[i]) return false;
    }
  }
  return recipe_->make(state_, modules, nodes);
}

Ref ReceivedEnvelope::decode(State& state, BytesView bytes) {
  Modules modules;
  if (!is_noted_ || !find_modules(modules)) return {};
  const bool is_all = head_->is_all_of(bytes);
  if (!is_all && !head_->take_up(bytes)) return {};
  std::vector<Ref> objects(makers_.size());
  if (!make_nodes(modules, objects)) return {};
  if (is_all) return std::move(objects.front());
  if (head_->is_all_code_known()) {
    Ref object = decode_plain_around(state, head_->envelope(), head_->known_nodes(),
                                     objects, Limits{});
    if (object) {
      head_->remember_whole();
      return object;
    }
  }
  return head_->check_payload() ? decode_around(state, modules, objects) : Ref();
}

// Builds what stands around known nodes.
Ref ReceivedEnvelope::decode_around(State& state, const Modules& modules,
                                    std::span<const Ref> objects) const {
  std::vector<MadeNode> nodes;
  nodes.reserve(objects.size());
  for (const envelope::KnownNode& known : head_->known_nodes()) {
    nodes.push_back(
        {known.start, known.end(), known.code_uses.size(), objects[nodes.size()]});
  }
  const Limits limits;
  const VerifiedEnvelope& envelope = head_->envelope();
  ModuleImporter importer(state, envelope->manifest);
  for (std::size_t i = 0; i < imports_.size(); ++i) importer.have(i, modules[i]);
  CodeBuilder code(state, envelope, limits);
  GraphDecoder decoder(state, envelope, code, importer, DecodeHooks{}, limits);
  decoder.pass_over(nodes);
  return decoder.decode();
}

bool ReceivedEnvelope::begin(BytesView bytes) {
  cancel();
  if (!head_->continue_with(bytes)) return false;
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
  const bool can_make = is_whole && can_tell_changes_ && make_recipe();
  is_noted_ = is_whole;
  cancel();
  if (is_whole && !can_make) {
    head_->forget_known_nodes();
    makers_.clear();
    recipe_.emplace();
  }
}

// False if the functions cannot be made again. The bytes of the envelope must be there.
bool ReceivedEnvelope::make_recipe() {
  const bool is_any_shared = std::ranges::any_of(makers_, [&](const Maker& maker) {
    return maker.is_function() && shares_what_changes(maker);
  });
  if (is_any_shared) return false;
  if (recipe_) return true;
  UsesOfEnvelope uses(state_, head_->envelope());
  recipe_ = Recipe::of(state_, head_->known_nodes(), uses);
  return recipe_.has_value();
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
    : all_(all), bytes_(bytes) {
  if (!find(kKeyBytes)) find(kShortKeyBytes);
}

bool ReceivedEnvelopes::Visit::find(std::size_t key_size) {
  key_ = key_of(bytes_, key_size);
  for (Entry& entry : all_.set_of(key_).entries) {
    if (!entry.is_start_of(key_, bytes_)) continue;
    known_ = std::move(entry.envelope);
    place_ = &entry;
    return true;
  }
  return false;
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
  Ref object = known_ ? known_->decode(state, bytes_) : Ref();
  ++(object ? state.received_hits : state.received_misses);
  return object;
}

}  // namespace waybill::py
