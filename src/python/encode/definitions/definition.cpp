// Tested by tests/python/definitions.

#include "python/encode/definitions/definition.h"

#include "format/payload_cursor.h"

namespace waybill::py {

namespace {

using envelope::CursorEvent;
using wire::Token;

struct Note {
  std::size_t global = SIZE_MAX;  // The value that is open is that of this global.
};
using Cursor = envelope::PayloadCursor<Note>;

class Scan {
 public:
  explicit Scan(Definition& definition)
      : definition_(definition), cursor_(wire::Reader(definition.bytes)) {}

  void run() {
    while (cursor_.next()) {
      if (cursor_.event() == CursorEvent::kClose) {
        close(cursor_.container().note.global);
        continue;
      }
      const std::size_t global = global_here();
      if (cursor_.event() == CursorEvent::kOpen) {
        cursor_.container().note.global = global;
      } else {
        number();
        close(global);
      }
    }
  }

 private:
  // Of the value at hand, if it is that of a global.
  std::size_t global_here() {
    const auto& around = cursor_.around();
    const bool is_global = around.part != nullptr &&
                           around.rule == envelope::Rule::kNamedObjects &&
                           around.part->name == "globals";
    if (!is_global) return SIZE_MAX;
    const Token& token = cursor_.token();
    if (around.is_key()) {
      name_ = token.text();
      return SIZE_MAX;
    }
    definition_.globals.push_back({std::string(name_), token.offset, 0});
    return definition_.globals.size() - 1;
  }

  void close(std::size_t global) {
    if (global != SIZE_MAX) definition_.globals[global].end = cursor_.reader().offset();
  }

  void number() {
    using Of = Definition::Number::Of;
    const Token& token = cursor_.token();
    std::uint64_t number = 0;
    if (cursor_.rule() == envelope::Rule::kCodeIndex) {
      add(Of::kCode, static_cast<std::uint64_t>(token.integer));
    } else if (wire::is_reference(token, number)) {
      add(Of::kReference, number);
    } else if (token.is(wire::ExtType::kModule) &&
               wire::index_of(token.bytes, number)) {
      add(Of::kModule, number);
    }
  }

  void add(Definition::Number::Of of, std::uint64_t number) {
    const std::size_t offset = cursor_.token().offset;
    definition_.numbers.push_back(
        {of, static_cast<std::uint8_t>(cursor_.reader().offset() - offset),
         static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(number)});
  }

  Definition& definition_;
  Cursor cursor_;
  std::string_view name_;
};

}  // namespace

void scan(Definition& definition) { Scan(definition).run(); }

}  // namespace waybill::py
