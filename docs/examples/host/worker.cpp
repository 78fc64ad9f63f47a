#include "worker.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "stream.h"
#include "waybill/call.h"
#include "waybill/interpreter.h"
#include "waybill/outcome.h"
#include "waybill/value.h"
#include "worker_pool.h"

namespace example {
namespace {

constexpr auto kPatience = std::chrono::minutes(5);  // Between host and worker.

// Ends this process and what calls have left running.
[[noreturn]] void end_with_group() {
  kill(-getpid(), SIGKILL);
  _exit(0);  // Of a call that has taken this process out of its group.
}

// Ends this process as soon as the host has ended, whatever Python does just then.
void end_with_host(int socket) {
  std::thread([socket] {
    pollfd host = {socket, 0, 0};  // Hang-ups are told unasked.
    while (poll(&host, 1, -1) < 0) {
    }
    end_with_group();
  }).detach();
}

}  // namespace

int run_worker(const Settings& settings, int socket) {
  fcntl(socket, F_SETFD, FD_CLOEXEC);  // It is nothing for programs that calls start.
  // What calls fork does not keep it open when this process ends.
  pthread_atfork(nullptr, nullptr, [] { close(WorkerPool::kSocket); });
  end_with_host(socket);
  Bytes message;
  if (read_payload(socket, {}, {}, message) != Arrival::kPayload) return 1;
  const auto rules = waybill::read_value(message);
  const auto* text = rules ? rules->get_if<std::string>() : nullptr;
  if (text == nullptr) return 1;
  const auto python = waybill::Interpreter::start(
      {.program = settings.python, .search_paths = settings.search_paths});
  if (!python) {
    std::fprintf(stderr, "host: %s\n", python.error().detail.c_str());
    return 1;
  }
  // The host has checked limits and signature. Rules are asked again for each name,
  // when it is known what it means.
  waybill::CallOptions options;
  options.load.policy = policy_of(*text);
  options.load.limits = waybill::Limits{};

  const pid_t own = getpid();
  const auto answer = [&](const Bytes& bytes) {
    // A call may have forked: only one may answer.
    return getpid() == own && write_all(socket, bytes, Clock::now() + kPatience);
  };
  if (!answer(waybill::write_value(true).value())) return 1;
  while (read_payload(socket, {}, {}, message) == Arrival::kPayload) {
    auto outcome = waybill::call(message, options);
    if (!outcome) {
      outcome = waybill::failed_outcome(waybill::name_of(outcome.error().code),
                                        outcome.error().detail);
    } else if (outcome->size() > settings.max_outcome_bytes) {
      outcome = waybill::failed_outcome(
          "outcome_too_large",
          "the outcome has " + std::to_string(outcome->size()) + " bytes, and " +
              std::to_string(settings.max_outcome_bytes) + " are allowed");
    }
    if (!answer(outcome.value())) _exit(1);
  }
  end_with_group();
}

}  // namespace example
