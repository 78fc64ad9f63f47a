#pragma once

// Runs a function in several threads that start together.

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace waybill::test {

inline constexpr int kThreads = 4;

// Calls `work` with 0, 1, … in a thread for each. All threads are started before the
// first call. Returns when all have ended. An exception of `work` ends the program.
inline void run_in_threads(const std::function<void(int)>& work) {
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      start.arrive_and_wait();
      work(number);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace waybill::test
