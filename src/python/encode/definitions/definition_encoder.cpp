// Makes definitions. Each is written by an encoder of its own; what it needs of the
// payload is found in its bytes and in the context of that encoder.
//
// Tested by tests/python/definitions.

#include <algorithm>
#include <utility>

#include "format/payload_cursor.h"
#include "python/encode/definitions/payload_definitions.h"
#include "python/encode/graph_encoder.h"

namespace waybill::py {

namespace {

using wire::NodeTag;
using Kind = VisitedObject::Kind;

constexpr std::size_t kMaxBytes = 16 << 10;  // The size of one definition.

using envelope::CursorEvent;
using wire::Token;

struct OpenValue {
  // Indexes of the global that has this value, and of the namespace that it is;
  // SIZE_MAX if there is none.
  std::size_t global = SIZE_MAX;
  std::size_t own_namespace = SIZE_MAX;
};
using Cursor = envelope::PayloadCursor<OpenValue>;

// Finds the numbers, and the globals, in the bytes of a definition.
class Scan {
 public:
  explicit Scan(Definition& definition)
      : definition_(definition), cursor_(wire::Reader(definition.bytes)) {}

  void run() {
    while (cursor_.next()) {
      if (cursor_.event() == CursorEvent::kClose) {
        const OpenValue& own = cursor_.container().annotation;
        close(own.global);
        if (own.own_namespace != SIZE_MAX) {
          add(NumberKind::kNamespace, 0, cursor_.reader().offset(), own.own_namespace);
        }
        continue;
      }
      const std::size_t global = add_global_here();
      if (cursor_.event() == CursorEvent::kOpen) {
        cursor_.container().annotation = {global, add_namespace_here()};
      } else {
        add_number();
        close(global);
      }
    }
  }

 private:
  using NumberKind = Definition::Number::NumberKind;

  // Adds the lead of the namespace that starts here; SIZE_MAX if there is none.
  std::size_t add_namespace_here() {
    const std::size_t offset = cursor_.container().offset;
    const auto found =
        std::ranges::find(definition_.namespaces, offset, &Definition::Export::offset);
    if (found == definition_.namespaces.end()) return SIZE_MAX;
    const auto index = static_cast<std::size_t>(found - definition_.namespaces.begin());
    add(NumberKind::kNamespaceLead, 1, offset, index);
    return index;
  }

  // Adds the global whose value starts here; SIZE_MAX if there is none.
  std::size_t add_global_here() {
    const auto& around = cursor_.around();
    const bool is_global = around.part != nullptr &&
                           around.rule == envelope::Rule::kNamedObjects &&
                           around.part->name == "globals";
    if (!is_global) return SIZE_MAX;
    const Token& token = cursor_.token();
    if (around.is_key()) {
      name_ = token.text();
      return SIZE_MAX;
    }
    definition_.globals.push_back({std::string(name_), token.offset, 0});
    return definition_.globals.size() - 1;
  }

  void close(std::size_t global) {
    if (global != SIZE_MAX) definition_.globals[global].end = cursor_.reader().offset();
  }

  // Adds the current token if it is a number that differs between payloads.
  void add_number() {
    const Token& token = cursor_.token();
    const std::size_t size = cursor_.reader().offset() - token.offset;
    std::uint64_t number = 0;
    if (cursor_.rule() == envelope::Rule::kCodeIndex) {
      add(NumberKind::kCode, size, token.offset,
          static_cast<std::uint64_t>(token.integer));
    } else if (wire::is_reference(token, number)) {
      add(NumberKind::kReference, size, token.offset, number);
    } else if (token.is(wire::ExtType::kModule) &&
               wire::index_of(token.bytes, number)) {
      add(NumberKind::kModule, size, token.offset, number);
    }
  }

  void add(NumberKind kind, std::size_t size, std::size_t offset,
           std::uint64_t number) {
    definition_.numbers.push_back({kind, static_cast<std::uint8_t>(size),
                                   static_cast<std::uint32_t>(offset),
                                   static_cast<std::uint32_t>(number)});
  }

