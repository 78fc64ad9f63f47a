#pragma once

// Code objects in the text form of code_text.py, and summaries as text.

#include <deque>
#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "waybill/bytecode.h"

namespace waybill::test {

// A code object and all memory its view points into.
struct CodeText {
  std::string name;
  CodeView view;
  std::vector<std::uint8_t> instructions;
  std::vector<std::uint8_t> exceptions;
  std::vector<std::uint8_t> kinds;
  std::uint32_t stack_size = 0;          // From stdlib_codes.py,
  std::vector<std::uint8_t> line_table;  // as is this.
  std::deque<std::string> texts;         // A deque does not move its items.
  std::vector<std::string_view> names;
  std::vector<std::string_view> locals;
  std::vector<ConstantView> constants;
  std::deque<std::vector<ConstantView>> tuples;
  std::vector<std::string> code_names;  // By constant; "" where there is no code.
};

// Reads code objects up to the end, or up to a line that belongs to none.
std::vector<std::unique_ptr<CodeText>> read_codes(std::istream& in);

// A value as an expression: "xml.dom", "$m" a parameter, "&m" a cell, "v[*]" any item,
// "{a | b}" a union.
std::string expression(const CodeText& code, const CodeSummary& summary, ValueId id);

// The lines of a summary, sorted by kind and text.
std::vector<std::string> listing(const CodeText& code, const CodeSummary& summary);

}  // namespace waybill::test
