#pragma once

// A function or class by value as a unit of the format, or several that refer to each
// other: bytes that are the same in each payload, and what they need of the payload.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "python/encode/code/code_encoder.h"
#include "python/runtime/ref.h"
#include "python/walker/code_info.h"
#include "python/walker/import_collector.h"

namespace waybill::py {

// Holds no objects of the program but text, numbers, and code of annotations. Immutable
// once it is made.
struct Definition {
  // An object that the guards of the definition's units visit.
  struct VisitedIndex {
    std::uint32_t unit = 0, object = 0;
  };
  // A number in the bytes that is another one in each payload.
  struct Number {
    enum class Of : std::uint8_t { kReference, kModule, kCode };
    Of of;
    std::uint8_t size;         // Bytes of its token, which the payload replaces.
    std::uint32_t position;    // The offset of the token in the bytes.
    std::uint32_t number = 0;  // Local number; for code, in the order of bodies.
  };
  // The node to which a reference refers: one in the bytes, or one of another
  // definition.
  struct Referent {
    static constexpr std::uint32_t kInside = UINT32_MAX;
    std::uint32_t need = kInside;  // Index in `needs`.
    std::uint64_t offset = 0;      // In the bytes, if `need` is kInside.
  };
  struct Export {
    VisitedIndex object;
    std::uint64_t offset;
  };
  struct Flow {
    VisitedIndex function;
    Ref code;  // The code of annotations; null: that of the function.
  };
  // The value of a global of its functions, to which other definitions may refer.
  struct Global {
    std::string name;
    std::uint64_t start, end;  // Offsets of the value in the bytes.
    VisitedIndex object{};
  };

  std::vector<std::uint8_t> bytes;
  std::vector<Number> numbers;      // In the order of the bytes.
  std::vector<Referent> referents;  // By number of the references.
  std::vector<VisitedIndex> needs;  // Functions and classes of other definitions.
  std::vector<Export> exports;      // By offset.
  std::vector<VisitedIndex> namespaces;
  std::vector<Global> globals;
  std::vector<ModuleUse> modules;  // By number.
  std::vector<Ref> module_values;  // Names of the modules that are values.
  std::vector<Flow> flows;
  std::vector<VisitedIndex> code;  // The function of each use of code.
  std::vector<std::shared_ptr<const CodeSource>> sources;  // For each use; or null.
  CodeSection::ClassSources classes;
};

}  // namespace waybill::py
