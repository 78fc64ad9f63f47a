// Takes calls on a Unix socket, makes them in Python, sends their outcomes back.
//
//   host SOCKET [options]
//
// This process runs no Python: it checks signatures, limits and rules, and hands calls
// to worker processes, which it replaces when a call takes too long or ends them. Each
// worker is this program again, with a Python inside (worker.cpp). client.py is the
// other side.

#include <malloc.h>
#include <poll.h>
#include <sys/signalfd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "log.h"
#include "service.h"
#include "worker.h"

namespace {

using example::Descriptor;

// Readable when somebody asks this process to end.
Descriptor end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  // Who starts it with nohup has it ignored.
  struct sigaction hang_up = {};
  sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return Descriptor(signalfd(-1, &signals, SFD_CLOEXEC));
}

void tell(const example::Service& service) {
  for (const auto& [what, count] : service.counts()) {
    std::fprintf(stderr, "host: %s %zu\n", what.c_str(), count);
  }
  std::fprintf(stderr, "host: workers started %zu\n", service.workers_started());
}

// Serves a client in a thread of its own.
void serve(const std::shared_ptr<example::Service>& service,
           const std::shared_ptr<std::atomic<std::size_t>>& clients,
           Descriptor client) {
  try {
    std::thread([service, clients, held = std::move(client)] {
      try {
        service->serve(held);
      } catch (const std::exception& error) {
        example::say("host", "a client is left", error.what());
      }
      --*clients;
    }).detach();
    ++*clients;
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "host: no thread for a client: %s\n", error.what());
  }
}

}  // namespace

int main(int argc, char** argv) try {
  std::signal(SIGPIPE, SIG_IGN);  // As Python does; workers inherit it.
  std::signal(SIGCHLD, SIG_DFL);  // How a worker ended is asked for.
  const example::Settings settings = example::read_settings(argc, argv);
  if (settings.worker_socket) {
    return example::run_worker(settings, *settings.worker_socket);
  }
  mallopt(M_MMAP_THRESHOLD, 1 << 20);     // Room of large payloads goes back at once.
  const Descriptor ends = end_signals();  // Before there are threads.
  // Threads of clients hold on to both.
  const auto service =
      std::make_shared<example::Service>(settings, example::read_rules(settings));
  const auto clients = std::make_shared<std::atomic<std::size_t>>(0);
  const Descriptor listener = example::listen_at(settings.socket);
  if (!listener) return 1;
  std::fprintf(stderr, "host: ready\n");
  for (;;) {
    pollfd both[] = {{listener.get(), POLLIN, 0}, {ends.get(), POLLIN, 0}};
    if (poll(both, 2, -1) < 0) continue;
    if (both[1].revents != 0) break;
    Descriptor client = example::accept_client(listener.get());
    if (!client) continue;
    if (*clients < settings.clients) {
      serve(service, clients, std::move(client));
    } else {
      std::fprintf(stderr, "host: a client too many\n");
    }
  }
  service->end();
  tell(*service);
  std::fflush(stderr);
  std::_Exit(0);  // Clients may be in the middle of calls: their threads hold on.
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
