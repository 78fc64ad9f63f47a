#pragma once

// The abstract interpreter: runs instructions on ValueIds in the stack and the locals,
// binds arguments to nested functions, and collects the values that escape.

#include <cstdint>
#include <span>
#include <vector>

#include "bytecode/flow_state.h"

namespace waybill::bytecode {

class Escapes {
 public:
  // `summary` gets the escapes. Both arguments must outlive this.
  Escapes(const ValueGraph& graph, CodeSummary& summary)
      : graph_(graph), summary_(summary) {}

  void clear();

  // Whether the value may be, or contain, anything but a scalar constant.
  bool can_hold_module(ValueId value) const;

  // Records that a value escapes, once, if it may hold a module. Accepts any content of
  // a slot.
  void add(ValueId value);

  // Lets packs with attributes escape: a method such as `mods.pop()` may return any
  // item. Called at the end, when unions are complete.
  void escape_packs_with_attributes();

 private:
  const ValueGraph& graph_;
  CodeSummary& summary_;
  std::vector<std::uint8_t> has_escaped_;  // Indexed by ValueId.
};

class FunctionCalls {
 public:
  // `summary` gets bindings and defaults. All arguments must outlive this.
  FunctionCalls(const CodeView& code, ValueGraph& graph, FlowState& states,
                Escapes& escapes, CodeSummary& summary)
      : code_(code),
        graph_(graph),
        states_(states),
        escapes_(escapes),
        summary_(summary) {}

  void clear();

  // The function made of a code constant; kUnknown for other values.
  ValueId make(ValueId code, std::uint32_t offset);

  // Sets a part of MAKE_FUNCTION or SET_FUNCTION_ATTRIBUTE.
  void set_part(ValueId function, std::uint32_t part, ValueId value);

  // The result of a call; the last `keyword_count` arguments are keyword arguments. A
  // callee that is a union waits for resolve_pending().
  ValueId call(ValueId callee, std::span<const ValueId> arguments,
               std::size_t keyword_count, std::uint32_t offset);

  // Binds the arguments of calls of unions, which are complete now. False if that
  // exceeds the budget.
  bool resolve_pending();

 private:
  struct PendingCall {
    ValueId callee;
    std::uint32_t first_argument;  // Into pending_arguments_.
    std::uint32_t positional;
    std::uint32_t keywords;
  };

  bool is_getattr(ValueId callee, std::span<const ValueId> arguments) const;
  ValueId getattr(std::span<const ValueId> arguments, std::uint32_t offset);
  void bind(ValueId function, std::span<const ValueId> positional);
  bool find_functions(ValueId callee);
  void escape_all(std::span<const ValueId> values);

  const CodeView& code_;
  ValueGraph& graph_;
  FlowState& states_;
  Escapes& escapes_;
  CodeSummary& summary_;
  std::vector<PendingCall> pending_;
  std::vector<ValueId> pending_arguments_;
  std::vector<ValueId> functions_;  // See find_functions().
};

// Flags of how the code uses a name of co_names.
enum NameUse : std::uint8_t {
  kNameSeen = 1,      // Listed in CodeSummary::globals.
  kNameLoaded = 2,    // By LOAD_NAME.
  kNameStored = 4,    // By STORE_NAME.
  kNameDeleted = 16,  // By DELETE_NAME.
  kNameBound = 8,     // Stored before any read, so never read from globals.
};

// One analysis of one code object.
class Evaluator {
 public:
  // Fills in `summary` except `globals` and `nested`. All arguments must outlive this.
  Evaluator(const CodeView& code, const ControlFlow& flow,
            std::span<const std::uint8_t> name_uses, CodeSummary& summary);

  // False if the code has too many blocks times locals for the budget; `summary` is
  // empty then.
  Result<bool> run();

 private:
  void start_pass();
  bool run_block(std::uint32_t index);
  bool leave_block(const Block& block, const Instruction& last, std::size_t height);
  bool flow_to(std::uint32_t block, std::span<const ValueId> state);
  bool enter_handler(const Block& block);
  void finish();
  bool malformed(const char* detail);

  // False stops the run, with malformed() called or is_over_budget_ set.
  bool evaluate(const Instruction& instruction);
  bool evaluate_name(const Instruction& instruction);
  bool evaluate_local(const Instruction& instruction);
  bool evaluate_constant(const Instruction& instruction);
  bool evaluate_import(const Instruction& instruction);
  void load_name(std::uint32_t name);
  void store_local(std::uint32_t local, ValueId value);
  bool is_cell(std::uint32_t local) const;

  // Containers, calls, functions.
  bool evaluate_call(const Instruction& instruction);
  bool evaluate_display(const Instruction& instruction);
  bool evaluate_items(const Instruction& instruction);
  bool extend_container(std::size_t count, std::size_t depth);
  void push_pack(std::size_t count, PackOrder order);
  void push_map(std::size_t count, bool constant_keys);
  void unpack(ValueId value, std::size_t count);
  void unpack_rest(ValueId value, std::size_t before, std::size_t after);
  ValueId element_of(ValueId value);
  ValueId item_of(ValueId container, ValueId key);
  ValueId slice_of(ValueId container);
  void call(std::size_t argument_count, std::size_t keyword_count);
  void make_function(std::uint32_t parts);
  std::size_t keyword_count_of(std::uint32_t constant) const;

  void escape(ValueId value) { escapes_.add(value); }
  bool can_hold_module(ValueId value) const { return escapes_.can_hold_module(value); }

  // The stack; slots_ holds the locals first.
  std::size_t height() const { return slots_.size() - local_count_; }
  void push(ValueId value) { slots_.push_back(value); }
  void push_unknown(std::size_t count) {
    slots_.insert(slots_.end(), count, kUnknownValue);
  }
  ValueId peek(std::size_t depth) const { return slots_[slots_.size() - depth]; }
  ValueId pop() {
    const ValueId top = slots_.back();
    slots_.pop_back();
    return value_or_unknown(top);
  }
  void drop(std::size_t count) { slots_.resize(slots_.size() - count); }

  const CodeView& code_;
  const ControlFlow& flow_;
  std::span<const std::uint8_t> name_uses_;
  CodeSummary& summary_;
  std::size_t local_count_;
  ValueGraph graph_;
  FlowState states_;
  Escapes escapes_;
  FunctionCalls calls_;

  std::vector<ValueId> slots_;
  std::vector<ValueId> scratch_;
  std::vector<ValueId> name_unions_;        // Indexed by name; 0: none.
  std::vector<std::uint8_t> is_cell_made_;  // Indexed by local.
  const Block* block_ = nullptr;
  std::uint32_t offset_ = 0;  // The offset of the current instruction.
  std::uint32_t keyword_names_ = kNoIndex;
  bool is_over_budget_ = false;
  const char* detail_ = nullptr;
};

}  // namespace waybill::bytecode
