// What is left when blocks times locals is beyond the budget: an over-approximation
// that needs no states. A consumer that treats escapes as it must (any attribute name
// may be applied to them) finds all it would have found, and more.
// Tested by tests/bytecode/summarize_test.cpp.

#include "bytecode/coarse_summary.h"

#include "bytecode/value_graph.h"

namespace waybill::bytecode {
namespace {

class Collector {
 public:
  Collector(const CodeView& code, CodeSummary& summary)
      : code_(code), summary_(summary) {}

  Result<void> collect(std::span<const Instruction> instructions) {
    summary_ = CodeSummary{};
    for (std::uint32_t i = 0; i < code_.argument_count; ++i) {
      give_away(Value::Kind::kParameter, i, kUnknownValue);
    }
    for (std::uint32_t i = 0; i < code_.constants.size(); ++i) {
      if (code_.constants[i].kind == ConstantView::Kind::kCode) {
        give_away(Value::Kind::kFunction, i, kUnknownValue);
      }
      // It may be what getattr() asks for.
      if (code_.constants[i].kind == ConstantView::Kind::kText) {
        const ValueId text = graph_.make(Value::Kind::kConstant, i, 0, 0);
        graph_.make(Value::Kind::kGetattr, 0, 0, 0, std::span(&text, 1));
      }
    }
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      offset_ = instructions[i].offset;
      if (!add(instructions, i)) {
        return tl::unexpected(
            Error{ErrorCode::kMalformed, offset_, "no such name, local or constant"});
      }
    }
    graph_.move_into(summary_);
    return {};
  }

 private:
  void give_away(Value::Kind kind, std::uint32_t index, ValueId parent) {
    const std::size_t before = graph_.size();
    const ValueId value = graph_.make(kind, index, parent, offset_);
    if (value >= before) summary_.escapes.push_back(value);
  }

  // False: an index is out of range.
  bool add(std::span<const Instruction> instructions, std::size_t i) {
    const std::uint32_t index = instructions[i].argument;
    switch (instructions[i].operation) {
      case Operation::kLoadGlobal:
      case Operation::kLoadName:
      case Operation::kLoadDictOrGlobal:
        if (index >= code_.names.size()) return false;
        give_away(Value::Kind::kGlobal, index, kUnknownValue);
        return true;
      case Operation::kLoadCell:
      case Operation::kLoadDictOrCell:
        if (index >= code_.local_names.size()) return false;
        give_away(Value::Kind::kVariable, index, kUnknownValue);
        return true;
      case Operation::kLoadAttribute:
        if (index >= code_.names.size()) return false;
        graph_.make(Value::Kind::kAttribute, index, kUnknownValue, offset_);
        return true;
      case Operation::kImportFrom:
        if (index >= code_.names.size()) return false;
        give_away(Value::Kind::kImportFrom, index, last_import_);
        last_import_ = static_cast<ValueId>(graph_.size() - 1);
        return true;
      case Operation::kImportName:
        return index < code_.names.size() && add_import(instructions, i);
      default:
        return true;
    }
  }

  // The two loads before an import are its level and its names: so compilers write it.
  bool add_import(std::span<const Instruction> instructions, std::size_t i) {
    BodyImport import;
    import.name = instructions[i].argument;
    import.from_names = kNoIndex;
    import.offset = offset_;
    if (i >= 2) {
      const Instruction& level = instructions[i - 2];
      const Instruction& names = instructions[i - 1];
      if (level.operation == Operation::kLoadInteger) import.level = level.argument;
      if (const ConstantView* constant = constant_of(level)) {
        import.level = static_cast<std::uint32_t>(constant->integer);
      }
      const ConstantView* constant = constant_of(names);
      if (constant != nullptr && constant->kind == ConstantView::Kind::kTuple) {
        import.from_names = names.argument;
      }
    }
    summary_.imports.push_back(import);
    last_import_ = static_cast<ValueId>(graph_.size());
    give_away(Value::Kind::kImport,
              static_cast<std::uint32_t>(summary_.imports.size() - 1), kUnknownValue);
    return true;
  }

  const ConstantView* constant_of(const Instruction& instruction) const {
    if (instruction.operation != Operation::kLoadConstant) return nullptr;
    if (instruction.argument >= code_.constants.size()) return nullptr;
    return &code_.constants[instruction.argument];
  }

  const CodeView& code_;
  CodeSummary& summary_;
  ValueGraph graph_;
  ValueId last_import_ = kUnknownValue;
  std::uint32_t offset_ = 0;
};

}  // namespace

Result<void> summarize_coarsely(const CodeView& code,
                                std::span<const Instruction> instructions,
                                CodeSummary& summary) {
  return Collector(code, summary).collect(instructions);
}

}  // namespace waybill::bytecode
