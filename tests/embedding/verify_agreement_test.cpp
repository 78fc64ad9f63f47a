// verify() and loads() agree on what is sound: each byte of envelopes is changed, with
// a digest that fits.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/hash.h"
#include "embedding/python.h"
#include "waybill/envelope.h"
#include "waybill/gil.h"

namespace waybill::embedding {
namespace {

constexpr std::uint8_t kMasks[] = {0x01, 0x80, 0xff};

// Digest and an absent signature: 0xc4, 8, eight bytes, nil.
constexpr std::size_t kEndSize = 11;

Bytes resealed(Bytes bytes) {
  const std::size_t end = bytes.size() - kEndSize;
  const auto digest = base::digest_of(BytesView(bytes).first(end));
  std::ranges::copy(digest, bytes.begin() + static_cast<std::ptrdiff_t>(end) + 2);
  return bytes;
}

// Those of this Python that end with their digest.
std::vector<std::filesystem::path> golden_envelopes() {
  const std::string end = "-" + text_of("'%d.%d' % sys.version_info[:2]") + ".waybill";
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(WAYBILL_GOLDEN "/v1")) {
    const bool has_buffers = entry.path().filename().string().starts_with("compressed");
    if (has_buffers || !entry.path().string().ends_with(end)) continue;
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

Bytes content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<void> verdict_on(const Bytes& bytes) {
  const auto verified = open(bytes).and_then(
      [](Envelope&& envelope) { return verify(std::move(envelope)); });
  return verified.map([](const auto&) {});
}

// Payloads call what they carry: instructions that no compiler wrote are not run here.
bool is_in_code(const Envelope& envelope, std::size_t at) {
  return std::ranges::any_of(envelope.code, [&](const CodeBody& body) {
    return body.offset <= at && at < body.offset + body.bytes.size();
  });
}

// What only a Python can tell of an envelope that is sound: what calls raise, names
// that its modules lack, keys that are equal, state that a type does not take, code
// that it does not run, and source text that is damaged, which is read when it is asked
// for.
bool may_refuse_what_is_sound(ErrorCode code) {
  return code == ErrorCode::kRaised || code == ErrorCode::kMalformed ||
         code == ErrorCode::kPythonMismatch || code == ErrorCode::kUnknownFormat;
}

TEST(Decode, RefusesWhatVerifyRefusesWithTheSameError) {
  const Interpreter python = started();
  const GilScope gil;
  // Sanitizers take many times as long.
  const std::size_t step = std::getenv("WAYBILL_SANITIZED") != nullptr ? 10 : 1;
  std::size_t sound = 0;
  std::size_t refused = 0;
  for (const auto& path : golden_envelopes()) {
    const Bytes intact = content_of(path);
    const Result<Envelope> envelope = open(intact);
    ASSERT_TRUE(envelope) << path;
    for (std::size_t at = 0; at + kEndSize < intact.size(); at += step) {
      if (is_in_code(*envelope, at)) continue;
      Bytes bytes = intact;
      bytes[at] ^= kMasks[at % std::size(kMasks)];
      bytes = resealed(std::move(bytes));

      const Result<void> verdict = verdict_on(bytes);
      const Result<Object> decoded = decode(bytes);

      (verdict ? sound : refused) += 1;
      if (decoded) {
        EXPECT_TRUE(verdict) << path << " byte " << at;
      } else if (verdict) {
        EXPECT_TRUE(may_refuse_what_is_sound(decoded.error().code))
            << path << " byte " << at << ": " << to_string(decoded.error());
      } else {
        EXPECT_EQ(to_string(decoded.error()), to_string(verdict.error()))
            << path << " byte " << at;
      }
    }
  }
  EXPECT_GT(sound, 100 / step);
  EXPECT_GT(refused, 1000 / step);
}

}  // namespace
}  // namespace waybill::embedding
