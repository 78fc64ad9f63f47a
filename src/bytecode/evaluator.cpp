// The evaluator runs each block on abstract values: loads, stores and imports first,
// then containers, calls and functions. summarize.cpp says what is followed and why;
// function_calls.cpp finds what a call returns.
// Tested by tests/bytecode/summarize_test.cpp.

#include "bytecode/evaluator.h"

#include <limits>

namespace waybill::bytecode {
namespace {

// The budget in values pushed, popped and merged. Compiled code needs some units per
// byte; the rest is for locals times branches.
constexpr std::int64_t kBudgetPerByte = 48;
constexpr std::int64_t kBaseBudget = 1 << 16;

// Kinds in co_localspluskinds (CO_FAST_CELL, CO_FAST_FREE).
constexpr std::uint8_t kCellOrFree = 0x40 | 0x80;

constexpr char kPopsTooMany[] = "an instruction pops more values than the stack has";

}  // namespace

Evaluator::Evaluator(const CodeView& code, const ControlFlow& flow,
                     std::span<const std::uint8_t> name_uses, CodeSummary& summary)
    : code_(code),
      flow_(flow),
      name_uses_(name_uses),
      summary_(summary),
      local_count_(code.local_names.size()),
      states_(flow, graph_, local_count_,
              kBaseBudget +
                  kBudgetPerByte * static_cast<std::int64_t>(code.instructions.size() +
                                                             code.local_names.size())),
      escapes_(graph_, summary),
      calls_(code, graph_, states_, escapes_, summary) {}

Result<bool> Evaluator::run() {
  if (code_.argument_count > local_count_ || code_.local_kinds.size() != local_count_) {
    malformed("local_kinds or argument_count does not match local_names");
  } else {
    do {
      start_pass();
      for (const std::uint32_t block : flow_.order) {
        if (states_.is_reached(block) && !run_block(block)) break;
      }
    } while (detail_ == nullptr && !is_over_budget_ && states_.needs_another_pass());
  }
  if (detail_ != nullptr) {
    return tl::unexpected(Error{ErrorCode::kMalformed, offset_, detail_});
  }
  if (!is_over_budget_) finish();
  return !is_over_budget_;
}

void Evaluator::finish() {
  is_over_budget_ = !calls_.resolve_pending();
  if (is_over_budget_) return;
  for (const ValueId value : states_.overflow()) escape(value);
  escapes_.escape_packs_with_attributes();
  graph_.move_into(summary_);
}

bool Evaluator::malformed(const char* detail) {
  detail_ = detail;
  return false;
}

void Evaluator::start_pass() {
  graph_.clear();
  states_.begin_pass();
  summary_.imports.clear();
  summary_.escapes.clear();
  summary_.cell_stores.clear();
  summary_.global_stores.clear();
  summary_.bindings.clear();
  summary_.defaults.clear();
  escapes_.clear();
  calls_.clear();
  name_unions_.clear();
  is_cell_made_.clear();
  keyword_names_ = kNoIndex;
  offset_ = 0;
  slots_.assign(local_count_, kUnbound);
  for (std::uint32_t i = 0; i < code_.argument_count; ++i) {
    if (is_cell(i) || !flow_.is_live(0, i)) continue;
    slots_[i] = graph_.make(Value::Kind::kParameter, i, 0, 0);
  }
  flow_to(0, slots_);
}

bool Evaluator::flow_to(std::uint32_t block, std::span<const ValueId> state) {
  switch (states_.flow_to(block, state, offset_)) {
    case MergeOutcome::kMerged:
      return true;
    case MergeOutcome::kOverBudget:
      is_over_budget_ = true;
      return false;
    case MergeOutcome::kUnevenStack:
      return malformed("two paths lead here with different stack heights");
  }
  return false;
}

bool Evaluator::run_block(std::uint32_t index) {
  block_ = &flow_.blocks[index];
  offset_ = flow_.instructions[block_->first].offset;
  const std::span<const ValueId> state = states_.visit(index);
  slots_.assign(state.begin(), state.end());
  if (block_->handler != kNoIndex && !enter_handler(*block_)) return false;
  const std::size_t max_height = code_.instructions.size() + 64;
  for (std::uint32_t i = block_->first; i + 1 < block_->end; ++i) {
    const Instruction& instruction = flow_.instructions[i];
    offset_ = instruction.offset;
    if (height() < instruction.pops) return malformed(kPopsTooMany);
    if (!evaluate(instruction)) return false;
    if (height() > max_height) return malformed("the stack is too high for this code");
  }
  const Instruction& last = flow_.instructions[block_->end - 1];
  offset_ = last.offset;
  if (height() < last.pops) return malformed(kPopsTooMany);
  return leave_block(*block_, last, height());
}

bool Evaluator::leave_block(const Block& block, const Instruction& last,
                            std::size_t height_before) {
  const auto if_jump = static_cast<std::int64_t>(height_before) -
                       static_cast<std::int64_t>(last.pops) + last.jump_pushes;
  const bool jump_keeps_operand =
      last.can_jump && last.jump_pushes > static_cast<std::int64_t>(last.pushes);
  if (jump_keeps_operand && !flow_to(block.jump, slots_)) return false;
  if (!evaluate(last)) return false;
  if (last.can_jump && !jump_keeps_operand) {
    if (if_jump < 0 || static_cast<std::size_t>(if_jump) > height()) {
      return malformed(kPopsTooMany);
    }
    const std::span<const ValueId> state(
        slots_.data(), local_count_ + static_cast<std::size_t>(if_jump));
    if (!flow_to(block.jump, state)) return false;
  }
  return block.next == kNoIndex || flow_to(block.next, slots_);
}

bool Evaluator::enter_handler(const Block& block) {
  const ExceptionEntry& entry = flow_.entries[block.entry];
  if (height() < entry.depth) {
    return malformed("an exception handler keeps more values than the stack has");
  }
  scratch_.assign(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(
                                                       local_count_ + entry.depth));
  if (entry.pushes_last) scratch_.push_back(kUnknownValue);
  scratch_.push_back(kUnknownValue);
  return flow_to(block.handler, scratch_);
}

bool Evaluator::evaluate(const Instruction& instruction) {
  const std::size_t pops = instruction.pops;
  if (pops + instruction.pushes > 8 && !states_.spend(pops + instruction.pushes)) {
    is_over_budget_ = true;
    return false;
  }
  switch (instruction.operation) {
    case Operation::kConsume:
    case Operation::kBranch:
    case Operation::kJump:
    case Operation::kReraise:
    case Operation::kReturnConstant:
    case Operation::kDeleteAttribute:
    case Operation::kLoadSuperAttribute:
      drop(pops);
      push_unknown(instruction.pushes);
      return true;
    case Operation::kEscape:
    case Operation::kReturn:
    case Operation::kRaise:
    case Operation::kSend:
      for (std::size_t i = 1; i <= pops; ++i) escape(peek(i));
      drop(pops);
      push_unknown(instruction.pushes);
      return true;
    case Operation::kEscapeDeepest:
    case Operation::kStoreAttribute:
      escape(peek(pops));
      drop(pops);
      push_unknown(instruction.pushes);
      return true;
    case Operation::kPushNull:
      push(kNull);
      return true;
    case Operation::kCopy:
      if (instruction.argument == 0 || instruction.argument > height()) {
        return malformed("COPY of a missing stack item");
      }
      push(peek(instruction.argument));
      return true;
    case Operation::kSwap:
      if (instruction.argument == 0 || instruction.argument > height()) {
        return malformed("SWAP with a missing stack item");
      }
      std::swap(slots_.back(), slots_[slots_.size() - instruction.argument]);
      return true;
    case Operation::kLoadConstant:
    case Operation::kLoadInteger:
      return evaluate_constant(instruction);
    default:
      return evaluate_local(instruction);
  }
}

bool Evaluator::evaluate_constant(const Instruction& instruction) {
  std::int64_t integer = static_cast<std::int32_t>(instruction.argument);
  if (instruction.operation == Operation::kLoadConstant) {
    if (instruction.argument >= code_.constants.size()) {
      return malformed("a constant's index is beyond co_consts");
    }
    const ConstantView& constant = code_.constants[instruction.argument];
    if (constant.kind == ConstantView::Kind::kNone) {
      push(kUnknownValue);
      return true;
    }
    integer = constant.integer;
    if (constant.kind != ConstantView::Kind::kInteger ||
        integer < std::numeric_limits<std::int32_t>::min() ||
        integer > std::numeric_limits<std::int32_t>::max()) {
      push(graph_.make(Value::Kind::kConstant, instruction.argument, 0, offset_));
      return true;
    }
  }
  push(graph_.make(Value::Kind::kInteger, static_cast<std::uint32_t>(integer), 0,
                   offset_));
  return true;
}

bool Evaluator::is_cell(std::uint32_t local) const {
  return (code_.local_kinds[local] & kCellOrFree) != 0;
}

void Evaluator::store_local(std::uint32_t local, ValueId value) {
  // The slot of a cell holds the cell itself; inlined comprehensions save and restore
  // it.
  if (is_cell(local)) return;
  slots_[local] = value;
  if (block_->handler != kNoIndex && value != kUnbound) {
    states_.flow_to_local(block_->handler, local, value);
  }
}

bool Evaluator::evaluate_local(const Instruction& instruction) {
  const std::uint32_t local = instruction.argument;
  const Operation operation = instruction.operation;
  if (operation < Operation::kLoadLocal || operation > Operation::kDeleteCell) {
    return evaluate_name(instruction);
  }
  if (local >= local_count_) {
    return malformed("a local's index is beyond co_localsplusnames");
  }
  switch (operation) {
    case Operation::kLoadLocal:
      push(is_cell(local) ? kUnknownValue : value_or_unknown(slots_[local]));
      return true;
    case Operation::kLoadAndClearLocal:
      push(is_cell(local) ? kUnbound : slots_[local]);
      store_local(local, kUnbound);
      return true;
    case Operation::kStoreLocal: {
      const ValueId value = slots_.back();
      drop(1);
      store_local(local, value);
      return true;
    }
    case Operation::kDeleteLocal:
      store_local(local, kUnbound);
      return true;
    case Operation::kMakeCell:
      if (is_cell_made_.empty()) is_cell_made_.resize(local_count_, 0);
      if (local < code_.argument_count && is_cell_made_[local] == 0) {
        summary_.cell_stores.push_back(
            {local, graph_.make(Value::Kind::kParameter, local, 0, offset_)});
      }
      is_cell_made_[local] = 1;
      return true;
    case Operation::kLoadDictOrCell:
      drop(1);
      [[fallthrough]];
    case Operation::kLoadCell:
      push(graph_.make(Value::Kind::kVariable, local, 0, offset_));
      return true;
    case Operation::kStoreCell:
      summary_.cell_stores.push_back({local, pop()});
      return true;
    default:  // kDeleteCell
      return true;
  }
}

bool Evaluator::evaluate_name(const Instruction& instruction) {
  const std::uint32_t name = instruction.argument;
  const Operation operation = instruction.operation;
  if (operation < Operation::kLoadGlobal || operation > Operation::kImportFrom) {
    return evaluate_call(instruction);
  }
  if (name >= code_.names.size()) return malformed("a name's index is beyond co_names");
  switch (operation) {
    case Operation::kLoadDictOrGlobal:
      drop(1);
      [[fallthrough]];
    case Operation::kLoadGlobal:
      push(graph_.make(Value::Kind::kGlobal, name, 0, offset_));
      return true;
    case Operation::kLoadName:
      load_name(name);
      return true;
    case Operation::kStoreName: {
      // Any code can read the namespace of a class or module.
      const ValueId value = pop();
      escape(value);
      if ((name_uses_[name] & kNameLoaded) != 0) {
        load_name(name);
        const ValueId whole = pop();
        graph_.add_to_union(whole, value);
      }
      return true;
    }
    case Operation::kStoreGlobal:
      summary_.global_stores.push_back({name, pop()});
      return true;
    case Operation::kLoadAttribute: {
      const ValueId owner = pop();
      push(graph_.make(Value::Kind::kAttribute, name, owner, offset_));
      return true;
    }
    case Operation::kImportName:
    case Operation::kImportFrom:
      return evaluate_import(instruction);
    default:  // kDeleteName, kDeleteGlobal
      return true;
  }
}

// All loads of a name that the body also stores give one union of the stored values.
void Evaluator::load_name(std::uint32_t name) {
  if ((name_uses_[name] & kNameStored) == 0) {
    push(graph_.make(Value::Kind::kGlobal, name, 0, offset_));
    return;
  }
  if (name_unions_.empty()) name_unions_.resize(code_.names.size(), 0);
  if (name_unions_[name] == 0) {
    const bool is_bound = (name_uses_[name] & kNameBound) != 0;
    const ValueId global =
        is_bound ? 0 : graph_.make(Value::Kind::kGlobal, name, 0, offset_);
    name_unions_[name] = graph_.make_union(offset_);
    if (!is_bound) graph_.add_to_union(name_unions_[name], global);
  }
  push(name_unions_[name]);
}

bool Evaluator::evaluate_import(const Instruction& instruction) {
  const std::uint32_t name = instruction.argument;
  if (instruction.operation == Operation::kImportFrom) {
    if (height() == 0) return malformed("IMPORT_FROM with an empty stack");
    push(graph_.make(Value::Kind::kImportFrom, name, value_or_unknown(peek(1)),
                     offset_));
    return true;
  }
  const Value from_names = graph_[pop()];
  const Value level = graph_[pop()];
  BodyImport import;
  import.name = name;
  import.level = level.kind == Value::Kind::kInteger ? level.index : 0;
  const bool is_tuple =
      from_names.kind == Value::Kind::kConstant &&
      code_.constants[from_names.index].kind == ConstantView::Kind::kTuple;
  import.from_names = is_tuple ? from_names.index : kNoIndex;
  import.offset = offset_;
  const auto index = static_cast<std::uint32_t>(summary_.imports.size());
  summary_.imports.push_back(import);
  push(graph_.make(Value::Kind::kImport, index, 0, offset_));
  return true;
}

// --- Containers, subscripts, calls and functions.

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
      const bool is_constant = names.kind == Value::Kind::kConstant;
      call(pops - 3, is_constant ? keyword_count_of(names.index) : pops);
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
      // An iterator is treated as its container. 3.15 pushes an index above it.
      if (instruction.pushes == 2) push(kNull);
      return true;
    case Operation::kForIterator:
    case Operation::kForIndexedIterator: {
      const std::size_t depth =
          instruction.operation == Operation::kForIterator ? 1 : 2;
      if (height() < depth) return malformed("FOR_ITER without an iterator");
      push(element_of(value_or_unknown(peek(depth))));
      return true;
    }
    case Operation::kBinaryOperation:
      // `pack + other` contains the items of both.
      for (std::size_t i = 1; i <= 2; ++i) {
        if (graph_[value_or_unknown(peek(i))].kind == Value::Kind::kPack)
          escape(peek(i));
      }
      drop(2);
      push(kUnknownValue);
      return true;
    case Operation::kSubscript: {
      const ValueId key = peek(1);
      drop(1);
      const ValueId container = pop();
      push(key == kSliceMark ? slice_of(container)
                             : item_of(container, value_or_unknown(key)));
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
      if (height() < 2) return malformed("MATCH_KEYS without a mapping");
      escape(peek(2));
      push(kUnknownValue);
      return true;
    default:
      return malformed("the analysis does not know this instruction");
  }
}

