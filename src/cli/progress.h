#pragma once

// How far a long work has come, on a terminal.

#include <chrono>
#include <cstdint>

namespace waybill::cli {

// Writes "42 %  4.2 of 10.0 GB" to stderr, in place, if that is a terminal and the work
// has taken a second. Takes the line away in the end.
class ProgressLine {
 public:
  // `total`: in bytes.
  explicit ProgressLine(std::uint64_t total);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t total_;
  bool is_wanted_;
  bool is_shown_ = false;
  Clock::time_point next_;  // When it is written again.
};

}  // namespace waybill::cli
