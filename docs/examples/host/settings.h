#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "waybill/gate.h"

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
  std::size_t max_outcome_bytes = std::size_t{64} << 20;
  std::size_t clients = 256;
  // Given to workers by the host, not by people: the socket that they serve.
  std::optional<int> worker_socket;
};

// Throws std::runtime_error with what was not understood.
Settings read_settings(int argc, char** argv);

// The text of the file of rules; empty if there is none. Throws std::runtime_error.
std::string read_rules(const Settings& settings);

// What these rules are; null for none. Throws std::runtime_error with what is wrong.
std::shared_ptr<const waybill::Policy> policy_of(const std::string& rules);

// What calls have to be to be let in. Throws std::runtime_error with what is wrong in
// rules and keys.
waybill::LoadOptions load_options_of(const Settings& settings,
                                     const std::string& rules);

// The command line of a worker, without the program.
std::vector<std::string> worker_arguments(const Settings& settings, int socket);

extern const char kUsage[];

}  // namespace example
