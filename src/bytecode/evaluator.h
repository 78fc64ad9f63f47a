#pragma once

// Runs instructions on abstract values: the stack and the locals hold ValueIds.

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

  // Can anything but a scalar constant be behind it?
  bool matters(ValueId value) const;

  // A value leaves, or whatever else a place holds; once, if it matters.
  void add(ValueId value);

  // A method of a list, `mods.pop()`, gives its items away. Told at the end, when it is
  // known what is in the unions.
  void add_packs_behind_attributes();

 private:
  const ValueGraph& graph_;
  CodeSummary& summary_;
  std::vector<std::uint8_t> has_escaped_;  // By value.
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

  // The function that a code constant makes; kUnknown for any other value.
  ValueId make(ValueId code, std::uint32_t offset);

  // One of the parts of MAKE_FUNCTION and SET_FUNCTION_ATTRIBUTE.
  void set_part(ValueId function, std::uint32_t part, ValueId value);

  // What a call gives; the last `keyword_count` arguments have a keyword. What may be a
  // function or something else is judged when unions are complete.
  ValueId call(ValueId callee, std::span<const ValueId> arguments,
               std::size_t keyword_count, std::uint32_t offset);

  // Judges such calls. False: that is too much.
  bool judge_pending();

 private:
  struct Pending {
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
  std::vector<Pending> pending_;
  std::vector<ValueId> pending_arguments_;
  std::vector<ValueId> functions_;  // See find_functions().
};

// How names of co_names are used in the whole code; one byte of flags per name.
enum NameUse : std::uint8_t {
  kNameSeen = 1,      // In CodeSummary::globals.
  kNameLoaded = 2,    // By LOAD_NAME.
  kNameStored = 4,    // By STORE_NAME.
  kNameDeleted = 16,  // By DELETE_NAME.
  kNameBound = 8,     // Stored before anything could read it: never read from globals.
};

// One analysis of one code object.
class Evaluator {
 public:
  // `summary` gets all but `globals` and `nested`. All arguments must outlive this.
  Evaluator(const CodeView& code, const ControlFlow& flow,
            std::span<const std::uint8_t> name_uses, CodeSummary& summary);

  // False: the code is too big in blocks times locals to be followed at its price, and
  // `summary` holds nothing.
  // Errors: kMalformed.
  Result<bool> run();

 private:
  void start_pass();
  bool run_block(std::uint32_t index);
  bool leave_block(const Block& block, const Instruction& last, std::size_t height);
  bool arrive(std::uint32_t block, std::span<const ValueId> state);
  bool enter_handler(const Block& block);
  void finish();
  bool malformed(const char* detail);

  // False stops, with malformed() or too_much_ set.
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
  bool matters(ValueId value) const { return escapes_.matters(value); }

  // The stack; places_ holds locals first.
  std::size_t height() const { return places_.size() - local_count_; }
  void push(ValueId value) { places_.push_back(value); }
  void push_unknown(std::size_t count) {
    places_.insert(places_.end(), count, kUnknownValue);
  }
  ValueId peek(std::size_t depth) const { return places_[places_.size() - depth]; }
  ValueId pop() {
    const ValueId top = places_.back();
    places_.pop_back();
    return plain(top);
  }
  void drop(std::size_t count) { places_.resize(places_.size() - count); }

  const CodeView& code_;
  const ControlFlow& flow_;
  std::span<const std::uint8_t> name_uses_;
  CodeSummary& summary_;
  std::size_t local_count_;
  ValueGraph graph_;
  FlowState states_;
  Escapes escapes_;
  FunctionCalls calls_;

  std::vector<ValueId> places_;
  std::vector<ValueId> scratch_;
  std::vector<ValueId> name_unions_;        // By name; 0 is none.
  std::vector<std::uint8_t> is_cell_made_;  // By local.
  const Block* block_ = nullptr;
  std::uint32_t offset_ = 0;  // Of the instruction at hand.
  std::uint32_t keyword_names_ = kNoIndex;
  bool too_much_ = false;
  const char* detail_ = nullptr;
};

}  // namespace waybill::bytecode
