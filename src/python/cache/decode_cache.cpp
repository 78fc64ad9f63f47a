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
#include "format/payload_cursor.h"
#include "python/cache/methods.h"
#include "python/decode/arrived_buffers.h"
#include "python/decode/code/code_builder.h"
#include "python/decode/module_importer.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

std::uint64_t key_of(BytesView bytes, std::size_t size) {
  return base::hash_of(bytes.first(std::min(bytes.size(), size)));
}

// What a node means beyond its bytes, manifest and code: what the program gives, other
// payloads, what is counted or kept aside.
bool means_more(wire::NodeTag tag) {
  using wire::NodeTag;
  switch (tag) {
    case NodeTag::kLazyImport:
    case NodeTag::kPersistent:
    case NodeTag::kBuffer:
    case NodeTag::kStored:
    case NodeTag::kIdentified:
    case NodeTag::kModule:
    case NodeTag::kStreamReference:
    case NodeTag::kReplacement:
      return true;
    default:
      return false;
  }
}

// Finds the classes of the definitions, and the functions that are no methods. False if
// the same bytes may mean something else the next time.
class PlaceFinder {
 public:
  PlaceFinder(const Envelope& envelope, std::vector<Recipe::Place>& places)
      : places_(places),
        count_(envelope.definitions.count),
        cursor_(wire::Reader(envelope.payload.bytes.subspan(envelope.definitions.start),
                             {}, envelope.definitions.start)) {}

  bool run() {
    for (; count_ != 0; --count_) {
      envelope::PayloadCursor<Note> cursor(cursor_);
      while (cursor.next()) {
        if (cursor.event() == envelope::CursorEvent::kOpen && !open(cursor))
          return false;
      }
      if (cursor.reader().failed()) return false;
      cursor_ = cursor.reader();
    }
    return true;
  }

 private:
  struct Note {
    bool is_in_class = false, is_in_function = false;
  };

  bool open(envelope::PayloadCursor<Note>& cursor) {
    Note& note = cursor.container().note;
    note = cursor.around().note;
    const envelope::Shape* shape = cursor.container().shape;
    if (shape == nullptr) return true;
    if (means_more(shape->tag)) return false;
    // What a call makes may differ each time, and a function that a class has keeps it.
    if (shape->parts[0].is_called && note.is_in_function) return false;
    const std::size_t position = cursor.container().offset;
    if (shape->tag == wire::NodeTag::kClass) {
      wire::Reader ahead = cursor.reader();
      BytesView id;
      // A class without an id is another each time.
      if (!ahead.read_binary(id, {})) return false;
      places_.push_back({position, true, {id.begin(), id.end()}});
      note = {true, false};
    } else if (shape->tag == wire::NodeTag::kFunction) {
      if (!note.is_in_class) places_.push_back({position, false, {}});
      note.is_in_function = true;
    }
    return true;
  }

  std::vector<Recipe::Place>& places_;
  std::size_t count_;
  wire::Reader cursor_;
};

bool find_places(const Envelope& envelope, std::vector<Recipe::Place>& places) {
  return PlaceFinder(envelope, places).run();
}

class UsesOfEnvelope final : public Recipe::CodeUses {
 public:
  UsesOfEnvelope(const State& state, const VerifiedEnvelope& envelope)
      : builder_(state, envelope, limits_) {}

  Ref next(std::size_t body) override { return builder_.next_use(body); }
  void pass() override { builder_.skip_uses(1); }

