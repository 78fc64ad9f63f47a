#pragma once

// What a code object does with the values it loads, according to its bytecode.
//
// Works on bytes and names of any CPython from 3.11 to 3.15, on any machine and without
// Python. A CodeSummary depends only on the code object, so it can be cached as long as
// that exists.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "waybill/error.h"

namespace waybill {

// One of co_consts, as far as the analysis needs it.
struct ConstantView {
  enum class Kind : std::uint8_t { kNone, kText, kInteger, kTuple, kCode, kOther };
  Kind kind = Kind::kOther;
  std::string_view text;                // kText: UTF-8.
  std::int64_t integer = 0;             // kInteger; kOther if it does not fit.
  std::span<const ConstantView> items;  // kTuple.
};

// The parts of a code object. The views point into the caller's memory.
struct CodeView {
  // Python's version as major * 100 + minor: 311 … 315.
  int version = 0;
  // The canonical co_code, as PyCode_GetCode gives it: not specialised, not
  // instrumented, caches zeroed.
  BytesView instructions;
  BytesView exception_table;
  std::span<const std::string_view> names;        // co_names
  std::span<const std::string_view> local_names;  // co_localsplusnames
  BytesView local_kinds;                          // co_localspluskinds
  std::span<const ConstantView> constants;
  std::uint32_t argument_count = 0;  // All parameters, *args and **kw included.
};

// Index of a Value in CodeSummary::values.
using ValueId = std::uint32_t;

// One value that the code handles, described by its origin. Values form a graph:
// ValueId members refer to other values, and a kUnion may contain itself.
struct Value {
  enum class Kind : std::uint8_t {
    kUnknown,     // Anything: a call's result, arithmetic, a caught exception, …
    kConstant,    // constants[index]; None is kUnknown, and most ints are kInteger
    kInteger,     // the int `index`, as 32 bits in two's complement
    kGlobal,      // names[index], read from globals, then builtins
    kParameter,   // local_names[index] as the caller gave it
    kVariable,    // local_names[index], a cell or free variable: any value that this
                  // code, its caller's closure, or code nested in it put there
    kImport,      // what IMPORT_NAME pushes; index into CodeSummary::imports
    kImportFrom,  // names[index] of `parent`, an import
    kAttribute,   // names[index] of `parent`
    kGetattr,     // getattr(parent, operand 0[, operand 1: the default])
    kItem,        // parent[operand 0]
    kElement,     // any item of `parent`: iteration, unpacking, a missing index
    kPack,        // a display of the operands. index 0: a tuple, in this order; 1: a
                  // list or set, in any order; 2: the values of a dict
    kUnion,       // one of the operands: branches that join, loops
    kFunction,    // a function made of constants[index]
  };
  Kind kind = Kind::kUnknown;
  std::uint32_t index = 0;
  ValueId parent = 0;
  std::uint32_t first_operand = 0;  // Into CodeSummary::operands.
  std::uint32_t operand_count = 0;
  // Byte offset in co_code of the instruction that creates the value; gives its line.
  std::uint32_t offset = 0;
};

// An import statement in the body: `import a.b`, `from .a import b, c`.
struct BodyImport {
  std::uint32_t name = 0;  // Into names: "a.b"; "" in `from . import x`.
  std::uint32_t level = 0;
  // The fromlist's names as an index into constants (a tuple of kText), or kNoIndex.
  std::uint32_t from_names = 0;
  std::uint32_t offset = 0;
};

inline constexpr std::uint32_t kNoIndex = 0xffffffff;

// A store into a cell or global, where other code can read the value.
struct Store {
  std::uint32_t index = 0;  // cells: into local_names; globals: into names.
  ValueId value = 0;
};

// `value` becomes parameter `parameter` of the function made of constants[code].
struct Binding {
  std::uint32_t code = 0;
  std::uint32_t parameter = 0;
  ValueId value = 0;
};

// `value` is a default of the function made of constants[code]. Which parameter it
// belongs to depends on the nested code.
struct Default {
  std::uint32_t code = 0;
  // kNoIndex: the parameter is positional. Otherwise it is keyword-only, and its name
  // is constants[keyword_names] (kText), or the item `position` of that (kTuple).
  std::uint32_t keyword_names = kNoIndex;
  // Positional: how many positional parameters follow; 0 is the last one.
  std::uint32_t position = 0;
  ValueId value = 0;
};

// The result of summarize(). No views: indices into the CodeView's lists.
struct CodeSummary {
  std::vector<Value> values;
  std::vector<ValueId> operands;

  // Names read from, stored to or deleted from globals, each once, by first use.
  // Includes LOAD_NAME of a class body: names that it does not bind are globals.
  std::vector<std::uint32_t> globals;
  std::vector<BodyImport> imports;
  // Constants that are code objects, in order.
  std::vector<std::uint32_t> nested;

  // Values that escape the analysis, each once: into a call, a container or attribute
  // of another object, return, yield, raise. What a value is made of escapes with it:
  // the operands of a kPack or kUnion are not listed again.
  std::vector<ValueId> escapes;
  std::vector<Store> cell_stores;
  std::vector<Store> global_stores;
  std::vector<Binding> bindings;
  std::vector<Default> defaults;
};

// Analyses one code object; nested code objects are analysed separately.
//
// Errors: kMalformed (instructions that no compiler writes: an index out of range, a
// jump outside, a stack underflow), kUnknownTag (an opcode that the version does not
// have), kPythonMismatch (a version without a table). The offset is an
// index into `instructions`.
// Cost: about linear in the length of the code; microseconds for a small function.
// Code with too many branches for its number of locals is not followed: then every
// global, variable, parameter and import escapes, and attributes are of kUnknown.
// Thread-safe.
[[nodiscard]] Result<CodeSummary> summarize(const CodeView& code);

}  // namespace waybill
