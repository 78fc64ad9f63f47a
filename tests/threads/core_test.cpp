// What the headers call thread-safe, used by several threads at once: each gets what
// one alone gets. `.ci/threads` runs this under the thread sanitizer. Each test is a
// process of its own (ctest), so that the first to use a thing are threads too.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "format/samples.h"
#include "threads/run_in_threads.h"
#include "trust/key_samples.h"
#include "waybill/bytecode.h"
#include "waybill/diff.h"
#include "waybill/envelope.h"
#include "waybill/gate.h"
#include "waybill/policy.h"
#include "waybill/report.h"
#include "waybill/signature.h"
#include "waybill/stream_length.h"
#include "waybill/value.h"
#include "waybill/value_json.h"

namespace waybill {
namespace {

using samples::Bytes;
using test::kThreads;
using test::run_in_threads;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define WAYBILL_SANITIZED
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define WAYBILL_SANITIZED
#endif
#endif

constexpr int kRounds = 50;

std::shared_ptr<const Policy> policy_of(std::string_view text) {
  return std::make_shared<const Policy>(*Policy::from_text(text));
}

// How often each thread was right.
using Counts = std::array<int, kThreads>;
constexpr Counts kAll = {kRounds, kRounds, kRounds, kRounds};

// Asks `work` kRounds times in each thread whether all was as it has to be.
template <typename Work>
Counts count_at_once(const Work& work) {
  Counts right = {};
  run_in_threads([&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      right[static_cast<std::size_t>(thread)] += work();
    }
  });
  return right;
}

TEST(Threads, OpenAndVerifyTheSameBytes) {
  const Bytes bytes = samples::function_envelope();
  EXPECT_EQ(count_at_once([&] {
              const auto envelope = open(bytes);
              return envelope && verify(*envelope) && envelope->code.size() == 2;
            }),
            kAll);
}

TEST(Threads, ReadOneEnvelope) {
  const Bytes bytes = samples::function_envelope();
  const Bytes other_bytes = samples::data_envelope();
  const auto envelope = open(bytes);
  const auto other = open(other_bytes);
  ASSERT_TRUE(envelope && other);
  const ReportOptions options = {.instructions = true};
  const std::string text = report_text(*envelope, options);
  const std::string json = report_json(*envelope, options);
  const std::string difference = diff(*envelope, *other).report;
  const auto policy = policy_of("allow code\nallow import *\n");
  const auto verified = verify(*envelope);
  ASSERT_TRUE(verified);
  const bool allows = check_policy(*verified, *policy).has_value();

  EXPECT_EQ(count_at_once([&] {
              return verify(*envelope) && report_text(*envelope, options) == text &&
                     report_json(*envelope, options) == json &&
                     diff(*envelope, *other).report == difference &&
                     check_policy(*verified, *policy).has_value() == allows;
            }),
            kAll);
}

TEST(Threads, MeasureStreamsOfTheirOwn) {
  const Bytes bytes = samples::function_envelope();
  EXPECT_EQ(count_at_once([&] {
              return StreamLength().measure(bytes) == Extent{.size = bytes.size()};
            }),
            kAll);
}

TEST(Threads, MakeKeysBeforeAnyoneElseHas) {
  run_in_threads([](int) {
    const SigningKey key = SigningKey::generate(SignatureAlgorithm::kEd25519);
    const auto text = key.public_text();
    ASSERT_TRUE(text);
    const auto ring = KeyRing::from_text(*text);
    ASSERT_TRUE(ring);
    const auto bytes = sign(samples::data_envelope(), key);
    ASSERT_TRUE(bytes);
    EXPECT_TRUE(ring->check(*bytes));
  });
}

TEST(Threads, SignAndCheckWithTheSameKeys) {
  const SigningKey sender = samples::sender_key();
  const SigningKey mac = samples::mac_key();
  const SigningKey stranger = samples::stranger_key();
  KeyRing ring = samples::ring_of(sender);
  ring.add(mac);
  const Bytes bytes = samples::data_envelope();
  const auto expected = sign(bytes, sender);
  ASSERT_TRUE(expected);

  EXPECT_EQ(count_at_once([&] {
              const auto by_sender = sign(bytes, sender);
              const auto by_mac = sign(bytes, mac);
              const auto by_stranger = sign(bytes, stranger);
              return by_sender && by_mac && by_stranger && *by_sender == *expected &&
                     ring.check(*by_sender) && ring.check(*by_mac) &&
                     !ring.check(*by_stranger) && ring.clone().check(*by_mac);
            }),
            kAll);
}

TEST(Threads, AskOneGate) {
  auto keys = std::make_shared<KeyRing>(samples::ring_of(samples::sender_key()));
  const Gate data({.policy = policy_of(""), .keys = std::move(keys)});
  const auto signed_data = sign(samples::data_envelope(), samples::sender_key());
  const auto signed_code = sign(samples::function_envelope(), samples::sender_key());
  ASSERT_TRUE(signed_data && signed_code);

  EXPECT_EQ(count_at_once([&] {
              const auto refused = data.open_trusted(*signed_code);
              return data.open_trusted(*signed_data) && !refused &&
                     refused.error().code == ErrorCode::kRefused &&
                     data.refusal(Request::kCall, "os", "system").has_value();
            }),
            kAll);
}

TEST(Threads, ReadAndWriteOneValue) {
  const auto value = read_value(samples::data_envelope());
  ASSERT_TRUE(value);
  const auto bytes = write_value(*value);
  const auto json = value_json(*value);
  ASSERT_TRUE(bytes && json);

  EXPECT_EQ(count_at_once([&] {
              const data::Value copy = *value;
              const auto again = read_value(*bytes);
              const auto written = write_value(*value);
              const auto text = value_json(*value);
              return again && written && text && copy == *value && *again == copy &&
                     *written == *bytes && *text == *json;
            }),
            kAll);
}

// LOAD_GLOBAL json; LOAD_ATTR dumps; RETURN_VALUE, as Python 3.11 writes them.
TEST(Threads, SummarizeTheSameCode) {
  const std::vector<std::string_view> names = {"json", "dumps"};
  std::vector<std::uint8_t> instructions = {151, 0, 116, 0};
  instructions.resize(instructions.size() + 10);  // Caches.
  instructions.insert(instructions.end(), {106, 1});
  instructions.resize(instructions.size() + 8);
  instructions.insert(instructions.end(), {83, 0});
  CodeView code;
  code.version = 311;
  code.instructions = instructions;
  code.names = names;

  EXPECT_EQ(count_at_once([&] {
              const auto summary = summarize(code);
              return summary && summary->globals.size() == 1 &&
                     summary->values.size() >= 2;
            }),
            kAll);
}

// The ceiling only falls, so whoever asks later never gets more than who asked before.
TEST(Threads, RestrictTheProcessWhileOthersAsk) {
  const Bytes code = samples::function_envelope();
  ASSERT_TRUE(Gate().open_trusted(code));

  run_in_threads([&](int thread) {
    bool was_refused = false;
    for (int round = 0; round < kRounds; ++round) {
      if (thread == 0 && round == kRounds / 2) {
        restrict_process({.policy = policy_of("deny code\nallow import *\n")});
        was_refused = true;
      } else if (thread == 1) {
        restrict_process({.limits = Limits{.max_values = std::size_t{1} << 20}});
        EXPECT_TRUE(is_process_restricted());
      }
      const bool is_refused = !Gate().open_trusted(code).has_value();
      EXPECT_TRUE(is_refused || !was_refused);
      was_refused = is_refused;
    }
  });

  const auto refused = Gate().open_trusted(code);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kRefused);
  EXPECT_EQ(Gate().limits().max_values, std::size_t{1} << 20);
  EXPECT_EQ(process_restrictions(), kRounds + 1);
}

TEST(Threads, ForkWhileOthersAskAndRestrict) {
#ifdef WAYBILL_SANITIZED
  GTEST_SKIP() << "a sanitizer's own locks are not made for a fork among threads";
#endif
  constexpr int kForks = 100;
  restrict_process({.policy = policy_of("")});
  run_in_threads([&](int thread) {
    for (int round = 0; round < kForks; ++round) {
      if (thread != 0) {
        for (int time = 0; time < 100; ++time) Gate();
        restrict_process({.limits = Limits{}});
        continue;
      }
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);  // Seconds, after which it has hung.
        restrict_process({.limits = Limits{}});
        _exit(Gate().is_data_only() ? 0 : 1);
      }
      int status = -1;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_EQ(status, 0);
    }
  });
}

}  // namespace
}  // namespace waybill
