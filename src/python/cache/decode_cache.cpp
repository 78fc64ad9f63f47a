// Makes the functions of a cached envelope by recipe, and decodes the value that
// follows. Nothing that a program can change is reused: modules are looked up in
// sys.modules each time, classes are compared with their recorded state, globals are
// new dicts.
//
// Tested by tests/python/cache/test_recipes.py, test_received_functions.py and
// test_known_classes.py.

#include "python/cache/decode_cache.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "format/payload_cursor.h"
#include "python/cache/methods.h"
#include "python/decode/code/code_builder.h"
#include "python/decode/module_importer.h"
#include "python/decode/received_buffers.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

// The key of new globals in DecodeContext::namespaces.
Ref key_of_namespace(const State& state, PyObject* globals) {
  const Names& names = state.names;
  const bool is_package = raw_get(globals, names.path.get()) != nullptr;
  PyObject* package = raw_get(globals, names.package.get());
  return new_tuple({Ref::share(raw_get(globals, names.name.get())),
                    Ref::share(package == nullptr ? Py_None : package),
                    Ref::share(is_package ? Py_True : Py_False)});
}

std::uint64_t key_of(BytesView bytes, std::size_t size) {
  return base::hash_of(bytes.first(std::min(bytes.size(), size)));
}

// Whether the meaning of a node depends on more than its bytes, the manifest and the
// code: on hooks, on other payloads or buffers, or on state of this process.
bool depends_on_context(wire::NodeTag tag) {
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

// Finds the class nodes of the definitions, and the function nodes outside classes.
// run() is false if the same bytes may have another meaning the next time.
class NodeFinder {
 public:
  explicit NodeFinder(std::vector<Recipe::Node>& nodes) : nodes_(nodes) {}

  // Whether each name is that of one namespace, and none lacks a name.
  bool are_namespaces_named() const { return are_namespaces_named_; }

  bool run(const Envelope& envelope) {
    const Definitions& definitions = envelope.definitions;
    for (const std::uint64_t start : definitions.starts) {
      envelope::PayloadCursor<Nesting> cursor(
          wire::Reader(envelope.payload.bytes.subspan(start), {}, start));
      while (cursor.next()) {
        if (cursor.event() == envelope::CursorEvent::kOpen && !open(cursor))
          return false;
      }
      if (cursor.reader().failed()) return false;
    }
    return true;
  }

 private:
  struct Nesting {
    bool is_in_class = false, is_in_function = false;
  };

  bool open(envelope::PayloadCursor<Nesting>& cursor) {
    Nesting& nesting = cursor.container().annotation;
    nesting = cursor.around().annotation;
    const envelope::Shape* shape = cursor.container().shape;
    if (shape == nullptr) return true;
    if (depends_on_context(shape->tag)) return false;
    // A call may give another object each time; a reused method would keep the first.
    if (shape->parts[0].is_called && nesting.is_in_function) return false;
    const std::size_t position = cursor.container().offset;
    if (shape->tag == wire::NodeTag::kNamespace) {
      wire::Reader ahead = cursor.reader();
      const bool has_number = cursor.container().count > shape->min_count;
      are_namespaces_named_ = are_namespaces_named_ && !has_number && !ahead.read_nil();
    } else if (shape->tag == wire::NodeTag::kClass) {
      wire::Reader ahead = cursor.reader();
      BytesView id;
      // A class without an id is built anew each time.
      if (!ahead.read_binary(id, {})) return false;
      nodes_.push_back({position, true, {id.begin(), id.end()}});
      nesting = {true, false};
    } else if (shape->tag == wire::NodeTag::kFunction) {
      if (!nesting.is_in_class) nodes_.push_back({position, false, {}});
      nesting.is_in_function = true;
    }
    return true;
  }

  std::vector<Recipe::Node>& nodes_;
  bool are_namespaces_named_ = true;
};

}  // namespace

