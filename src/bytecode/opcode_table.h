#pragma once

// What each opcode of each CPython from 3.11 to 3.15 means to us.
//
// The rows are generated from the interpreters (make_opcode_table.py) and checked
// against dis.stack_effect. Everything that differs between versions stands in them;
// code that looks at instructions meets Operations only.

#include <array>
#include <cstdint>
#include <string_view>

namespace waybill::bytecode {

// What an instruction does, as far as the walker cares. Comments tell the operands,
// the top of the stack last; `argument` is Instruction::argument.
enum class Operation : std::uint8_t {
  kUnknown,       // The version has no such opcode.
  kNotCanonical,  // Instrumented or traced: not in what PyCode_GetCode gives.
  kCache,
  kExtendedArg,

  // Effects: pops are used up here, or leave, and pushes are new.
  kConsume,
  kEscape,
  kEscapeDeepest,    // The deepest operand leaves.
  kExtendContainer,  // Operands go into the container `argument` deep below them.
  kMatchKeys,        // Peeks at subject, keys; pushes what the subject holds there.
  kIntrinsic,        // Split by the reader into kConsume and kEscape.

  kPushNull,
  kCopy,  // Of the value `argument` deep; 1 is the top.
  kSwap,  // The top with the value `argument` deep.

  kLoadConstant,        // constants[argument]
  kLoadInteger,         // The int `argument` itself, as two's complement.
  kLoadCommonConstant,  // Split by the reader into kLoadInteger and kConsume.

  // names[argument]
  kLoadGlobal,
  kLoadGlobalThenNull,  // Reader: a kLoadGlobal, and a kPushNull when so flagged.
  kLoadName,
  kLoadDictOrGlobal,
  kStoreName,
  kDeleteName,
  kStoreGlobal,
  kDeleteGlobal,
  kLoadAttribute,
  kLoadMethod,  // kLoadAttribute, and a kPushNull.
  kStoreAttribute,
  kDeleteAttribute,
  kLoadSuperAttribute,
  kImportName,  // level, names to import
  kImportFrom,  // Peeks at the import.

  // local_names[argument]
  kLoadLocal,
  kLoadAndClearLocal,
  kStoreLocal,
  kDeleteLocal,
  kMakeCell,
  kLoadCell,
  kLoadDictOrCell,
  kStoreCell,
  kDeleteCell,
  // Two locals in one argument. The reader splits them into the above.
  kLoadLocalLoadLocal,
  kStoreLocalLoadLocal,
  kStoreLocalStoreLocal,

  kBuildTuple,
  kBuildCollection,  // list, set
  kBuildMap,
  kBuildConstantKeyMap,
  kBuildSlice,
  kUnpack,
  kUnpackRest,  // `argument`: count before, and count after << 8.
  kGetIterator,
  kForIterator,
  kForIndexedIterator,          // The iterator has an index above it.
  kBinaryOperation,             // Not a subscript.
  kBinaryOperationOrSubscript,  // Split by the reader.
  kSubscript,
  kSlice,  // container[start:stop]

  kMakeFunction,          // `argument`: flags of the parts below the code.
  kSetFunctionAttribute,  // part, function; `argument`: one of these flags.
  kLoadBuildClass,
  kKeywordNames,  // constants[argument] names the last arguments of the next call.
  kCall,          // callable and NULL or self, arguments
  kCallKeywords,  // The same, and the tuple of keyword names.
  kCallUnpacked,  // callable, NULL, arguments, keywords

  // `argument`: where to jump, as an offset in co_code.
  kJump,
  kBranch,
  kSend,  // receiver, value
  kReturn,
  kReturnConstant,
  kRaise,
  kReraise,
};

// The part of a count that depends on oparg.
enum class Term : std::uint8_t {
  kNone,
  kArgument,
  kTwiceArgument,
  kLowBit,
  kUnpackRest,
  kFunctionParts,
  kFormatSpec,
  kSliceStep,
};

// How many values: base + term(oparg).
struct Count {
  std::uint8_t base = 0;
  Term term = Term::kNone;

  std::uint64_t of(std::uint32_t argument) const;
};

enum class Jump : std::uint8_t { kNone, kForward, kBackward };

// What oparg has to be, after its flag bits.
enum class Operand : std::uint8_t {
  kAny,
  kConstant,     // An index into co_consts,
  kName,         // into co_names,
  kLocal,        // into co_localsplusnames.
  kByte,         // Below 256, also after EXTENDED_ARG.
  kTwoLocals,    // Two indices, of four bits the second.
  kCell,         // The index of a local that is a cell or a free variable.
  kFreeCount,    // How many free variables there are.
  kChoice,       // A number whose bit is set in OpcodeRow::choices.
  kCallFollows,  // Any, but the next instruction is a call.
};

struct OpcodeRow {
  Operation operation = Operation::kUnknown;
  Count pops;
  Count pushes;
  // What a conditional jump pushes when it jumps; -1 takes one more away.
  std::int8_t jump_pushes = 0;
  std::uint8_t flag_bits = 0;  // Low bits of oparg below the index.
  Jump jump = Jump::kNone;
  std::uint8_t caches = 0;      // Units of inline cache behind the instruction.
  std::uint8_t jump_skips = 0;  // Units behind the target to which it may jump, too.
  Operand operand = Operand::kAny;
  std::uint64_t choices = 0;
  std::string_view name = {};  // CPython's, for messages.
};

using OpcodeTable = std::array<OpcodeRow, 256>;

// The table of a version (311 … 315), or nullptr. Static storage.
const OpcodeTable* opcode_table(int version);

}  // namespace waybill::bytecode
