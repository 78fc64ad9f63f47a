#include "settings.h"

#include <getopt.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace example {
namespace {

std::size_t number(const char* text, std::size_t most, std::size_t least = 1) {
  std::size_t end = 0;
  try {
    const unsigned long value = std::stoul(text, &end);
    if (text[end] == '\0' && text[0] != '-' && value >= least && value <= most) {
      return value;
    }
  } catch (const std::exception&) {
  }
  throw std::runtime_error(std::string("'") + text + "' should be a number from " +
                           std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

const char kUsage[] =
    "usage: host SOCKET [options]\n"
    "  --workers N         processes that make calls; default 2\n"
    "  --time-limit MS     milliseconds that a call may take; default 10000\n"
    "  --max-bytes N       of a call; default 16777216\n"
    "  --max-outcome N     bytes of an outcome; default 67108864\n"
    "  --clients N         connections at a time; default 256\n"
    "  --policy FILE       rules about what calls may use\n"
    "  --key FILE          keys, one of which has to have signed each call\n"
    "  --sign FILE         a key to sign outcomes with\n"
    "  --python PROGRAM    the Python whose packages calls may use\n"
    "  --path FOLDER       goes before all else in sys.path; may be given again\n";

Settings read_settings(int argc, char** argv) {
  enum Option {
    kWorkers = 1,
    kTimeLimit,
    kMaxBytes,
    kMaxOutcome,
    kClients,
    kPolicy,
    kKey,
    kSign,
    kPython,
    kPath,
    kWorkerSocket
  };
  const option options[] = {
      {"workers", required_argument, nullptr, kWorkers},
      {"time-limit", required_argument, nullptr, kTimeLimit},
      {"max-bytes", required_argument, nullptr, kMaxBytes},
      {"max-outcome", required_argument, nullptr, kMaxOutcome},
      {"clients", required_argument, nullptr, kClients},
      {"policy", required_argument, nullptr, kPolicy},
      {"key", required_argument, nullptr, kKey},
      {"sign", required_argument, nullptr, kSign},
      {"python", required_argument, nullptr, kPython},
      {"path", required_argument, nullptr, kPath},
      {"worker-socket", required_argument, nullptr, kWorkerSocket},
      {nullptr, 0, nullptr, 0}};
  constexpr std::size_t kMostWorkers = 1024;
  constexpr std::size_t kMostClients = 100'000;
  constexpr std::size_t kMostMilliseconds = std::size_t{1} << 31;
  constexpr std::size_t kMostBytes = std::size_t{1} << 40;
  constexpr std::size_t kLeastOutcome = 1024;  // What says that another is too large.
  Settings settings;
  for (;;) {
    switch (getopt_long(argc, argv, "", options, nullptr)) {
      case kWorkers:
        settings.workers = number(optarg, kMostWorkers);
        continue;
      case kTimeLimit:
        settings.time_limit =
            std::chrono::milliseconds(number(optarg, kMostMilliseconds));
        continue;
      case kMaxBytes:
        settings.max_bytes = number(optarg, kMostBytes);
        continue;
      case kMaxOutcome:
        settings.max_outcome_bytes = number(optarg, kMostBytes, kLeastOutcome);
        continue;
      case kClients:
        settings.clients = number(optarg, kMostClients);
        continue;
      case kPolicy:
        settings.policy_file = optarg;
        continue;
      case kKey:
        settings.key_file = optarg;
        continue;
      case kSign:
        settings.sign_file = optarg;
        continue;
      case kPython:
        settings.python = optarg;
        continue;
      case kPath:
        settings.search_paths.emplace_back(optarg);
        continue;
      case kWorkerSocket:
        settings.worker_socket = static_cast<int>(number(optarg, kMostWorkers));
        continue;
      case -1:
        break;
      default:
        throw std::runtime_error(kUsage);
    }
    break;
  }
  if (optind + 1 != argc) throw std::runtime_error(kUsage);
  settings.socket = argv[optind];
  return settings;
}

std::string read_rules(const Settings& settings) {
  if (settings.policy_file.empty()) return {};
  std::ifstream in(settings.policy_file);
  if (!in || std::filesystem::is_directory(settings.policy_file)) {
    throw std::runtime_error(settings.policy_file + " cannot be read");
  }
  std::string rules(std::istreambuf_iterator<char>(in), {});
  if (rules.empty()) throw std::runtime_error(settings.policy_file + " has no rules");
  return rules;
}

std::shared_ptr<const waybill::Policy> policy_of(const std::string& rules) {
  if (rules.empty()) return nullptr;
  auto policy = waybill::Policy::from_text(rules);
  if (!policy) throw std::runtime_error(policy.error().detail);
  return std::make_shared<waybill::Policy>(*std::move(policy));
}

waybill::LoadOptions load_options_of(const Settings& settings,
                                     const std::string& rules) {
  waybill::LoadOptions load_options;
  load_options.limits =
      waybill::Limits{.max_bytes = settings.max_bytes, .max_depth = 1000};
  load_options.policy = policy_of(rules);
  if (!settings.key_file.empty()) {
    auto keys = waybill::KeyRing::from_file(settings.key_file);
    if (!keys) throw std::runtime_error(keys.error().detail);
    load_options.keys = std::make_shared<waybill::KeyRing>(*std::move(keys));
  }
  return load_options;
}

std::vector<std::string> worker_arguments(const Settings& settings, int socket) {
  // Keys are for the host. That keeps calls from nothing: they have its rights.
  std::vector<std::string> words = {"--worker-socket=" + std::to_string(socket)};
  words.push_back("--max-outcome=" + std::to_string(settings.max_outcome_bytes));
  if (!settings.python.empty()) words.push_back("--python=" + settings.python);
  for (const std::string& path : settings.search_paths)
    words.push_back("--path=" + path);
  words.push_back("worker");
  return words;
}

}  // namespace example
