#pragma once

// The meaning of each opcode of CPython 3.11 to 3.15.
//
// make_opcode_table.py generates the rows from the interpreters, and dis.stack_effect
// checks them. They hold all differences between versions; analyses see only
// Operations.

#include <array>
#include <cstdint>
#include <string_view>

namespace waybill::bytecode {

// What an instruction does, as far as the walker needs it. Comments give the operands,
// the top of the stack last; `argument` is Instruction::argument.
enum class Operation : std::uint8_t {
  kUnknown,       // The version has no such opcode.
  kNotCanonical,  // Instrumented or traced; never in PyCode_GetCode's result.
  kCache,
  kExtendedArg,

  // Effects: popped values are consumed here or escape; pushed ones are new.
  kConsume,
  kEscape,
  kEscapeDeepest,    // The deepest operand escapes.
  kExtendContainer,  // Adds operands to the container `argument` deep below.
  kMatchKeys,        // Peeks at subject, keys; pushes the values of these keys.
  kIntrinsic,        // Split by the reader into kConsume and kEscape.

  kPushNull,
  kCopy,  // The value `argument` deep; 1 is the top.
  kSwap,  // The top with the value `argument` deep.

  kLoadConstant,        // constants[argument]
  kLoadInteger,         // The int `argument` itself, as two's complement.
  kLoadCommonConstant,  // Split by the reader into kLoadInteger and kConsume.

  // names[argument]
  kLoadGlobal,
  kLoadGlobalThenNull,  // Split by the reader: kLoadGlobal, kPushNull if flagged.
  kLoadName,
  kLoadDictOrGlobal,
  kStoreName,
  kDeleteName,
  kStoreGlobal,
  kDeleteGlobal,
  kLoadAttribute,
  kLoadMethod,  // Split by the reader: kLoadAttribute, kPushNull.
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

// The term of a count that depends on oparg.
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

// The values that oparg may have, without its flag bits.
enum class Operand : std::uint8_t {
  kAny,
  kConstant,     // An index into co_consts.
  kName,         // An index into co_names.
  kLocal,        // An index into co_localsplusnames.
  kByte,         // Below 256, also after EXTENDED_ARG.
  kTwoLocals,    // Two indices; the second has four bits.
  kCell,         // The index of a local that is a cell or a free variable.
  kFreeCount,    // The number of free variables.
  kChoice,       // A number whose bit is set in OpcodeRow::choices.
  kCallFollows,  // Any number; the next instruction must be a call.
};

struct OpcodeRow {
  Operation operation = Operation::kUnknown;
  Count pops;
  Count pushes;
  // Values that a conditional jump pushes when it jumps; -1 pops one more.
  std::int8_t jump_pushes = 0;
  std::uint8_t flag_bits = 0;  // Flags in the low bits of oparg.
  Jump jump = Jump::kNone;
  std::uint8_t caches = 0;      // Units of inline cache after the instruction.
  std::uint8_t jump_skips = 0;  // A jump may also end this many units later.
  Operand operand = Operand::kAny;
  std::uint64_t choices = 0;
  std::string_view name = {};  // CPython's, for messages.
};

using OpcodeTable = std::array<OpcodeRow, 256>;

// The versions that have tables: 3.11 as 311, and so on.
inline constexpr int kOldestPython = 311;
inline constexpr int kNewestPython = 315;
inline constexpr std::size_t kVersionCount = kNewestPython - kOldestPython + 1;

// The table of a version, or nullptr if it has none. Static storage.
const OpcodeTable* opcode_table(int version);

}  // namespace waybill::bytecode
