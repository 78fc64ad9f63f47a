#pragma once

// The code bodies of an envelope, each read once; where they name a variable, and
// attributes of it; and what source travels beside them.

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

class CodeBook {
 public:
  struct Body {
    CodeFields fields;
    std::vector<std::uint32_t> nested;   // Indices of the code directly in it.
    std::vector<std::string_view> free;  // Names of its free variables.
    bool is_taken = false;
  };

  // The envelope must outlive this. Cost: by the bytes of its code.
  explicit CodeBook(const Envelope& envelope);

  std::size_t size() const { return bodies_.size(); }
  const Body& operator[](std::size_t index) const { return bodies_[index]; }

  // The name of the free variable that has this place in __closure__; empty if there
  // is none.
  std::string_view free_variable(std::size_t code, std::uint64_t place) const;

  // Bytes of a body and of all code in it, without what was taken before.
  std::uint64_t take(std::uint64_t code);

 private:
  const Envelope& envelope_;
  std::vector<Body> bodies_;
};

// The loads of one variable, or of attributes of it, in one code body.
struct CodeUse {
  std::size_t code = 0;
  std::vector<ValueId> values;  // The first ones. Empty: nothing is known.
  std::string expression;       // "model.w"
};

class CodePlaces {
 public:
  // Both must outlive this. Cost: by payload, code and debug information.
  CodePlaces(const Envelope& envelope, const CodeBook& code);

  // The loads of a variable in a function's code, or else in that nested in it. Cost:
  // the first time that a code body is asked about, by its length.
  CodeUse loads_of(std::size_t code, std::string_view variable);

  // The first parameter of a method: what its attributes are asked of.
  CodeUse self_of(std::size_t code);

  // The attribute of what was loaded; no values if this code does not ask for it.
  CodeUse attribute_of(const CodeUse& use, std::string_view name);

  // Where the first of these values is made, with all attributes that the source goes
  // on with: "model.w.sum" of a use that is "model.w".
  CodePlace place_of(const CodeUse& use);

  // Where a function begins; nothing of what is none.
  CodePlace place_of_function(std::size_t code, std::string_view expression) const;

 private:
  struct Named {
    ValueId parent;  // Of an attribute.
    std::string_view name;
    std::uint32_t offset;
    ValueId value;
  };
  // The first attribute that is asked of a value; 0: none is.
  struct Next {
    ValueId value = 0;
    std::string_view name;
  };
  // What is known of a code body, in order: variables by name, attributes by parent.
  struct Index {
    bool is_made = false;
    std::vector<Named> variables, attributes;
    std::vector<Next> next;              // Of each value.
    std::vector<ValueId> self;           // The first parameter.
    std::vector<std::uint32_t> offsets;  // Of each value.
    bytecode::CodeLines lines;
  };

  const Index& index_of(std::size_t code);
  void add_values(const CodeBook::Body& body, Index& index) const;
  std::vector<ValueId> loads_in(std::size_t code, std::string_view variable);

  const Envelope& envelope_;
  const CodeBook& code_;
  std::vector<FirstLocation> locations_;
  std::vector<Index> indices_;
};

// What travels beside the code that the payload uses, for other versions of Python;
// nothing if no source travels, unless it was asked for. Needs no more than a head that
// open_head() takes. Cost: a pass over payload, constants and debug information, if
// there is source.
std::optional<ExplainedSource> explained_source(const Envelope& envelope,
                                                bool is_asked_for);

}  // namespace waybill::envelope