bool Evaluator::extend_container(std::size_t count, std::size_t depth) {
  for (std::size_t i = 1; i <= count; ++i) escape(peek(i));
  drop(count);
  if (depth == 0 || depth > height()) {
    return malformed("the container to extend is missing");
  }
  // The content of the container is unknown from here on.
  escape(peek(depth));
  slots_[slots_.size() - depth] = kUnknownValue;
  return true;
}

void Evaluator::push_pack(std::size_t count, PackOrder order) {
  scratch_.clear();
  bool has_known = false;
  for (std::size_t i = count; i > 0; --i) {
    scratch_.push_back(value_or_unknown(peek(i)));
    has_known = has_known || scratch_.back() != kUnknownValue;
  }
  drop(count);
  push(has_known ? graph_.make(Value::Kind::kPack, static_cast<std::uint32_t>(order), 0,
                               offset_, scratch_)
                 : kUnknownValue);
}

// On the stack: key, value, key, value, …; or the values, then a tuple of keys.
void Evaluator::push_map(std::size_t count, bool constant_keys) {
  const std::size_t pops = constant_keys ? count + 1 : 2 * count;
  scratch_.clear();
  bool has_known = false;
  for (std::size_t i = 0; i < count; ++i) {
    scratch_.push_back(
        value_or_unknown(peek(constant_keys ? pops - i : pops - 2 * i - 1)));
    has_known = has_known || scratch_.back() != kUnknownValue;
  }
  for (std::size_t i = 0; i < count; ++i) {
    scratch_.push_back(value_or_unknown(peek(constant_keys ? 1 : pops - 2 * i)));
    if (can_hold_module(scratch_.back())) {
      for (std::size_t k = 1; k <= pops; ++k) escape(peek(k));
      has_known = false;
      break;
    }
  }
  drop(pops);
  push(has_known ? graph_.make_map(scratch_, offset_) : kUnknownValue);
}

