// Tested by tests/python/definitions, tests/python/cache/test_kept_functions.py and
// test_kept_classes.py.

#include "python/encode/definitions/definitions.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "python/encode/encode_context.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

using Kind = VisitedObject::Kind;
// More functions and classes that reach each other do not stand among definitions: the
// walk for cycles is made anew for each that is met.
constexpr std::size_t kMostUnits = 256;

// What tells members of a cycle apart, whoever was met first.
std::tuple<std::string, std::string, std::string, int> name_of_member(
    PyObject* object) {
  if (PyType_Check(object)) {
    auto* type = as_type(object);
    const Ref name = Ref::steal(PyType_GetQualName(type));
    return {"", text_of(name.get()), "", 0};
  }
  auto* function = as_function(object);
  auto* code = as_code(function->func_code);
  PyObject* module = function->func_module;
  const bool has_module = module != nullptr && PyUnicode_Check(module);
  return {has_module ? text_of(module) : std::string(),
          text_of(function->func_qualname), text_of(code->co_qualname),
          code->co_firstlineno};
}

const VisitedObject& visited_at(const TakenDefinition& taken,
                                const Definition::Place& place) {
  return taken.units[place.unit]->visited[place.object];
}
PyObject* object_at(const TakenDefinition& taken, const Definition::Place& place) {
  return visited_at(taken, place).object.get();
}
std::uintptr_t key_at(const TakenDefinition& taken, const Definition::Place& place) {
  return visited_at(taken, place).key;
}

}  // namespace

bool NeededDefinitions::has(std::uint32_t definition) {
  while (!needed_.contains(definition)) {
    const auto next = needed_.lower_bound(expanded_);
    if (next == needed_.begin() || *std::prev(next) < definition) return false;
    expanded_ = *std::prev(next);
    for (const Place& need : taken_[expanded_].needs) needed_.insert(need.definition);
  }
  return true;
}

PayloadDefinitions::PayloadDefinitions(EncodeContext& context)
    : context_(context),
      arena_(context.arena),
      infos_(context.infos()),
      nodes_(&arena_),
      taken_(&arena_) {}

PayloadDefinitions::Node& PayloadDefinitions::node_of(PyObject* object) {
  const auto [found, is_new] = nodes_.try_emplace(object, arena_);
  Node& node = found->second;
  if (is_new) {
    node.unit.object = Ref::share(object);
    look_at_unit(context_.state, infos_, node.unit);
    node.is_refused = !node.unit.kept;
  }
  return node;
}

bool PayloadDefinitions::is_defined(PyObject* object) const {
  return defined_place(key_of(object)).has_value();
}

bool PayloadDefinitions::define(PyObject* object) {
  for (;;) {
    const Py_ssize_t lost = PyDict_GET_SIZE(context_.state.lost.get());
    if (define_as_seen(object)) return true;
    // Meanwhile a module may have turned out to be one that no import finds: what was
    // a name is a value.
    if (PyDict_GET_SIZE(context_.state.lost.get()) == lost) return false;
    std::erase_if(nodes_, [&](const auto& node) { return !is_defined(node.first); });
  }
}

bool PayloadDefinitions::define_as_seen(PyObject* object) {
  if (const auto known = nodes_.find(object);
      known != nodes_.end() && known->second.is_refused) {
    return false;
  }
  Node& root = node_of(object);
  Plan plan(root, walked_, arena_);
  if (!walk(root, plan)) {
    for (Node* node : plan.open) node->is_open = false;
    return false;
  }
  const std::size_t before = taken_.size();
  for (std::size_t i = 0; i < plan.closed.size();) {
    const std::size_t size = plan.closed[i]->component_size;
    const Component component = std::span(plan.closed).subspan(i, size);
    i += size;
    if (take(component)) continue;
    for (Node* node : component) node->is_refused = true;
    root.is_refused = true;
    return false;
  }
  const auto taken = std::span(taken_).subspan(before);
  if (!taken.empty() && std::ranges::all_of(taken, &TakenDefinition::was_kept)) {
    ++context_.state.kept_hits;
  }
  return true;
}

// Finds the components among what the node reaches by value and has not been defined
// (R. Tarjan, Depth-first search and linear graph algorithms, 1972). False if some of
// that cannot be: then nor can what needs it. At most kMostUnits deep.
bool PayloadDefinitions::walk(Node& node, Plan& plan) {
  node.number = node.lowest = ++walked_;
  node.is_refused = node.is_refused || walked_ - plan.walked_before > kMostUnits;
  if (node.is_refused) return false;
  node.is_open = true;
  plan.open.push_back(&node);
  for (const VisitedObject& one : node.unit.visited) {
    if (one.kind != Kind::kNeeded || is_defined(one.object.get())) continue;
    Node& need = node_of(one.object.get());
    const bool is_new = need.number <= plan.walked_before;
    // What was written elsewhere definitions cannot refer to.
    const bool is_written = &need != plan.root && context_.objects.find(one.key);
    if (is_written || need.is_refused || (is_new && !walk(need, plan))) {
      node.is_refused = true;
      return false;
    }
    if (need.is_open) node.lowest = std::min(node.lowest, need.lowest);
  }
  if (node.lowest == node.number && !close(node, plan)) node.is_refused = true;
  return !node.is_refused;
}

