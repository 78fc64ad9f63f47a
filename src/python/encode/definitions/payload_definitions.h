#pragma once

// The definitions of one payload: which functions and classes they are, and how they
// are written.
//
// The object graph alone, not the cache, decides which functions and classes become
// definitions. All that a function or class reaches by value is walked first. Functions
// and classes that refer to each other in a cycle become one definition. If one of them
// cannot be a definition, nor can those that need it: they are written where the value
// first refers to them.

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "python/encode/definitions/definition_cache.h"
#include "python/encode/written_objects.h"
#include "python/runtime/arena.h"

namespace waybill::py {

struct EncodeContext;
struct OtherSections;

// A definition that a payload has.
struct IncludedDefinition {
  explicit IncludedDefinition(Arena& arena)
      : units(&arena), needs(&arena), namespaces(&arena), code_objects(&arena) {}

  std::shared_ptr<const Definition> definition;
  ArenaVector<Unit*> units;  // By Definition::VisitedIndex::unit.
  ArenaVector<Place> needs;  // Places of the definition's needs, by number.
  ArenaVector<std::uint64_t> namespaces;  // The numbers of its namespaces.
  ArenaVector<Ref> code_objects;  // The code of its functions, which may change later.
  std::vector<std::uint32_t> modules, code;  // Their numbers in the payload.
  bool was_cached = false;                   // It was not made for this payload.
  bool is_cached = false;                    // Later payloads can use it.
};

// The definitions that some functions and classes need, directly or indirectly. Each
// definition follows those that it needs, so the closure is computed from the last to
// the first, and stops at the requested definition.
class NeededDefinitions {
 public:
  // `direct`: those that are needed directly. `included` must outlive this.
  NeededDefinitions(std::span<const IncludedDefinition> included,
                    const std::vector<std::uint32_t>& direct)
      : included_(included),
        needed_(direct.begin(), direct.end()),
        first_expanded_(static_cast<std::uint32_t>(included.size())) {}

  bool has(std::uint32_t definition);

 private:
  std::span<const IncludedDefinition> included_;
  std::set<std::uint32_t> needed_;
  // The needs of definitions from this one on are in `needed_`.
  std::uint32_t first_expanded_;
};

class GraphEncoder;

// payload_definitions.cpp selects and writes definitions; definition_encoder.cpp
// encodes them.
class PayloadDefinitions {
 public:
  // `context` must outlive this.
  explicit PayloadDefinitions(EncodeContext& context);

  // Makes a function or class a definition, with all that it needs; false if it cannot
  // be one. Afterwards the memo of the context has the object, and all objects in the
  // new definitions to which references are possible.
  bool define(PyObject* object);
  bool empty() const { return included_.empty(); }

  // Starts as a copy of those of another payload, which must outlive this.
  void fork_from(const PayloadDefinitions& first);

  // Adds the needs of all definitions that are not registered yet to the other
  // sections.
  void register_in(OtherSections& others);
  bool are_registered() const { return registered_count_ == included_.size(); }

  // The cached head for these definitions; null if there is none. The other sections
  // must not have been made.
  std::shared_ptr<const CachedHead> find_head() const;
  // Caches the head that was written. `parts`: those of the envelope.
  void store_head(const Parts& parts, const WrittenDefinitions& written);

  WrittenDefinitions write() const;

  // Whether guards compare the object with this key.
  bool is_visited(std::uintptr_t key) const;

  int traverse(visitproc visitor, void* arg) const;

 private:
  // A function or class in the graph that is searched for cycles.
  struct Vertex {
    explicit Vertex(Arena& arena) : unit(arena) {}

    Unit unit;
    std::size_t number = 0, lowest = 0;  // In the order of the search.
    bool is_open = false;                // Its component is not complete.
    bool is_refused = false;
    std::size_t component_size = 0;  // Set in the first member of a component.
  };
  using Vertices = ArenaVector<Vertex*>;
  using Component = std::span<Vertex* const>;  // In canonical order.
  // A search for strongly connected components, and those that it has found: each
  // follows those that it needs.
  struct ComponentSearch {
    ComponentSearch(const Vertex& first, std::size_t walked, Arena& arena)
        : root(&first), walked_before(walked), open(&arena), closed(&arena) {}

    const Vertex* root;
    std::size_t walked_before;  // Vertices with higher numbers are of this search.
    Vertices open, closed;
  };

  Vertex& vertex_of(PyObject* object);
  bool is_defined(PyObject* object) const;
  std::optional<Place> defined_place(std::uintptr_t key) const;
  bool resolve_needs(IncludedDefinition& included) const;
  NeededDefinitions needed_by(std::span<Unit* const> units) const;
  bool try_define(PyObject* object);
  bool find_components(Vertex& vertex, ComponentSearch& search);
  static bool close_component(Vertex& vertex, ComponentSearch& search);
  static bool sort_members(std::span<Vertex*> component);
  bool include(Component component);
  bool include_last(Component component, IncludedDefinition& included);
  std::shared_ptr<const Definition> find_cached(Component component) const;
  static bool are_members(Component component, const CachedDefinition& first);
  bool are_satisfied(Component component);
  void store(Component component, std::shared_ptr<const Definition> definition);
  // `units`: those of the component.
  std::shared_ptr<const Definition> encode(Component component,
                                           std::span<Unit* const> units);
  std::shared_ptr<const Definition> make(GraphEncoder& graph, Component component,
                                         std::span<Unit* const> units,
                                         std::vector<Definition::VisitedIndex> needs);
  bool set_objects(Definition& definition, const EncodeContext& written,
                   std::span<Unit* const> units);
  bool can_include(const IncludedDefinition& included);
  bool is_same_global(const IncludedDefinition& included, std::uint64_t offset) const;
  void register_objects(const IncludedDefinition& included);

  EncodeContext& context_;
  Arena& arena_;
  CodeInfos& infos_;
  using Entry = std::pair<PyObject* const, Vertex>;
  std::map<PyObject*, Vertex, std::less<>, ArenaAllocator<Entry>> vertices_;
  ArenaVector<IncludedDefinition> included_;
  std::size_t registered_count_ = 0;  // Number that register_in() has seen.
  // The key of each global's value, by globals dict and name. The names belong to the
  // definitions.
  std::map<std::pair<PyObject*, std::string_view>, std::uintptr_t> globals_;
  std::size_t walked_count_ = 0;  // Number of vertices, in all searches.
};

}  // namespace waybill::py
