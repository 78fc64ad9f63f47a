// Sends each call to a pool of workers that has the modules it needs. Links no Python:
// the manifest of a payload says which these are.
//
//   router SOCKET POOLS
//
// Clients connect to SOCKET and send calls, one payload after the other; each gets its
// outcome before the next is read. POOLS is a file that read_pools() reads. Behind each
// pool's socket is a host, see ../host.

#include <sys/socket.h>

#include <cstdio>
#include <exception>
#include <string>
#include <thread>

#include "pools.h"
#include "stream.h"
#include "waybill/envelope.h"
#include "waybill/measurer.h"
#include "waybill/outcome.h"

namespace {

using example::Arrival;
using example::Bytes;
using example::Descriptor;
using example::Pool;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kPatience = seconds(10);
constexpr waybill::Limits kLimits = {.max_bytes = std::size_t{64} << 20,
                                     .max_depth = 1000};

Bytes failed(std::string_view code, std::string_view detail) {
  std::fprintf(stderr, "router: %.*s: %.*s\n", static_cast<int>(code.size()),
               code.data(), static_cast<int>(detail.size()), detail.data());
  return waybill::failed_outcome(code, detail).value_or(Bytes());
}

// What the pool makes of the call. Each client has connections of its own to the pools,
// which are made when they are needed and again after an error.
class Links {
 public:
  explicit Links(const std::vector<Pool>& pools)
      : pools_(pools), connections_(pools.size()) {}

  Bytes outcome_of(const Bytes& call) {
    const auto envelope = waybill::open_whole(call, kLimits);
    if (!envelope) {
      return failed(waybill::name_of(envelope.error().code), envelope.error().detail);
    }
    std::string lacking;
    for (std::size_t i = 0; i < pools_.size(); ++i) {
      const auto missing = missing_in(pools_[i], envelope->manifest);
      if (missing.empty()) return forward(i, call);
      lacking +=
          (lacking.empty() ? "" : "; ") + pools_[i].name + " has no " + missing[0];
    }
    return failed("no_pool", lacking);
  }

 private:
  Bytes forward(std::size_t index, const Bytes& call) {
    Descriptor& connection = connections_[index];
    if (!connection) connection = example::connect_to(pools_[index].socket);
    Bytes outcome;
    if (connection && example::write_all(connection.get(), call, kPatience) &&
        example::read_payload(connection.get(), {}, kPatience, {}, outcome) ==
            Arrival::kPayload) {
      return outcome;
    }
    connection = Descriptor();
    return failed("pool_is_down", pools_[index].name + " does not answer");
  }

  const std::vector<Pool>& pools_;
  std::vector<Descriptor> connections_;
};

void serve(Descriptor client, const std::vector<Pool>& pools) {
  Links links(pools);
  Bytes call;
  for (;;) {
    const Arrival arrival =
        example::read_payload(client.get(), kLimits, kPatience, {}, call);
    if (arrival != Arrival::kPayload) return;
    // Where a payload that is none ends nobody knows.
    const bool goes_on = waybill::Measurer(kLimits).measure(call).size == call.size();
    if (!example::write_all(client.get(), links.outcome_of(call), kPatience)) return;
    if (!goes_on) return example::take_leave(client.get(), kPatience);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fputs("usage: router SOCKET POOLS\n", stderr);
    return 2;
  }
  const std::vector<Pool> pools = example::read_pools(argv[2]);
  const Descriptor listener = example::listen_at(argv[1]);
  if (!listener) return 1;
  std::fprintf(stderr, "router: %zu pools\n", pools.size());
  for (;;) {
    Descriptor client(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) continue;
    std::thread(serve, std::move(client), std::cref(pools)).detach();
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "router: %s\n", error.what());
  return 1;
}
