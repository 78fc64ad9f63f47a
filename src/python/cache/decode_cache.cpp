// Nothing that a program can change is reused: modules are looked up in sys.modules
// each time, classes are compared with what they were, globals are new dicts. The cache
// saves reading and verifying the prefix, and building what is there already.
//
// Tested by tests/python/cache/test_recipes.py, test_received_functions.py and
// test_known_classes.py.

#include "python/cache/decode_cache.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "python/cache/methods.h"
#include "python/decode/arrived_buffers.h"
#include "python/decode/code/code_builder.h"
#include "python/decode/module_importer.h"
#include "python/decode/plain_loop.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

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

std::unique_ptr<CachedEnvelope> CachedEnvelope::make(const State& state,
                                                     const VerifiedEnvelope& envelope,
                                                     std::uint32_t replaced) {
  const std::vector<ImportRecord>& imports = envelope->manifest.imports;
  const bool is_lazy = std::ranges::any_of(imports, [](const ImportRecord& import) {
    return import.time == ImportTime::kLazy;
  });
  if (is_lazy || imports.size() > kMaxImports) return nullptr;
  auto received = std::make_unique<CachedEnvelope>(state);
  received->prefix_ = envelope::VerifiedPrefix::make(envelope);
  if (!received->prefix_) return nullptr;
  received->replaced_ = replaced;
  for (const ImportRecord& import : imports) {
    Ref& name = received->imports_.emplace_back();
    if (import.time == ImportTime::kLoad) name = state.intern_table.get(import.module);
  }
  for (const envelope::ReusableNode& node : received->prefix_->reusable_nodes()) {
    for (const envelope::ReusableNode::Class& found : node.classes) {
      const auto* id = reinterpret_cast<const char*>(found.id.data());
      received->classes_.emplace_back(
          found.object, Ref::steal(PyBytes_FromStringAndSize(
                            id, static_cast<Py_ssize_t>(found.id.size()))));
    }
  }
  return received;
}

