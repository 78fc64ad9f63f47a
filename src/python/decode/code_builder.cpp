// Puts bodies and places together again. Inner code objects first; the stack is on the
// heap, so code nested ever so deeply is no danger.
// Tested by tests/python/functions/test_foreign_code.py.

#include "python/decode/code_builder.h"

#include <algorithm>
#include <numeric>

#include "format/manifest_codec.h"
#include "python/decode/graph_decoder.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::size_t kNoPlace = static_cast<std::size_t>(-1);

// So many bodies are looked through faster than they are sorted.
constexpr std::size_t kFewBodies = 16;

}  // namespace

CodeBuilder::CodeBuilder(const State& state, const VerifiedEnvelope& envelope,
                         const Limits& limits)
    : state_(state), envelope_(envelope), limits_(limits) {}

// Reads the places: notes = {0: [place…]}, each place is [file, line, table, [places…]]
// or the number of an earlier one.
void CodeBuilder::start() {
  bodies_.resize(envelope_.code.size());
  file_ = envelope::first_file(envelope_.manifest);
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
  std::size_t lines = 0;
  const std::size_t index_here = places_.size();
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
      place.file = file.text();
    } else {
      place.file = open.empty() ? file_ : places_[open.back().first].file;
    }
    place.where.file = state_.intern_table.get_or_null(place.file);
    if (open.empty()) {
      file_ = place.file;
      lines = reader.offset();
    }
    if (!reader.read_unsigned(line, INT32_MAX, "a line") ||
        !reader.read_binary(place.where.line_table, "a line table") ||
        !reader.read_array(nested, "nested places")) {
      return false;
    }
    place.where.line = static_cast<std::uint32_t>(line);
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
  places_[index_here].lines = envelope_.notes.bytes.subspan(
      lines - envelope_.notes.offset, reader.offset() - lines);
  return true;
}

Ref CodeBuilder::next_use(std::size_t body) {
  if (bodies_.empty()) start();
  const std::size_t use = uses_++;
  if (use >= place_of_use_.size()) return build(body, kNoPlace);
  const std::size_t place = place_of_use_[use];
  if (Ref code = built(body, place)) return code;
  const CodeKey key =
      code_key(envelope_.code[body].hash, places_[place].file, places_[place].lines);
  if (Ref known = state_.known_codes.find(key)) {
    keep(body, place, known);  // Another may take its place there.
    return known;
  }
  const std::size_t built_before = built_bytes_;
  Ref code = build(body, place);
  state_.known_codes.hold(key, code.get(), built_bytes_ - built_before);
  return code;
}

std::size_t CodeBuilder::body_of(BytesView hash) {
  const std::vector<CodeBody>& code = envelope_.code;
  const auto is_it = [&](const CodeBody& body) {
    return std::ranges::equal(body.hash, hash);
  };
  if (code.size() <= kFewBodies) {
    const auto found = std::ranges::find_if(code, is_it);
    if (found != code.end()) return static_cast<std::size_t>(found - code.begin());
  } else {
    sort_bodies();
    const auto found = std::ranges::partition_point(by_hash_, [&](std::size_t index) {
      return std::ranges::lexicographical_compare(code[index].hash, hash);
    });
    if (found != by_hash_.end() && is_it(code[*found])) return *found;
  }
  raise_decode(state_, ErrorCode::kUndeclared, 0, "nested code that is not listed");
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

Ref CodeBuilder::make(std::size_t body, const Place& place, std::vector<Ref> nested) {
  const CodeBody& entry = envelope_.code[body];
  built_bytes_ += entry.bytes.size();
  const envelope::CodeFields& fields = body_at(body).fields;
  const Ref constants = decode_constants(state_, fields.constants, limits_, nested);
  return make_code(state_, {entry.offset, entry.bytes}, fields, constants, place.where);
}

}  // namespace waybill::py
