#include "stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <thread>

#include "waybill/measurer.h"

namespace example {
namespace {

// Whether the descriptor is ready before this time; no time is any time.
bool is_ready(int descriptor, short event, std::optional<Clock::time_point> until) {
  for (;;) {
    int wait = -1;
    if (until) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now());
      wait = static_cast<int>(std::clamp<long long>(left.count(), 0, INT_MAX));
    }
    pollfd one = {descriptor, event, 0};
    const int ready = poll(&one, 1, wait);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return true;  // What is wrong will show at once.
  }
}

bool fill(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() < sizeof address.sun_path) {
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return true;
  }
  std::fprintf(stderr, "%s: too long for a socket\n", path.c_str());
  return false;
}

Descriptor new_socket() {
  return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Arrival read_payload(int descriptor, const waybill::Limits& limits, Patience patience,
                     Bytes& payload) {
  // A claim is believed as far as bytes have come: room is made in these steps.
  constexpr std::size_t kStep = std::size_t{1} << 16;
  payload = Bytes();
  waybill::Measurer measurer(limits);
  waybill::Extent extent;
  while ((extent = measurer.measure(payload)).missing != 0) {
    if (!is_ready(descriptor, POLLIN, patience.until)) {
      return payload.empty() ? Arrival::kNothing : Arrival::kTooSlow;
    }
    const std::size_t before = payload.size();
    payload.resize(before + std::min(extent.missing, std::max(before, kStep)));
    const ssize_t count =
        read(descriptor, payload.data() + before, payload.size() - before);
    const int error = errno;
    payload.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && error == EINTR) continue;
    if (count <= 0) return before == 0 ? Arrival::kEnd : Arrival::kCut;
    if (before == 0 && patience.after_first_byte) {
      const Clock::time_point later = Clock::now() + *patience.after_first_byte;
      patience.until = std::min(patience.until.value_or(later), later);
    }
  }
  return extent.size == 0 ? Arrival::kRefused : Arrival::kPayload;
}

bool write_all(int descriptor, waybill::BytesView bytes, Clock::time_point until) {
  while (!bytes.empty()) {
    if (!is_ready(descriptor, POLLOUT, until)) return false;
    const ssize_t count =
        send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

bool is_closed(int descriptor) {
  pollfd one = {descriptor, POLLRDHUP, 0};
  return poll(&one, 1, 0) != 0;
}

bool has_sent(int descriptor) {
  pollfd one = {descriptor, POLLIN | POLLRDHUP, 0};
  return poll(&one, 1, 0) != 0;
}

void take_leave(int descriptor, std::chrono::milliseconds patience) {
  const Clock::time_point deadline = Clock::now() + patience;
  shutdown(descriptor, SHUT_WR);
  std::uint8_t unwanted[4096];
  while (Clock::now() < deadline && is_ready(descriptor, POLLIN, deadline)) {
    const ssize_t count = read(descriptor, unwanted, sizeof unwanted);
    if (count == 0 || (count < 0 && errno != EINTR)) return;
  }
}

Descriptor listen_at(const std::string& path) {
  sockaddr_un address;
  if (!fill(path, address)) return Descriptor();
  Descriptor listener = new_socket();
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  struct stat found;
  if (lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) {
    const Descriptor probe = new_socket();
    if (connect(probe.get(), name, sizeof address) == 0) {
      std::fprintf(stderr, "%s: somebody listens there\n", path.c_str());
      return Descriptor();
    }
    if (errno == ECONNREFUSED) unlink(path.c_str());
  }
  constexpr int kWaiting = 64;
  if (bind(listener.get(), name, sizeof address) == 0 &&
      listen(listener.get(), kWaiting) == 0) {
    return listener;
  }
  std::perror(path.c_str());
  return Descriptor();
}

Descriptor connect_to(const std::string& path) {
  sockaddr_un address;
  if (!fill(path, address)) return Descriptor();
  Descriptor connection = new_socket();
  if (connect(connection.get(), reinterpret_cast<const sockaddr*>(&address),
              sizeof address) == 0) {
    return connection;
  }
  std::perror(path.c_str());
  return Descriptor();
}

Descriptor accept_client(int listener) {
  Descriptor client(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!client && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return client;
}

}  // namespace example
