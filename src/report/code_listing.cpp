// Tested by tests/cli/test_inspect_code.py, which compares with `dis`, and
// tests/diff/diff_test.cpp; source by tests/report/source_listing_test.cpp and
// tests/cli/test_inspect_source.py.

#include "report/code_listing.h"

#include <set>

#include "bytecode/compact_code.h"
#include "bytecode/exception_entries.h"
#include "bytecode/line_table.h"
#include "format/code_body.h"
#include "format/source_units.h"
#include "text/format_text.h"
#include "wire/format.h"

namespace waybill::envelope {
namespace {

using bytecode::ListedInstruction;
using bytecode::Operand;
using wire::Reader;

// The suffix that CPython 3.13 and later add to the name; here all versions get it.
const char* null_suffix(const ListedInstruction& instruction) {
  if (!instruction.pushes_null) return "";
  return instruction.opcode == "LOAD_GLOBAL" ? " + NULL" : " + NULL|self";
}

std::vector<std::string> constants_of(const CodeFields& fields, const ValueNames& names,
                                      std::size_t max_text) {
  std::vector<std::string> constants;
  each_constant(fields.constants, [&](const Reader& constant, BytesView) {
    constants.push_back(value_text(constant, names, max_text));
  });
  return constants;
}

void add_names(const std::vector<std::string_view>& names, Json list) {
  list.make_array();
  for (std::string_view name : names) list.append() = name;
}

// Hashes of the code objects directly among the constants.
void add_nested(const Section& constants, Json nested) {
  nested.make_array();
  each_constant(constants, [&](const Reader& constant, BytesView) {
    if (const auto hash = nested_code(constant)) nested.append() = hex(*hash);
  });
}

// Adds the fields of a body. False, with an error in the model, if it is unreadable.
bool add_body(const CodeBody& body, int version, CodeFields& fields, Json model) {
  constexpr std::size_t kMaxKeys = 21;  // With those of listing and source.
  model.make_object(kMaxKeys);
  model["hash"] = hex(body.hash);
  model["offset"] = body.offset;
  model["size"] = body.bytes.size();
  Reader reader(body.bytes, Limits{}, body.offset);
  if (!read_code_body(reader, body.bytes, fields)) {
    set_error(model["error"], reader.error());
    return false;
  }
  model["name"] = std::string(fields.name);
  model["qualified_name"] = std::string(fields.qualified_name);
  model["argument_count"] = fields.argument_count;
  model["positional_only_count"] = fields.positional_only_count;
  model["keyword_only_count"] = fields.keyword_only_count;
  model["flags"] = fields.flags;
  model["stack_size"] = fields.stack_size;
  model["instruction_bytes"] = bytecode::expanded_size(version, fields.instructions);
  model["constant_count"] = fields.constant_count;
  add_names(fields.names, model["names"]);
  add_names(fields.local_names, model["local_names"]);
  add_nested(fields.constants, model["nested"]);
  return true;
}

void add_exceptions(BytesView table, std::size_t code_size, Json entries) {
  entries.make_array();
  bytecode::ExceptionReader reader(table, code_size);
  bytecode::ExceptionEntry entry;
  while (reader.next(entry)) {
    const Json model = entries.append().make_object(5);
    model["start"] = entry.start;
    model["end"] = entry.end;
    model["target"] = entry.target;
    model["depth"] = entry.depth;
    model["lasti"] = entry.pushes_last;
  }
}

void add_location(const FirstLocation& location, std::size_t max_text, Json body) {
  if (!location.is_known) return;
  body["file"] = end_of(location.file, max_text);
  body["first_line"] = location.first_line;
}

void add_listing(const CodeListing& listing, const CodeFields& fields,
                 const FirstLocation& location, std::size_t max_text, Json model) {
  add_location(location, max_text, model);
  const Json instructions = model["instructions"].make_array();
  const bytecode::CodeLines lines(location.line_table.bytes, location.first_line);
  for (const ListedInstruction& instruction : listing.instructions()) {
    const Json row = instructions.append().make_object(6);
    row["offset"] = instruction.offset;
    const std::int64_t line = lines.at(instruction.offset);
    if (location.is_known && line != 0) row["line"] = line;
    row["opcode"] = instruction.opcode;
    if (!instruction.has_argument) continue;
    row["argument"] = instruction.argument;
    const std::string meaning = listing.meaning(instruction);
    if (!meaning.empty()) row["meaning"] = meaning;
    if (instruction.is_jump) row["target"] = instruction.target;
  }
  if (!listing.verdict()) set_error(model["unreadable"], listing.verdict().error());
  add_exceptions(fields.exception_table, listing.code_size(),
                 model["exception_entries"]);
}

// Indexed by wire::UnitKind.
constexpr const char* kUnitKinds[] = {"function", "lambda", "annotate",
                                      "class_annotate", "generated"};

// The line at which the text begins. The text of a class begins below its first line.
std::uint64_t first_line_of(const SourceUnit& unit, const FirstLocation& location) {
  const bool is_below = unit.kind == wire::UnitKind::kClassAnnotate;
  return std::uint64_t{location.first_line} + unit.lines + (is_below ? 1 : 0);
}

// Units may share texts. The limit counts a text each time that it is shown.
class SourceTexts {
 public:
  explicit SourceTexts(const Sources& sources) {
    if (!sources.units.empty()) texts_ = texts_of(sources);
  }

