// Sends each call to a pool of workers that has the modules it needs. Links no Python:
// the manifest of a payload says which these are.
//
//   router SOCKET POOLS
//
// Clients connect to SOCKET and send calls, one payload after the other; each gets its
// outcome before the next is read. POOLS is a file that read_pools() reads. Behind each
// pool's socket is a host, see ../host.

#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "pools.h"
#include "stream.h"
#include "waybill/envelope.h"
#include "waybill/outcome.h"

namespace {

using example::Arrival;
using example::Bytes;
using example::Clock;
using example::Descriptor;
using example::Pool;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kPatience = seconds(10);   // For bytes that are on their way.
constexpr milliseconds kCallTime = seconds(120);  // For an outcome.
constexpr std::size_t kMostClients = 1000;
constexpr waybill::Limits kLimits = {.max_bytes = std::size_t{64} << 20,
                                     .max_depth = 1000};

Bytes failed(std::string_view code, std::string_view detail) {
  std::fprintf(stderr, "router: %.*s: %.*s\n", static_cast<int>(code.size()),
               code.data(), static_cast<int>(detail.size()), detail.data());
  return waybill::failed_outcome(code, detail).value();
}

// What the pool makes of the call. Each client has connections of its own to the pools,
// which are made when they are needed, and again where the pool has closed them.
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
    // Nothing is on its way between two calls, but the end of the connection.
    if (!connection || example::has_sent(connection.get())) {
      connection = example::connect_to(pools_[index].socket);
    }
    Bytes outcome;
    if (connection &&
        example::write_all(connection.get(), call, Clock::now() + kPatience) &&
        example::read_payload(connection.get(), {}, {.until = Clock::now() + kCallTime},
                              outcome) == Arrival::kPayload) {
      return outcome;
    }
    connection = Descriptor();
    return failed("pool_is_down", pools_[index].name + " does not answer");
  }

  const std::vector<Pool>& pools_;
  std::vector<Descriptor> connections_;
};

void serve(const Descriptor& client, const std::vector<Pool>& pools) try {
  Links links(pools);
  for (;;) {
    Bytes call;
    const Arrival arrival = example::read_payload(
        client.get(), kLimits, {.after_first_byte = kPatience}, call);
    const bool is_refused = arrival == Arrival::kRefused;
    if (arrival != Arrival::kPayload && !is_refused) return;
    const Bytes outcome = links.outcome_of(call);
    if (!example::write_all(client.get(), outcome, Clock::now() + kPatience)) return;
    // Where a payload that is none ends nobody knows.
    if (is_refused) return example::take_leave(client.get(), kPatience);
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "router: a client is left: %s\n", error.what());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fputs("usage: router SOCKET POOLS\n", stderr);
    return 2;
  }
  // Threads of clients hold on to both, whatever happens here.
  const auto pools =
      std::make_shared<const std::vector<Pool>>(example::read_pools(argv[2]));
  const auto clients = std::make_shared<std::atomic<std::size_t>>(0);
  const Descriptor listener = example::listen_at(argv[1]);
  if (!listener) return 1;
  std::fprintf(stderr, "router: %zu pools\n", pools->size());
  for (;;) {
    Descriptor client = example::accept_client(listener.get());
    if (!client || *clients >= kMostClients) continue;
    try {
      std::thread([pools, clients, held = std::move(client)] {
        serve(held, *pools);
        --*clients;
      }).detach();
      ++*clients;
    } catch (const std::system_error& error) {
      std::fprintf(stderr, "router: no thread for a client: %s\n", error.what());
    }
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "router: %s\n", error.what());
  return 1;
}