void Evaluator::unpack(ValueId value, std::size_t count) {
  const Value& packed = graph_[value];
  if (packed.kind == Value::Kind::kPack && packed.operand_count == count &&
      packed.index == static_cast<std::uint32_t>(PackOrder::kTuple)) {
    const auto operands = graph_.operands(value);
    slots_.insert(slots_.end(), operands.rbegin(), operands.rend());
    return;
  }
  slots_.insert(slots_.end(), count, element_of(value));
}

void Evaluator::unpack_rest(ValueId value, std::size_t before, std::size_t after) {
  const Value& packed = graph_[value];
  if (packed.kind != Value::Kind::kPack || packed.operand_count < before + after ||
      packed.index != static_cast<std::uint32_t>(PackOrder::kTuple)) {
    const ValueId element = element_of(value);
    slots_.insert(slots_.end(), after, element);
    // The rest is a list of the same items, at other positions.
    push(element == kUnknownValue
             ? element
             : graph_.make(Value::Kind::kPack,
                           static_cast<std::uint32_t>(PackOrder::kCollection), 0,
                           offset_, std::span(&element, 1)));
    slots_.insert(slots_.end(), before, element);
    return;
  }
  const auto operands = graph_.operands(value);
  const std::vector<ValueId> items(operands.begin(), operands.end());
  const auto first_after = items.end() - static_cast<std::ptrdiff_t>(after);
  const auto end_before = items.begin() + static_cast<std::ptrdiff_t>(before);
  slots_.insert(slots_.end(), items.rbegin(), std::make_reverse_iterator(first_after));
  slots_.insert(slots_.end(), end_before, first_after);
  push_pack(items.size() - before - after, PackOrder::kCollection);
  slots_.insert(slots_.end(), std::make_reverse_iterator(end_before), items.rend());
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
      // Iterating a dict yields its keys, which are constants.
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

// A slice has the same items at other positions.
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
    scratch_.push_back(value_or_unknown(second));
  }
  for (std::size_t i = argument_count; i > 0; --i)
    scratch_.push_back(value_or_unknown(peek(i)));
  drop(argument_count + 2);
  push(callee == kBuildClass
           ? kUnknownValue
           : calls_.call(value_or_unknown(callee), scratch_, keyword_count, offset_));
}

// On the stack, deepest first: the parts whose flags are set, lowest flag first; code.
void Evaluator::make_function(std::uint32_t parts) {
  const ValueId function = calls_.make(pop(), offset_);
  for (std::uint32_t part = 8; part > 0; part >>= 1) {
    if ((parts & part) != 0) calls_.set_part(function, part, pop());
  }
  push(function);
}

}  // namespace waybill::bytecode
