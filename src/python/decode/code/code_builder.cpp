// Joins bodies and source locations, nested code objects first. The stack is on the
// heap, so deeply nested code is safe. Tested by
// tests/python/functions/test_foreign_code.py and
// tests/python/untrusted/test_untrusted_input.py.

#include "python/decode/code/code_builder.h"

#include <algorithm>
#include <numeric>

#include "bytecode/compact_code.h"
#include "format/manifest_codec.h"
#include "format/source_locations.h"
#include "python/decode/graph_decoder.h"
#include "python/runtime/compat.h"
#include "python/runtime/text.h"
#include "wire/utf8.h"

namespace waybill::py {

namespace {

using wire::Reader;
using wire::Token;
using wire::TokenType;

// A linear search through at most so many bodies is faster than sorting.
constexpr std::size_t kFewBodies = 16;

// Names of the locals whose kind has one of the bits.
Ref locals_of(const State& state, const envelope::CodeFields& fields,
              std::uint8_t bits) {
  const BytesView kinds = fields.local_kinds;
  const auto has_kind = [bits](std::uint8_t kind) { return (kind & bits) != 0; };
  Ref tuple =
      Ref::steal(PyTuple_New(std::count_if(kinds.begin(), kinds.end(), has_kind)));
  Py_ssize_t count = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!has_kind(kinds[i])) continue;
    PyTuple_SET_ITEM(tuple.get(), count++,
                     state.intern_table.get(fields.local_names[i]).release());
  }
  return tuple;
}

// The code object; null if its kinds of locals contradict their names.
Ref try_new_code(const State& state, const CodeParts& parts, std::size_t offset) {
  try {
    return new_code(parts);
  } catch (const PyError&) {
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) throw;
    raise_decode(state, ErrorCode::kMalformed, offset,
                 "code that the interpreter does not accept");
  }
}

// Makes the code object of a body, which must have passed verify(), since the
// interpreter trusts its arguments here. Throws PyError: DecodeError if names and kinds
// of locals contradict each other.
Ref make_code(const State& state, const Section& body,
              const envelope::CodeFields& fields, const Ref& constants,
              const CodeLocation& location) {
  const Ref instructions =
      new_bytes(bytecode::expand_code(kPythonVersion, fields.instructions));
  const Ref all_names = new_tuple(fields.names, [&](std::string_view name) {
    return state.intern_table.get(name);
  });
  const Ref variables = locals_of(state, fields, kLocalPlain);
  const Ref free_names = locals_of(state, fields, kLocalFree);
  const Ref cells = locals_of(state, fields, kLocalCell);
  const Ref file = location.file ? location.file : state.intern_table.get("<waybill>");
  const Ref name = state.intern_table.get(fields.name);
  const Ref qualified = fields.qualified_name == fields.name
                            ? name
                            : state.intern_table.get(fields.qualified_name);
  const Ref line_table = new_bytes(location.line_table);
  const Ref exceptions = new_bytes(fields.exception_table);
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
  parts.first_line = static_cast<int>(location.line);
  parts.line_table = line_table.get();
  parts.exception_table = exceptions.get();
  parts.local_kinds = wire::as_text(fields.local_kinds);
  Ref code = try_new_code(state, parts, body.offset);
  if (code) return code;
  raise_decode(state, ErrorCode::kMalformed, body.offset,
               "kinds of locals that contradict their names");
}

}  // namespace

CodeBuilder::CodeBuilder(const State& state, const VerifiedEnvelope& envelope,
                         const Limits& limits)
    : state_(state),
      envelope_(envelope),
      limits_(limits),
      is_foreign_(!(envelope->python == state.python)) {}

