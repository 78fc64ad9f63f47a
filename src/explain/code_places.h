#pragma once

// The code bodies of an envelope, each read once: where they load a variable or its
// attributes, and which source travels with them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/line_table.h"
#include "format/code_body.h"
#include "format/source_locations.h"
#include "waybill/bytecode.h"
#include "waybill/envelope.h"
#include "waybill/explanation.h"

namespace waybill::envelope {

class CodeBodies {
 public:
  struct Body {
    CodeFields fields;
    std::vector<std::uint32_t> nested;   // Indices of the directly nested code bodies.
    std::vector<std::string_view> free;  // Names of its free variables.
    bool is_taken = false;
  };

  // The envelope must outlive this. Cost: linear in the bytes of its code.
  explicit CodeBodies(const Envelope& envelope);

  std::size_t size() const { return bodies_.size(); }
  const Body& operator[](std::size_t index) const { return bodies_[index]; }

  // The name of the free variable at index `cell` of __closure__; empty if there is
  // none.
  std::string_view free_variable(std::size_t code, std::uint64_t cell) const;

  // The bytes of a body and of all code nested in it, except bodies taken before.
  std::uint64_t take(std::uint64_t code);

 private:
  const Envelope& envelope_;
  std::vector<Body> bodies_;
};

// The loads of one variable, or of attributes of it, in one code body.
struct CodeUse {
  std::size_t code = 0;
  std::vector<ValueId> values;  // The first values found; empty if none are known.
  std::string expression;       // "model.w"
};

class CodePlaces {
 public:
  // Both must outlive this. Cost: linear in payload, code and debug information.
  CodePlaces(const Envelope& envelope, const CodeBodies& code);

  // The loads of a variable in a function's code, or else in its nested code. Cost:
  // linear in the length of each code body, at the first query about it.
  CodeUse loads_of(std::size_t code, std::string_view variable);

  // The first parameter of a method, from which the method reads attributes.
  CodeUse self_of(std::size_t code);

  // The loads of an attribute of the loaded values; no values if this code does not
  // read the attribute.
  CodeUse attribute_of(const CodeUse& use, std::string_view name);

  // The location of the first of these values. The expression includes all further
  // attributes in the source: "model.w.sum" for a use "model.w".
  CodePlace place_of(const CodeUse& use);

  // The location of a function; empty if `code` is not the index of a code body.
  CodePlace place_of_function(std::size_t code, std::string_view expression) const;

 private:
  struct NamedValue {
    ValueId parent;  // The value that has the attribute.
    std::string_view name;
    std::uint32_t offset;
    ValueId value;
  };
  // The first attribute that code reads from a value; 0 if there is none.
  struct FirstAttribute {
    ValueId value = 0;
    std::string_view name;
  };
  // Lookup tables for a code body. Variables are sorted by name, attributes by parent.
  struct Index {
    bool is_built = false;
    std::vector<NamedValue> variables, attributes;
    std::vector<FirstAttribute> first_attributes;  // Indexed by ValueId.
    std::vector<ValueId> self;                     // The first parameter.
    std::vector<std::uint32_t> offsets;            // Indexed by ValueId.
    bytecode::CodeLines lines;
  };

  const Index& index_of(std::size_t code);
  void add_values(const CodeBodies::Body& body, Index& index) const;
  std::vector<ValueId> loads_in(std::size_t code, std::string_view variable);

  const Envelope& envelope_;
  const CodeBodies& code_;
  std::vector<FirstLocation> locations_;
  std::vector<Index> indices_;
};

// The source that travels with the code of the payload, for other versions of Python;
// nothing if there is none, unless `is_requested`. Accepts a head that open_head()
// accepts. Cost: if there is source, one pass over payload, constants and debug
// information.
std::optional<ExplainedSource> explained_source(const Envelope& envelope,
                                                bool is_requested);

}  // namespace waybill::envelope
