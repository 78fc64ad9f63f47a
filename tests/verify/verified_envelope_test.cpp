// What must not compile: to trust shapes that nobody has checked, and to view bytes
// that are gone.

#include <gtest/gtest.h>

#include <array>
#include <type_traits>
#include <utility>

#include "format/samples.h"
#include "waybill/gate.h"
#include "waybill/mapped_file.h"
#include "waybill/parts.h"
#include "waybill/value.h"

namespace waybill {
namespace {

using samples::Bytes;

template <typename T>
concept CanBeRead = requires(const T& envelope) { read_value(envelope); };
template <typename T>
concept CanBeAskedAbout =
    requires(const T& envelope) { check_policy(envelope, Policy()); };
template <typename T>
concept CanBeOpened = requires(T&& bytes) { open(std::forward<T>(bytes)); };
template <typename T>
concept CanBeOpenedWhole = requires(T&& bytes) { open_whole(std::forward<T>(bytes)); };
template <typename T>
concept CanBeAdmitted =
    requires(T&& bytes) { Gate().open_trusted(std::forward<T>(bytes)); };

template <typename T>
concept CanBeAttached = requires(T&& bytes, Envelope& head) {
  attach_buffers(head, std::forward<T>(bytes));
};
template <typename T>
concept HasBytes = requires(T&& file) { std::forward<T>(file).bytes(); };
template <typename T>
concept HasItems = requires(T&& value) { std::forward<T>(value).items(); };
template <typename T>
concept HasText =
    requires(T&& value) { std::forward<T>(value).template get_if<std::string>(); };
template <typename T>
concept AnswersWithARule = requires(T&& policy) {
  std::forward<T>(policy).ask(Request::kCode, "", "");
  std::forward<T>(policy).rules();
};

TEST(VerifiedEnvelope, IsMadeByVerifyAlone) {
  static_assert(!std::is_default_constructible_v<VerifiedEnvelope>);
  static_assert(!std::is_constructible_v<VerifiedEnvelope, Envelope>);
  static_assert(!std::is_convertible_v<Envelope, VerifiedEnvelope>);
  static_assert(std::is_convertible_v<VerifiedEnvelope, const Envelope&>);
}

TEST(VerifiedEnvelope, IsWhatTrustsShapesTakes) {
  static_assert(CanBeRead<VerifiedEnvelope> && !CanBeRead<Envelope>);
  static_assert(CanBeAskedAbout<VerifiedEnvelope> && !CanBeAskedAbout<Envelope>);
}

TEST(VerifiedEnvelope, ViewsNoTemporary) {
  static_assert(CanBeOpened<Bytes&> && CanBeOpened<const Bytes&>);
  static_assert(CanBeOpened<BytesView> && CanBeOpened<const BytesView&>);
  static_assert(!CanBeOpened<Bytes>);
  static_assert(CanBeOpenedWhole<const Bytes&> && CanBeOpenedWhole<BytesView>);
  static_assert(!CanBeOpenedWhole<Bytes>);
  static_assert(CanBeAdmitted<const Bytes&> && CanBeAdmitted<BytesView>);
  static_assert(!CanBeAdmitted<Bytes> && !CanBeAdmitted<std::array<std::uint8_t, 4>>);
  static_assert(CanBeAttached<Bytes&> && !CanBeAttached<Bytes>);
}

TEST(Temporaries, AreNotAskedForWhatEndsWithThem) {
  static_assert(HasBytes<MappedFile&> && !HasBytes<MappedFile>);
  static_assert(HasItems<data::Value&> && !HasItems<data::Value>);
  static_assert(HasText<data::Value&> && !HasText<data::Value>);
  static_assert(AnswersWithARule<Policy&> && AnswersWithARule<const Policy&>);
  static_assert(!AnswersWithARule<Policy>);
}

TEST(VerifiedEnvelope, IsEmptyOnceItWasMovedFrom) {
  const Bytes bytes = samples::data_envelope();
  VerifiedEnvelope first = *verify(*open(bytes));
  const VerifiedEnvelope second = std::move(first);

  EXPECT_FALSE(second->payload.bytes.empty());
  EXPECT_TRUE(first->payload.bytes.empty());
  EXPECT_EQ(steps_from(first, root_of(first)).size(), 0);
  EXPECT_FALSE(PartExtractor(first).extract(root_of(first)));
  EXPECT_FALSE(read_value(first));
  EXPECT_TRUE(check_policy(first, Policy()));
}

// read_value() crashed on it when it took an envelope that was only opened.
TEST(VerifiedEnvelope, IsNoneWithANodeThatHasNoShape) {
  Draft draft({node(static_cast<wire::NodeTag>(99), 1), kNil});
  const Bytes bytes = draft.sealed();

  const auto opened = open(bytes);
  ASSERT_TRUE(opened);
  EXPECT_EQ(verify(*opened).error().code, ErrorCode::kUnknownTag);
  EXPECT_EQ(read_value(bytes).error().code, ErrorCode::kUnknownTag);
}

TEST(VerifiedEnvelope, IsTheEnvelopeThatWasOpened) {
  const Bytes bytes = samples::data_envelope();
  Envelope opened = *open(bytes);
  const BytesView payload = opened.payload.bytes;

  const auto copied = verify(opened);
  const auto moved = verify(std::move(opened));

  ASSERT_TRUE(copied && moved);
  EXPECT_EQ((*copied)->payload.bytes.data(), payload.data());
  EXPECT_EQ((*moved)->payload.bytes.data(), payload.data());
}

}  // namespace
}  // namespace waybill
