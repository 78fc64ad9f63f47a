#pragma once

// Which values leave the code by a way that is not followed.

#include <cstdint>
#include <vector>

#include "bytecode/value_graph.h"

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

}  // namespace waybill::bytecode
