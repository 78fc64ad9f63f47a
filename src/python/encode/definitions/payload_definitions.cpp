// Chooses the definitions of a payload and writes them, with the numbers that modules,
// code and references have in this payload.
//
// Tested by tests/python/definitions, tests/python/cache/test_cached_functions.py and
// test_cached_classes.py.

#include "python/encode/definitions/payload_definitions.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "python/encode/encode_context.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"
#include "wire/writer.h"

namespace waybill::py {

namespace {

using Kind = VisitedObject::Kind;
// Larger groups of functions and classes that reach each other do not become
// definitions, because each member starts a search for cycles of its own.
constexpr std::size_t kMaxUnits = 256;

// Distinguishes the members of a cycle independently of the order of the walk. The
// class that a frozen dataclass with slots was made of has its name, and a dict.
std::tuple<std::string, std::string, std::string, int> name_of_member(
    PyObject* object) {
  if (PyType_Check(object)) {
    auto* type = as_type(object);
    const Ref name = Ref::steal(PyType_GetQualName(type));
    return {"", text_of(name.get()), "", type->tp_dictoffset != 0};
  }
  auto* function = as_function(object);
  auto* code = as_code(function->func_code);
  PyObject* module = function->func_module;
  const bool has_module = module != nullptr && PyUnicode_Check(module);
  return {has_module ? text_of(module) : std::string(),
          text_of(function->func_qualname), text_of(code->co_qualname),
          code->co_firstlineno};
}

const VisitedObject& visited_at(const IncludedDefinition& included,
                                const Definition::VisitedIndex& index) {
  return included.units[index.unit]->visited[index.object];
}
PyObject* object_at(const IncludedDefinition& included,
                    const Definition::VisitedIndex& index) {
  return visited_at(included, index).object.get();
}
std::uintptr_t key_at(const IncludedDefinition& included,
                      const Definition::VisitedIndex& index) {
  return visited_at(included, index).key;
}

using wire::ExtType;
using wire::NodeTag;

// Writes the definitions of a payload one after the other.
class PayloadWriter {
 public:
  explicit PayloadWriter(std::span<const IncludedDefinition> included)
      : included_(included) {}

  WrittenDefinitions write() {
    for (const IncludedDefinition& included : included_) add(included);
    wire::Writer head;
    head.node(NodeTag::kDefinitions, 3);
    head.unsigned_integer(referents_.size());
    head.array(included_.size());
    const BytesView start = head.view(), body = out_.view();
    written_.bytes.assign(start.begin(), start.end());
    written_.bytes.insert(written_.bytes.end(), body.begin(), body.end());
    for (auto& one : written_.starts) one.position += start.size();
    for (const Place& target : referents_) {
      written_.shared.push_back(written_.position_of(target));
    }
    return std::move(written_);
  }

 private:
  void add(const IncludedDefinition& included) {
    const Definition& definition = *included.definition;
    const auto own = static_cast<std::uint32_t>(written_.starts.size());
    WrittenDefinitions::Start start{out_.size(), {}};
    std::size_t done = 0;
    auto code = included.code.begin();
    const BytesView bytes(definition.bytes);
    for (const Definition::Number& number : definition.numbers) {
      out_.append(bytes.subspan(done, number.position - done));
      done = number.position + number.size;
      const std::size_t before = out_.size();
      switch (number.kind) {
        case Definition::Number::NumberKind::kReference:
          out_.index(ExtType::kReference,
                     number_of(place_of_referent(included, own, number.number)));
          break;
        case Definition::Number::NumberKind::kModule:
          out_.index(ExtType::kModule, included.modules[number.number]);
          break;
        case Definition::Number::NumberKind::kCode:
          out_.unsigned_integer(*code++);
          break;
        case Definition::Number::NumberKind::kNamespaceLead:
          out_.array(included.namespaces[number.number] == 0 ? 4 : 5);
          break;
        case Definition::Number::NumberKind::kNamespace:
          if (const std::uint64_t own_number = included.namespaces[number.number]) {
            out_.unsigned_integer(own_number);
          }
          break;
      }
      const auto by = static_cast<std::int64_t>(out_.size() - before) - number.size;
      if (by != 0) start.shifts.push_back({done, by});
    }
    out_.append(bytes.subspan(done));
    written_.starts.push_back(std::move(start));
  }

