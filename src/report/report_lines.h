#pragma once

// What lays parts of a report out as lines of text, and what those share.

#include <cstdint>
#include <string>
#include <string_view>

#include "text/json.h"

namespace waybill::envelope {

// Terminal colours, or nothing.
class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string title(std::string_view text) const { return wrap("1", text); }
  std::string name(std::string_view text) const { return wrap("36", text); }
  std::string faint(std::string_view text) const { return wrap("2", text); }
  std::string bad(std::string_view text) const { return wrap("31", text); }
  std::string good(std::string_view text) const { return wrap("32", text); }

 private:
  std::string wrap(const char* code, std::string_view text) const;
  bool on_;
};

// The text under a key, escaped for terminals; empty where there is none.
std::string text_of(Json model, const char* key);
// The number under a key, which is not negative; 0 where there is none.
std::uint64_t number_of(Json model, const char* key);
// "1 byte", "2 bytes"
std::string plural(std::uint64_t count, std::string_view noun);

// The code bodies, with their instructions where the model has them.
void add_code(Json code, const Paint& paint, std::string& out);

}  // namespace waybill::envelope