  void add_to(Json model, const SourceUnit& unit) {
    if (!texts_) {
      set_error(model["error"], texts_.error());
    } else if (unit.length <= left_) {
      left_ -= unit.length;
      model["text"] = texts_->substr(unit.start, unit.length);
    }
  }

 private:
  Result<std::string> texts_;
  std::uint64_t left_ = wire::kMaxSourceText;
};

// Adds the source of each body that the payload uses. The source of nested code is part
// of that of the enclosing code.
void add_sources(const Envelope& envelope, const std::vector<FirstLocation>& locations,
                 std::size_t max_text, Json code) {
  const Sources sources = sources_of(envelope, sources_section(envelope));
  const std::vector<std::uint32_t> uses = code_uses_of(envelope);
  SourceTexts texts(sources);
  for (const std::uint32_t index : std::set(uses.begin(), uses.end())) {
    if (index >= envelope.code.size()) break;
    const Json body = code[index];
    const FirstLocation& location = locations[index];
    add_location(location, max_text, body);
    const Json model = body["source"];
    const SourceUnit* const unit = sources.unit_of(index);
    if (unit == nullptr) continue;
    model.make_object(4);
    model["kind"] = kUnitKinds[static_cast<std::size_t>(unit->kind)];
    model["size"] = unit->length;
    if (location.is_known) model["line"] = first_line_of(*unit, location);
    texts.add_to(model, *unit);
  }
}

}  // namespace

CodeListing::CodeListing(const CodeFields& fields, const PythonVersion& python,
                         const ValueNames& names, std::size_t max_text)
    : fields_(fields),
      max_text_(max_text),
      constants_(constants_of(fields, names, max_text)),
      code_size_(bytecode::expanded_size(version_of(python), fields.instructions)),
      verdict_(bytecode::disassemble(version_of(python), fields.instructions,
                                     instructions_)) {}

std::string CodeListing::name_at(const std::vector<std::string_view>& names,
                                 std::uint32_t index) const {
  return index < names.size() ? start_of(names[index], max_text_) : "";
}

std::string CodeListing::meaning(const ListedInstruction& instruction) const {
  if (instruction.is_jump) return format_text("to {}", instruction.target);
  switch (instruction.operand) {
    case Operand::kConstant:
      return instruction.index < constants_.size() ? constants_[instruction.index] : "";
    case Operand::kName:
      return name_at(fields_.names, instruction.index) + null_suffix(instruction);
    case Operand::kLocal:
    case Operand::kCell:
      return name_at(fields_.local_names, instruction.index);
    case Operand::kTwoLocals:
      return name_at(fields_.local_names, instruction.index >> 4) + ", " +
             name_at(fields_.local_names, instruction.index & 15);
    default:
      return bytecode::choice_text(instruction);
  }
}

void fill_code(const Envelope& envelope, const ValueNames& names,
               const ReportOptions& options, Json code) {
  code.make_array();
  std::vector<FirstLocation> locations;
  if (options.instructions || options.source) locations = first_locations(envelope);
  for (std::size_t i = 0; i < envelope.code.size(); ++i) {
    const Json model = code.append();
    CodeFields fields;
    const int version = version_of(envelope.python);
    if (!add_body(envelope.code[i], version, fields, model) || !options.instructions)
      continue;
    const CodeListing listing(fields, envelope.python, names, options.max_text);
    add_listing(listing, fields, locations[i], options.max_text, model);
  }
  if (options.source) add_sources(envelope, locations, options.max_text, code);
}

}  // namespace waybill::envelope