  static Place place_of_referent(const IncludedDefinition& included, std::uint32_t own,
                                 std::uint32_t number) {
    const Definition::Referent& target = included.definition->referents[number];
    if (target.need == Definition::Referent::kInside) return {own, target.offset};
    return included.needs[target.need];
  }

  std::uint64_t number_of(const Place& target) {
    const auto [found, is_new] =
        numbers_.try_emplace(target.number(), referents_.size());
    if (is_new) referents_.push_back(target);
    return found->second;
  }

  std::span<const IncludedDefinition> included_;
  wire::Writer out_;
  WrittenDefinitions written_;
  std::vector<Place> referents_;
  std::unordered_map<std::uint64_t, std::uint64_t>
      numbers_;  // Indices in `referents_`.
};

}  // namespace

bool NeededDefinitions::has(std::uint32_t definition) {
  while (!needed_.contains(definition)) {
    const auto next = needed_.lower_bound(first_expanded_);
    if (next == needed_.begin() || *std::prev(next) < definition) return false;
    first_expanded_ = *std::prev(next);
    for (const Place& need : included_[first_expanded_].needs)
      needed_.insert(need.definition);
  }
  return true;
}

PayloadDefinitions::PayloadDefinitions(EncodeContext& context)
    : context_(context),
      arena_(context.arena),
      infos_(context.infos()),
      vertices_(&arena_),
      included_(&arena_) {}

PayloadDefinitions::Vertex& PayloadDefinitions::vertex_of(PyObject* object) {
  const auto [found, is_new] = vertices_.try_emplace(object, arena_);
  Vertex& vertex = found->second;
  if (is_new) {
    vertex.unit.object = Ref::share(object);
    resolve_unit(context_.state, infos_, vertex.unit);
    vertex.is_refused = !vertex.unit.cached;
  }
  return vertex;
}

bool PayloadDefinitions::is_defined(PyObject* object) const {
  return defined_place(key_of(object)).has_value();
}

bool PayloadDefinitions::define(PyObject* object) {
  for (;;) {
    PyObject* unfindable = context_.state.unfindable_modules.get();
    const Py_ssize_t unfindable_count = PyDict_GET_SIZE(unfindable);
    if (try_define(object)) return true;
    // If a module has turned out to be unfindable meanwhile, its objects are no longer
    // written as names but as values.
    if (PyDict_GET_SIZE(unfindable) == unfindable_count) return false;
    std::erase_if(vertices_,
                  [&](const auto& vertex) { return !is_defined(vertex.first); });
  }
}

bool PayloadDefinitions::try_define(PyObject* object) {
  if (const auto vertex = vertices_.find(object);
      vertex != vertices_.end() && vertex->second.is_refused) {
    return false;
  }
  Vertex& root = vertex_of(object);
  ComponentSearch search(root, walked_count_, arena_);
  if (!find_components(root, search)) {
    for (Vertex* vertex : search.open) vertex->is_open = false;
    return false;
  }
  const std::size_t before = included_.size();
  for (std::size_t i = 0; i < search.closed.size();) {
    const std::size_t size = search.closed[i]->component_size;
    const Component component = std::span(search.closed).subspan(i, size);
    i += size;
    if (include(component)) continue;
    for (Vertex* vertex : component) vertex->is_refused = true;
    root.is_refused = true;
    return false;
  }
  const auto included = std::span(included_).subspan(before);
  if (!included.empty() &&
      std::ranges::all_of(included, &IncludedDefinition::was_cached)) {
    ++context_.state.encode_hits;
  }
  return true;
}

// Finds the strongly connected components of the vertices that this one reaches by
// value and that are not defined yet (R. Tarjan, Depth-first search and linear graph
// algorithms, 1972). False if one of them cannot be a definition. At most kMaxUnits
// deep.
bool PayloadDefinitions::find_components(Vertex& vertex, ComponentSearch& search) {
  vertex.number = vertex.lowest = ++walked_count_;
  vertex.is_refused =
      vertex.is_refused || walked_count_ - search.walked_before > kMaxUnits;
  if (vertex.is_refused) return false;
  vertex.is_open = true;
  search.open.push_back(&vertex);
  for (const VisitedObject& one : vertex.unit.visited) {
    if (one.kind != Kind::kDefinition || is_defined(one.object.get())) continue;
    Vertex& need = vertex_of(one.object.get());
    const bool is_new = need.number <= search.walked_before;
    // Definitions cannot refer to objects that are written in the value.
    const bool is_written = &need != search.root && context_.objects.find(one.key);
    if (is_written || need.is_refused || (is_new && !find_components(need, search))) {
      vertex.is_refused = true;
      return false;
    }
    if (need.is_open) vertex.lowest = std::min(vertex.lowest, need.lowest);
  }
  if (vertex.lowest == vertex.number && !close_component(vertex, search))
    vertex.is_refused = true;
  return !vertex.is_refused;
}

// Closes the component of which `vertex` is the first. False if its members cannot be
// distinguished.
bool PayloadDefinitions::close_component(Vertex& vertex, ComponentSearch& search) {
  std::size_t size = 0;
  for (Vertex* last = nullptr; last != &vertex; ++size) {
    last = search.open.back();
    last->is_open = false;
    search.open.pop_back();
    search.closed.push_back(last);
  }
  const auto component = std::span(search.closed).last(size);
  if (size != 1 && !sort_members(component)) return false;
  component.front()->component_size = size;
  return true;
}

bool PayloadDefinitions::sort_members(std::span<Vertex*> component) {
  using Name = decltype(name_of_member(nullptr));
  std::vector<std::pair<Name, Vertex*>> named;
  for (Vertex* vertex : component) {
    named.emplace_back(name_of_member(vertex->unit.object.get()), vertex);
  }
  std::ranges::sort(named);
  const auto is_like = [](const auto& a, const auto& b) { return a.first == b.first; };
  for (std::size_t i = 0; i < named.size(); ++i) component[i] = named[i].second;
  return std::ranges::adjacent_find(named, is_like) == named.end();
}

bool PayloadDefinitions::include(Component component) {
  constexpr std::size_t kUsual = 4;
  if (included_.empty()) included_.reserve(kUsual);
  if (include_last(component, included_.emplace_back(arena_))) {
    if (OtherSections* others = context_.others_if_any()) register_in(*others);
    return true;
  }
  included_.pop_back();
  return false;
}

bool PayloadDefinitions::include_last(Component component,
                                      IncludedDefinition& included) {
  for (Vertex* vertex : component) included.units.push_back(&vertex->unit);
  included.definition = find_cached(component);
  included.is_cached = included.was_cached =
      included.definition && resolve_needs(included);
  if (!included.was_cached) {
    included.definition = encode(component, included.units);
    if (!included.definition || !resolve_needs(included)) return false;
    included.is_cached = find_cached(component) == included.definition;
  }
  for (const Definition::VisitedIndex& index : included.definition->code) {
    PyObject* function = object_at(included, index);
    included.code_objects.push_back(Ref::share(PyFunction_GET_CODE(function)));
  }
  if (!can_include(included)) return false;
  for (const Definition::Export& one : included.definition->namespaces) {
    included.namespaces.push_back(
        context_.namespaces.number_of(context_.state, object_at(included, one.object)));
  }
  register_objects(included);
  return true;
}

// The place of an object in the definitions, if it has one.
std::optional<Place> PayloadDefinitions::defined_place(std::uintptr_t key) const {
  const MemoEntry* entry = context_.objects.memo().find(key);
  if (entry == nullptr || (entry->offset & Place::kDefined) == 0) return std::nullopt;
  return Place::of(entry->offset);
}

// Finds the places of all objects that a definition needs. False if the place of one
// depends on the rest of the payload, or if the definition and one that it needs have
// the same object.
bool PayloadDefinitions::resolve_needs(IncludedDefinition& included) const {
  std::optional<NeededDefinitions> needed;
  const auto is_needed = [&](const Place& place) {
    if (!needed) needed = needed_by(included.units);
    return needed->has(place.definition);
  };
  included.needs.clear();
  for (const Definition::VisitedIndex& need : included.definition->needs) {
    const std::optional<Place> place = defined_place(key_at(included, need));
    if (!place ||
        !(visited_at(included, need).kind == Kind::kDefinition || is_needed(*place))) {
      return false;
    }
    included.needs.push_back(*place);
  }
  return std::ranges::none_of(included.definition->exports, [&](const auto& one) {
    const std::optional<Place> place = defined_place(key_at(included, one.object));
    return place && is_needed(*place);
  });
}

NeededDefinitions PayloadDefinitions::needed_by(std::span<Unit* const> units) const {
  std::vector<std::uint32_t> direct;
  for (const Unit* unit : units) {
    for (const VisitedObject& one : unit->visited) {
      if (one.kind != Kind::kDefinition) continue;
      if (const auto place = defined_place(one.key))
        direct.push_back(place->definition);
    }
  }
  return {included_, direct};
}

bool PayloadDefinitions::are_members(Component component,
                                     const CachedDefinition& first) {
  return std::ranges::equal(
      component.subspan(1), first.others, {},
      [](const Vertex* vertex) { return vertex->unit.cached->number; });
}

std::shared_ptr<const Definition> PayloadDefinitions::find_cached(
    Component component) const {
  const CachedDefinition& first = *component.front()->unit.cached;
  if (!are_members(component, first)) return nullptr;
  return first.definitions[context_.wants_source() ? 1 : 0];
}

// Whether the payload has no object of the definition yet. Values of the same global of
// the same namespace are excepted: readers use the first one.
bool PayloadDefinitions::can_include(const IncludedDefinition& included) {
  return std::ranges::all_of(included.definition->exports, [&](const auto& one) {
    const bool is_unit = one.object.object == 0;
    const std::uintptr_t key = key_at(included, one.object);
    const MemoEntry* entry = context_.objects.find(key);
    // The memo has the object that is being written; its node will be in the
    // definition.
    const bool is_current = is_unit && entry != nullptr &&
                            context_.current == reinterpret_cast<PyObject*>(key);
    return entry == nullptr || is_current ||
           visited_at(included, one.object).is_value ||
           is_same_global(included, one.offset);
  });
}

bool PayloadDefinitions::is_same_global(const IncludedDefinition& included,
                                        std::uint64_t offset) const {
  const Definition& definition = *included.definition;
  if (definition.namespaces.size() != 1) return false;
  const auto is_own = [&](const Definition::Referent& target) {
    return target.need == Definition::Referent::kInside && target.offset == offset;
  };
  if (std::ranges::any_of(definition.referents, is_own)) return false;
  const auto global = std::ranges::find_if(definition.globals, [&](const auto& one) {
    return one.start <= offset && offset < one.end;
  });
  if (global == definition.globals.end()) return false;
  PyObject* globals = object_at(included, definition.namespaces.front().object);
  const auto same = globals_.find({globals, global->name});
  return same != globals_.end() && same->second == key_at(included, global->object);
}

// Adds the objects of the last definition to the memo.
void PayloadDefinitions::register_objects(const IncludedDefinition& included) {
  const Definition& definition = *included.definition;
  const auto number = static_cast<std::uint32_t>(included_.size() - 1);
  for (const Definition::Export& one : definition.exports) {
    const std::uintptr_t key = key_at(included, one.object);
    const std::uint64_t place = Place{number, one.offset}.number();
    MemoEntry* entry = context_.objects.find(key);
    if (entry == nullptr) {
      context_.objects.add_borrowed(key, place);
    } else if ((entry->offset & Place::kDefined) == 0) {
      entry->offset = place;
    }
    PyObject* object = object_at(included, one.object);
    if (PyType_Check(object)) context_.dicts.add_class(object);
  }
  if (definition.namespaces.size() != 1) return;
  PyObject* globals = object_at(included, definition.namespaces.front().object);
  for (const Definition::Global& global : definition.globals) {
    globals_.try_emplace({globals, global.name}, key_at(included, global.object));
  }
}

void PayloadDefinitions::fork_from(const PayloadDefinitions& first) {
  included_ = first.included_;
  globals_ = first.globals_;
  registered_count_ = first.registered_count_;
}

void PayloadDefinitions::register_in(OtherSections& others) {
  if (registered_count_ == 0 && context_.state.uses_caches)
    others.imports.start_tracing();
  for (; registered_count_ != included_.size(); ++registered_count_) {
    IncludedDefinition& included = included_[registered_count_];
    const Definition& definition = *included.definition;
    for (const ModuleUse& use : definition.modules) {
      included.modules.push_back(others.imports.add_use(use));
    }
    for (const Ref& name : definition.module_values) {
      PyObject* module = find_module(context_.state, name.get());
      if (module != nullptr) others.imports.escape(module, false);
    }
    for (std::size_t i = 0; i < definition.code.size(); ++i) {
      included.code.push_back(
          others.code.add_use(included.code_objects[i].get(), true));
      if (i < definition.sources.size() && definition.sources[i]) {
        others.code.add_source(included.code.back(), *definition.sources[i]);
      }
    }
    for (const Definition::FlowSource& flow : definition.flows) {
      PyObject* function = object_at(included, flow.function);
      const auto is_use = [&](const Definition::VisitedIndex& index) {
        return object_at(included, index) == function;
      };
      const auto use = std::ranges::find_if(definition.code, is_use);
      const auto number = static_cast<std::size_t>(use - definition.code.begin());
      const Ref& code = flow.code ? flow.code : included.code_objects[number];
      others.imports.add_function(function, others.infos.get(code.get()));
    }
    for (const auto& [id, source] : definition.classes) {
      others.code.add_class(bytes_of(id), source.source_id, source.first_line);
    }
  }
}

WrittenDefinitions PayloadDefinitions::write() const {
  return PayloadWriter(included_).write();
}

std::shared_ptr<const CachedHead> PayloadDefinitions::find_head() const {
  if (!context_.state.uses_caches) return nullptr;
  return context_.state.head_cache->find(context_.state, [&](const auto& head) {
    return std::ranges::equal(head->definitions, included_, {}, {},
                              &IncludedDefinition::definition) &&
           std::ranges::equal(head->needs, included_, std::ranges::equal, {},
                              &IncludedDefinition::needs) &&
           std::ranges::equal(head->namespaces, included_, std::ranges::equal, {},
                              &IncludedDefinition::namespaces);
  });
}

void PayloadDefinitions::store_head(const Parts& parts,
                                    const WrittenDefinitions& written) {
  ImportCollector& imports = context_.imports();
  const auto is_stored = [](const IncludedDefinition& included) {
    return included.is_cached;
  };
  const bool is_cached = context_.state.uses_caches && imports.is_replayable() &&
                         !context_.code().lacks_source() &&
                         std::ranges::all_of(included_, is_stored);
  if (!is_cached) return;
  const std::vector<std::uintptr_t> containers = imports.take_traced_containers();
  if (!std::ranges::all_of(containers, [&](auto key) { return is_visited(key); })) {
    return;
  }
  CachedHead head;
  for (const IncludedDefinition& included : included_) {
    head.definitions.push_back(included.definition);
    head.needs.emplace_back(included.needs.begin(), included.needs.end());
    head.namespaces.emplace_back(included.namespaces.begin(),
                                 included.namespaces.end());
  }
  head.written = written;
  head.sections = CachedSections(parts);
  head.trace = imports.trace();
  context_.state.head_cache->store(std::move(head));
}

bool PayloadDefinitions::is_visited(std::uintptr_t key) const {
  return std::ranges::any_of(included_, [&](const IncludedDefinition& included) {
    return std::ranges::any_of(included.units, [&](const Unit* unit) {
      return std::ranges::find(unit->visited, key, &VisitedObject::key) !=
             unit->visited.end();
    });
  });
}

int PayloadDefinitions::traverse(visitproc visitor, void* arg) const {
  for (const auto& [_, vertex] : vertices_) {
    if (const int stop = visit(vertex.unit.object, visitor, arg)) return stop;
    for (const VisitedObject& one : vertex.unit.visited) {
      if (const int stop = visit(one.object, visitor, arg)) return stop;
    }
  }
  return 0;
}

}  // namespace waybill::py