// False if a module is not imported, or if functions would find other builtins.
bool CachedEnvelope::find_modules(Modules& modules) const {
  const Ref loaded = Ref::share(sys_modules(state_));
  PyObject* builtins =
      module_in(state_, loaded.get(), state_.names.builtins_plain.get());
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
bool CachedEnvelope::make_objects(const Modules& modules,
                                  std::span<Ref> objects) const {
  for (const KnownClass& known : classes_) {
    Ref& type = objects[known.object()];
    type = known.find(state_);
    if (!type) return false;
  }
  return recipe_->make(state_, modules, objects);
}

// Gives the methods of classes the globals of the functions, as they are made with them
// where a payload is read. False, with nothing done, if somebody would see that they
// are not made anew: then the payload is to be read.
bool CachedEnvelope::move_methods(std::span<const Ref> objects) const {
  if (classes_.empty() || !has_functions()) return true;
  if (state_.has_jit || std::ranges::any_of(classes_, &KnownClass::has_held_methods)) {
    return false;
  }
  const auto& nodes = prefix_->reusable_nodes();
  const auto function =
      std::ranges::find_if(nodes, &envelope::ReusableNode::is_function);
  const auto number = static_cast<std::size_t>(function - nodes.begin());
  PyObject* globals = PyFunction_GET_GLOBALS(objects[number].get());
  std::vector<Ref> old;  // Dropped when all have theirs.
  for (const KnownClass& known : classes_) known.move_to(globals, old);
  return true;
}

bool CachedEnvelope::has_functions() const {
  return std::ranges::any_of(prefix_->reusable_nodes(),
                             &envelope::ReusableNode::is_function);
}

Ref CachedEnvelope::decode(State& state, BytesView bytes) {
  // No code may run from the comparison of classes until methods are moved.
  std::optional<CollectorPause> no_code_runs;
  if (!classes_.empty()) no_code_runs.emplace();
  Modules modules;
  if (!is_ready_ || !find_modules(modules)) return {};
  const bool is_all = prefix_->is_all_of(bytes);
  if (!is_all && !prefix_->begin(bytes)) return {};
  std::optional<ArrivedBuffers> buffers;
  if (!prefix_->envelope()->buffers.empty()) {
    try {
      buffers.emplace(state, prefix_->envelope(), DecodeHooks{});
    } catch (const PyError&) {
      PyErr_Clear();  // It is refused when it is read in full, perhaps for more.
      return {};
    }
  }
  std::vector<Ref> objects(envelope::object_count(prefix_->reusable_nodes()));
  if (!make_objects(modules, objects)) return {};
  if (is_all) return move_methods(objects) ? std::move(objects.front()) : Ref();
  const Limits limits;
  const Envelope& envelope = prefix_->envelope();
  PlainLoop plain(envelope, limits);
  if (prefix_->is_all_code_reusable()) {
    plain.take_nodes(state, prefix_->reusable_nodes(), objects);
    const bool is_built = plain.begin();
    const std::size_t end = envelope.payload.offset + envelope.payload.bytes.size();
    if (is_built && plain.is_complete() && plain.offset() == end) {
      if (!move_methods(objects)) return {};
      prefix_->remember_whole();
      return plain.take_value();
    }
    if (is_built) return {};  // It is not sound.
  }
  // What code does while the payload is built may have to do with methods.
  if (!classes_.empty() && has_functions()) return {};
  if (!prefix_->check_payload(plain.passed())) return {};
  no_code_runs.reset();
  return decode_around(state, modules, objects, plain,
                       buffers ? buffers->objects() : std::span<const Ref>());
}

// Builds the payload around its reusable nodes, but for what `plain` has begun.
Ref CachedEnvelope::decode_around(State& state, const Modules& modules,
                                  std::span<const Ref> objects, PlainLoop& plain,
                                  std::span<const Ref> stored) const {
  const Limits limits;
  const VerifiedEnvelope& envelope = prefix_->envelope();
  ModuleImporter importer(state, envelope->manifest, DecodeHooks{});
  for (std::size_t i = 0; i < imports_.size(); ++i) importer.have(i, modules[i]);
  CodeBuilder code(state, envelope, limits);
  GraphDecoder decoder(state, envelope, plain, code, importer, DecodeHooks{}, limits);
  decoder.pass_over(prefix_->reusable_nodes(), objects);
  decoder.use_stored(stored);
  return decoder.decode();
}

bool CachedEnvelope::begin(BytesView bytes) {
  cancel();
  if (!prefix_->continue_with(bytes)) return false;
  auto known = classes_.begin();
  for (const envelope::ReusableNode& node : prefix_->reusable_nodes()) {
    if (node.is_function()) {
      starts_.push_back(node.start);
      watched_.push_back(nullptr);
    }
    for (const envelope::ReusableNode::Class& found : node.classes) {
      starts_.push_back(node.start + found.offset);
      watched_.push_back(&*known++);
    }
  }
  was_all_there_ = can_tell_changes_ = have_one_namespace_ = true;
  globals_ = nullptr;
  return true;
}

void CachedEnvelope::cancel() {
  starts_.clear();
  watched_.clear();
  built_ = 0;
}

// The object is now what the payload says; code that runs later may change it.
void CachedEnvelope::built(std::size_t number, PyObject* object, bool was_there) {
  if (KnownClass* known = watched_[number]; known != nullptr) {
    // A class that is made runs code, which may change all that is made after it.
    was_all_there_ = was_all_there_ && was_there;
    const bool is_noted = known->note(state_, object);
    can_tell_changes_ = can_tell_changes_ && is_noted;
  } else {
    PyObject* globals = PyFunction_GET_GLOBALS(object);
    if (globals_ == nullptr) globals_ = globals;
    have_one_namespace_ = have_one_namespace_ && globals == globals_;
  }
  ++built_;
}

void CachedEnvelope::finish() {
  const bool is_whole = built_ == watched_.size() && was_all_there_;
  const bool can_make = is_whole && can_tell_changes_ && make_recipe();
  is_ready_ = is_whole;
  cancel();
  if (is_whole && !can_make) {
    prefix_->forget_reusable_nodes();
    classes_.clear();
    recipe_.emplace();
  }
}

// False if the functions cannot be made again. The bytes of the envelope must be there.
bool CachedEnvelope::make_recipe() {
  const auto can_move = [&](const KnownClass& known) {
    return have_one_namespace_ && known.has_globals(globals_) &&
           !known.holds_functions();
  };
  if (has_functions() && !std::ranges::all_of(classes_, can_move)) return false;
  if (recipe_) return true;
  UsesOfEnvelope uses(state_, prefix_->envelope());
  recipe_ = Recipe::of(state_, prefix_->reusable_nodes(), uses);
  return recipe_.has_value();
}

DecodeCache::Lease::Lease(DecodeCache& cache, BytesView bytes)
    : cache_(cache), bytes_(bytes) {
  if (!find(kKeyBytes)) find(kShortKeyBytes);
}

bool DecodeCache::Lease::find(std::size_t key_size) {
  key_ = key_of(bytes_, key_size);
  for (Entry& entry : cache_.set_of(key_).entries) {
    if (!entry.is_start_of(key_, bytes_)) continue;
    entry_ = std::move(entry.envelope);
    place_ = &entry;
    return true;
  }
  return false;
}

DecodeCache::Lease::~Lease() {
  if (!entry_) return;
  entry_->cancel();  // If reading has failed.
  // Code that ran meanwhile may have decoded a like envelope, and put an entry here.
  Entry& place = place_ != nullptr && !place_->envelope ? *place_ : place_for();
  // The old entry is destroyed when the table is consistent: that may run code.
  const Entry old = std::exchange(place, Entry{key_, std::move(entry_)});
}

// An entry with this prefix, or a free one, or the oldest.
DecodeCache::Entry& DecodeCache::Lease::place_for() const {
  Set& set = cache_.set_of(key_);
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

bool DecodeCache::came_before(BytesView prefix) {
  const std::uint64_t hash = base::hash_of(prefix);
  return std::exchange(seen_[hash % seen_.size()], hash) == hash;
}

Ref DecodeCache::Lease::decode(State& state) {
  Ref object = entry_ ? entry_->decode(state, bytes_) : Ref();
  ++(object ? state.received_hits : state.received_misses);
  return object;
}

}  // namespace waybill::py
