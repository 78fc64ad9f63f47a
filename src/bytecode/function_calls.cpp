// Tested by tests/bytecode/summarize_test.cpp.

#include "bytecode/evaluator.h"

#include <algorithm>

namespace waybill::bytecode {
namespace {

// The parts of MAKE_FUNCTION and SET_FUNCTION_ATTRIBUTE.
constexpr std::uint32_t kDefaultsPart = 1;
constexpr std::uint32_t kKeywordDefaultsPart = 2;
constexpr std::uint32_t kAnnotationsPart = 4;

// How many unions a call searches for nested functions, and how many functions it
// binds.
constexpr std::size_t kMaxUnionsSearched = 8;
constexpr std::size_t kMaxFunctionsFound = 16;

}  // namespace

void FunctionCalls::clear() {
  pending_.clear();
  pending_arguments_.clear();
}

ValueId FunctionCalls::make(ValueId code, std::uint32_t offset) {
  const Value& value = graph_[code];
  const bool is_code = value.kind == Value::Kind::kConstant &&
                       code_.constants[value.index].kind == ConstantView::Kind::kCode;
  return is_code ? graph_.make(Value::Kind::kFunction, value.index, 0, offset)
                 : kUnknownValue;
}

void FunctionCalls::set_part(ValueId function, std::uint32_t part, ValueId value) {
  if (part == kAnnotationsPart) return escapes_.add(value);
  // Closures are matched by name, and only inspection calls an annotate function.
  if (part != kDefaultsPart && part != kKeywordDefaultsPart) return;
  const Value& given = graph_[value];
  if (given.kind != Value::Kind::kPack ||
      graph_[function].kind != Value::Kind::kFunction) {
    return escapes_.add(value);
  }
  const std::uint32_t code = graph_[function].index;
  const bool is_keyword = part == kKeywordDefaultsPart;
  const auto order =
      static_cast<std::uint32_t>(is_keyword ? PackOrder::kMap : PackOrder::kTuple);
  if (given.index != order) return escapes_.add(value);
  for (std::uint32_t i = 0; i < given.operand_count; ++i) {
    Default entry;
    entry.code = code;
    entry.value = graph_.operands(value)[i];
    if (!escapes_.can_hold_module(entry.value)) continue;
    if (!is_keyword) {
      entry.position = given.operand_count - 1 - i;
    } else {
      const Value& key = graph_[graph_.map_key(value, i)];
      if (key.kind != Value::Kind::kConstant) {
        escapes_.add(entry.value);
        continue;
      }
      entry.keyword_names = key.index;
      entry.position = i;
    }
    summary_.defaults.push_back(entry);
  }
}

ValueId FunctionCalls::call(ValueId callee, std::span<const ValueId> arguments,
                            std::size_t keyword_count, std::uint32_t offset) {
  keyword_count = std::min(keyword_count, arguments.size());
  const std::size_t positional = arguments.size() - keyword_count;
  switch (graph_[callee].kind) {
    case Value::Kind::kFunction:
      bind(callee, arguments.first(positional));
      escape_all(arguments.subspan(positional));
      return kUnknownValue;
    case Value::Kind::kUnion:
      pending_.push_back({callee, static_cast<std::uint32_t>(pending_arguments_.size()),
                          static_cast<std::uint32_t>(positional),
                          static_cast<std::uint32_t>(keyword_count)});
      pending_arguments_.insert(pending_arguments_.end(), arguments.begin(),
                                arguments.end());
      return kUnknownValue;
    case Value::Kind::kGlobal:
      if (keyword_count == 0 && is_getattr(callee, arguments)) {
        return getattr(arguments, offset);
      }
      [[fallthrough]];
    default:
      escape_all(arguments);
      return kUnknownValue;
  }
}

bool FunctionCalls::is_getattr(ValueId callee,
                               std::span<const ValueId> arguments) const {
  return code_.names[graph_[callee].index] == "getattr" &&
         (arguments.size() == 2 || arguments.size() == 3);
}

ValueId FunctionCalls::getattr(std::span<const ValueId> arguments,
                               std::uint32_t offset) {
  const Value& name = graph_[arguments[1]];
  const bool is_text = name.kind == Value::Kind::kConstant &&
                       code_.constants[name.index].kind == ConstantView::Kind::kText;
  // A getattr() whose name is not constant may read any attribute.
  if (!is_text) escapes_.add(arguments[0]);
  return graph_.make(Value::Kind::kGetattr, 0, arguments[0], offset,
                     arguments.subspan(1));
}

void FunctionCalls::bind(ValueId function, std::span<const ValueId> positional) {
  for (std::size_t i = 0; i < positional.size(); ++i) {
    if (!escapes_.can_hold_module(positional[i])) continue;
    summary_.bindings.push_back(
        {graph_[function].index, static_cast<std::uint32_t>(i), positional[i]});
  }
}

void FunctionCalls::escape_all(std::span<const ValueId> values) {
  for (const ValueId value : values) escapes_.add(value);
}

// Fills functions_ with the functions that a union may be. False if it may be another
// value too.
bool FunctionCalls::find_functions(ValueId callee) {
  functions_.clear();
  std::vector<ValueId> unions{callee};
  bool only_functions = true;
  for (std::size_t i = 0; i < unions.size(); ++i) {
    graph_.for_each_in_union(unions[i], [&](ValueId value) {
      const Value::Kind kind = graph_[value].kind;
      if (kind == Value::Kind::kFunction && functions_.size() < kMaxFunctionsFound) {
        functions_.push_back(value);
      } else if (std::ranges::find(unions, value) != unions.end()) {
        return;
      } else if (kind == Value::Kind::kUnion && unions.size() < kMaxUnionsSearched) {
        unions.push_back(value);
      } else {
        only_functions = false;
      }
    });
  }
  return only_functions;
}

bool FunctionCalls::resolve_pending() {
  for (const PendingCall& pending : pending_) {
    const auto arguments =
        std::span(pending_arguments_)
            .subspan(pending.first_argument, pending.positional + pending.keywords);
    const bool only_functions = find_functions(pending.callee);
    if (!states_.spend(functions_.size() * arguments.size() + 1)) return false;
    for (const ValueId function : functions_) {
      bind(function, arguments.first(pending.positional));
    }
    escape_all(arguments.subspan(only_functions ? pending.positional : 0));
  }
  return true;
}

void Escapes::clear() { has_escaped_.clear(); }

bool Escapes::can_hold_module(ValueId value) const {
  switch (graph_[value_or_unknown(value)].kind) {
    case Value::Kind::kUnknown:
    case Value::Kind::kConstant:
    case Value::Kind::kInteger:
      return false;
    default:
      return true;
  }
}

void Escapes::add(ValueId value) {
  value = value_or_unknown(value);
  if (!can_hold_module(value)) return;
  if (graph_[value].kind == Value::Kind::kPack) {
    const auto operands = graph_.operands(value);
    if (std::none_of(operands.begin(), operands.end(),
                     [this](ValueId operand) { return can_hold_module(operand); })) {
      return;
    }
  }
  if (value >= has_escaped_.size()) has_escaped_.resize(graph_.size() + 16, 0);
  if (has_escaped_[value] != 0) return;
  has_escaped_[value] = 1;
  summary_.escapes.push_back(value);
}

void Escapes::escape_packs_with_attributes() {
  const std::size_t count = graph_.size();
  for (ValueId id = 0; id < count; ++id) {
    if (graph_[id].kind != Value::Kind::kAttribute) continue;
    const ValueId parent = graph_[id].parent;
    if (graph_[parent].kind == Value::Kind::kPack) add(parent);
    if (graph_[parent].kind != Value::Kind::kUnion) continue;
    graph_.for_each_in_union(parent, [this](ValueId value) {
      if (graph_[value].kind == Value::Kind::kPack) add(value);
    });
  }
}

}  // namespace waybill::bytecode
