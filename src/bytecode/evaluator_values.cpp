// Containers, subscripts, calls and functions: where values meet other values. What
// comes of a call is in function_calls.cpp.
// Tested by tests/bytecode/summarize_test.cpp.

#include "bytecode/evaluator.h"

namespace waybill::bytecode {

bool Evaluator::evaluate_call(const Instruction& instruction) {
  const std::size_t pops = instruction.pops;
  switch (instruction.operation) {
    case Operation::kMakeFunction:
      make_function(instruction.argument);
      return true;
    case Operation::kSetFunctionAttribute: {
      const ValueId function = pop();
      calls_.set_part(function, instruction.argument, pop());
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
      return evaluate_display(instruction);
  }
}

bool Evaluator::evaluate_display(const Instruction& instruction) {
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
    default:
      return evaluate_items(instruction);
  }
}

bool Evaluator::evaluate_items(const Instruction& instruction) {
  const std::size_t pops = instruction.pops;
  switch (instruction.operation) {
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
    case Operation::kExtendContainer:
      return extend_container(pops, instruction.argument);
    case Operation::kMatchKeys:
      if (height() < 2) return malformed("nothing to match");
      escape(peek(2));
      push(kUnknownValue);
      return true;
    default:
      return malformed("an instruction out of place");
  }
}

bool Evaluator::extend_container(std::size_t count, std::size_t depth) {
  for (std::size_t i = 1; i <= count; ++i) escape(peek(i));
  drop(count);
  if (depth == 0 || depth > height()) return malformed("no container to extend");
  // Whatever it was, it is more now.
  escape(peek(depth));
  places_[places_.size() - depth] = kUnknownValue;
  return true;
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
  push(callee == kBuildClass
           ? kUnknownValue
           : calls_.call(plain(callee), scratch_, keyword_count, offset_));
}

// On the stack, deepest first: the parts whose flags are set, from the lowest; code.
void Evaluator::make_function(std::uint32_t parts) {
  const ValueId function = calls_.make(pop(), offset_);
  for (std::uint32_t part = 8; part > 0; part >>= 1) {
    if ((parts & part) != 0) calls_.set_part(function, part, pop());
  }
  push(function);
}

}  // namespace waybill::bytecode