  Definition& definition_;
  Cursor cursor_;
  std::string_view name_;
};

PyObject* object_at(std::span<Unit* const> units,
                    const Definition::VisitedIndex& index) {
  return units[index.unit]->visited[index.object].object.get();
}

bool is_of_code(BytesView bytes) {
  if (bytes.size() < 4 ||
      !wire::starts_node(bytes.data() + 1, bytes.data() + bytes.size())) {
    return false;
  }
  const auto tag = static_cast<NodeTag>(bytes[3]);
  return tag == NodeTag::kFunction || tag == NodeTag::kClass;
}

// Sets the objects of globals, and removes globals to which other definitions cannot
// refer.
void resolve_globals(Definition& definition) {
  std::erase_if(definition.globals, [&](Definition::Global& global) {
    const auto found = std::ranges::find(definition.exports, global.start,
                                         &Definition::Export::offset);
    if (found == definition.exports.end()) return true;
    global.object = found->object;
    return false;
  });
}

// Sets functions and sources. False unless the functions among the exports are those of
// the uses of code, in their order.
bool set_code(Definition& definition, const CodeSection& code,
              std::span<Unit* const> units) {
  const std::vector<CodeInfo*> uses = code.uses();
  for (const Definition::Export& one : definition.exports) {
    PyObject* object = object_at(units, one.object);
    if (!PyFunction_Check(object)) continue;
    const std::size_t use = definition.code.size();
    auto* own = as_code(PyFunction_GET_CODE(object));
    if (use == uses.size() || uses[use]->code != own) return false;
    definition.code.push_back(one.object);
  }
  if (definition.code.size() != uses.size()) return false;
  for (const Definition::Number& number : definition.numbers) {
    if (number.kind != Definition::Number::NumberKind::kCode) continue;
    const CodeSource* source = code.source_of(number.number);
    definition.sources.push_back(
        source == nullptr ? nullptr : std::make_shared<const CodeSource>(*source));
  }
  return true;
}

// Sets what a definition needs of the other sections.
bool set_others(Definition& definition, const OtherSections& others,
                std::span<Unit* const> units) {
  if (others.imports.has_followed_early()) return false;
  definition.modules = others.imports.uses();
  definition.module_values = others.imports.module_values();
  for (const FollowedCode& followed : others.imports.followed_code()) {
    const auto written = std::ranges::find_if(definition.exports, [&](const auto& one) {
      return object_at(units, one.object) == followed.function;
    });
    if (written == definition.exports.end()) return false;
    Definition::FlowSource& flow = definition.flows.emplace_back();
    flow.function = written->object;
    PyObject* code = as_object(followed.info->code);
    if (code != PyFunction_GET_CODE(followed.function)) flow.code = Ref::share(code);
  }
  definition.classes = others.code.classes();
  const auto is_lazy = [](const ModuleUse& use) {
    return use.time == ImportTime::kLazy;
  };
  return std::ranges::none_of(definition.modules, is_lazy) &&
         set_code(definition, others.code, units);
}

}  // namespace

std::shared_ptr<const Definition> PayloadDefinitions::encode(
    Component component, std::span<Unit* const> units) {
  PyObject* root = units.front()->object.get();
  GraphEncoder graph(context_.state, {.is_definition = true,
                                      .infos = &infos_,
                                      .hooks = {.source = context_.hooks().source}});
  std::vector<Definition::VisitedIndex> needs;
  std::vector<std::uintptr_t> added;
  NeededDefinitions needed = needed_by(units);
  for (std::uint32_t i = 0; i < units.size(); ++i) {
    const VisitedObjects& visited = units[i]->visited;
    for (std::uint32_t j = 0; j < visited.size(); ++j) {
      const VisitedObject& one = visited[j];
      // An object of another definition is referred to only if this one needs that
      // definition anyway.
      const std::optional<Place> defined = defined_place(one.key);
      if (!defined || !needed.has(defined->definition) ||
          std::ranges::find(added, one.key) != added.end()) {
        continue;
      }
      const Place place{static_cast<std::uint32_t>(needs.size()), 0};
      graph.context().objects.add_borrowed(one.key, place.number());
      added.push_back(one.key);
      needs.push_back({i, j});
    }
  }
  try {
    graph.encode_definition(root);
  } catch (const PyError&) {
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) throw;
    ignore_error(PyExc_Exception);  // Writing the object raises it again.
    return nullptr;
  }
  return make(graph, component, units, std::move(needs));
}