void CodeBuilder::read_locations() {
  bodies_.resize(envelope_.code.size());
  locations_.reserve(bodies_.size());
  locations_by_use_.reserve(bodies_.size());
  Reader reader(envelope_.debug_info.bytes, limits_, envelope_.debug_info.offset);
  envelope::SourceLocationReader locations(reader,
                                           envelope::first_file(envelope_.manifest));
  envelope::SourceLocation read;
  std::vector<std::size_t> enclosing;
  std::size_t after_file = 0;
  while (locations.next(read)) {
    enclosing.resize(read.depth);
    const bool is_outer = enclosing.empty();
    std::vector<std::size_t>& siblings =
        is_outer ? locations_by_use_ : locations_[enclosing.back()].nested;
    if (read.is_repeat) {
      siblings.push_back(locations_by_use_[read.earlier]);
    } else {
      siblings.push_back(locations_.size());
      enclosing.push_back(locations_.size());
      Location& location = locations_.emplace_back();  // May move `siblings`.
      location.file = read.file;
      Ref file;
      if (read.file.data() != nullptr) file = state_.intern_table.get(read.file);
      location.where = {std::move(file), read.first_line, read.line_table.bytes};
    }
    if (is_outer) after_file = read.after_file;
    if (!enclosing.empty() && locations.is_whole()) {
      locations_[enclosing.front()].lines = envelope_.debug_info.bytes.subspan(
          after_file - envelope_.debug_info.offset, reader.offset() - after_file);
    }
  }
  if (reader.failed()) raise(state_, reader.error());
  has_sources_ = !locations.sources().bytes.empty();
}

std::size_t CodeBuilder::next_location() {
  if (bodies_.empty()) read_locations();
  const std::size_t use = use_count_++;
  return use < locations_by_use_.size() ? locations_by_use_[use] : kNoLocation;
}

const CodeBuilder::Location& CodeBuilder::location_at(std::size_t location) const {
  static const Location kUnknownLocation;
  return location == kNoLocation ? kUnknownLocation : locations_[location];
}

Ref CodeBuilder::next_use(std::size_t body) {
  const std::size_t location = next_location();
  if (is_foreign_) return foreign_use(body, location);
  if (location == kNoLocation) return build(body, kNoLocation);
  if (Ref code = find_built(body, location)) return code;
  const CodeKey key = code_key(envelope_.code[body].hash, locations_[location].file,
                               locations_[location].lines);
  Ref cached = state_.code_cache.find(key);
  // If the cached code was received without source, and now has source, a new code
  // object is made. Code of this process is reused: it needs no source.
  const bool lacks_source = cached && has_sources_ &&
                            state_.code_cache.was_received(key) &&
                            unit_compiler().adds_source(body, cached.get());
  if (cached && !lacks_source) {
    store(body, location, cached);  // The cache may replace it.
    return cached;
  }
  const std::size_t built_before = built_bytes_;
  Ref code = build(body, location);
  if (has_sources_) unit_compiler().attach_source(body, code.get());
  state_.code_cache.hold(key, code.get(), built_bytes_ - built_before);
  return code;
}

UnitCompiler& CodeBuilder::unit_compiler() {
  if (!unit_compiler_) unit_compiler_.emplace(state_, envelope_);
  return *unit_compiler_;
}

Ref CodeBuilder::foreign_use(std::size_t body, std::size_t number) {
  if (Ref code = find_built(body, number)) return code;
  const Location& location = location_at(number);
  const CodeKey key =
      code_key(unit_compiler().key_of(body), location.file, location.lines);
  Ref code = state_.code_cache.find(key);
  if (!code) {
    code = unit_compiler().compile(body, body_at(body).fields, location.where);
    state_.code_cache.hold(key, code.get(), unit_compiler().size_of(body));
  }
  store(body, number, code);
  return code;
}

Ref CodeBuilder::describe_next_use(std::size_t body) {
  const CodeLocation& where = location_at(next_location()).where;
  const envelope::CodeFields& fields = body_at(body).fields;
  return new_tuple({new_text(fields.name), new_text(fields.qualified_name),
                    signature_of(fields), unit_compiler().unit_or_none(body),
                    where.file ? where.file : Ref::share(Py_None),
                    Ref::steal(PyLong_FromUnsignedLong(where.line))});
}

void CodeBuilder::compile_all(std::span<const std::uint32_t> uses) {
  for (const std::uint32_t body : uses) next_use(body);
  use_count_ = 0;
}

