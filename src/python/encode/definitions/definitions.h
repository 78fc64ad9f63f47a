#pragma once

// The definitions of one payload, as they are met: which functions and classes stand
// there, and how they are written.
//
// What stands among definitions the object graph alone decides, whatever is kept. All
// that a function or class reaches by value is walked first; what refers to each other
// in a cycle becomes one definition. Where one of them cannot stand there, nor can what
// needs it: it is written where it is met.

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "python/encode/definitions/heads.h"
#include "python/encode/definitions/needed.h"
#include "python/encode/definitions/unit.h"
#include "python/encode/written_objects.h"

namespace waybill::py {

struct EncodeContext;
struct OtherSections;

// A definition that a payload has.
struct TakenDefinition {
  explicit TakenDefinition(std::pmr::memory_resource* memory)
      : units(memory), needs(memory), code_objects(memory) {}

  std::shared_ptr<const Definition> definition;
  std::pmr::vector<Unit*> units;       // Those that its places are of.
  std::pmr::vector<Place> needs;       // By number of its needs: where they stand.
  std::pmr::vector<Ref> code_objects;  // Of its functions, which may get others later.
  std::vector<std::uint32_t> modules, code;  // Their numbers in the payload.
  bool was_kept = false;                     // It has not been made for this payload.
  bool is_kept = false;                      // To be taken by later payloads.
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
  void go_on_after(const PayloadDefinitions& first);

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
    explicit Node(std::pmr::memory_resource* memory) : needs(memory) {}

    Unit unit;
    std::size_t number = 0, lowest = 0;  // In the order of the walk.
    bool is_open = false;                // Its component is not complete.
    bool is_refused = false;
    std::pmr::vector<Node*> needs;
  };
  using Component = std::pmr::vector<Node*>;  // In canonical order.
  using Components = std::pmr::vector<Component>;

  Node& node_of(PyObject* object);
  bool is_defined(PyObject* object) const;
  std::optional<Place> defined_place(std::uintptr_t key) const;
  bool finds_needs(TakenDefinition& taken) const;
  NeededDefinitions needed_by(std::span<Unit* const> units) const;
  bool define_as_seen(PyObject* object);
  bool plan(PyObject* root, Components& components);
  static void close(Node& node, Component& open, Components& components);
  static bool put_in_order(Component& component);
  bool take(const Component& component);
  bool take_last(const Component& component, TakenDefinition& taken);
  std::shared_ptr<const Definition> kept(const Component& component) const;
  static bool are_members(const Component& component, const KeptUnit& first);
  bool do_hold(const Component& component);
  void keep(const Component& component, std::shared_ptr<const Definition> definition);
  // `units`: those of the component.
  std::shared_ptr<const Definition> encode(const Component& component,
                                           std::span<Unit* const> units);
  std::shared_ptr<const Definition> made_of(GraphEncoder& graph,
                                            const Component& component,
                                            std::span<Unit* const> units,
                                            std::vector<Definition::Place> needs);
  static bool set_objects(Definition& definition, const EncodeContext& written,
                          std::span<Unit* const> units);
  static bool set_others(Definition& definition, const OtherSections& others,
                         std::span<Unit* const> units);
  static bool set_code(Definition& definition, const CodeSection& code,
                       std::span<Unit* const> units);
  bool fits(const TakenDefinition& taken);
  bool is_same_global(const TakenDefinition& taken, std::uint64_t offset) const;
  void note(const TakenDefinition& taken);

  EncodeContext& context_;
  CodeInfos infos_;
  // What a few functions and classes take is here.
  std::array<std::byte, 2048> first_memory_;
  std::pmr::monotonic_buffer_resource memory_{first_memory_.data(),
                                              first_memory_.size()};
  std::pmr::unordered_map<PyObject*, Node> nodes_{&memory_};
  std::vector<TakenDefinition> taken_;
  std::size_t told_ = 0;  // So many were told to the other sections.
  // What functions have as globals under which name, in the dict that has it. Names are
  // those of the definitions.
  std::map<std::pair<PyObject*, std::string_view>, std::uintptr_t> globals_;
  std::size_t walked_ = 0;  // Nodes, by all walks.
};

}  // namespace waybill::py
