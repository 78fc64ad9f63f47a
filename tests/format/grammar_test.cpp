// The table of shapes and docs/wire_format.md say the same, and the cursor tells of
// each value what the table says.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "format/payload_cursor.h"
#include "format/random_payload.h"

namespace waybill::envelope {
namespace {

using samples::Bytes;
using wire::NodeTag;

// As the page's grammar writes what a rule asks for.
std::string grammar_of(Rule rule) {
  switch (rule) {
    case Rule::kObject:
      return "object";
    case Rule::kObjectOrEmpty:
      return "content";
    case Rule::kText:
      return "string";
    case Rule::kTextOrNil:
      return "string|nil";
    case Rule::kBoolean:
      return "boolean";
    case Rule::kBinary:
      return "bin";
    case Rule::kIdOrNil:
      return "bin|nil";
    case Rule::kUnsigned:
    case Rule::kCodeIndex:
      return "uint";
    case Rule::kModuleOrNil:
      return "ext(kModule)|nil";
    case Rule::kNamespace:
      return "namespace";
    case Rule::kCell:
      return "cell";
    case Rule::kPairs:
      return "{object: object}";
    case Rule::kNamedObjects:
      return "{string: object}";
    case Rule::kFunctionFields:
      return "{field: value}";
    default:
      return "[" + grammar_of(contents_of(rule).odd) + "*]";
  }
}

std::string grammar_of(const Shape& shape) {
  if (shape.max_count == kMany) return grammar_of(shape.parts[0].rule) + "*";
  std::string text;
  for (std::size_t i = 0; i < shape.max_count; ++i) {
    if (i != 0) text += ' ';
    text += grammar_of(shape.parts[i].rule);
    if (i >= shape.min_count) text += '?';
  }
  return text;
}

// By the number in the second cell of each row below this heading, the third cell.
std::map<int, std::string> table_below(const std::string& heading) {
  std::ifstream page(WAYBILL_TESTS_DIR "/../docs/wire_format.md");
  std::map<int, std::string> rows;
  bool is_here = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("#")) is_here = line == heading;
    if (!is_here || !line.starts_with("| `")) continue;
    std::string cells[3];
    std::size_t cell = 0;
    for (std::size_t i = 1; i < line.size() && cell < 3; ++i) {
      if (line[i] == '|' && line[i - 1] != '\\') {
        ++cell;
      } else if (line[i] != '`' && line[i] != '\\') {
        cells[cell] += line[i];
      }
    }
    rows[std::stoi(cells[1])] = cells[2].substr(1, cells[2].size() - 2);
  }
  return rows;
}

TEST(Grammar, IsThatOfThePage) {
  const std::map<int, std::string> rows = table_below("### Node tags");

  for (const Shape& shape : kShapes) {
    const auto row = rows.find(static_cast<int>(shape.tag));
    ASSERT_NE(row, rows.end()) << shape.name;
    EXPECT_EQ(row->second, grammar_of(shape)) << shape.name;
  }
  EXPECT_EQ(rows.size(), kShapes.size());
}

TEST(Grammar, OfFunctionFieldsIsThatOfThePage) {
  const std::map<int, std::string> rows = table_below("### Function fields");

  for (std::size_t field = 0; field < kFunctionParts.size(); ++field) {
    const auto row = rows.find(static_cast<int>(field));
    ASSERT_NE(row, rows.end()) << field;
    EXPECT_EQ(row->second, grammar_of(function_part(field)->rule)) << field;
  }
  EXPECT_EQ(rows.size(), kFunctionParts.size());
}

TEST(Grammar, KnowsPositionsByName) {
  static_assert(position_of(NodeTag::kFunction, "closure") == 2);
  static_assert(position_of(NodeTag::kClass, "home_state") == 6);
  EXPECT_EQ(part_name(static_cast<std::uint8_t>(NodeTag::kObject), 5), "setter");
}

// One line for each event: what it is, how deep, by which rule and as which part.
std::string told(const wire::Writer& payload) {
  PayloadCursor<> cursor((wire::Reader(payload.view())));
  std::ostringstream out;
  while (cursor.next()) {
    const bool is_leaf = cursor.event() == CursorEvent::kLeaf;
    const std::size_t depth = cursor.open().size() - (is_leaf ? 0 : 1);
    out << std::string(depth, ' ');
    if (cursor.event() == CursorEvent::kClose) {
      out << "end\n";
      continue;
    }
    out << (is_leaf ? "leaf: " : "open: ") << describe(cursor.rule());
    if (cursor.part() != nullptr) out << " (" << cursor.part()->name << ')';
    out << '\n';
  }
  if (cursor.reader().failed()) out << "error\n";
  return out.str();
}

TEST(PayloadCursor, TellsWhatTheGrammarSaysOfEachValue) {
  wire::Writer out;
  out.node(NodeTag::kFunction, 4);
  out.unsigned_integer(0);
  out.index(wire::ExtType::kReference, 0);
  out.array(1);
  out.node(NodeTag::kCell, 0);
  out.map(1);
  out.unsigned_integer(1);
  out.array(1);
  out.nil();

  EXPECT_EQ(told(out),
            "open: an object\n"
            " leaf: an index into the code section (code)\n"
            " leaf: a namespace or a reference to one (namespace)\n"
            " open: an array (closure)\n"
            "  open: a cell without content or a reference to one\n"
            "  end\n"
            " end\n"
            " open: a map of function fields (fields)\n"
            "  leaf: an integer that is not negative\n"
            "  open: an array (closure)\n"
            "   leaf: an object\n"
            "  end\n"
            " end\n"
            "end\n");
}

TEST(PayloadCursor, TakesWhatTheGrammarDoesNotKnowForObjects) {
  wire::Writer out;
  out.node(static_cast<NodeTag>(99), 2);
  out.nil();
  out.node(NodeTag::kByteArray, 2);  // One too many.
  out.binary({});
  out.nil();

  EXPECT_EQ(told(out),
            "open: an object\n"
            " leaf: an object\n"
            " open: an object\n"
            "  leaf: binary (bytes)\n"
            "  leaf: an object\n"
            " end\n"
            "end\n");
}

TEST(PayloadCursor, StopsWhereThePayloadCannotBeRead) {
  wire::Writer out;
  out.array(2);
  out.nil();

  EXPECT_EQ(told(out), "error\n");
}

}  // namespace
}  // namespace waybill::envelope
