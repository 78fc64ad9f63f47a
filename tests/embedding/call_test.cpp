// A payload with a call goes in, its outcome comes out.

#include "waybill/call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/fails.h"
#include "embedding/python.h"
#include "waybill/gil.h"
#include "waybill/signature.h"

namespace waybill::embedding {
namespace {

constexpr char kLoad[] = "waybill.calls.loads_outcome(data)";

Bytes call_of(const std::string& body, const std::string& arguments = "[]") {
  return bytes_of("waybill.calls.dumps_call(f, " + arguments + ")",
                  "def f(*args):\n    import time\n    " + body);
}

TEST(Call, GivesTheResult) {
  const Interpreter python = started();

  const Result<Bytes> outcome = call(call_of("return sum(args)", "[1, 2]"));

  ASSERT_TRUE(outcome);
  EXPECT_EQ(text_of(*outcome, kLoad), "3");
}

TEST(Call, CarriesWhatIsRaised) {
  const Interpreter python = started();
  for (const char* raised : {"ValueError('no')", "SystemExit(3)"}) {
    const Result<Bytes> outcome = call(call_of("raise " + std::string(raised)));

    ASSERT_TRUE(outcome) << raised;
    EXPECT_NE(
        text_of(*outcome, "waybill.loads(data)['raised']['traceback']").find("in f"),
        std::string::npos);
  }
}

TEST(Call, IsRefusedOnItsTermsBeforeAnythingRuns) {
  const Interpreter python = started();
  const CallOptions options = {.load = {.policy = std::make_shared<Policy>()}};

  EXPECT_THAT(call(call_of("return 1"), options), Fails(ErrorCode::kRefused));
}

TEST(Call, IsMalformedIfThePayloadIsNone) {
  const Interpreter python = started();

  const Result<Bytes> outcome = call(bytes_of("waybill.dumps([1])"));

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kMalformed);
  EXPECT_TRUE(outcome.error().detail.starts_with("the payload is not a call"));
}

TEST(Call, NeedsAnInterpreter) {
  EXPECT_THAT(call(Bytes{1}), Fails(ErrorCode::kRaised));
}

TEST(Call, SignsTheOutcome) {
  const Interpreter python = started();
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kEd25519);
  KeyRing ring;
  ring.add(key);

  const Result<Bytes> outcome = call(call_of("return 1"), {.key = &key});

  ASSERT_TRUE(outcome);
  EXPECT_TRUE(ring.check(*outcome));
}

TEST(Call, CompressesTheOutcome) {
  const Interpreter python = started();
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kMac);
  const Bytes payload = call_of("return bytes(100_000)");

  const Result<Bytes> plain = call(payload);
  const Result<Bytes> outcome = call(payload, {.key = &key, .compression_level = 3});

  ASSERT_TRUE(plain && outcome);
  EXPECT_GT(plain->size(), 100'000u);
  EXPECT_LT(outcome->size(), 1000u);
  EXPECT_EQ(text_of(*outcome, "len(waybill.calls.loads_outcome(data))"), "100000");
}

TEST(Call, MayComeFromManyThreads) {
  const Interpreter python = started();
  const Bytes bytes = call_of("time.sleep(0); return list(args)", "range(50)");
  std::atomic<int> good = 0;

  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) good += call(bytes).has_value();
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(good, 200);
}

}  // namespace
}  // namespace waybill::embedding
