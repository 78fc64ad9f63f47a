#pragma once

// A function or class by value as a unit of the format, or several that refer to each
// other: bytes that are the same in each payload, and what they need of it.

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

// Holds text, numbers, code of annotations and no other object of the program. Not
// changed once it is made.
struct Definition {
  // An object among those that the guards of a unit visit: which unit, and which
  // object.
  struct Place {
    std::uint32_t unit = 0, object = 0;
  };
  // A number in the bytes that counts something of the payload.
  struct Number {
    enum class Of : std::uint8_t { kReference, kModule, kCode };
    Of of;
    std::uint8_t size;         // All that the payload writes anew: so many bytes.
    std::uint32_t position;    // In the bytes.
    std::uint32_t number = 0;  // In the definition; of code in the order of bodies.
  };
  // What a reference means: an object in the bytes, or one of another definition.
  struct Target {
    static constexpr std::uint32_t kInside = UINT32_MAX;
    std::uint32_t need = kInside;  // Into `needs`,
    std::uint64_t offset = 0;      // or in the bytes.
  };
  struct Export {
    Place place;
    std::uint64_t offset;
  };
  struct Flow {
    Place function;
    Ref code;  // Of annotations; null for that of the function.
  };
  // A name that its functions have as a global, and where its value stands, which other
  // definitions may refer to.
  struct Global {
    std::string name;
    std::uint64_t start, end;
    Place place{};
  };

  std::vector<std::uint8_t> bytes;
  std::vector<Number> numbers;  // In the order of the bytes.
  std::vector<Target> targets;  // By number of the references.
  std::vector<Place> needs;     // Functions and classes of other definitions.
  std::vector<Export> exports;  // By offset.
  std::vector<Place> namespaces;
  std::vector<Global> globals;
  std::vector<ModuleUse> modules;  // By number.
  std::vector<Ref> module_values;  // Names of those that are values.
  std::vector<Flow> flows;
  std::vector<Place> code;  // The function of each use.
  // Its source, or null; and what classes have.
  std::vector<std::shared_ptr<const CodeSource>> sources;
  CodeSection::ClassSources classes;
  bool has_source = false;  // It was asked for.
};

}  // namespace waybill::py