std::unique_ptr<CachedEnvelope> CachedEnvelope::make(const State& state,
                                                     const VerifiedEnvelope& envelope,
                                                     std::uint32_t replaced_count) {
  const std::vector<ImportRecord>& imports = envelope->manifest.imports;
  const bool has_lazy_imports = std::ranges::any_of(
      imports,
      [](const ImportRecord& import) { return import.time == ImportTime::kLazy; });
  if (has_lazy_imports || imports.size() > kMaxImports) return nullptr;
  auto entry = std::make_unique<CachedEnvelope>(state);
  entry->prefix_ = envelope::VerifiedPrefix::make(envelope);
  if (!entry->prefix_) return nullptr;
  NodeFinder finder(entry->nodes_);
  if (!finder.run(*envelope)) {
    entry->nodes_.clear();
    entry->rebuilds_definitions_ = true;
  }
  entry->are_namespaces_named_ = finder.are_namespaces_named();
  entry->replaced_count_ = replaced_count;
  for (const ImportRecord& import : imports) {
    Ref& name = entry->imports_.emplace_back();
    if (import.time == ImportTime::kLoad) name = state.intern_table.get(import.module);
  }
  for (std::size_t i = 0; i < entry->nodes_.size(); ++i) {
    const Recipe::Node& node = entry->nodes_[i];
    if (node.is_class) entry->classes_.emplace_back(i, new_bytes(node.id));
  }
  return entry;
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
  objects.resize(nodes_.size());
  for (const ReceivedClass& recorded : classes_) {
    Ref& type = objects[recorded.node()];
    type = recorded.find(state_);
    if (!type) return false;
  }
  return recipe_->run(state_, modules, objects);
}

Ref CachedEnvelope::object_at(std::size_t position,
                              std::span<const Ref> objects) const {
  const std::optional<std::uint32_t> number = recipe_->number_at(position);
  return number ? objects[*number] : Ref();
}

// Gives the methods of rebound_classes_ the globals of the new functions, as decoding
// the payload would. Returns false, and changes nothing, if the program could see that
// the methods are old.
bool CachedEnvelope::rebind_methods(std::span<const Ref> objects) const {
  if (rebound_classes_.empty()) return true;
  if (!can_rebind_methods()) return false;
  std::vector<Ref> old;  // Dropped once all methods are rebound.
  for (const std::size_t recorded : rebound_classes_)
    classes_[recorded].methods().rebind_globals(new_globals(objects), old);
  return true;
}

bool CachedEnvelope::can_rebind_methods() const {
  if (rebound_classes_.empty()) return true;
  return !state_.has_jit && std::ranges::none_of(rebound_classes_, [&](auto recorded) {
    return classes_[recorded].has_referenced_methods();
  });
}

// The globals of the new functions, which rebound methods get.
PyObject* CachedEnvelope::new_globals(std::span<const Ref> objects) const {
  const auto function = std::ranges::find(nodes_, false, &Recipe::Node::is_class);
  const auto number = static_cast<std::size_t>(function - nodes_.begin());
  return PyFunction_GET_GLOBALS(objects[number].get());
}

// What decoding needs beside the bytes, where all modules are imported already. Code
// may run while it exists.
struct CachedEnvelope::Context {
  Context(State& state, const VerifiedEnvelope& envelope, const Limits& limits,
          std::size_t import_count, const Inputs& inputs)
      : code_runs(inputs.collector_pause),
        importer(state, envelope->manifest, inputs.hooks),
        code(state, envelope, limits),
        decode(state, envelope, code, importer, inputs.hooks) {
    for (std::size_t i = 0; i < import_count; ++i)
      importer.set_module(i, inputs.modules[i]);
    decode.stored = inputs.stored;
  }

  const CollectorPause::Break code_runs;
  ModuleImporter importer;
  CodeBuilder code;
  DecodeContext decode;
};

// Builds a value that is not plain data, with the objects of the definitions. As in
// full decoding, classes change once the value is complete. Code that has run may have
// changed them, or have kept methods: then they are merged as in full decoding.
Ref CachedEnvelope::decode_value(State& state, GraphDecoder& decoder,
                                 std::span<const Ref> objects,
                                 const Inputs& inputs) const {
  const VerifiedEnvelope& envelope = prefix_->envelope();
  Ref key, value;
  if (!rebound_classes_.empty()) key = key_of_namespace(state_, new_globals(objects));
  {
    Context context(state, envelope, decoder.limits(), imports_.size(), inputs);
    context.decode.definition_code_uses = prefix_->code_uses();
    value = decoder.decode(context.decode);
  }
  const auto is_there = [&](std::size_t recorded) {
    const ReceivedClass& own = classes_[recorded];
    return own.find_type(state_).get() == objects[own.node()].get();
  };
  if (std::ranges::all_of(rebound_classes_, is_there) && rebind_methods(objects))
    return value;
  Context context(state, envelope, decoder.limits(), imports_.size(), inputs);
  Ref& namespaces = context.decode.namespaces;
  namespaces = Ref::steal(PyDict_New());
  check(PyDict_SetItem(namespaces.get(), key.get(), new_globals(objects)));
  context.decode.only_definitions = true;
  GraphDecoder(state, *envelope, decoder.limits()).decode(context.decode);
  return value;
}

