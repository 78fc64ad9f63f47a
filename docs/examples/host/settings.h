#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "waybill/admission.h"

namespace example {

// What the host was told on its command line.
struct Settings {
  std::string socket;
  std::string python;  // A program; empty: the one that waybill was built with.
  std::vector<std::string> search_paths;
  std::string policy_file;
  std::string key_file;   // Public keys, or MAC keys: one of them signed each call.
  std::string sign_file;  // The key that outcomes are signed with.
  std::size_t workers = 2;
  std::chrono::milliseconds time_limit = std::chrono::seconds(10);
  std::size_t max_bytes = std::size_t{16} << 20;
  // Given to workers by the host, not by people: the socket that they serve.
  std::optional<int> worker_socket;
};

// Throws std::runtime_error with what was not understood.
Settings read_settings(int argc, char** argv);

// What calls have to be to be let in. Throws std::runtime_error with what is wrong in
// the files of policy and keys.
waybill::Terms terms_of(const Settings& settings);

extern const char kUsage[];

}  // namespace example
