#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "settings.h"
#include "stream.h"
#include "waybill/signature.h"
#include "worker_pool.h"

namespace example {

// Serves clients: calls in, outcomes out. Thread-safe.
class Service {
 public:
  // Throws std::runtime_error if keys and rules are none, or no worker starts.
  Service(const Settings& settings, const std::string& rules);

  // Until the client goes, sends what is no payload, or is too slow to take its
  // outcome. One call at a time: who sends more waits.
  void serve(const Descriptor& client);

  // Calls by what became of them: "made" if a worker answered, whatever it said, or the
  // code of the failure.
  std::map<std::string, std::size_t> counts() const;
  std::size_t workers_started() const { return pool_.started(); }

  // Ends all workers; calls that are under way fail.
  void end() { pool_.end_all(); }

 private:
  Bytes outcome_of(const Bytes& call, const Descriptor& client);
  Bytes failed(const Failure& failure);
  void tell(const Failure& failure);
  void count(const std::string& what);

  std::chrono::milliseconds time_limit_;
  std::size_t max_outcome_bytes_;
  waybill::Gate gate_;
  std::optional<waybill::SigningKey> key_;
  WorkerPool pool_;
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> counts_;  // Guarded by `mutex_`.
};

}  // namespace example
