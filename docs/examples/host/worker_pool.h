#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "stream.h"

namespace example {

// A process that makes calls, one at a time, in a process group of its own.
struct Worker {
  pid_t process = -1;
  Descriptor socket;
};

// Why a call has no outcome: a code and a sentence.
struct Failure {
  std::string code;
  std::string detail;
};

// Processes that run this program as workers. Thread-safe.
class WorkerPool {
 public:
  // The number that its socket has in a worker.
  static constexpr int kSocket = 3;

  // `arguments`: the command line of a worker, without the program. `greeting`: what
  // each is sent first. Throws std::runtime_error if one cannot be started.
  WorkerPool(std::vector<std::string> arguments, Bytes greeting, std::size_t count);
  // As end_all(). No call may be under way.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // What a worker makes of the call, with at most so many bytes; waits for one that is
  // free, as long as `is_wanted`, which is asked each second. A worker that takes
  // longer than `time_limit`, or dies, is replaced. False: `failure` tells why.
  bool make(waybill::BytesView call, std::chrono::milliseconds time_limit,
            std::size_t max_outcome_bytes, const std::function<bool()>& is_wanted,
            Bytes& outcome, Failure& failure);

  // Kills all processes. Calls that are under way fail.
  void end_all();

  // Processes started so far.
  std::size_t started() const;

 private:
  Worker start();
  Worker spawn();
  bool restart(Worker& worker, Failure& failure);
  bool take(Clock::time_point until, const std::function<bool()>& is_wanted,
            Worker& worker);
  void give_back(Worker worker);
  std::string end(Worker& worker);

  std::vector<std::string> arguments_;
  Bytes greeting_;
  mutable std::mutex mutex_;
  std::condition_variable is_free_;
  // Guarded by `mutex_`. Workers without a process are started when they are needed.
  std::vector<Worker> free_;
  std::set<pid_t> processes_;
  std::size_t started_ = 0;
};

}  // namespace example