// Makes the definition that was written; null if its bytes depend on more than the
// guards compare.
std::shared_ptr<const Definition> PayloadDefinitions::make(
    GraphEncoder& graph, Component component, std::span<Unit* const> units,
    std::vector<Definition::VisitedIndex> needs) {
  EncodeContext& written = graph.context();
  const BytesView bytes = written.out.view();
  if (bytes.size() > kMaxBytes || !is_of_code(bytes) ||
      !written.out.insertions().empty() || written.stored.count() != 0 ||
      written.objects.has_restarts() || written.arrays.any() ||
      written.namespaces.has_twins()) {
    return nullptr;
  }
  auto definition = std::make_shared<Definition>();
  definition->bytes.assign(bytes.begin(), bytes.end());
  definition->needs = std::move(needs);
  if (!set_objects(*definition, written, units)) return nullptr;
  Scan(*definition).run();
  resolve_globals(*definition);
  const OtherSections* others = written.others_if_any();
  if (others != nullptr && !set_others(*definition, *others, units)) return nullptr;
  const bool lacks_source = others != nullptr && others->code.lacks_source();
  if (!lacks_source && are_satisfied(component)) store(component, definition);
  return definition;
}

// Whether the guards of all members are satisfied still, after the definition was
// written.
bool PayloadDefinitions::are_satisfied(Component component) {
  return std::ranges::all_of(component, [&](const Vertex* vertex) {
    VisitedObjects visited(&arena_);
    const Unit& unit = vertex->unit;
    return unit.is_stored && unit.cached->guards->are_satisfied(
                                 context_.state, infos_, unit.object.get(), visited);
  });
}

void PayloadDefinitions::store(Component component,
                               std::shared_ptr<const Definition> definition) {
  CachedDefinition& first = *component.front()->unit.cached;
  if (!are_members(component, first)) {
    first.definitions = {};
    first.others.clear();
    for (const Vertex* vertex : component.subspan(1)) {
      first.others.push_back(vertex->unit.cached->number);
    }
  }
  first.definitions[context_.wants_source() ? 1 : 0] = std::move(definition);
}

// Sets the places of the objects, and the referents.
bool PayloadDefinitions::set_objects(Definition& definition,
                                     const EncodeContext& written,
                                     std::span<Unit* const> units) {
  const Memo& memo = written.objects.memo();
  Memo counted(&arena_);
  for (std::uint32_t i = 0; i < units.size(); ++i) {
    const VisitedObjects& visited = units[i]->visited;
    for (std::uint32_t j = 0; j < visited.size(); ++j) {
      const VisitedObject& one = visited[j];
      if (one.kind == Kind::kDefinition) continue;
      const MemoEntry* entry = memo.find(one.key);
      if (entry != nullptr && (entry->offset & Place::kDefined) != 0) continue;
      // A name or a namespace may stand only in an object to which the definition
      // refers.
      const bool is_namespace = (one.key & 1) != 0;
      if (entry == nullptr && (one.kind == Kind::kName || is_namespace)) continue;
      if (entry == nullptr || !entry->is_created) return false;
      // Members of a cycle share namespaces and names.
      if (counted.find(one.key) != nullptr) continue;
      counted.insert(one.key, 0);
      if (one.kind == Kind::kName) continue;
      // Other definitions cannot share a namespace without a name.
      if (is_namespace && namespace_name(written.state, one.object.get())) {
        definition.namespaces.push_back({{i, j}, entry->offset});
      } else {
        definition.exports.push_back({{i, j}, entry->offset});
      }
    }
  }
  // Each object that was written must be one that the guards visit.
  if (memo.count_from(0) != definition.needs.size() + counted.count_from(0))
    return false;
  for (const std::uint64_t number : written.objects.shared()) {
    const Place place = Place::of(number);
    if (place.definition == Place::kValue) {
      definition.referents.push_back({Definition::Referent::kInside, place.offset});
    } else {
      definition.referents.push_back({place.definition, 0});
    }
  }
  std::ranges::sort(definition.exports, {}, &Definition::Export::offset);
  return true;
}

}  // namespace waybill::py
