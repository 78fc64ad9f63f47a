#pragma once

// The cache of `dumps` for functions and classes by value: definitions, and the heads
// of envelopes that begin with the same definitions. Tested by
// tests/python/cache/test_cached_functions.py and test_cached_classes.py.

#include <Python.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "python/encode/code/code_encoder.h"
#include "python/encode/written_objects.h"
#include "python/guards/guards.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "python/walker/import_collector.h"
#include "waybill/envelope.h"

namespace waybill::py {

// ---- Definitions -------------------------------------------------------------------

// A function or class by value as a unit of the format, or several that refer to each
// other: bytes that are the same in each payload, and what they need of the payload.
// Holds no objects of the program but text, numbers, and code of annotations. Immutable
// once it is made.
struct Definition {
  // Identifies an object that the guards of the definition's units visit.
  struct VisitedIndex {
    std::uint32_t unit = 0, object = 0;
  };
  // A number in the bytes that differs between payloads.
  struct Number {
    enum class NumberKind : std::uint8_t {
      kReference,
      kModule,
      kCode,
      kNamespaceLead,  // The lead of a namespace's node, which counts its values.
      kNamespace,      // The number of a namespace, which the first of a name lacks.
    };
    NumberKind kind;
    std::uint8_t size;       // Bytes of its token, which the payload replaces.
    std::uint32_t position;  // The offset of the token in the bytes.
    // Local number; for code, in the order of bodies; for namespaces, their index.
    std::uint32_t number = 0;
  };
  // The node to which a reference refers: one in the bytes, or one of another
  // definition.
  struct Referent {
    static constexpr std::uint32_t kInside = UINT32_MAX;
    std::uint32_t need = kInside;  // Index in `needs`.
    std::uint64_t offset = 0;      // In the bytes, if `need` is kInside.
  };
  // A node in the bytes to which other definitions and the value may refer.
  struct Export {
    VisitedIndex object;
    std::uint64_t offset;
  };
  // Code whose imports each payload collects anew.
  struct FlowSource {
    VisitedIndex function;
    Ref code;  // The code of annotations; null: that of the function.
  };
  // The value of a global of its functions, to which other definitions may refer.
  struct Global {
    std::string name;
    std::uint64_t start, end;  // Offsets of the value in the bytes.
    VisitedIndex object{};
  };

  std::vector<std::uint8_t> bytes;
  std::vector<Number> numbers;      // In the order of the bytes.
  std::vector<Referent> referents;  // By number of the references.
  std::vector<VisitedIndex> needs;  // Functions and classes of other definitions.
  std::vector<Export> exports;      // By offset.
  std::vector<Export> namespaces;   // Those with a name.
  std::vector<Global> globals;
  std::vector<ModuleUse> modules;  // By number.
  std::vector<Ref> module_values;  // Names of the modules that are values.
  std::vector<FlowSource> flows;
  std::vector<VisitedIndex> code;  // The function of each use of code.
  // By use of code; may be null.
  std::vector<std::shared_ptr<const CodeSource>> sources;
  CodeSection::ClassSources classes;
};

// A function or class with guards for everything in the program on which its definition
// depends. Keeps no module, class, function or dict alive.
struct CachedDefinition {
  std::unique_ptr<ReachGuards> guards;
  std::uint64_t number = 0;  // Unique.
  // The definition without source, and the one with source. Null if it was not made;
  // only the first member of a component has definitions.
  std::array<std::shared_ptr<const Definition>, 2> definitions;
  std::vector<std::uint64_t> others;  // Numbers of the other members, in order.
};

// The cached definitions of classes; those of functions are stored on their code. Keeps
// no class alive. Needs the GIL.
class ClassCache {
 public:
  // The slot of a class; null if it has none.
  CacheSlot* find(PyObject* type);
  // The slot of a class, which is made if needed; valid until the next call. May run
  // Python code, when a dead entry is dropped.
  CacheSlot& slot(PyObject* type);

 private:
  static constexpr std::size_t kMaxEntries = 256;  // Beyond this, the table is cleared.

  struct Entry {
    Ref type;  // A weak reference.
    CacheSlot slot;
  };
  std::unordered_map<PyObject*, Entry> entries_;
};

// Clears the tables, and invalidates what is stored on code objects.
void clear_encode_cache(State& state);

// A function or class in a payload, with all that its guards visit now.
struct Unit {
  explicit Unit(Arena& arena) : visited(&arena) {}

