// Places stand in the order in which the payload uses code, and form a tree beside the
// tree of nested code; so both are walked, as when notes are checked (notes_check.cpp).
// Nothing has been checked here.
// Tested by tests/cli/test_inspect_code.py.

#include "format/code_places.h"

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "format/code_body.h"
#include "wire/reader.h"

namespace waybill::envelope {
namespace {

using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

// Which code each function and code node of the payload has, in order.
std::vector<std::uint64_t> uses_of(const Envelope& envelope) {
  std::vector<std::uint64_t> uses;
  Reader reader(envelope.payload.bytes, Limits{}, envelope.payload.offset);
  Token token;
  while (!reader.at_end() && reader.next(token)) {
    std::uint8_t tag = 0;
    if (token.type != TokenType::kArray || token.count == 0 ||
        !reader.take_node_tag(tag)) {
      continue;
    }
    if (tag != static_cast<std::uint8_t>(NodeTag::kFunction) &&
        tag != static_cast<std::uint8_t>(NodeTag::kCode)) {
      continue;
    }
    std::uint64_t index = 0;
    if (!reader.read_unsigned(index, UINT32_MAX, "a code index")) break;
    uses.push_back(index);
  }
  return uses;
}

// Indices of the code nested directly in each body.
std::vector<std::vector<std::uint64_t>> nested_of(const Envelope& envelope) {
  std::map<ContentHash, std::uint64_t> index_of_hash;
  std::vector<std::vector<std::uint64_t>> nested;
  for (const CodeBody& body : envelope.code) {
    std::vector<std::uint64_t>& found = nested.emplace_back();
    index_of_hash.emplace(body.hash, nested.size() - 1);
    Reader reader(body.bytes, Limits{}, body.offset);
    CodeFields fields;
    if (!read_code_body(reader, body.bytes, fields)) continue;
    each_constant(fields.constants, [&](const Reader& constant, BytesView) {
      const auto bytes = nested_code(constant);
      ContentHash hash{};
      if (!bytes || bytes->size() != hash.size()) return;
      std::copy(bytes->begin(), bytes->end(), hash.begin());
      const auto known = index_of_hash.find(hash);
      if (known != index_of_hash.end()) found.push_back(known->second);
    });
  }
  return nested;
}

std::uint64_t hash_with(std::uint64_t before, const CodePlace& place) {
  const auto* file = reinterpret_cast<const std::uint8_t*>(place.file.data());
  const std::uint64_t parts[] = {before, base::hash_of({file, place.file.size()}),
                                 static_cast<std::uint64_t>(place.first_line),
                                 base::hash_of(place.lines)};
  return base::hash_of({reinterpret_cast<const std::uint8_t*>(parts), sizeof parts});
}

class Places {
 public:
  explicit Places(const Envelope& envelope)
      : reader_(envelope.notes.bytes, Limits{}, envelope.notes.offset),
        nested_(nested_of(envelope)),
        places_(envelope.code.size()) {
    for (const ImportRecord& record : envelope.manifest.imports) {
      if (file_.empty()) file_ = record.file;
    }
  }

  void run(const std::vector<std::uint64_t>& uses) {
    std::uint64_t count = 0;
    if (!find_places() || !reader_.read_array(count, "the places")) return;
    if (count != uses.size()) return;
    for (const std::uint64_t use : uses) {
      if (!place(use, {})) return;
      while (!open_.empty()) {
        Open& open = open_.back();
        if (open.next == open.end) {
          open_.pop_back();
          continue;
        }
        const std::string_view around = open.file;  // place() may move what is open.
        if (!place(nested_[open.code][open.next++], around)) return;
      }
    }
  }

  std::vector<CodePlace> take() { return std::move(places_); }

 private:
  struct Open {
    std::uint64_t code;
    std::uint64_t next;
    std::uint64_t end;
    std::string_view file;
  };

  bool find_places() {
    std::uint64_t count = 0;
    if (!reader_.read_map(count, "the notes")) return false;
    for (; count != 0; --count) {
      std::uint64_t key = 0;
      if (!reader_.read_unsigned(key, UINT32_MAX, "a key of the notes")) return false;
      if (key == static_cast<std::uint64_t>(wire::NotesKey::kPlaces)) return true;
      if (!reader_.skip()) return false;
    }
    return false;
  }

  // One place of the body `code`; `around` is the file of the code that it is nested
  // in, without data if it is in none.
  bool place(std::uint64_t code, std::string_view around) {
    Token token;
    if (code >= places_.size() || !reader_.next(token)) return false;
    if (token.type == TokenType::kInteger) return true;  // As an earlier one.
    if (token.type != TokenType::kArray || token.count != 4) return false;
    CodePlace place;
    if (!file(around, place.file)) return false;
    Token line;
    if (!reader_.next(line) || line.type != TokenType::kInteger) return false;
    place.first_line = std::clamp<std::int64_t>(line.integer, INT32_MIN, INT32_MAX);
    std::uint64_t count = 0;
    if (!reader_.read_binary(place.lines, "a line table") ||
        !reader_.read_array(count, "the nested places") ||
        count != nested_[code].size()) {
      return false;
    }
    place.is_known = true;
    CodePlace& known = places_[code];
    if (known.is_known) {
      known.later = hash_with(known.later, place);
    } else {
      known = place;
    }
    if (count != 0) open_.push_back({code, 0, count, place.file});
    return true;
  }

  bool file(std::string_view around, std::string_view& name) {
    const bool is_nested = !open_.empty();
    if (is_nested && reader_.read_nil()) {
      name = around;
      return true;
    }
    if (!is_nested && reader_.skip_byte(wire::kSameFile)) {
      name = file_;
      return true;
    }
    if (!read_any_text(reader_, name, "the file of a place")) return false;
    if (!is_nested) file_ = name;
    return true;
  }

  Reader reader_;
  std::vector<std::vector<std::uint64_t>> nested_;
  std::vector<CodePlace> places_;
  std::vector<Open> open_;
  std::string_view file_;  // Named last.
};

}  // namespace

std::vector<CodePlace> places_of(const Envelope& envelope) {
  Places places(envelope);
  places.run(uses_of(envelope));
  return places.take();
}

}  // namespace waybill::envelope
