// Takes calls on a Unix socket, makes them in Python, sends their outcomes back.
//
//   host SOCKET [options]
//
// This process runs no Python: it checks signatures, limits and rules, and hands calls
// to worker processes, which it replaces when a call takes too long or ends them. Each
// worker is this program again, with a Python inside (worker.cpp). client.py is the
// other side.

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

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
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return Descriptor(signalfd(-1, &signals, SFD_CLOEXEC));
}

void tell(const example::Service& service) {
  for (const auto& [what, count] : service.counts()) {
    std::fprintf(stderr, "host: %s %zu\n", what.c_str(), count);
  }
  std::fprintf(stderr, "host: workers started %zu\n", service.workers_started());
}

}  // namespace

int main(int argc, char** argv) try {
  const example::Settings settings = example::read_settings(argc, argv);
  if (settings.worker_socket) {
    return example::run_worker(settings, *settings.worker_socket);
  }
  const Descriptor ends = end_signals();  // Before there are threads.
  auto service = std::make_shared<example::Service>(
      settings, std::vector<std::string>(argv + 1, argv + argc));
  const Descriptor listener = example::listen_at(settings.socket);
  if (!listener) return 1;
  std::fprintf(stderr, "host: ready\n");
  for (;;) {
    pollfd both[] = {{listener.get(), POLLIN, 0}, {ends.get(), POLLIN, 0}};
    if (poll(both, 2, -1) < 0) continue;
    if (both[1].revents != 0) break;
    Descriptor client(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) continue;
    try {
      std::thread([service, held = std::move(client)]() mutable {
        service->serve(std::move(held));
      }).detach();
    } catch (const std::system_error&) {
      std::fprintf(stderr, "host: too many clients\n");
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
