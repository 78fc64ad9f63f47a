#include "stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <new>
#include <thread>

#include "waybill/stream_length.h"

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
  // Without a name, anybody on this machine could connect.
  if (!path.empty() && path.size() < sizeof address.sun_path) {
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return true;
  }
  std::fprintf(stderr, "'%s': the path of a socket has 1 to %zu bytes\n", path.c_str(),
               sizeof address.sun_path - 1);
  return false;
}

Descriptor new_socket() {
  Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience = {.tv_sec = 5, .tv_usec = 0};  // To connect.
  setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return made;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Arrival read_payload(int descriptor, const waybill::Limits& limits, Patience patience,
                     Bytes& payload) try {
  // A claim is believed as far as bytes have come: room is made in these steps.
  constexpr std::size_t kStep = std::size_t{1} << 16;
  payload = Bytes();
  std::size_t size = 0;  // Bytes that have come; the rest of `payload` is room.
  Clock::time_point first_byte;
  waybill::StreamLength stream_length(limits);
  waybill::Extent extent;
  for (;;) {
    extent = stream_length.measure(waybill::BytesView(payload).first(size));
    if (extent.missing == 0) break;
    std::optional<Clock::time_point> until = patience.until;
    if (size != 0 && patience.after_first_byte) {
      const auto late = first_byte + *patience.after_first_byte + time_for(size);
      until = std::min(until.value_or(late), late);
    }
    if (!is_ready(descriptor, POLLIN, until)) {
      return size == 0 ? Arrival::kNothing : Arrival::kTooSlow;
    }
    if (size == payload.size()) {
      payload.resize(size + std::min(extent.missing, std::max(size, kStep)));
    }
    const ssize_t count = read(descriptor, payload.data() + size,
                               std::min(extent.missing, payload.size() - size));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return size == 0 ? Arrival::kEnd : Arrival::kCut;
    if (size == 0) first_byte = Clock::now();
    size += static_cast<std::size_t>(count);
  }
  payload.resize(size);
  return extent.size == 0 ? Arrival::kRefused : Arrival::kPayload;
} catch (const std::bad_alloc&) {
  payload = Bytes();
  return Arrival::kNoRoom;
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
  pollfd one = {descriptor, 0, 0};  // One that has only ended its sending still reads.
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
  fchmod(listener.get(), S_IRUSR | S_IWUSR);  // Who may connect may run code here.
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
  if (connection &&
      connect(connection.get(), reinterpret_cast<const sockaddr*>(&address),
              sizeof address) == 0) {
    return connection;
  }
  std::perror(path.c_str());
  return Descriptor();
}

Descriptor accept_client(int listener) {
  Descriptor client(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!client && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
    std::perror("a client has to wait");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return client;
}

}  // namespace example
