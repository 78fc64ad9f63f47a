#include "worker.h"

#include <fcntl.h>

#include <cstdio>

#include "stream.h"
#include "waybill/call.h"
#include "waybill/interpreter.h"
#include "waybill/outcome.h"

namespace example {

int run_worker(const Settings& settings, int socket) {
  fcntl(socket, F_SETFD, FD_CLOEXEC);  // It is nothing for programs that calls start.
  const auto python = waybill::Interpreter::start(
      {.program = settings.python, .search_paths = settings.search_paths});
  if (!python) {
    std::fprintf(stderr, "host: %s\n", python.error().detail.c_str());
    return 1;
  }
  // The host has checked limits and signature. Rules are asked again for each name,
  // when it is known what it means.
  waybill::CallOptions options;
  options.terms.policy = terms_of(settings).policy;
  options.terms.limits = waybill::Limits{};
  constexpr auto kPatience = std::chrono::hours(1);  // Between host and worker.
  Bytes call;
  while (read_payload(socket, {}, kPatience, {}, call) == Arrival::kPayload) {
    auto outcome = waybill::call(call, options);
    if (!outcome) {
      outcome = waybill::failed_outcome(waybill::name_of(outcome.error().code),
                                        outcome.error().detail);
    }
    if (!outcome || !write_all(socket, *outcome, kPatience)) return 1;
  }
  return 0;
}

}  // namespace example