// Takes the component of which `node` is the first from those that are open. False if
// its members cannot be told apart.
bool PayloadDefinitions::close(Node& node, Plan& plan) {
  std::size_t size = 0;
  for (Node* last = nullptr; last != &node; ++size) {
    last = plan.open.back();
    last->is_open = false;
    plan.open.pop_back();
    plan.closed.push_back(last);
  }
  const auto component = std::span(plan.closed).last(size);
  if (size != 1 && !put_in_order(component)) return false;
  component.front()->component_size = size;
  return true;
}

bool PayloadDefinitions::put_in_order(std::span<Node*> component) {
  using Name = decltype(name_of_member(nullptr));
  std::vector<std::pair<Name, Node*>> named;
  for (Node* node : component) {
    named.emplace_back(name_of_member(node->unit.object.get()), node);
  }
  std::ranges::sort(named);
  const auto is_like = [](const auto& a, const auto& b) { return a.first == b.first; };
  for (std::size_t i = 0; i < named.size(); ++i) component[i] = named[i].second;
  return std::ranges::adjacent_find(named, is_like) == named.end();
}

bool PayloadDefinitions::take(Component component) {
  constexpr std::size_t kUsual = 4;
  if (taken_.empty()) taken_.reserve(kUsual);
  if (take_last(component, taken_.emplace_back(arena_))) {
    if (OtherSections* others = context_.others_if_any()) tell(*others);
    return true;
  }
  taken_.pop_back();
  return false;
}

bool PayloadDefinitions::take_last(Component component, TakenDefinition& taken) {
  for (Node* node : component) taken.units.push_back(&node->unit);
  taken.definition = kept(component);
  taken.is_kept = taken.was_kept = taken.definition && finds_needs(taken);
  if (!taken.was_kept) {
    taken.definition = encode(component, taken.units);
    if (!taken.definition || !finds_needs(taken)) return false;
    taken.is_kept = kept(component) == taken.definition;
  }
  for (const Definition::Place& place : taken.definition->code) {
    PyObject* function = object_at(taken, place);
    taken.code_objects.push_back(Ref::share(PyFunction_GET_CODE(function)));
  }
  if (!fits(taken)) return false;
  note(taken);
  return true;
}

// Where an object stands among the definitions; nothing if it does not.
std::optional<Place> PayloadDefinitions::defined_place(std::uintptr_t key) const {
  const MemoEntry* entry = context_.objects.memo().find(key);
  if (entry == nullptr || (entry->offset & Place::kDefined) == 0) return std::nullopt;
  return Place::of(entry->offset);
}

// Finds where all stands that a definition needs. False if something does not stand
// there whatever else is in the payload, or if the definition has what one of those has
// that it needs.
bool PayloadDefinitions::finds_needs(TakenDefinition& taken) const {
  std::optional<NeededDefinitions> needed;
  const auto is_needed = [&](const Place& place) {
    if (!needed) needed = needed_by(taken.units);
    return needed->has(place.definition);
  };
  taken.needs.clear();
  for (const Definition::Place& need : taken.definition->needs) {
    const std::optional<Place> place = defined_place(key_at(taken, need));
    if (!place ||
        !(visited_at(taken, need).kind == Kind::kNeeded || is_needed(*place))) {
      return false;
    }
    taken.needs.push_back(*place);
  }
  return std::ranges::none_of(taken.definition->exports, [&](const auto& one) {
    const std::optional<Place> place = defined_place(key_at(taken, one.place));
    return place && is_needed(*place);
  });
}

NeededDefinitions PayloadDefinitions::needed_by(std::span<Unit* const> units) const {
  std::vector<std::uint32_t> direct;
  for (const Unit* unit : units) {
    for (const VisitedObject& one : unit->visited) {
      if (one.kind != Kind::kNeeded) continue;
      if (const auto place = defined_place(one.key))
        direct.push_back(place->definition);
    }
  }
  return {taken_, direct};
}

bool PayloadDefinitions::are_members(Component component, const KeptUnit& first) {
  return std::ranges::equal(component.subspan(1), first.others, {},
                            [](const Node* node) { return node->unit.kept->number; });
}

std::shared_ptr<const Definition> PayloadDefinitions::kept(Component component) const {
  const KeptUnit& first = *component.front()->unit.kept;
  if (!are_members(component, first)) return nullptr;
  return first.definitions[context_.wants_source() ? 1 : 0];
}

