#include "worker_pool.h"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <system_error>

extern char** environ;

namespace example {
namespace {

// The number that its socket has in a worker.
constexpr int kSocket = 3;

[[noreturn]] void stop(const char* what, int error) {
  throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

WorkerPool::WorkerPool(std::vector<std::string> arguments, std::size_t count)
    : arguments_(std::move(arguments)) {
  arguments_.insert(arguments_.begin(), "host");
  arguments_.push_back("--worker-socket=" + std::to_string(kSocket));
  for (std::size_t i = 0; i < count; ++i) give_back(start());
}

WorkerPool::~WorkerPool() {
  for (Worker& worker : free_) {
    if (worker.socket) end(worker);
  }
}

void WorkerPool::end_all() {
  const std::lock_guard lock(mutex_);
  for (const pid_t process : processes_) kill(process, SIGKILL);
}

std::size_t WorkerPool::started() const {
  const std::lock_guard lock(mutex_);
  return started_;
}

Worker WorkerPool::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    stop("socketpair", errno);
  }
  Worker worker;
  worker.socket = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  std::vector<char*> words;
  for (const std::string& word : arguments_) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), kSocket);
  // Signals that the host takes are not blocked in workers.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const std::lock_guard lock(mutex_);
  const int error = posix_spawn(&worker.process, "/proc/self/exe", &actions,
                                &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) stop("posix_spawn", error);
  processes_.insert(worker.process);
  ++started_;
  return worker;
}

bool WorkerPool::restart(Worker& worker, Failure& failure) try {
  worker = start();
  return true;
} catch (const std::system_error& error) {
  failure = {"no_worker", error.what()};
  return false;
}

Worker WorkerPool::take() {
  std::unique_lock lock(mutex_);
  is_free_.wait(lock, [this] { return !free_.empty(); });
  Worker worker = std::move(free_.back());
  free_.pop_back();
  return worker;
}

void WorkerPool::give_back(Worker worker) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(worker));
  }
  is_free_.notify_one();
}

Failure WorkerPool::end(Worker& worker) {
  {
    // Its number may be another's as soon as it is waited for.
    const std::lock_guard lock(mutex_);
    processes_.erase(worker.process);
  }
  // One that has ended already keeps the status that it has.
  kill(worker.process, SIGKILL);
  int status = 0;
  while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  worker = Worker();
  if (WIFEXITED(status)) {
    return {"worker_died", "the call ended its process, status " +
                               std::to_string(WEXITSTATUS(status))};
  }
  return {"worker_died", std::string("the process of the call was ended by ") +
                             strsignal(WTERMSIG(status))};
}

bool WorkerPool::make(waybill::BytesView call, std::chrono::milliseconds time_limit,
                      Bytes& outcome, Failure& failure) {
  Worker worker = take();
  if (!worker.socket && !restart(worker, failure)) {
    give_back(std::move(worker));
    return false;
  }
  const Clock::time_point deadline = Clock::now() + time_limit;
  Arrival arrival = Arrival::kEnd;
  if (write_all(worker.socket.get(), call, time_limit)) {
    arrival = read_payload(worker.socket.get(), {}, time_limit, deadline, outcome);
  }
  if (arrival == Arrival::kPayload) {
    give_back(std::move(worker));
    return true;
  }
  failure = end(worker);
  if (arrival == Arrival::kNothing || arrival == Arrival::kTooSlow) {
    failure = {"timed_out", "the call took longer than " +
                                std::to_string(time_limit.count()) + " ms"};
  }
  Failure later;  // If it cannot be replaced now, the next call tries again.
  restart(worker, later);
  give_back(std::move(worker));
  return false;
}

}  // namespace example
