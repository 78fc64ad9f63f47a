// Containers, subscripts, calls and functions: where values meet other values.
// Tested by tests/bytecode/summarize_test.cpp.

#include <algorithm>

#include "bytecode/evaluator.h"

namespace waybill::bytecode {
namespace {

// The parts of MAKE_FUNCTION and SET_FUNCTION_ATTRIBUTE.
constexpr std::uint32_t kDefaultsPart = 1;
constexpr std::uint32_t kKeywordDefaultsPart = 2;
constexpr std::uint32_t kAnnotationsPart = 4;

// How far a call looks into unions for nested functions.
constexpr std::size_t kMaxUnionsSearched = 8;
constexpr std::size_t kMaxFunctionsFound = 16;

}  // namespace

// Can anything but a scalar constant be behind it?
bool Evaluator::matters(ValueId value) const {
  switch (graph_[plain(value)].kind) {
    case Value::Kind::kUnknown:
    case Value::Kind::kConstant:
    case Value::Kind::kInteger:
      return false;
    default:
      return true;
  }
}

void Evaluator::escape(ValueId value) {
  value = plain(value);
  if (!matters(value)) return;
  if (graph_[value].kind == Value::Kind::kPack) {
    const auto operands = graph_.operands(value);
    if (std::none_of(operands.begin(), operands.end(),
                     [this](ValueId operand) { return matters(operand); })) {
      return;
    }
  }
  if (value >= has_escaped_.size()) has_escaped_.resize(graph_.size() + 16, 0);
  if (has_escaped_[value] != 0) return;
  has_escaped_[value] = 1;
  summary_.escapes.push_back(value);
}

bool Evaluator::evaluate_value(const Instruction& instruction) {
  const std::size_t pops = instruction.pops;
  switch (instruction.operation) {
    case Operation::kBuildTuple:
      push_pack(pops, PackOrder::kTuple);
      return true;
    case Operation::kBuildCollection:
      push_pack(pops, PackOrder::kCollection);
      return true;
    case Operation::kBuildMap:
      push_map(pops / 2, false);
      return true;
    case Operation::kBuildConstantKeyMap:
      push_map(pops - 1, true);
      return true;
    case Operation::kBuildSlice:
      drop(pops);
      push(kSliceMark);
      return true;
    case Operation::kUnpack:
      unpack(pop(), instruction.pushes);
      return true;
    case Operation::kUnpackRest:
      unpack_rest(pop(), instruction.argument & 0xff, instruction.argument >> 8);
      return true;
    case Operation::kGetIterator:
      // An iterator stands for what it iterates over. 3.15 has a place above it.
      if (instruction.pushes == 2) push(kNull);
      return true;
    case Operation::kForIterator:
    case Operation::kForIndexedIterator: {
      const std::size_t depth =
          instruction.operation == Operation::kForIterator ? 1 : 2;
      if (height() < depth) return malformed("no iterator");
      push(element_of(plain(peek(depth))));
      return true;
    }
    case Operation::kBinaryOperation:
      // `packs + more` is a container of the same items.
      for (std::size_t i = 1; i <= 2; ++i) {
        if (graph_[plain(peek(i))].kind == Value::Kind::kPack) escape(peek(i));
      }
      drop(2);
      push(kUnknownValue);
      return true;
    case Operation::kSubscript: {
      const ValueId key = peek(1);
      drop(1);
      const ValueId container = pop();
      push(key == kSliceMark ? slice_of(container) : item_of(container, plain(key)));
      return true;
    }
    case Operation::kSlice: {
      drop(2);
      push(slice_of(pop()));
      return true;
    }
    case Operation::kExtendContainer: {
      for (std::size_t i = 1; i <= pops; ++i) escape(peek(i));
      drop(pops);
      const std::size_t depth = instruction.argument;
      if (depth == 0 || depth > height()) return malformed("no container to extend");
      // Whatever it was, it is more now.
      escape(peek(depth));
      places_[places_.size() - depth] = kUnknownValue;
      return true;
    }
    case Operation::kMatchKeys:
      if (height() < 2) return malformed("nothing to match");
      escape(peek(2));
      push(kUnknownValue);
      return true;
    case Operation::kMakeFunction:
      make_function(instruction.argument);
      return true;
    case Operation::kSetFunctionAttribute: {
      const ValueId function = pop();
      set_function_part(function, instruction.argument, pop());
      push(function);
      return true;
    }
    case Operation::kLoadBuildClass:
      push(kBuildClass);
      return true;
    case Operation::kKeywordNames:
      keyword_names_ = instruction.argument;
      return true;
    case Operation::kCall:
      call(pops - 2, keyword_count_of(keyword_names_));
      keyword_names_ = kNoIndex;
      return true;
    case Operation::kCallKeywords: {
      const Value names = graph_[pop()];
      const bool known = names.kind == Value::Kind::kConstant;
      call(pops - 3, known ? keyword_count_of(names.index) : pops);
      return true;
    }
    case Operation::kCallUnpacked:
      // The callable and its NULL are the deepest.
      for (std::size_t i = 1; i + 2 <= pops; ++i) escape(peek(i));
      drop(pops);
      push(kUnknownValue);
      return true;
    default:
      return malformed("an instruction out of place");
  }
}

void Evaluator::push_pack(std::size_t count, PackOrder order) {
  scratch_.clear();
  bool known = false;
  for (std::size_t i = count; i > 0; --i) {
    scratch_.push_back(plain(peek(i)));
    known = known || scratch_.back() != kUnknownValue;
  }
  drop(count);
  push(known ? graph_.make(Value::Kind::kPack, static_cast<std::uint32_t>(order), 0,
                           offset_, scratch_)
             : kUnknownValue);
}

// On the stack: key, value, key, value, …; or the values, then a tuple of keys.
void Evaluator::push_map(std::size_t count, bool constant_keys) {
  const std::size_t pops = constant_keys ? count + 1 : 2 * count;
  scratch_.clear();
  bool known = false;
  for (std::size_t i = 0; i < count; ++i) {
    scratch_.push_back(plain(peek(constant_keys ? pops - i : pops - 2 * i - 1)));
    known = known || scratch_.back() != kUnknownValue;
  }
  for (std::size_t i = 0; i < count; ++i) {
    scratch_.push_back(plain(peek(constant_keys ? 1 : pops - 2 * i)));
    if (matters(scratch_.back())) {
      for (std::size_t k = 1; k <= pops; ++k) escape(peek(k));
      known = false;
      break;
    }
  }
  drop(pops);
  push(known ? graph_.make_map(scratch_, offset_) : kUnknownValue);
}

void Evaluator::unpack(ValueId value, std::size_t count) {
  const Value& packed = graph_[value];
  if (packed.kind == Value::Kind::kPack && packed.operand_count == count &&
      packed.index == static_cast<std::uint32_t>(PackOrder::kTuple)) {
    const auto operands = graph_.operands(value);
    places_.insert(places_.end(), operands.rbegin(), operands.rend());
    return;
  }
  places_.insert(places_.end(), count, element_of(value));
}

void Evaluator::unpack_rest(ValueId value, std::size_t before, std::size_t after) {
  const Value& packed = graph_[value];
  if (packed.kind != Value::Kind::kPack || packed.operand_count < before + after ||
      packed.index != static_cast<std::uint32_t>(PackOrder::kTuple)) {
    const ValueId element = element_of(value);
    places_.insert(places_.end(), after, element);
    // The rest is a list of the same items, at other positions.
    push(element == kUnknownValue
             ? element
             : graph_.make(Value::Kind::kPack,
                           static_cast<std::uint32_t>(PackOrder::kCollection), 0,
                           offset_, std::span(&element, 1)));
    places_.insert(places_.end(), before, element);
    return;
  }
  const auto operands = graph_.operands(value);
  const std::vector<ValueId> items(operands.begin(), operands.end());
  const auto first_after = items.end() - static_cast<std::ptrdiff_t>(after);
  const auto end_before = items.begin() + static_cast<std::ptrdiff_t>(before);
  places_.insert(places_.end(), items.rbegin(),
                 std::make_reverse_iterator(first_after));
  places_.insert(places_.end(), end_before, first_after);
  push_pack(items.size() - before - after, PackOrder::kCollection);
  places_.insert(places_.end(), std::make_reverse_iterator(end_before), items.rend());
}

ValueId Evaluator::element_of(ValueId value) {
  const Value& parent = graph_[value];
  switch (parent.kind) {
    case Value::Kind::kUnknown:
    case Value::Kind::kInteger:
    case Value::Kind::kFunction:
      return kUnknownValue;
    case Value::Kind::kConstant:
      if (code_.constants[parent.index].kind != ConstantView::Kind::kTuple) {
        return kUnknownValue;
      }
      break;
    case Value::Kind::kPack:
      // Iteration over a map gives its keys, which are constants.
      if (parent.index == static_cast<std::uint32_t>(PackOrder::kMap) ||
          parent.operand_count == 0) {
        return kUnknownValue;
      }
      if (parent.operand_count == 1) return graph_.operands(value)[0];
      break;
    default:
      break;
  }
  return graph_.make(Value::Kind::kElement, 0, value, offset_);
}

ValueId Evaluator::item_of(ValueId container, ValueId key) {
  const Value& parent = graph_[container];
  if (parent.kind != Value::Kind::kPack) {
    return graph_.make(Value::Kind::kItem, 0, container, offset_, std::span(&key, 1));
  }
  const Value& index = graph_[key];
  if (parent.index == static_cast<std::uint32_t>(PackOrder::kTuple) &&
      index.kind == Value::Kind::kInteger) {
    std::int64_t position = static_cast<std::int32_t>(index.index);
    if (position < 0) position += parent.operand_count;
    if (position >= 0 && position < parent.operand_count) {
      return graph_.operands(container)[static_cast<std::size_t>(position)];
    }
  }
  return graph_.make(Value::Kind::kElement, 0, container, offset_);
}

// The same items at other positions.
ValueId Evaluator::slice_of(ValueId container) {
  if (graph_[container].kind != Value::Kind::kPack) {
    escape(container);
    return kUnknownValue;
  }
  const auto operands = graph_.operands(container);
  scratch_.assign(operands.begin(), operands.end());
  return graph_.make(Value::Kind::kPack,
                     static_cast<std::uint32_t>(PackOrder::kCollection), 0, offset_,
                     scratch_);
}

std::size_t Evaluator::keyword_count_of(std::uint32_t constant) const {
  return constant < code_.constants.size() ? code_.constants[constant].items.size() : 0;
}

// On the stack: callable and NULL or self, in the version's order; the arguments, those
// with a keyword last.
void Evaluator::call(std::size_t argument_count, std::size_t keyword_count) {
  ValueId callee = peek(argument_count + 2);
  const ValueId second = peek(argument_count + 1);
  scratch_.clear();
  if (callee == kNull) {
    callee = second;
  } else if (second != kNull) {
    scratch_.push_back(plain(second));
  }
  for (std::size_t i = argument_count; i > 0; --i) scratch_.push_back(plain(peek(i)));
  drop(argument_count + 2);
  push(kUnknownValue);
  if (callee == kBuildClass) return;
  callee = plain(callee);
  keyword_count = std::min(keyword_count, scratch_.size());
  const std::span<const ValueId> arguments(scratch_);
  const std::size_t positional = arguments.size() - keyword_count;
  switch (graph_[callee].kind) {
    case Value::Kind::kFunction:
      bind_arguments(callee, arguments.first(positional));
      for (const ValueId value : arguments.subspan(positional)) escape(value);
      return;
    case Value::Kind::kUnion:
      pending_calls_.push_back({callee,
                                static_cast<std::uint32_t>(pending_arguments_.size()),
                                static_cast<std::uint32_t>(positional),
                                static_cast<std::uint32_t>(keyword_count)});
      pending_arguments_.insert(pending_arguments_.end(), arguments.begin(),
                                arguments.end());
      return;
    case Value::Kind::kGlobal:
      if (keyword_count == 0 && call_getattr(callee, arguments)) return;
      [[fallthrough]];
    default:
      for (const ValueId value : arguments) escape(value);
  }
}

bool Evaluator::call_getattr(ValueId callee, std::span<const ValueId> arguments) {
  if (code_.names[graph_[callee].index] != "getattr") return false;
  if (arguments.size() != 2 && arguments.size() != 3) return false;
  const Value& name = graph_[arguments[1]];
  const bool is_text = name.kind == Value::Kind::kConstant &&
                       code_.constants[name.index].kind == ConstantView::Kind::kText;
  // Any attribute at all: nobody can say which.
  if (!is_text) escape(arguments[0]);
  places_.back() = graph_.make(Value::Kind::kGetattr, 0, arguments[0], offset_,
                               arguments.subspan(1));
  return true;
}

void Evaluator::bind_arguments(ValueId function, std::span<const ValueId> positional) {
  for (std::size_t i = 0; i < positional.size(); ++i) {
    if (!matters(positional[i])) continue;
    summary_.bindings.push_back(
        {graph_[function].index, static_cast<std::uint32_t>(i), positional[i]});
  }
}

void Evaluator::judge_pending_calls() {
  std::vector<ValueId> unions;
  std::vector<ValueId> functions;
  for (const PendingCall& pending : pending_calls_) {
    const std::span<const ValueId> arguments(
        pending_arguments_.data() + pending.first_argument,
        pending.positional + pending.keywords);
    bool functions_only = true;
    unions.assign(1, pending.callee);
    functions.clear();
    for (std::size_t i = 0; i < unions.size(); ++i) {
      graph_.for_each_in_union(unions[i], [&](ValueId value) {
        const Value::Kind kind = graph_[value].kind;
        if (kind == Value::Kind::kFunction && functions.size() < kMaxFunctionsFound) {
          functions.push_back(value);
        } else if (kind == Value::Kind::kUnion && unions.size() < kMaxUnionsSearched) {
          if (std::find(unions.begin(), unions.end(), value) == unions.end()) {
            unions.push_back(value);
          }
        } else if (std::find(unions.begin(), unions.end(), value) == unions.end()) {
          functions_only = false;
        }
      });
    }
    if (!states_.spend(functions.size() * arguments.size() + 1)) too_much_ = true;
    if (too_much_) return;
    for (const ValueId function : functions) {
      bind_arguments(function, arguments.first(pending.positional));
    }
    for (std::size_t i = functions_only ? pending.positional : 0; i < arguments.size();
         ++i) {
      escape(arguments[i]);
    }
  }
}

// On the stack, deepest first: the parts whose flags are set, from the lowest; code.
void Evaluator::make_function(std::uint32_t parts) {
  const ValueId code = pop();
  ValueId function = kUnknownValue;
  if (graph_[code].kind == Value::Kind::kConstant &&
      code_.constants[graph_[code].index].kind == ConstantView::Kind::kCode) {
    function = graph_.make(Value::Kind::kFunction, graph_[code].index, 0, offset_);
  }
  for (std::uint32_t part = 8; part > 0; part >>= 1) {
    if ((parts & part) != 0) set_function_part(function, part, pop());
  }
  push(function);
}

void Evaluator::set_function_part(ValueId function, std::uint32_t part, ValueId value) {
  if (part == kAnnotationsPart) return escape(value);
  // Closures match by name, and an annotate function is called by inspection only.
  if (part != kDefaultsPart && part != kKeywordDefaultsPart) return;
  const Value& given = graph_[value];
  if (given.kind != Value::Kind::kPack ||
      graph_[function].kind != Value::Kind::kFunction) {
    return escape(value);
  }
  const std::uint32_t code = graph_[function].index;
  const bool keyword = part == kKeywordDefaultsPart;
  const auto order =
      static_cast<std::uint32_t>(keyword ? PackOrder::kMap : PackOrder::kTuple);
  if (given.index != order) return escape(value);
  for (std::uint32_t i = 0; i < given.operand_count; ++i) {
    Default entry;
    entry.code = code;
    entry.value = graph_.operands(value)[i];
    if (!matters(entry.value)) continue;
    if (!keyword) {
      entry.position = given.operand_count - 1 - i;
    } else {
      const Value& key = graph_[graph_.map_key(value, i)];
      if (key.kind != Value::Kind::kConstant) {
        escape(entry.value);
        continue;
      }
      entry.keyword_names = key.index;
      entry.position = i;
    }
    summary_.defaults.push_back(entry);
  }
}

// A method of a list, `mods.pop()`, gives its items away. Told at the end, when it is
// known what is in the unions.
void Evaluator::escape_packs_behind_attributes() {
  const std::size_t count = graph_.size();
  for (ValueId id = 0; id < count; ++id) {
    if (graph_[id].kind != Value::Kind::kAttribute) continue;
    const ValueId parent = graph_[id].parent;
    if (graph_[parent].kind == Value::Kind::kPack) escape(parent);
    if (graph_[parent].kind != Value::Kind::kUnion) continue;
    graph_.for_each_in_union(parent, [this](ValueId value) {
      if (graph_[value].kind == Value::Kind::kPack) escape(value);
    });
  }
}

void Evaluator::finish() {
  judge_pending_calls();
  if (too_much_) return;
  for (const ValueId value : states_.overflow()) escape(value);
  escape_packs_behind_attributes();
  graph_.move_into(summary_);
}

}  // namespace waybill::bytecode
