// Tested by tests/cli/test_salvage.py.

#include "cli/progress.h"

#include <unistd.h>

#include <cstdio>

namespace waybill::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kInterval = std::chrono::milliseconds(200);

double gigabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e9; }

}  // namespace

ProgressLine::ProgressLine(std::uint64_t total)
    : total_(total),
      is_wanted_(total != 0 && isatty(STDERR_FILENO) != 0),
      next_(Clock::now() + kPatience) {}

ProgressLine::~ProgressLine() {
  if (is_shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(std::uint64_t done) {
  if (!is_wanted_ || Clock::now() < next_) return;
  next_ = Clock::now() + kInterval;
  is_shown_ = true;
  std::fprintf(stderr, "\r%3.0f %%  %.1f of %.1f GB",
               100.0 * static_cast<double>(done) / static_cast<double>(total_),
               gigabytes(done), gigabytes(total_));
}

}  // namespace waybill::cli
