// Tested by tests/explain/explain_payload_test.cpp,
// tests/python/explain/test_explained_source.py and fuzz/fuzz_sources.cpp.

#include "explain/code_places.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "bytecode/compact_code.h"
#include "format/code_body.h"
#include "format/source_units.h"
#include "report/value_text.h"

namespace waybill::envelope {

CodeBodies::CodeBodies(const Envelope& envelope) : envelope_(envelope) {
  std::vector<std::vector<std::uint32_t>> nested = nested_of(envelope);
  bodies_.resize(envelope.code.size());
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    Body& body = bodies_[i];
    if (!read_code_body(envelope.code[i], body.fields)) body.fields = {};
    body.nested = std::move(nested[i]);
    body.free = free_names_of(body.fields);
  }
}

std::string_view CodeBodies::free_variable(std::size_t code, std::uint64_t cell) const {
  if (code >= bodies_.size() || cell >= bodies_[code].free.size()) return {};
  return bodies_[code].free[cell];
}

std::uint64_t CodeBodies::take(std::uint64_t code) {
  if (code >= bodies_.size() || bodies_[code].is_taken) return 0;
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> todo{static_cast<std::uint32_t>(code)};
  bodies_[code].is_taken = true;
  while (!todo.empty()) {
    const std::uint32_t index = todo.back();
    todo.pop_back();
    bytes += envelope_.code[index].bytes.size();
    for (const std::uint32_t inner : bodies_[index].nested) {
      if (std::exchange(bodies_[inner].is_taken, true)) continue;
      todo.push_back(inner);
    }
  }
  return bytes;
}

namespace {

// Bounds on the search for one variable, so that its cost stays proportional to the
// size of the payload: nested code bodies, and loads in one body.
constexpr std::size_t kMaxBodies = 64;
constexpr std::size_t kMaxLoads = 64;
// Bytes of an expression, a name or a file name. Parts share these texts.
constexpr std::size_t kMaxText = 200;

// Only the constants on which the values of variables and attributes depend are
// converted; the others are kOther.
std::vector<ConstantView> constants_of(const CodeFields& fields) {
  std::vector<ConstantView> constants;
  each_constant(fields.constants, [&](wire::Reader reader, BytesView) {
    ConstantView view;
    wire::Token token;
    if (nested_code(reader)) {
      view.kind = ConstantView::Kind::kCode;
    } else if (!reader.next(token)) {
      view.kind = ConstantView::Kind::kOther;
    } else if (token.type == wire::TokenType::kNil) {
      view.kind = ConstantView::Kind::kNone;
    } else if (token.type == wire::TokenType::kText) {
      view.kind = ConstantView::Kind::kText;
      view.text = token.text();
    } else if (token.type == wire::TokenType::kInteger) {
      view.kind = ConstantView::Kind::kInteger;
      view.integer = token.integer;
    }
    constants.push_back(view);
  });
  return constants;
}

std::uint32_t argument_count(const CodeFields& fields) {
  constexpr std::uint32_t kVarArgs = 0x04;
  constexpr std::uint32_t kVarKeywords = 0x08;
  return fields.argument_count + fields.keyword_only_count +
         ((fields.flags & kVarArgs) != 0 ? 1 : 0) +
         ((fields.flags & kVarKeywords) != 0 ? 1 : 0);
}

// The location of the first instruction of a code body, as far as it is known.
CodePlace start_of_code(const CodeFields& fields, const FirstLocation& location) {
  CodePlace place;
  place.function = start_of(fields.qualified_name, kMaxText);
  if (!location.is_known) return place;
  place.file = end_of(location.file, kMaxText);
  place.line = location.first_line;
  return place;
}

std::string_view at(const std::vector<std::string_view>& names, std::uint32_t index) {
  return index < names.size() ? names[index] : std::string_view();
}

}  // namespace

CodePlaces::CodePlaces(const Envelope& envelope, const CodeBodies& code)
    : envelope_(envelope),
      code_(code),
      locations_(first_locations(envelope)),
      indices_(code.size()) {}

const CodePlaces::Index& CodePlaces::index_of(std::size_t code) {
  Index& index = indices_[code];
  if (std::exchange(index.is_built, true)) return index;
  add_values(code_[code], index);
  const FirstLocation& location = locations_[code];
  if (location.is_known) index.lines = {location.line_table.bytes, location.first_line};
  return index;
}

