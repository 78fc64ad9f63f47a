// Each error code happens once, with the byte and the words that a person would read.

#include <gtest/gtest.h>

#include "base/hash.h"
#include "format/samples.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using samples::Bytes;
using samples::Draft;

std::string text_of(const Result<Envelope>& result) {
  return result ? "no error" : to_string(result.error());
}

std::string text_of(const Result<void>& result) {
  return result ? "no error" : to_string(result.error());
}

TEST(ErrorCodes, Truncated) {
  const Bytes bytes = {0x99, 0x95, 0xa2, 'w'};
  EXPECT_EQ(text_of(open(bytes)),
            "truncated at byte 0: 9 values are announced, and 4 bytes are left: the "
            "input is incomplete");
}

TEST(ErrorCodes, NotAnEnvelope) {
  const Bytes pickle = {0x80, 0x05, 'K', 0x01, '.'};
  EXPECT_EQ(open(pickle).error().code, ErrorCode::kNotAnEnvelope);
  EXPECT_EQ(open(pickle).error().offset, 0u);
  const Bytes never_used = {0xc1};
  EXPECT_EQ(open(never_used).error().code, ErrorCode::kNotAnEnvelope);
}

TEST(ErrorCodes, UnknownFormat) {
  Bytes bytes = samples::data_envelope();
  bytes[5] = 2;
  EXPECT_EQ(text_of(open(bytes)),
            "unknown_format at byte 5: format version 2, and this reader knows 1; read "
            "it with a newer waybill");
}

TEST(ErrorCodes, Malformed) {
  Bytes bytes = samples::data_envelope();
  bytes[11] = 0xa0;  // Text where the manifest should stand.
  EXPECT_EQ(text_of(open(bytes)),
            "malformed at byte 11: the manifest should be a map and is text");
}

TEST(ErrorCodes, TrailingBytes) {
  Bytes bytes = samples::data_envelope();
  const std::string end = std::to_string(bytes.size());
  bytes.resize(bytes.size() + 3);
  EXPECT_TRUE(open(bytes));
  EXPECT_EQ(text_of(open_whole(bytes)),
            "trailing_bytes at byte " + end + ": 3 bytes follow the envelope");
}

TEST(ErrorCodes, DigestMismatch) {
  Bytes bytes = samples::data_envelope();
  const std::size_t digest = bytes.size() - 11;
  bytes[digest - 2] ^= 1;  // 43 for 42.
  EXPECT_EQ(open(bytes).error().code, ErrorCode::kDigestMismatch);
  EXPECT_EQ(open(bytes).error().offset, digest);
}

TEST(ErrorCodes, UnknownTag) {
  Draft draft;
  draft.payload.node(wire::NodeTag{99}, 0);
  const Bytes bytes = draft.sealed();
  EXPECT_EQ(
      text_of(verify(*open(bytes))),
      "unknown_tag at byte 15: node tag 99 is unknown; read it with a newer waybill");
}

TEST(ErrorCodes, BadReference) {
  Draft draft;
  draft.payload.index(wire::ExtType::kReference, 0);
  const Bytes bytes = draft.sealed();
  EXPECT_EQ(text_of(verify(*open(bytes))),
            "bad_reference at byte 15: reference 0 is not below the number of shared "
            "positions, 0");
}

TEST(ErrorCodes, LimitExceeded) {
  const Bytes bytes = samples::data_envelope();
  Limits limits = {.max_values = 5};
  EXPECT_EQ(text_of(open(bytes, limits)),
            "limit_exceeded at byte 7: the input has more values than max_values "
            "allows");
}

TEST(ErrorCodes, Undeclared) {
  Draft draft;
  draft.payload.index(wire::ExtType::kModule, 0);
  const Bytes bytes = draft.sealed();
  EXPECT_EQ(text_of(verify(*open(bytes))),
            "undeclared at byte 15: module index 0 is not below the number of "
            "imports, 0");
}

TEST(ErrorCodes, PythonMismatch) {
  const Bytes bytes = samples::function_envelope();
  EXPECT_EQ(
      text_of(check_python(*open(bytes), {3, 12, 3531})),
      "python_mismatch at byte 0: the code was made by Python 3.11 (bytecode 3495), "
      "without source, and this is Python 3.12 (bytecode 3531); send it with "
      "source=\"auto\", or run the version that made it");
}

}  // namespace
}  // namespace waybill
