#include "worker_pool.h"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace example {
namespace {

// For a Python to start.
constexpr std::chrono::seconds kStartTime(60);
// Calls wait for a worker as long as this many take that use all of their time.
constexpr int kQueue = 10;

[[noreturn]] void stop(const char* what, int error) {
  throw std::system_error(error, std::generic_category(), what);
}

// With all that it has started; a call may have taken it out of its group.
void kill_all_of(pid_t process) {
  kill(-process, SIGKILL);
  kill(process, SIGKILL);
}

}  // namespace

WorkerPool::WorkerPool(std::vector<std::string> arguments, Bytes greeting,
                       std::size_t count)
    : arguments_(std::move(arguments)), greeting_(std::move(greeting)) {
  arguments_.insert(arguments_.begin(), "host");
  for (std::size_t i = 0; i < count; ++i) give_back(start());
}

WorkerPool::~WorkerPool() {
  for (Worker& worker : free_) {
    if (worker.socket) end(worker);
  }
}

void WorkerPool::end_all() {
  const std::lock_guard lock(mutex_);
  for (const pid_t process : processes_) kill_all_of(process);
}

std::size_t WorkerPool::started() const {
  const std::lock_guard lock(mutex_);
  return started_;
}

Worker WorkerPool::spawn() {
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
  // Signals that the host takes are not blocked in workers; what a worker starts can be
  // ended with it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
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

Worker WorkerPool::start() {
  Worker worker = spawn();
  const Clock::time_point deadline = Clock::now() + kStartTime;
  Bytes ready;
  if (write_all(worker.socket.get(), greeting_, deadline) &&
      read_payload(worker.socket.get(), {}, {.until = deadline}, ready) ==
          Arrival::kPayload) {
    return worker;
  }
  throw std::runtime_error("a worker does not start: " + end(worker));
}

bool WorkerPool::restart(Worker& worker, Failure& failure) try {
  worker = start();
  return true;
} catch (const std::exception& error) {
  failure = {"no_worker", error.what()};
  return false;
}

bool WorkerPool::take(Clock::time_point until, const std::function<bool()>& is_wanted,
                      Worker& worker) {
  std::unique_lock lock(mutex_);
  while (is_wanted() && Clock::now() < until) {
    const Clock::time_point soon = Clock::now() + std::chrono::seconds(1);
    if (is_free_.wait_until(lock, std::min(soon, until),
                            [this] { return !free_.empty(); })) {
      worker = std::move(free_.back());
      free_.pop_back();
      return true;
    }
  }
  return false;
}

void WorkerPool::give_back(Worker worker) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(worker));
  }
  is_free_.notify_one();
}

// Kills it and all that it has started; how it came to its end.
std::string WorkerPool::end(Worker& worker) {
  // One that has ended already keeps the status that it has.
  kill_all_of(worker.process);
  int status = 0;
  {
    // Its number may be another's as soon as it is waited for.
    const std::lock_guard lock(mutex_);
    while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
    }
    processes_.erase(worker.process);
  }
  worker = Worker();
  if (WIFEXITED(status)) return "exit status " + std::to_string(WEXITSTATUS(status));
  return strsignal(WTERMSIG(status));
}

bool WorkerPool::make(waybill::BytesView call, std::chrono::milliseconds time_limit,
                      std::size_t max_outcome_bytes,
                      const std::function<bool()>& is_wanted, Bytes& outcome,
                      Failure& failure) {
  const Failure gone = {"gone", "the client has not waited for its outcome"};
  Worker worker;
  if (!take(Clock::now() + kQueue * time_limit, is_wanted, worker)) {
    failure = {"busy", "all workers have too much to do; try again later"};
    if (!is_wanted()) failure = gone;
    return false;
  }
  // One that has ended, or has something to say though nobody asked, is of no more use.
  if (worker.socket && has_sent(worker.socket.get())) end(worker);
  bool is_ready = static_cast<bool>(worker.socket) || restart(worker, failure);
  if (is_ready && !is_wanted()) {
    failure = gone;
    is_ready = false;
  }
  if (!is_ready) {
    give_back(std::move(worker));
    return false;
  }
  const Clock::time_point deadline = Clock::now() + time_limit;
  Arrival arrival = Arrival::kEnd;
  if (write_all(worker.socket.get(), call, deadline)) {
    arrival = read_payload(worker.socket.get(), {.max_bytes = max_outcome_bytes},
                           {.until = deadline}, outcome);
  }
  if (arrival == Arrival::kPayload) {
    give_back(std::move(worker));
    return true;
  }
  const bool is_late = Clock::now() >= deadline;
  failure = {"worker_died", "the call ended its process: " + end(worker)};
  if (arrival == Arrival::kRefused) {
    failure = {"bad_outcome", "what the worker sent is no outcome"};
  } else if (arrival == Arrival::kNoRoom) {
    failure = {"no_memory", "the host has no room for the outcome"};
  } else if (is_late) {
    failure = {"timed_out", "the call took longer than " +
                                std::to_string(time_limit.count()) + " ms"};
  }
  Failure later;  // If it cannot be replaced now, the next call tries again.
  restart(worker, later);
  give_back(std::move(worker));
  return false;
}

}  // namespace example