 private:
  Limits limits_;
  CodeBuilder builder_;
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
  if (!find_places(envelope, received->places_)) {
    received->places_.clear();
    received->builds_anew_ = true;
  }
  received->replaced_ = replaced;
  for (const ImportRecord& import : imports) {
    Ref& name = received->imports_.emplace_back();
    if (import.time == ImportTime::kLoad) name = state.intern_table.get(import.module);
  }
  for (std::size_t i = 0; i < received->places_.size(); ++i) {
    const Recipe::Place& place = received->places_[i];
    if (place.is_class) received->classes_.emplace_back(i, new_bytes(place.id));
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
                                  std::vector<Ref>& objects) const {
  objects.resize(places_.size());
  for (const KnownClass& known : classes_) {
    Ref& type = objects[known.object()];
    type = known.find(state_);
    if (!type) return false;
  }
  return recipe_->make(state_, modules, objects);
}

Ref CachedEnvelope::object_at(std::size_t position,
                              std::span<const Ref> objects) const {
  const std::optional<std::uint32_t> number = recipe_->number_at(position);
  return number ? objects[*number] : Ref();
}

// Gives the methods of classes the globals of the functions, as they are made with them
// where a payload is read. False, with nothing done, if somebody would see that they
// are not made anew: then the payload is to be read.
bool CachedEnvelope::move_methods(std::span<const Ref> objects) const {
  if (moved_.empty()) return true;
  const auto has_held_methods = [&](std::size_t known) {
    return classes_[known].has_held_methods();
  };
  if (state_.has_jit || std::ranges::any_of(moved_, has_held_methods)) return false;
  const auto function = std::ranges::find(places_, false, &Recipe::Place::is_class);
  const auto number = static_cast<std::size_t>(function - places_.begin());
  PyObject* globals = PyFunction_GET_GLOBALS(objects[number].get());
  std::vector<Ref> old;  // Dropped when all have theirs.
  for (const std::size_t known : moved_) classes_[known].move_to(globals, old);
  return true;
}

Ref CachedEnvelope::decode(State& state, BytesView bytes) {
  // No code may run from the comparison of classes until methods are moved.
  CollectorPause no_code_runs;
  Modules modules;
  if (!is_ready_ || !find_modules(modules)) return {};
  std::vector<Ref> objects;
  if (!builds_anew_) {
    if (!make_objects(modules, objects)) return {};
    if (const auto position = prefix_->only_object(bytes)) {
      const Ref object = object_at(*position, objects);
      return object && move_methods(objects) ? object : Ref();
    }
  }
  if (!prefix_->begin(bytes)) return {};
  const Envelope& envelope = prefix_->envelope();
  std::optional<ArrivedBuffers> buffers;
  if (!envelope.buffers.empty()) {
    try {
      buffers.emplace(state, prefix_->envelope(), DecodeHooks{});
    } catch (const PyError&) {
      PyErr_Clear();  // It is refused when it is read in full, perhaps for more.
      return {};
    }
  }
  const Limits limits;
  GraphDecoder at_value(state, envelope, limits);
  bool are_there = !builds_anew_;
  if (are_there) {
    const bool is_whole = at_value.begin_at_value(
        envelope, [&](std::size_t position) { return object_at(position, objects); });
    if (!is_whole) return {};
    if (at_value.begin()) {
      const std::size_t end = envelope.payload.offset + envelope.payload.bytes.size();
      const bool is_sound = at_value.is_complete() && at_value.offset() == end;
      return is_sound && move_methods(objects) ? at_value.take_value() : Ref();
    }
    // What code does while the value is built may have to do with methods.
    are_there = moved_.empty();
  }
  if (!prefix_->check_value(at_value.passed())) return {};
  const CollectorPause::Break code_runs(no_code_runs);
  ModuleImporter importer(state, prefix_->envelope()->manifest, DecodeHooks{});
  for (std::size_t i = 0; i < imports_.size(); ++i) importer.have(i, modules[i]);
  CodeBuilder code(state, prefix_->envelope(), limits);
  DecodeContext context(state, prefix_->envelope(), code, importer, DecodeHooks{});
  if (buffers) context.stored = buffers->objects();
  if (!are_there) return GraphDecoder(state, envelope, limits).decode(context);
  context.known_code_uses = prefix_->code_uses();
  return at_value.decode(context);
}

bool CachedEnvelope::begin(BytesView bytes) {
  cancel();
  if (!prefix_->begin(bytes) || !prefix_->check_value()) return false;
  for (const Recipe::Place& place : places_) starts_.push_back(place.position);
  was_all_there_ = can_tell_changes_ = true;
  globals_.clear();
  return true;
}

void CachedEnvelope::cancel() {
  starts_.clear();
  built_ = 0;
}

// The object is now what the payload says; code that runs later may change it.
void CachedEnvelope::built(std::size_t number, PyObject* object, bool was_there) {
  ++built_;
  if (!places_[number].is_class) {
    PyObject* globals = PyFunction_GET_GLOBALS(object);
    if (std::ranges::find(globals_, globals) == globals_.end()) {
      globals_.push_back(globals);
    }
    return;
  }
  const auto known = std::ranges::find(classes_, number, &KnownClass::object);
  // A class that is made runs code, which may change all that is made after it.
  was_all_there_ = was_all_there_ && was_there;
  const bool is_noted = known->note(state_, object);
  can_tell_changes_ = can_tell_changes_ && is_noted;
}

void CachedEnvelope::finish() {
  const bool is_whole = built_ == places_.size() && was_all_there_;
  const bool can_tell = is_whole && !builds_anew_ && can_tell_changes_;
  if (can_tell && !recipe_) {
    UsesOfEnvelope uses(state_, prefix_->envelope());
    recipe_ = Recipe::of(state_, prefix_->envelope(), places_, uses);
  }
  is_ready_ = is_whole;
  cancel();
  if (!is_whole || (can_tell && recipe_ && can_make())) return;
  builds_anew_ = true;
  places_.clear();
  classes_.clear();
  moved_.clear();
}

// Whether classes can stay beside functions that are made again: their methods get the
// globals of these, or have nothing to do with them.
bool CachedEnvelope::can_make() {
  moved_.clear();
  if (!has_functions()) return true;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const KnownClass& known = classes_[i];
    if (known.is_at_home() || known.is_apart_from(globals_)) continue;
    if (globals_.size() != 1 || !known.has_globals(globals_.front()) ||
        known.holds_functions()) {
      return false;
    }
    moved_.push_back(i);
  }
  return true;
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
  ++(object ? state.decode_hits : state.decode_misses);
  return object;
}

}  // namespace waybill::py
