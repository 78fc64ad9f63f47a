#pragma once

// Helpers for laying out a JSON model as lines of text.

#include <cstdint>
#include <string>
#include <string_view>

#include "text/json.h"

namespace waybill::envelope {

// Terminal colours, or nothing.
class Paint {
 public:
  explicit Paint(bool is_on) : is_on_(is_on) {}
  std::string title(std::string_view text) const { return wrap("1", text); }
  std::string name(std::string_view text) const { return wrap("36", text); }
  std::string faint(std::string_view text) const { return wrap("2", text); }
  std::string bad(std::string_view text) const { return wrap("31", text); }
  std::string good(std::string_view text) const { return wrap("32", text); }

 private:
  std::string wrap(const char* code, std::string_view text) const;
  bool is_on_;
};

// The text under a key, escaped for terminals; empty if there is none.
std::string text_of(Json model, const char* key);
// The number under a key, which is not negative; 0 if there is none.
std::uint64_t number_of(Json model, const char* key);
// "1 byte", "2 bytes"
std::string plural(std::uint64_t count, std::string_view noun);

}  // namespace waybill::envelope
