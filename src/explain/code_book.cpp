// Tested by tests/explain/explain_payload_test.cpp.

#include "explain/code_book.h"

#include <utility>

#include "format/source_locations.h"

namespace waybill::envelope {
namespace {

constexpr std::uint8_t kFreeVariable = 0x80;  // Of co_localspluskinds.

}  // namespace

CodeBook::CodeBook(const Envelope& envelope) : envelope_(envelope) {
  std::vector<std::vector<std::uint32_t>> nested = nested_of(envelope);
  bodies_.resize(envelope.code.size());
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const CodeBody& source = envelope.code[i];
    Body& body = bodies_[i];
    wire::Reader reader(source.bytes, Limits{}, source.offset);
    if (!read_code_body(reader, source.bytes, body.fields)) body.fields = {};
    body.nested = std::move(nested[i]);
    for (std::size_t k = 0; k < body.fields.local_kinds.size(); ++k) {
      if ((body.fields.local_kinds[k] & kFreeVariable) == 0) continue;
      body.free.push_back(static_cast<std::uint32_t>(k));
    }
  }
}

std::string_view CodeBook::free_variable(std::size_t code, std::uint64_t place) const {
  if (code >= bodies_.size() || place >= bodies_[code].free.size()) return {};
  const std::uint32_t index = bodies_[code].free[place];
  const std::vector<std::string_view>& names = bodies_[code].fields.local_names;
  return index < names.size() ? names[index] : std::string_view();
}

std::uint64_t CodeBook::take(std::uint64_t code) {
  if (code >= bodies_.size() || bodies_[code].is_taken) return 0;
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> todo{static_cast<std::uint32_t>(code)};
  bodies_[code].is_taken = true;
  while (!todo.empty()) {
    const std::uint32_t index = todo.back();
    todo.pop_back();
    bytes += envelope_.code[index].bytes.size();
    for (const std::uint32_t inner : bodies_[index].nested) {
      if (std::exchange(bodies_[inner].is_taken, true)) continue;
      todo.push_back(inner);
    }
  }
  return bytes;
}

}  // namespace waybill::envelope
