// Puts bodies and places together again. Inner code objects first; the stack is on the
// heap, so code nested ever so deeply is no danger.
// Tested by tests/python/test_code.py.

#include "python/code_builder.h"

#include <algorithm>

#include "bytecode/instruction.h"
#include "python/compat.h"
#include "python/graph_decoder.h"
#include "python/text.h"

namespace waybill::py {

namespace {

using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::size_t kNoPlace = static_cast<std::size_t>(-1);

Ref bytes(BytesView view) {
  return Ref::steal(
      PyBytes_FromStringAndSize(reinterpret_cast<const char*>(view.data()),
                                static_cast<Py_ssize_t>(view.size())));
}

Ref names(const std::vector<std::string_view>& views) {
  Ref tuple = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(views.size())));
  Py_ssize_t count = 0;
  for (const std::string_view view : views) {
    PyTuple_SET_ITEM(tuple.get(), count++, interned_text(view).release());
  }
  return tuple;
}

// Names of the locals whose kind has one of the bits.
Ref locals_of(const envelope::CodeFields& fields, std::uint8_t bits) {
  const BytesView kinds = fields.local_kinds;
  const auto is_one = [bits](std::uint8_t kind) { return (kind & bits) != 0; };
  Ref tuple =
      Ref::steal(PyTuple_New(std::count_if(kinds.begin(), kinds.end(), is_one)));
  Py_ssize_t count = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!is_one(kinds[i])) continue;
    PyTuple_SET_ITEM(tuple.get(), count++,
                     interned_text(fields.local_names[i]).release());
  }
  return tuple;
}

}  // namespace

CodeBuilder::CodeBuilder(const State& state, const Envelope& envelope,
                         const Limits& limits)
    : state_(state),
      envelope_(envelope),
      limits_(limits),
      bodies_(envelope.code.size()) {
  if (!envelope.code.empty()) read_places();
}

// notes = {0: [place…]}; each place is [file, line, table, [places…]] or the number of
// an earlier one.
void CodeBuilder::read_places() {
  Reader reader(envelope_.notes.bytes, limits_, envelope_.notes.offset);
  std::uint64_t count = 0;
  std::uint64_t key = 0;
  std::uint64_t uses = 0;
  if (!reader.read_map(count, "the notes")) raise(state_, reader.error());
  for (; count != 0; --count) {
    if (!reader.read_unsigned(key, UINT64_MAX, "a key of the notes")) break;
    if (key != static_cast<std::uint64_t>(wire::NotesKey::kPlaces)) {
      if (!reader.skip()) break;
      continue;
    }
    if (!reader.read_array(uses, "the places")) break;
    for (; uses != 0 && read_place(reader); --uses) {
    }
  }
  if (reader.failed()) raise(state_, reader.error());
}

bool CodeBuilder::read_place(Reader& reader) {
  // Open places, each with the number of nested ones that are still to come.
  std::vector<std::pair<std::size_t, std::uint64_t>> open;
  do {
    Token token;
    if (!reader.next(token)) return false;
    if (token.type == TokenType::kInteger && open.empty()) {
      const auto earlier = static_cast<std::size_t>(token.integer);
      if (token.integer < 0 || earlier >= place_of_use_.size()) {
        return reader.fail(ErrorCode::kBadReference, token.offset, "no such place");
      }
      place_of_use_.push_back(place_of_use_[earlier]);
      return true;
    }
    if (token.type != TokenType::kArray || token.count != 4) {
      return reader.fail(ErrorCode::kMalformed, token.offset,
                         "a place has four fields");
    }
    Place place;
    std::uint64_t line = 0;
    std::uint64_t nested = 0;
    Token file;
    if (!reader.next(file)) return false;
    if (file.type == TokenType::kText || file.type == TokenType::kExtension) {
      place.file = interned_text(file.text());
    } else if (!open.empty()) {
      place.file = places_[open.back().first].file;
    }
    if (!reader.read_unsigned(line, INT32_MAX, "a line") ||
        !reader.read_binary(place.line_table, "a line table") ||
        !reader.read_array(nested, "nested places")) {
      return false;
    }
    place.line = static_cast<std::uint32_t>(line);
    const std::size_t index = places_.size();
    if (open.empty()) {
      place_of_use_.push_back(index);
    } else {
      places_[open.back().first].nested.push_back(index);
      --open.back().second;
    }
    places_.push_back(std::move(place));
    open.emplace_back(index, nested);
    while (!open.empty() && open.back().second == 0) open.pop_back();
  } while (!open.empty());
  return true;
}

Ref CodeBuilder::next_use(std::size_t body) {
  const std::size_t use = uses_++;
  return build(body, use < place_of_use_.size() ? place_of_use_[use] : kNoPlace);
}

std::size_t CodeBuilder::body_of(BytesView hash) const {
  for (std::size_t i = 0; i < envelope_.code.size(); ++i) {
    const ContentHash& other = envelope_.code[i].hash;
    if (std::equal(hash.begin(), hash.end(), other.begin(), other.end())) return i;
  }
  raise_decode(state_, ErrorCode::kUndeclared, 0, "nested code that is not listed");
}

