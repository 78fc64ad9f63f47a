#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "stream.h"

namespace example {

// A process that makes calls, one at a time.
struct Worker {
  pid_t process = -1;
  Descriptor socket;
};

// How a worker came to its end, or that it has to: a code and a sentence.
struct Failure {
  std::string code;
  std::string detail;
};

// Processes that run this program with other arguments. Thread-safe.
class WorkerPool {
 public:
  // `arguments` without the program; "--worker-socket" is added. Throws
  // std::system_error if a process cannot be started.
  WorkerPool(std::vector<std::string> arguments, std::size_t count);
  // As end_all(). No call may be under way.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // What a worker makes of the call; waits for one that is free. A worker that takes
  // longer than `time_limit`, or dies, is replaced. False: `failure` tells why.
  bool make(waybill::BytesView call, std::chrono::milliseconds time_limit,
            Bytes& outcome, Failure& failure);

  // Kills all processes. Calls that are under way fail.
  void end_all();

  // Processes started so far.
  std::size_t started() const;

 private:
  Worker start();
  bool restart(Worker& worker, Failure& failure);
  Worker take();
  void give_back(Worker worker);
  Failure end(Worker& worker);

  std::vector<std::string> arguments_;
  mutable std::mutex mutex_;
  std::condition_variable is_free_;
  // Guarded by `mutex_`. Workers without a process are started when they are needed.
  std::vector<Worker> free_;
  std::set<pid_t> processes_;
  std::size_t started_ = 0;
};

}  // namespace example