void CodePlaces::add_values(const CodeBodies::Body& body, Index& index) const {
  const CodeFields& fields = body.fields;
  const std::vector<ConstantView> constants = constants_of(fields);
  const int version = version_of(envelope_.python);
  const std::vector<std::uint8_t> instructions =
      bytecode::expand_code(version, fields.instructions);
  CodeView view;
  view.version = version;
  view.instructions = instructions;
  view.exception_table = fields.exception_table;
  view.names = fields.names;
  view.local_names = fields.local_names;
  view.local_kinds = fields.local_kinds;
  view.constants = constants;
  view.argument_count = argument_count(fields);
  const Result<CodeSummary> summary = summarize(view);
  if (!summary) return;
  index.first_attributes.resize(summary->values.size());
  for (ValueId id = 0; id < summary->values.size(); ++id) {
    const Value& value = summary->values[id];
    index.offsets.push_back(value.offset);
    if (value.kind == Value::Kind::kGlobal) {
      index.variables.push_back({0, at(fields.names, value.index), value.offset, id});
    } else if (value.kind == Value::Kind::kVariable) {
      index.variables.push_back(
          {0, at(fields.local_names, value.index), value.offset, id});
    } else if (value.kind == Value::Kind::kParameter && value.index == 0 &&
               index.self.size() < kMaxLoads) {
      index.self.push_back(id);
    } else if (value.kind == Value::Kind::kAttribute) {
      const std::string_view name = at(fields.names, value.index);
      index.attributes.push_back({value.parent, name, value.offset, id});
      FirstAttribute& next = index.first_attributes[value.parent];
      if (next.value == 0) next = {id, name};
    }
  }
  const auto key = [](const NamedValue& each) {
    return std::tuple(each.parent, each.name, each.offset);
  };
  std::ranges::sort(index.variables, {}, key);
  std::ranges::sort(index.attributes, {}, key);
}

std::vector<ValueId> CodePlaces::loads_in(std::size_t code, std::string_view variable) {
  std::vector<ValueId> loads;
  const std::vector<NamedValue>& all = index_of(code).variables;
  auto found = std::ranges::lower_bound(all, variable, {}, &NamedValue::name);
  for (; found != all.end() && found->name == variable; ++found) {
    if (loads.size() == kMaxLoads) break;
    loads.push_back(found->value);
  }
  return loads;
}

CodeUse CodePlaces::loads_of(std::size_t code, std::string_view variable) {
  CodeUse use;
  if (variable.size() > kMaxText) return use;
  std::vector<std::size_t> bodies{code};
  for (std::size_t i = 0; i < bodies.size() && bodies[i] < code_.size(); ++i) {
    use.values = loads_in(bodies[i], variable);
    if (!use.values.empty()) {
      use.code = bodies[i];
      use.expression = variable;
      return use;
    }
    for (const std::uint32_t inner : code_[bodies[i]].nested) {
      if (bodies.size() == kMaxBodies) break;
      bodies.push_back(inner);
    }
  }
  return use;
}

CodeUse CodePlaces::self_of(std::size_t code) {
  CodeUse use;
  if (code >= code_.size()) return use;
  use.code = code;
  use.values = index_of(code).self;
  use.expression = start_of(at(code_[code].fields.local_names, 0), kMaxText);
  return use;
}

CodeUse CodePlaces::attribute_of(const CodeUse& use, std::string_view name) {
  CodeUse found;
  if (use.values.empty()) return found;
  if (use.expression.size() + name.size() >= kMaxText) return found;
  found.code = use.code;
  found.expression = use.expression + "." + std::string(name);
  const auto key = [](const NamedValue& each) {
    return std::pair(each.parent, each.name);
  };
  const std::vector<NamedValue>& all = index_of(use.code).attributes;
  for (const ValueId parent : use.values) {
    auto next = std::ranges::lower_bound(all, std::pair(parent, name), {}, key);
    for (; next != all.end() && key(*next) == std::pair(parent, name); ++next) {
      if (found.values.size() == kMaxLoads) return found;
      found.values.push_back(next->value);
    }
  }
  return found;
}

CodePlace CodePlaces::place_of(const CodeUse& use) {
  if (use.values.empty()) return {};
  const Index& index = index_of(use.code);
  CodePlace place = place_of_function(use.code, use.expression);
  // A value precedes its attributes, so the loop ends.
  for (FirstAttribute next = index.first_attributes[use.values.front()];
       next.value != 0; next = index.first_attributes[next.value]) {
    if (place.expression.size() + next.name.size() >= kMaxText) break;
    place.expression += "." + std::string(next.name);
  }
  if (!locations_[use.code].is_known) return place;
  const std::uint32_t offset = index.offsets[use.values.front()];
  place.line = static_cast<std::uint32_t>(index.lines.at(offset));
  return place;
}

CodePlace CodePlaces::place_of_function(std::size_t code,
                                        std::string_view expression) const {
  if (code >= code_.size()) return {};
  CodePlace place = start_of_code(code_[code].fields, locations_[code]);
  place.expression = start_of(expression, kMaxText);
  return place;
}

std::optional<ExplainedSource> explained_source(const Envelope& envelope,
                                                bool is_requested) {
  const Section section = sources_section(envelope);
  if (section.bytes.empty() && (!is_requested || envelope.code.empty())) {
    return std::nullopt;
  }
  const Sources sources = sources_of(envelope, section);
  const std::vector<FirstLocation> locations = first_locations(envelope);
  const std::vector<std::uint32_t> uses = code_uses_of(envelope);
  ExplainedSource source;
  source.bytes = section.bytes.size();
  for (const std::uint32_t body : std::set(uses.begin(), uses.end())) {
    if (body >= envelope.code.size()) break;
    if (sources.unit_of(body) != nullptr) {
      ++source.functions;
    } else {
      CodeFields fields;
      if (!read_code_body(envelope.code[body], fields)) fields.qualified_name = {};
      source.without.push_back(start_of_code(fields, locations[body]));
    }
  }
  return source;
}

}  // namespace waybill::envelope