Ref CachedEnvelope::decode(State& state, BytesView bytes, const DecodeHooks& hooks) {
  // From the comparison of classes until methods are rebound, no Python code may run.
  CollectorPause collector_pause;
  Modules modules;
  if (!is_ready_ || !find_modules(modules)) return {};
  std::vector<Ref> objects;
  if (!rebuilds_definitions_) {
    if (!make_objects(modules, objects)) return {};
    if (const auto position = prefix_->only_object(bytes)) {
      const Ref object = object_at(*position, objects);
      return object && rebind_methods(objects) ? object : Ref();
    }
  }
  if (!prefix_->begin(bytes)) return {};
  const Envelope& envelope = prefix_->envelope();
  std::optional<ReceivedBuffers> buffers;
  if (!envelope.buffers.empty()) {
    try {
      buffers.emplace(state, prefix_->envelope(), DecodeHooks{});
    } catch (const PyError&) {
      PyErr_Clear();  // Decoding in full raises this error, or an earlier one.
      return {};
    }
  }
  const Limits limits;
  GraphDecoder value_decoder(state, envelope, limits);
  bool has_classes = false;  // The value refers to a class of the definitions.
  if (!rebuilds_definitions_) {
    const auto referenced_at = [&](std::size_t position) {
      Ref object = object_at(position, objects);
      has_classes = has_classes || (object && PyType_Check(object.get()));
      return object;
    };
    if (!value_decoder.begin_at_value(envelope, referenced_at)) return {};
    if (value_decoder.begin()) {
      const std::size_t end = envelope.payload.offset + envelope.payload.bytes.size();
      const bool is_sound =
          value_decoder.is_complete() && value_decoder.offset() == end;
      return is_sound && rebind_methods(objects) ? value_decoder.take_value() : Ref();
    }
  }
  if (!prefix_->check_value(value_decoder.longest_part())) return {};
  Inputs inputs{modules, {}, hooks, collector_pause};
  if (buffers) inputs.stored = buffers->objects();
  // Where the value has instances of a class, their code may change anything.
  const bool can_keep_classes =
      rebound_classes_.empty() || (!has_classes && can_rebind_methods());
  if (!rebuilds_definitions_ && can_keep_classes) {
    return decode_value(state, value_decoder, objects, inputs);
  }
  Context context(state, prefix_->envelope(), limits, imports_.size(), inputs);
  return GraphDecoder(state, envelope, limits).decode(context.decode);
}

bool CachedEnvelope::start_recording(BytesView bytes) {
  cancel_recording();
  if (!prefix_->begin(bytes) || !prefix_->check_value()) return false;
  for (const Recipe::Node& node : nodes_) starts_.push_back(node.position);
  did_classes_exist_ = detects_changes_ = true;
  globals_.clear();
  functions_.clear();
  return true;
}

void CachedEnvelope::cancel_recording() {
  starts_.clear();
  built_count_ = 0;
}

// Called before code runs that may change the object.
void CachedEnvelope::on_node_built(std::size_t number, PyObject* object, bool did_exist,
                                   PyObject* serials) {
  ++built_count_;
  if (!nodes_[number].is_class) {
    functions_.push_back(object);
    PyObject* globals = PyFunction_GET_GLOBALS(object);
    if (std::ranges::find(globals_, globals) == globals_.end()) {
      globals_.push_back(globals);
    }
    return;
  }
  const auto recorded = std::ranges::find(classes_, number, &ReceivedClass::node);
  // Making a class runs code, which may change what is built after it.
  did_classes_exist_ = did_classes_exist_ && did_exist;
  if (did_exist) {
    // A function of the payload that code of the value has put into the class belongs
    // to whoever gets the value, too.
    const bool is_recorded = recorded->record(state_, object, serials) &&
                             !recorded->methods().has_any_of(functions_);
    detects_changes_ = detects_changes_ && is_recorded;
  }
}

