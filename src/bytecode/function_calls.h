#pragma once

// Nested functions that the code makes, what its calls give them, and which values
// leave the code by a way that is not followed.

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

}  // namespace waybill::bytecode
