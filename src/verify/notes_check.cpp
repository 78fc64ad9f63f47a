// Places form a tree beside the tree of nested code, so both are walked together, with
// a stack of the code bodies whose nested code is not done yet.
// Tested by tests/verify/verify_test.cpp.

#include "verify/notes_check.h"

#include <string>

#include "format/code_body.h"
#include "verify/code_soundness.h"
#include "wire/format.h"

namespace waybill::envelope {
namespace {

using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::uint64_t kPlaceLength = 4;

class PlacesCheck {
 public:
  PlacesCheck(Reader& reader, const CodeUses& code)
      : reader_(reader), code_(code), has_file_(code.has_file) {}

  bool run() {
    const std::size_t offset = reader_.offset();
    std::uint64_t count = 0;
    if (!reader_.read_array(count, "the places")) return false;
    if (count != code_.uses.size()) {
      return fail(offset, std::to_string(count) + " places for " +
                              std::to_string(code_.uses.size()) + " uses of code");
    }
    for (done_ = 0; done_ < count; ++done_) {
      if (!place(code_.uses[done_], false)) return false;
      while (!open_.empty()) {
        Open& open = open_.back();
        const std::vector<std::uint32_t>& nested = code_.nested[open.code];
        if (open.next == nested.size()) {
          open_.pop_back();
        } else if (!place(nested[open.next++], true)) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  struct Open {
    std::uint32_t code;
    std::size_t next;
  };

  bool fail(std::size_t offset, std::string detail) {
    return reader_.fail(ErrorCode::kMalformed, offset, std::move(detail));
  }

  // One place of the code body `code`; the places nested in it are left to run().
  bool place(std::uint32_t code, bool is_nested) {
    Token token;
    if (!reader_.next(token)) return false;
    if (token.type == TokenType::kInteger) {
      const bool is_same = token.integer >= 0 &&
                           static_cast<std::uint64_t>(token.integer) < done_ &&
                           code_.uses[static_cast<std::size_t>(token.integer)] == code;
      return is_same || fail(token.offset, "a place repeats one of other code");
    }
    if (token.type != TokenType::kArray || token.count != kPlaceLength) {
      return fail(token.offset, "a place has file, line, line table and nested places");
    }
    return file(is_nested) && lines(code) && nested_places(code);
  }

  bool file(bool is_nested) {
    if (is_nested && reader_.read_nil()) return true;
    if (!is_nested && has_file_ && reader_.skip_byte(wire::kSameFile)) return true;
    has_file_ = has_file_ || !is_nested;
    std::string_view name;
    return read_any_text(reader_, name, "the file of a place");
  }

  bool lines(std::uint32_t code) {
    Token token;
    if (!reader_.next(token)) return false;
    if (token.type != TokenType::kInteger || token.integer < 0 ||
        token.integer > INT32_MAX) {
      return fail(token.offset, "the first line of a place should be a small integer");
    }
    Section table;
    if (!reader_.read_binary(table.bytes, "a line table")) return false;
    table.offset = reader_.offset() - table.bytes.size();
    const Result<void> sound = check_lines(table, code_.sizes[code], code_.python);
    if (sound) return true;
    return fail(sound.error().offset, sound.error().detail);
  }

  bool nested_places(std::uint32_t code) {
    const std::size_t offset = reader_.offset();
    std::uint64_t count = 0;
    if (!reader_.read_array(count, "the nested places")) return false;
    if (count != code_.nested[code].size()) {
      return fail(offset, std::to_string(count) + " nested places for " +
                              std::to_string(code_.nested[code].size()) +
                              " nested code objects");
    }
    if (count != 0) open_.push_back({code, 0});
    return true;
  }

  Reader& reader_;
  const CodeUses& code_;
  bool has_file_;  // Of the manifest, or of a place before.
  std::vector<Open> open_;
  std::size_t done_ = 0;
};

}  // namespace

bool check_notes(Reader& reader, const CodeUses& code) {
  std::uint64_t count = 0;
  if (!reader.read_map(count, "the notes")) return false;
  std::uint64_t next_key = 0;
  for (; count != 0; --count) {
    const std::size_t offset = reader.offset();
    std::uint64_t key = 0;
    if (!reader.read_unsigned(key, UINT32_MAX, "a key of the notes")) return false;
    if (key < next_key) {
      return reader.fail(ErrorCode::kMalformed, offset,
                         "the keys of the notes should ascend");
    }
    next_key = key + 1;
    const bool is_places = key == static_cast<std::uint64_t>(wire::NotesKey::kPlaces);
    if (!(is_places ? PlacesCheck(reader, code).run() : reader.skip())) return false;
  }
  return true;
}

}  // namespace waybill::envelope
