#pragma once

// Payloads over sockets and pipes: one after the other, with nothing between them.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "waybill/bytes.h"
#include "waybill/limits.h"

namespace example {

using Bytes = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;

// Owns a file descriptor. Closes it at its end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

enum class Arrival {
  kPayload,  // All of one is here; or something that waybill::open() refuses.
  kEnd,      // The other side has closed, before the first byte of a payload.
  kCut,      // … in the middle of one.
  kTooSlow,  // The deadline has passed in the middle of one.
  kNothing,  // … before its first byte.
};

// Reads one payload and not a byte more. `patience` is for all of it, from its first
// byte on; `deadline`, if there is one, for the first byte.
Arrival read_payload(int descriptor, const waybill::Limits& limits,
                     std::chrono::milliseconds patience,
                     std::optional<Clock::time_point> deadline, Bytes& payload);

// False if the other side takes no more, or takes longer than this.
bool write_all(int descriptor, waybill::BytesView bytes,
               std::chrono::milliseconds patience);

// Says that nothing more comes, and waits until the other side has seen it, but no
// longer than this. A socket that is closed with bytes unread takes back what was
// written last.
void take_leave(int descriptor, std::chrono::milliseconds patience);

// A socket that listens under this path, in place of what was there; one that is
// connected to it. Errors are written to stderr; then there is no descriptor.
Descriptor listen_at(const std::string& path);
Descriptor connect_to(const std::string& path);

}  // namespace example