void CachedEnvelope::finish_recording() {
  const bool is_complete = built_count_ == nodes_.size() && did_classes_exist_;
  const bool detects_changes =
      is_complete && !rebuilds_definitions_ && detects_changes_;
  if (detects_changes && !recipe_) {
    recipe_ = Recipe::create(state_, prefix_->envelope(), nodes_);
  }
  is_ready_ = is_complete;
  cancel_recording();
  if (!is_complete || (detects_changes && recipe_ && can_reuse_classes())) return;
  rebuilds_definitions_ = true;
  nodes_.clear();
  classes_.clear();
  rebound_classes_.clear();
}

// Whether classes can be reused beside new functions: each class is independent of
// them, or its methods can get their globals.
bool CachedEnvelope::can_reuse_classes() {
  rebound_classes_.clear();
  if (!has_functions()) return true;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const ReceivedFunctions& methods = classes_[i].methods();
    if (classes_[i].is_at_home() || methods.is_independent_of(globals_)) continue;
    if (globals_.size() != 1 || !methods.are_bound_to(globals_.front()) ||
        methods.has_held_functions() || !are_namespaces_named_) {
      return false;
    }
    rebound_classes_.push_back(i);
  }
  return true;
}

DecodeCache::Lease::Lease(DecodeCache& cache, BytesView bytes)
    : cache_(cache), bytes_(bytes) {
  if (!take_entry(kKeyBytes)) take_entry(kShortKeyBytes);
}

bool DecodeCache::Lease::take_entry(std::size_t key_size) {
  key_ = key_of(bytes_, key_size);
  for (Entry& entry : cache_.set_of(key_).entries) {
    if (!entry.is_start_of(key_, bytes_)) continue;
    entry_ = std::move(entry.envelope);
    slot_ = &entry;
    return true;
  }
  return false;
}

DecodeCache::Lease::~Lease() {
  if (!entry_) return;
  entry_->cancel_recording();  // Does nothing unless decoding failed.
  // Code that ran meanwhile may have decoded a similar envelope, and put an entry here.
  Entry& slot = slot_ != nullptr && !slot_->envelope ? *slot_ : slot_for();
  // Destroying the old entry may run code, so the table is made consistent first.
  const Entry old = std::exchange(slot, Entry{key_, std::move(entry_)});
}

CachedEnvelope* DecodeCache::Lease::start_recording(const State& state,
                                                    BytesView prefix,
                                                    const VerifiedEnvelope& envelope) {
  if (prefix.size() < kShortKeyBytes) return nullptr;
  if (!entry_ && prefix.size() >= kKeyBytes) take_entry(kKeyBytes);
  if (!entry_ && !cache_.check_and_mark_recent(prefix)) return nullptr;
  if (entry_ && entry_->start_recording(bytes_)) return entry_.get();
  // A prefix whose definitions differ each time would get an entry each time.
  const std::uint32_t replaced_count = entry_ ? entry_->replaced_count() + 1 : 0;
  if (replaced_count >= kMaxReplaced) return nullptr;
  entry_ = CachedEnvelope::make(state, envelope, replaced_count);
  return entry_ && entry_->start_recording(bytes_) ? entry_.get() : nullptr;
}

// A slot with this prefix, or a free one, or the oldest.
DecodeCache::Entry& DecodeCache::Lease::slot_for() const {
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

bool DecodeCache::check_and_mark_recent(BytesView prefix) {
  const std::uint64_t hash = base::hash_of(prefix);
  return std::exchange(recent_prefixes_[hash % recent_prefixes_.size()], hash) == hash;
}

Ref DecodeCache::Lease::decode(State& state, const DecodeHooks& hooks) {
  Ref object = entry_ ? entry_->decode(state, bytes_, hooks) : Ref();
  ++(object ? state.decode_hits : state.decode_misses);
  return object;
}

}  // namespace waybill::py