CodeBuilder::Body& CodeBuilder::body_at(std::size_t index) {
  Body& body = bodies_[index];
  if (body.is_read) return body;
  const CodeBody& entry = envelope_.code[index];
  Reader reader(entry.bytes, limits_, entry.offset);
  if (!envelope::read_code_body(reader, entry.bytes, body.fields)) {
    raise(state_, reader.error());
  }
  const Section& section = body.fields.constants;
  Reader constants(section.bytes, limits_, section.offset);
  Token token;
  while (!constants.at_end()) {
    if (!constants.next(token)) raise(state_, constants.error());
    if (token.type == TokenType::kExtension &&
        token.ext_type == static_cast<std::int8_t>(wire::ExtType::kCode)) {
      body.nested.push_back(body_of(token.bytes));
    }
  }
  body.is_read = true;
  return body;
}

Ref CodeBuilder::built(std::size_t body, std::size_t place) {
  if (place == kNoPlace) return bodies_[body].without_place;
  return places_[place].body == body ? places_[place].code : Ref();
}

void CodeBuilder::keep(std::size_t body, std::size_t place, const Ref& code) {
  if (place == kNoPlace) {
    bodies_[body].without_place = code;
  } else {
    places_[place].body = body;
    places_[place].code = code;
  }
}

Ref CodeBuilder::build(std::size_t body, std::size_t place) {
  struct Job {
    std::size_t body, place;
    std::vector<Ref> done;
  };
  std::vector<Job> stack;
  stack.push_back({body, place, {}});
  for (;;) {
    Job& top = stack.back();
    Ref result = built(top.body, top.place);
    if (!result) {
      const std::vector<std::size_t>& nested = body_at(top.body).nested;
      const std::size_t next = top.done.size();
      if (next < nested.size()) {
        const bool has_place =
            top.place != kNoPlace && next < places_[top.place].nested.size();
        const std::size_t inner =
            has_place ? places_[top.place].nested[next] : kNoPlace;
        stack.push_back({nested[next], inner, {}});
        continue;
      }
      static const Place kNowhere;
      const Place& where = top.place == kNoPlace ? kNowhere : places_[top.place];
      result = make(top.body, where, std::move(top.done));
      keep(top.body, top.place, result);
    }
    stack.pop_back();
    if (stack.empty()) return result;
    stack.back().done.push_back(std::move(result));
  }
}

// CPython trusts opcodes: one that only it itself may write, such as that of traced
// code, ends the process already when the code object is made.
void CodeBuilder::demand_known_opcodes(const CodeBody& entry,
                                       BytesView instructions) const {
  const auto known = bytecode::read_instructions(kPythonVersion, instructions);
  const auto start = static_cast<std::size_t>(instructions.data() - entry.bytes.data());
  if (!known) {
    raise_decode(state_, known.error().code,
                 entry.offset + start + known.error().offset, known.error().detail);
  }
  // It also writes the cache behind an instruction that has one, there or not.
  const bool ends_in_cache = instructions.size() >= 2 && instructions.end()[-2] == 0;
  if (ends_in_cache) return;
  const bool ends_well = !known->empty() &&
                         bytecode::ends_block(known->back().operation) &&
                         !is_cached_jump(instructions.end()[-2]);
  if (ends_well) return;
  raise_decode(state_, ErrorCode::kMalformed, entry.offset + start,
               "code whose last instruction does not end it");
}

Ref CodeBuilder::make(std::size_t body, const Place& place, std::vector<Ref> nested) {
  const CodeBody& entry = envelope_.code[body];
  const envelope::CodeFields& fields = body_at(body).fields;
  demand_known_opcodes(entry, fields.instructions);
  Ref constants = decode_constants(state_, fields.constants, limits_, nested);
  const Ref instructions = bytes(fields.instructions);
  const Ref all_names = names(fields.names);
  const Ref variables = locals_of(fields, kLocalPlain);
  const Ref free_names = locals_of(fields, kLocalFree);
  const Ref cells = locals_of(fields, kLocalCell);
  const Ref file = place.file ? place.file : interned_text("<waybill>");
  const Ref name = interned_text(fields.name);
  const Ref qualified = fields.qualified_name == fields.name
                            ? name
                            : interned_text(fields.qualified_name);
  const Ref line_table = bytes(place.line_table);
  const Ref exceptions = bytes(fields.exception_table);
  CodeParts parts{};
  parts.argument_count = static_cast<int>(fields.argument_count);
  parts.positional_only_count = static_cast<int>(fields.positional_only_count);
  parts.keyword_only_count = static_cast<int>(fields.keyword_only_count);
  parts.local_count = static_cast<int>(PyTuple_GET_SIZE(variables.get()));
  parts.stack_size = static_cast<int>(fields.stack_size);
  parts.flags = static_cast<int>(fields.flags);
  parts.instructions = instructions.get();
  parts.constants = constants.get();
  parts.names = all_names.get();
  parts.variable_names = variables.get();
  parts.free_names = free_names.get();
  parts.cell_names = cells.get();
  parts.file = file.get();
  parts.name = name.get();
  parts.qualified_name = qualified.get();
  parts.first_line = static_cast<int>(place.line);
  parts.line_table = line_table.get();
  parts.exception_table = exceptions.get();
  parts.local_kinds = {reinterpret_cast<const char*>(fields.local_kinds.data()),
                       fields.local_kinds.size()};
  Ref code = try_new_code(parts, entry.offset);
  if (!code) {
    raise_decode(state_, ErrorCode::kMalformed, entry.offset,
                 "kinds of locals that contradict their names");
  }
  return code;
}

Ref CodeBuilder::try_new_code(const CodeParts& parts, std::size_t offset) {
  try {
    return new_code(parts);
  } catch (const PyError&) {
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) throw;
    raise_decode(state_, ErrorCode::kMalformed, offset,
                 "code that the interpreter does not accept");
  }
}

}  // namespace waybill::py
