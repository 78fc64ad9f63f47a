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

#include "log.h"
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
  example::say("router", code, detail);
  return waybill::failed_outcome(code, detail).value();
}

// What the pool makes of the call. A connection for each call: one that is kept takes
// the place of another client at the pool's host.
Bytes forward(const Pool& pool, const Bytes& call) {
  const Descriptor connection = example::connect_to(pool.socket);
  const auto until = Clock::now() + kPatience + example::time_for(call.size());
  Bytes outcome;
  if (connection && example::write_all(connection.get(), call, until) &&
      example::read_payload(connection.get(), {}, {.until = Clock::now() + kCallTime},
                            outcome) == Arrival::kPayload) {
    return outcome;
  }
  return failed("pool_is_down", pool.name + " does not answer");
}

Bytes outcome_of(const Bytes& call, const std::vector<Pool>& pools) {
  const auto envelope = waybill::open_whole(call, kLimits);
  if (!envelope) {
    return failed(waybill::name_of(envelope.error().code), envelope.error().detail);
  }
  std::string lacking;
  for (const Pool& pool : pools) {
    const auto missing = missing_in(pool, envelope->manifest);
    if (missing.empty()) return forward(pool, call);
    lacking += (lacking.empty() ? "" : "; ") + pool.name + " has no " + missing[0];
  }
  return failed("no_pool", lacking);
}

void serve(const Descriptor& client, const std::vector<Pool>& pools) try {
  for (;;) {
    Bytes call;
    const Arrival arrival = example::read_payload(
        client.get(), kLimits, {.after_first_byte = kPatience}, call);
    const bool is_refused = arrival == Arrival::kRefused;
    if (arrival == Arrival::kEnd) return;
    if (arrival != Arrival::kPayload && !is_refused) {
      return example::say("router", "cut", "a part of a payload came, and no more");
    }
    const Bytes outcome = outcome_of(call, pools);
    const auto until = Clock::now() + kPatience + example::time_for(outcome.size());
    if (!example::write_all(client.get(), outcome, until)) {
      return example::say("router", "not_taken", "a client does not take its outcome");
    }
    // Where a payload that is none ends nobody knows.
    if (is_refused) return example::take_leave(client.get(), kPatience);
  }
} catch (const std::exception& error) {
  example::say("router", "a client is left", error.what());
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
    if (!client) continue;
    if (*clients >= kMostClients) {
      std::fputs("router: a client too many\n", stderr);
      continue;
    }
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