Ref CodeBuilder::closure_for(PyObject* code, std::size_t body, PyObject* cells) {
  const std::vector<std::string_view> names =
      envelope::free_names_of(body_at(body).fields);
  const Ref wanted = Ref::steal(PyCode_GetFreevars(as_code(code)));
  return new_tuple(items_of(wanted.get()), [&](PyObject* free) {
    Ref storage;
    const std::string_view name = utf8_of(free, storage);
    const auto place =
        static_cast<Py_ssize_t>(std::ranges::find(names, name) - names.begin());
    if (place < PyTuple_GET_SIZE(cells)) {
      return Ref::share(PyTuple_GET_ITEM(cells, place));
    }
    raise_decode(state_, ErrorCode::kMalformed, envelope_.code[body].offset,
                 "source that needs a cell that the function does not have");
  });
}

std::size_t CodeBuilder::body_of(BytesView hash) {
  const std::vector<CodeBody>& code = envelope_.code;
  const auto has_hash = [&](const CodeBody& body) {
    return std::ranges::equal(body.hash, hash);
  };
  if (code.size() <= kFewBodies) {
    const auto found = std::ranges::find_if(code, has_hash);
    if (found != code.end()) return static_cast<std::size_t>(found - code.begin());
  } else {
    sort_bodies();
    const auto found = std::ranges::partition_point(by_hash_, [&](std::size_t index) {
      return std::ranges::lexicographical_compare(code[index].hash, hash);
    });
    if (found != by_hash_.end() && has_hash(code[*found])) return *found;
  }
  raise_decode(state_, ErrorCode::kUndeclared, 0,
               "nested code that the code section does not have");
}

void CodeBuilder::sort_bodies() {
  if (!by_hash_.empty()) return;
  by_hash_.resize(envelope_.code.size());
  std::iota(by_hash_.begin(), by_hash_.end(), std::size_t{0});
  std::ranges::sort(by_hash_, {}, [&](std::size_t index) -> const ContentHash& {
    return envelope_.code[index].hash;
  });
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
    if (token.is(wire::ExtType::kCode)) {
      body.nested.push_back(body_of(token.bytes));
    }
  }
  body.is_read = true;
  return body;
}

Ref CodeBuilder::find_built(std::size_t body, std::size_t location) {
  if (location == kNoLocation) return bodies_[body].without_location;
  return locations_[location].body == body ? locations_[location].code : Ref();
}

void CodeBuilder::store(std::size_t body, std::size_t location, const Ref& code) {
  if (location == kNoLocation) {
    bodies_[body].without_location = code;
  } else {
    locations_[location].body = body;
    locations_[location].code = code;
  }
}

Ref CodeBuilder::build(std::size_t body, std::size_t location) {
  struct Job {
    std::size_t body, location;
    std::vector<Ref> done;
  };
  std::vector<Job> stack;
  stack.push_back({body, location, {}});
  for (;;) {
    Job& top = stack.back();
    Ref result = find_built(top.body, top.location);
    if (!result) {
      const std::vector<std::size_t>& nested = body_at(top.body).nested;
      const std::size_t next = top.done.size();
      if (next < nested.size()) {
        const bool has_location = top.location != kNoLocation &&
                                  next < locations_[top.location].nested.size();
        const std::size_t inner =
            has_location ? locations_[top.location].nested[next] : kNoLocation;
        stack.push_back({nested[next], inner, {}});
        continue;
      }
      result = make(top.body, location_at(top.location), std::move(top.done));
      store(top.body, top.location, result);
    }
    stack.pop_back();
    if (stack.empty()) return result;
    stack.back().done.push_back(std::move(result));
  }
}

Ref CodeBuilder::make(std::size_t body, const Location& location,
                      std::vector<Ref> nested) {
  const CodeBody& entry = envelope_.code[body];
  built_bytes_ += entry.bytes.size();
  const envelope::CodeFields& fields = body_at(body).fields;
  const Ref constants = decode_constants(state_, fields.constants, limits_, nested);
  return make_code(state_, {entry.offset, entry.bytes}, fields, constants,
                   location.where);
}

}  // namespace waybill::py
