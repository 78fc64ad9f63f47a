#pragma once

// The code bodies of an envelope, each read once.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "format/code_body.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

class CodeBook {
 public:
  struct Body {
    CodeFields fields;
    std::vector<std::uint32_t> nested;   // Indices of the code directly in it.
    std::vector<std::string_view> free;  // Names of its free variables.
    bool is_taken = false;
  };

  // The envelope must outlive this. Cost: by the bytes of its code.
  explicit CodeBook(const Envelope& envelope);

  std::size_t size() const { return bodies_.size(); }
  const Body& operator[](std::size_t index) const { return bodies_[index]; }

  // The name of the free variable that has this place in __closure__; empty if there
  // is none.
  std::string_view free_variable(std::size_t code, std::uint64_t place) const;

  // Bytes of a body and of all code in it, without what was taken before.
  std::uint64_t take(std::uint64_t code);

 private:
  const Envelope& envelope_;
  std::vector<Body> bodies_;
};

}  // namespace waybill::envelope
