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
  kPayload,  // All of one is here.
  kRefused,  // What is here is none, or one beyond the limits: open() tells.
  kEnd,      // The other side has closed, before the first byte of a payload.
  kCut,      // … in the middle of one.
  kTooSlow,  // Time is over, in the middle of one.
  kNothing,  // … before its first byte.
  kNoRoom,   // There is no memory for one.
};

// How long to wait: no longer than until then, and from the first byte on no longer
// than this and time_for() what has come. What is not given is no limit.
struct Patience {
  std::optional<Clock::time_point> until = {};
  std::optional<std::chrono::milliseconds> after_first_byte = {};
};

// What so many bytes may take between processes of one machine: a second for each
// megabyte. Who is slower holds up nobody else for ever.
constexpr std::chrono::microseconds time_for(std::size_t bytes) {
  return std::chrono::microseconds(bytes);
}

// Reads one payload and not a byte more.
Arrival read_payload(int descriptor, const waybill::Limits& limits, Patience patience,
                     Bytes& payload);

// False if the other side takes no more, or not all of it until then.
bool write_all(int descriptor, waybill::BytesView bytes, Clock::time_point until);

// Whether the other side has closed, or has sent something; asks and does not wait.
bool is_closed(int descriptor);
bool has_sent(int descriptor);

// Says that nothing more comes, and waits until the other side has seen it, but no
// longer than this. A socket that is closed with bytes unread takes back what was
// written last.
void take_leave(int descriptor, std::chrono::milliseconds patience);

// A socket that listens under this path, for this user alone. What is there is replaced
// only if it is a socket on which nobody listens. Errors are written to stderr; then
// there is no descriptor.
Descriptor listen_at(const std::string& path);
// One that is connected to it; waits some seconds where others wait already.
Descriptor connect_to(const std::string& path);
// The next client. Says so, waits a little and gives none if no descriptors are left.
Descriptor accept_client(int listener);

}  // namespace example
