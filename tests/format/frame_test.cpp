// What is opened without measuring its payload is what open_whole() opens, once
// verify() has passed it.

#include "format/frame.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "format/samples.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using namespace samples;

// [json.decoder.JSONDecoder, a list, the list again]
Draft& fill(Draft& draft) {
  draft.manifest.imports = {
      {"json.decoder", ImportTime::kLoad, "json.decoder.JSONDecoder", "", "", 0}};
  put(draft.payload, {array(3), global("JSONDecoder", 0)});
  draft.shared = {draft.payload.size()};
  put(draft.payload, {array(1), 0.5, reference(0)});
  return draft;
}

Bytes sealed_sample() {
  Draft draft;
  return fill(draft).sealed();
}

std::optional<Envelope> sound(const Bytes& bytes, const Limits& limits = {}) {
  std::optional<Envelope> envelope = envelope::open_trusting_verify(bytes, limits);
  if (envelope && !verify(*envelope, limits)) envelope.reset();
  return envelope;
}

TEST(Unmeasured, HasTheSectionsThatOpenFinds) {
  const Bytes bytes = sealed_sample();
  const Result<Envelope> expected = open_whole(bytes);
  const std::optional<Envelope> found = sound(bytes);

  ASSERT_TRUE(expected);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->format_version, expected->format_version);
  EXPECT_EQ(found->python, expected->python);
  ASSERT_EQ(found->manifest.imports.size(), 1u);
  EXPECT_EQ(found->manifest.imports[0].module, "json.decoder");
  EXPECT_TRUE(found->code.empty());
  EXPECT_EQ(found->shared, expected->shared);
  EXPECT_EQ(found->payload.offset, expected->payload.offset);
  EXPECT_EQ(found->payload.bytes.size(), expected->payload.bytes.size());
  EXPECT_EQ(found->debug_info.offset, expected->debug_info.offset);
  EXPECT_EQ(found->debug_info.bytes.size(), expected->debug_info.bytes.size());
  EXPECT_EQ(found->digest, expected->digest);
  EXPECT_TRUE(found->signature.empty());
  EXPECT_EQ(found->bytes.data(), expected->bytes.data());
  EXPECT_EQ(found->size, expected->size);
}

TEST(Unmeasured, IsSoundAlsoForThoseWhoMeasure) {
  const Bytes whole = sealed_sample();
  std::size_t accepted = 0;

  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      Bytes bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(value);
      fit_digest(bytes);
      if (!sound(bytes)) continue;
      ++accepted;
      const Result<Envelope> envelope = open_whole(bytes);
      ASSERT_TRUE(envelope && verify(*envelope)) << "byte " << at << " is " << value;
    }
  }

  EXPECT_GT(accepted, whole.size());
}

TEST(Unmeasured, IsRefusedWithAnyByteAlteredCutOffOrAdded) {
  const Bytes whole = sealed_sample();

  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes bytes = whole;
    bytes[at] ^= 0x11;
    EXPECT_FALSE(sound(bytes)) << at;
    bytes = whole;
    bytes.resize(at);
    EXPECT_FALSE(sound(bytes)) << at;
    bytes = whole;
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), 0xc0);
    EXPECT_FALSE(sound(bytes)) << at;
  }
}

TEST(Unmeasured, HasNoCode) {
  EXPECT_FALSE(envelope::open_trusting_verify(function_envelope(), {}));
}

TEST(Unmeasured, IsFarFromAllLimits) {
  const Bytes bytes = sealed_sample();
  Limits limits;
  for (std::size_t Limits::* limit :
       {&Limits::max_bytes, &Limits::max_values, &Limits::max_depth}) {
    Limits near = limits;
    near.*limit = bytes.size();
    EXPECT_TRUE(sound(bytes, near));
    near.*limit = bytes.size() - 1;
    EXPECT_FALSE(sound(bytes, near));
  }
}

}  // namespace
}  // namespace waybill
