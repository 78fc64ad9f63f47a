#pragma once

// The definitions of one payload, as they are met: which functions and classes stand
// there, and how they are written.
//
// What stands among definitions the object graph alone decides, whatever is kept. All
// that a function or class reaches by value is walked first; what refers to each other
// in a cycle becomes one definition. Where one of them cannot stand there, nor can what
// needs it: it is written where it is met.

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

#include "python/encode/definitions/heads.h"
#include "python/encode/definitions/unit.h"
#include "python/encode/written_objects.h"
#include "python/runtime/arena.h"

namespace waybill::py {

struct EncodeContext;
struct OtherSections;

// A definition that a payload has.
struct TakenDefinition {
  explicit TakenDefinition(Arena& arena)
      : units(&arena), needs(&arena), code_objects(&arena) {}

  std::shared_ptr<const Definition> definition;
  ArenaVector<Unit*> units;       // Those that its places are of.
  ArenaVector<Place> needs;       // By number of its needs: where they stand.
  ArenaVector<Ref> code_objects;  // Of its functions, which may get others later.
  std::vector<std::uint32_t> modules, code;  // Their numbers in the payload.
  bool was_kept = false;                     // It has not been made for this payload.
  bool is_kept = false;                      // To be taken by later payloads.
};

// Which definitions of a payload some functions and classes need, directly or not. Each
// stands behind those that it needs, so they are looked at from the last to the first,
// and no further than to the one that is asked for.
class NeededDefinitions {
 public:
  // `direct`: those that are needed directly. `taken` outlives this.
  NeededDefinitions(std::span<const TakenDefinition> taken,
                    const std::vector<std::uint32_t>& direct)
      : taken_(taken),
        needed_(direct.begin(), direct.end()),
        expanded_(static_cast<std::uint32_t>(taken.size())) {}

  bool has(std::uint32_t definition);

 private:
  std::span<const TakenDefinition> taken_;
  std::set<std::uint32_t> needed_;
  std::uint32_t expanded_;  // What those from here on need has been added.
};

class GraphEncoder;

class PayloadDefinitions {
 public:
  // Outlives nothing of the context.
  explicit PayloadDefinitions(EncodeContext& context);

  // Whether a function or class stands among the definitions; from then on the memo of
  // the context has it, and all that references may mean in it.
  bool define(PyObject* object);
  bool empty() const { return taken_.empty(); }

  // Begins with those of another payload, which outlives this.
  void fork_from(const PayloadDefinitions& first);

  // Tells the other sections, which have just been made or are there already, of what
  // has not been told yet.
  void tell(OtherSections& others);
  bool are_told() const { return told_ == taken_.size(); }

  // The head for these definitions, if one is kept and still holds. The other sections
  // have not been made.
  std::shared_ptr<const KeptHead> find_head() const;
  // Keeps the head that was written. `parts`: all of the envelope.
  void keep_head(const Parts& parts, const WrittenDefinitions& written);

  WrittenDefinitions write() const;

  // Keys of all objects that guards compare.
  bool is_visited(std::uintptr_t key) const;

  int traverse(visitproc visitor, void* arg) const;

 private:
  // A function or class in the walk for cycles.
  struct Node {
    explicit Node(Arena& arena) : unit(arena) {}

    Unit unit;
    std::size_t number = 0, lowest = 0;  // In the order of the walk.
    bool is_open = false;                // Its component is not complete.
    bool is_refused = false;
    std::size_t component_size = 0;  // If it is the first one there.
  };
  using Nodes = ArenaVector<Node*>;
  using Component = std::span<Node* const>;  // In canonical order.
  // A walk for cycles, and the components that it found, each behind those it needs.
  struct Plan {
    Plan(const Node& first, std::size_t walked, Arena& arena)
        : root(&first), walked_before(walked), open(&arena), closed(&arena) {}

    const Node* root;
    std::size_t walked_before;  // Nodes with higher numbers are of this walk.
    Nodes open, closed;
  };

  Node& node_of(PyObject* object);
  bool is_defined(PyObject* object) const;
  std::optional<Place> defined_place(std::uintptr_t key) const;
  bool finds_needs(TakenDefinition& taken) const;
  NeededDefinitions needed_by(std::span<Unit* const> units) const;
  bool define_as_seen(PyObject* object);
  bool walk(Node& node, Plan& plan);
  static bool close(Node& node, Plan& plan);
  static bool put_in_order(std::span<Node*> component);
  bool take(Component component);
  bool take_last(Component component, TakenDefinition& taken);
  std::shared_ptr<const Definition> kept(Component component) const;
  static bool are_members(Component component, const KeptUnit& first);
  bool do_hold(Component component);
  void keep(Component component, std::shared_ptr<const Definition> definition);
  // `units`: those of the component.
  std::shared_ptr<const Definition> encode(Component component,
                                           std::span<Unit* const> units);
  std::shared_ptr<const Definition> made_of(GraphEncoder& graph, Component component,
                                            std::span<Unit* const> units,
                                            std::vector<Definition::Place> needs);
  bool set_objects(Definition& definition, const EncodeContext& written,
                   std::span<Unit* const> units);
  bool fits(const TakenDefinition& taken);
  bool is_same_global(const TakenDefinition& taken, std::uint64_t offset) const;
  void note(const TakenDefinition& taken);

  EncodeContext& context_;
  Arena& arena_;
  CodeInfos& infos_;
  using Entry = std::pair<PyObject* const, Node>;
  std::map<PyObject*, Node, std::less<>, ArenaAllocator<Entry>> nodes_;
  ArenaVector<TakenDefinition> taken_;
  std::size_t told_ = 0;  // So many were told to the other sections.
  // What functions have as globals under which name, in the dict that has it. Names are
  // those of the definitions.
  std::map<std::pair<PyObject*, std::string_view>, std::uintptr_t> globals_;
  std::size_t walked_ = 0;  // Nodes, by all walks.
};

}  // namespace waybill::py