// Whether nothing of it is in the payload already, but for what functions of one
// namespace have as a global under one name: who reads it keeps the first.
bool PayloadDefinitions::fits(const TakenDefinition& taken) {
  const Definition& definition = *taken.definition;
  for (const Definition::Place& place : definition.namespaces) {
    PyObject* globals = object_at(taken, place);
    if (context_.namespaces.number_of(context_.state, globals) != 0) return false;
  }
  return std::ranges::all_of(definition.exports, [&](const auto& one) {
    const bool is_unit = one.place.object == 0;
    const std::uintptr_t key = key_at(taken, one.place);
    const MemoEntry* entry = context_.objects.find(key);
    // The one that was met has been noted already: this is where it stands.
    const bool is_met = is_unit && entry != nullptr &&
                        context_.current == reinterpret_cast<PyObject*>(key);
    return entry == nullptr || is_met || visited_at(taken, one.place).is_value ||
           is_same_global(taken, one.offset);
  });
}

bool PayloadDefinitions::is_same_global(const TakenDefinition& taken,
                                        std::uint64_t offset) const {
  const Definition& definition = *taken.definition;
  if (definition.namespaces.size() != 1) return false;
  const auto is_own = [&](const Definition::Target& target) {
    return target.need == Definition::Target::kInside && target.offset == offset;
  };
  if (std::ranges::any_of(definition.targets, is_own)) return false;
  const auto global = std::ranges::find_if(definition.globals, [&](const auto& one) {
    return one.start <= offset && offset < one.end;
  });
  if (global == definition.globals.end()) return false;
  PyObject* globals = object_at(taken, definition.namespaces.front());
  const auto known = globals_.find({globals, global->name});
  return known != globals_.end() && known->second == key_at(taken, global->place);
}

// Tells the memo where the objects of the last definition stand.
void PayloadDefinitions::note(const TakenDefinition& taken) {
  const Definition& definition = *taken.definition;
  const auto number = static_cast<std::uint32_t>(taken_.size() - 1);
  for (const Definition::Export& one : definition.exports) {
    const std::uintptr_t key = key_at(taken, one.place);
    const std::uint64_t place = Place{number, one.offset}.number();
    MemoEntry* entry = context_.objects.find(key);
    if (entry == nullptr) {
      context_.objects.note(key, place);
    } else if ((entry->offset & Place::kDefined) == 0) {
      entry->offset = place;
    }
    PyObject* object = object_at(taken, one.place);
    if (object != nullptr && PyType_Check(object)) context_.dicts.note_class(object);
  }
  if (definition.namespaces.size() != 1) return;
  PyObject* globals = object_at(taken, definition.namespaces.front());
  for (const Definition::Global& global : definition.globals) {
    globals_.try_emplace({globals, global.name}, key_at(taken, global.place));
  }
}

void PayloadDefinitions::fork_from(const PayloadDefinitions& first) {
  taken_ = first.taken_;
  globals_ = first.globals_;
  told_ = first.told_;
}

void PayloadDefinitions::tell(OtherSections& others) {
  if (told_ == 0 && context_.state.uses_caches) others.imports.trace();
  for (; told_ != taken_.size(); ++told_) {
    TakenDefinition& taken = taken_[told_];
    const Definition& definition = *taken.definition;
    for (const ModuleUse& use : definition.modules) {
      taken.modules.push_back(others.imports.use(use));
    }
    for (const Ref& name : definition.module_values) {
      PyObject* module = find_module(context_.state, name.get());
      if (module != nullptr) others.imports.escape(module, false);
    }
    for (std::size_t i = 0; i < definition.code.size(); ++i) {
      taken.code.push_back(others.code.use(taken.code_objects[i].get(), true));
      if (i < definition.sources.size() && definition.sources[i]) {
        others.code.add_source(taken.code.back(), *definition.sources[i]);
      }
    }
    for (const Definition::Flow& flow : definition.flows) {
      PyObject* function = object_at(taken, flow.function);
      const auto is_it = [&](const Definition::Place& place) {
        return object_at(taken, place) == function;
      };
      const auto use = std::ranges::find_if(definition.code, is_it);
      const auto number = static_cast<std::size_t>(use - definition.code.begin());
      const Ref& code = flow.code ? flow.code : taken.code_objects[number];
      others.imports.function(function, others.infos.get(code.get()));
    }
    for (const auto& [id, source] : definition.classes) {
      others.code.add_class(bytes_of(id), source.text_id, source.first_line);
    }
  }
}

bool PayloadDefinitions::is_visited(std::uintptr_t key) const {
  return std::ranges::any_of(taken_, [&](const TakenDefinition& taken) {
    return std::ranges::any_of(taken.units, [&](const Unit* unit) {
      return std::ranges::find(unit->visited, key, &VisitedObject::key) !=
             unit->visited.end();
    });
  });
}

int PayloadDefinitions::traverse(visitproc visitor, void* arg) const {
  for (const auto& [_, node] : nodes_) {
    if (const int stop = visit(node.unit.object, visitor, arg)) return stop;
    for (const VisitedObject& one : node.unit.visited) {
      if (const int stop = visit(one.object, visitor, arg)) return stop;
    }
  }
  return 0;
}

}  // namespace waybill::py