  Ref object;
  std::shared_ptr<CachedDefinition> cached;  // Null if it cannot be a definition.
  VisitedObjects visited;                    // The object itself first.
  bool is_stored = false;                    // Later payloads find `cached`.
};

// Fills a unit for its object: with the cached definition if the guards are satisfied,
// else with new guards. `visited` is empty if the object cannot be a definition. May
// run Python code; see ReachGuards::are_satisfied().
void resolve_unit(State& state, CodeInfos& infos, Unit& unit);

// ---- Heads of envelopes -----------------------------------------------------------

// The definitions of a payload as they are written.
struct WrittenDefinitions {
  // A number that the payload writes with another size moves all that follows it.
  struct Shift {
    std::uint64_t offset;  // In the definition.
    std::int64_t distance;
  };
  struct Start {
    std::uint64_t position = 0;
    std::vector<Shift> shifts;  // Empty for most.
  };

  std::vector<std::uint8_t> bytes;    // Everything before the value.
  std::vector<std::uint64_t> shared;  // Positions of the nodes that are referred to.
  std::vector<Start> starts;          // The start of each definition.

  // The position of a place in a definition.
  std::uint64_t position_of(const Place& place) const {
    const Start& start = starts[place.definition];
    std::uint64_t position = start.position + place.offset;
    for (const Shift& shift : start.shifts) {
      if (shift.offset > place.offset) break;
      position += static_cast<std::uint64_t>(shift.distance);
    }
    return position;
  }
};

// Copies of the sections of an envelope other than its payload.
class CachedSections {
 public:
  CachedSections() = default;
  // Copies manifest, code, source locations and sources.
  explicit CachedSections(const Parts& parts) {
    manifest_.assign(parts.encoded_manifest.begin(), parts.encoded_manifest.end());
    source_locations_.assign(parts.source_locations.begin(),
                             parts.source_locations.end());
    sources_.assign(parts.sources.begin(), parts.sources.end());
    std::size_t size = 0;
    for (const BytesView body : parts.code) size += body.size();
    code_.reserve(size);
    for (const BytesView body : parts.code) {
      const std::size_t begin = code_.size();
      code_.insert(code_.end(), body.begin(), body.end());
      bodies_.push_back(BytesView(code_).subspan(begin));
    }
  }
  // Views into a vector that is moved stay valid.
  CachedSections(CachedSections&&) = default;
  CachedSections& operator=(CachedSections&&) = default;

  // Sets views into this object, which must outlive `parts`.
  void put_into(Parts& parts) const {
    parts.encoded_manifest = manifest_;
    parts.code = bodies_;
    parts.source_locations = source_locations_;
    parts.sources = sources_;
  }

  std::size_t size() const {
    return manifest_.size() + code_.size() + source_locations_.size() + sources_.size();
  }

 private:
  std::vector<std::uint8_t> manifest_, code_, source_locations_, sources_;
  std::vector<BytesView> bodies_;  // The code bodies in `code_`.
};

// The head of an envelope in whose value only data follows. Programs send the same
// functions and classes with other data again and again.
struct CachedHead {
  std::vector<std::shared_ptr<const Definition>> definitions;
  // The needs, and the numbers of the namespaces, of each definition.
  std::vector<std::vector<Place>> needs;
  std::vector<std::vector<std::uint64_t>> namespaces;
  WrittenDefinitions written;
  CachedSections sections;
  LookupTrace trace;
};

// The most recently used heads. Needs the GIL.
class CachedHeads {
 public:
  // The head for which `is_match` is true; null if there is none, or if its trace has
  // changed.
  template <typename IsMatch>
  std::shared_ptr<const CachedHead> find(const State& state, IsMatch is_match) {
    const auto found = std::ranges::find_if(heads_, is_match);
    if (found == heads_.end()) return nullptr;
    std::rotate(heads_.begin(), found, found + 1);
    std::shared_ptr<const CachedHead> head = heads_.front();
    if (is_unchanged(state, head->trace)) return head;
    std::erase(heads_, head);
    return nullptr;
  }
  // Does nothing if the head is too large.
  void store(CachedHead head) {
    if (head.sections.size() + head.written.bytes.size() > kMaxBytes) return;
    if (heads_.size() == kMaxEntries) heads_.pop_back();
    heads_.insert(heads_.begin(), std::make_shared<const CachedHead>(std::move(head)));
  }

 private:
  static constexpr std::size_t kMaxEntries = 64;
  static constexpr std::size_t kMaxBytes = 32 << 10;  // The size of one head.

  std::vector<std::shared_ptr<const CachedHead>> heads_;  // Most recently used first.
};

}  // namespace waybill::py
