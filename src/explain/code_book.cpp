// Tested by tests/explain/explain_payload_test.cpp.

#include "explain/code_book.h"

#include <utility>

#include "format/source_locations.h"

namespace waybill::envelope {

CodeBook::CodeBook(const Envelope& envelope) : envelope_(envelope) {
  std::vector<std::vector<std::uint32_t>> nested = nested_of(envelope);
  bodies_.resize(envelope.code.size());
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    Body& body = bodies_[i];
    if (!read_code_body(envelope.code[i], body.fields)) body.fields = {};
    body.nested = std::move(nested[i]);
    body.free = free_names_of(body.fields);
  }
}

std::string_view CodeBook::free_variable(std::size_t code, std::uint64_t place) const {
  if (code >= bodies_.size() || place >= bodies_[code].free.size()) return {};
  return bodies_[code].free[place];
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
