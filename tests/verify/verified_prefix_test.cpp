// What begins like an envelope that was checked needs less checking, and gets all that
// it needs.

#include "verify/verified_prefix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "format/samples.h"
#include "format/task_draft.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using envelope::VerifiedPrefix;
using namespace samples;

bool is_sound_alone(const Bytes& bytes) {
  const Result<Envelope> envelope = open_whole(bytes);
  return envelope && verify(*envelope);
}

bool goes_on_with(VerifiedPrefix& head, const Bytes& bytes) {
  return head.begin(bytes) && head.check_value();
}

std::unique_ptr<VerifiedPrefix> head_of(const Draft& draft) {
  const Bytes bytes = draft.sealed();
  return VerifiedPrefix::make(sound_envelope(bytes));
}

TEST(VerifiedPrefix, KeepsTheApplicationFieldWithoutTheBytesItCameFrom) {
  const Bytes application = {1, 2, 3};
  Bytes bytes = TaskDraft().sealed(nullptr, application);
  const auto head = VerifiedPrefix::make(sound_envelope(bytes));
  ASSERT_TRUE(head);

  std::ranges::fill(bytes, 0);

  EXPECT_TRUE(std::ranges::equal(head->envelope()->application, application));
}

// The same behind definitions, of which there are none.
void put_behind_definitions(Draft& draft) {
  const Bytes value = draft.payload.take();
  put(draft.payload, {node(NodeTag::kDefinitions, 3), 0, array(0)});
  for (std::uint64_t& position : draft.shared) position += draft.payload.size();
  draft.payload.append(value);
}

TEST(VerifiedPrefix, GoesOnWithStoredBuffers) {
  Draft draft;
  fill_with_buffers(draft);
  put_behind_definitions(draft);
  const auto head = head_of(draft);
  ASSERT_TRUE(head);
  const Bytes content(300, 7);
  draft.buffers[0].bytes = content;
  const Bytes bytes = draft.sealed();

  ASSERT_TRUE(goes_on_with(*head, bytes));

  const Envelope expected = sound_envelope(bytes);
  const Envelope& found = head->envelope();
  EXPECT_EQ(found.size, expected.size);
  EXPECT_EQ(found.bytes.size(), expected.bytes.size());
  EXPECT_EQ(found.buffers_offset, expected.buffers_offset);
  ASSERT_EQ(found.buffers.size(), expected.buffers.size());
  for (std::size_t i = 0; i < found.buffers.size(); ++i) {
    EXPECT_EQ(found.buffers[i].bytes.data(), expected.buffers[i].bytes.data());
    EXPECT_EQ(found.buffers[i].bytes.size(), expected.buffers[i].bytes.size());
  }
  EXPECT_FALSE(goes_on_with(*head, TaskDraft().sealed()));
}

TEST(VerifiedPrefix, AcceptsOfStoredBuffersWhatAFullCheckAccepts) {
  Draft draft;
  fill_with_buffers(draft);
  put_behind_definitions(draft);
  const Bytes bytes = draft.sealed();
  const auto head = head_of(draft);
  ASSERT_TRUE(head);
  const auto is_sound_but_for_digests = [](const Bytes& altered) {
    Result<Envelope> opened = open_head(altered);
    return opened && attach_buffers(*opened, altered) &&
           opened->size == altered.size() && verify(*opened);
  };
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    Bytes altered = bytes;
    altered[at] ^= 1;
    if (goes_on_with(*head, altered)) {
      EXPECT_TRUE(is_sound_but_for_digests(altered)) << "bit of byte " << at;
    }
    altered.resize(at);
    EXPECT_FALSE(goes_on_with(*head, altered)) << "cut at " << at;
  }
  EXPECT_TRUE(goes_on_with(*head, bytes));
}

TEST(VerifiedPrefix, GoesOnWithOtherValues) {
  const auto head = head_of(TaskDraft());
  ASSERT_TRUE(head);
  const TaskDraft other({"somewhere else"}, Tokens{array(2), 70'000, 0.5});
  const Bytes bytes = other.sealed();

  ASSERT_TRUE(head->is_start_of(bytes));
  ASSERT_TRUE(goes_on_with(*head, bytes));

  const Envelope expected = sound_envelope(bytes);
  const Envelope& found = head->envelope();
  EXPECT_EQ(found.shared, expected.shared);
  EXPECT_EQ(found.payload.offset, expected.payload.offset);
  EXPECT_EQ(found.payload.bytes.data(), expected.payload.bytes.data());
  EXPECT_EQ(found.payload.bytes.size(), expected.payload.bytes.size());
  EXPECT_EQ(found.debug_info.offset, expected.debug_info.offset);
  EXPECT_EQ(found.debug_info.bytes.size(), expected.debug_info.bytes.size());
  EXPECT_EQ(found.digest, expected.digest);
  EXPECT_EQ(found.size, expected.size);
  EXPECT_EQ(found.python, expected.python);
  ASSERT_EQ(found.code.size(), expected.code.size());
  for (std::size_t i = 0; i < found.code.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(found.code[i].bytes, expected.code[i].bytes));
    EXPECT_EQ(found.code[i].hash, expected.code[i].hash);
    EXPECT_EQ(found.code[i].offset, expected.code[i].offset);
  }
  EXPECT_EQ(found.definitions.value, expected.definitions.value);
  EXPECT_EQ(found.definitions.value_shared, expected.definitions.value_shared);
}

TEST(VerifiedPrefix, GoesOnWithWhatItBeganWith) {
  const TaskDraft draft;
  const auto head = head_of(draft);
  const TaskDraft other({"somewhere else"});

  EXPECT_TRUE(goes_on_with(*head, other.sealed()));
  EXPECT_TRUE(goes_on_with(*head, draft.sealed()));
}

TEST(VerifiedPrefix, IsOfPayloadsWithDefinitionsAlone) {
  Draft data, function;
  fill_with_data(data);
  fill_with_function(function);

  EXPECT_FALSE(head_of(data));
  EXPECT_FALSE(head_of(function));
}

TEST(VerifiedPrefix, GoesOnWithReferencesIntoDefinitions) {
  const auto head = head_of(TaskDraft());
  TaskDraft other({1}, Tokens{reference(2)});
  other.shared.push_back(other.shared[0]);  // The namespace.
  const Bytes bytes = other.sealed();

  EXPECT_TRUE(is_sound_alone(bytes));
  EXPECT_TRUE(goes_on_with(*head, bytes));
}

TEST(VerifiedPrefix, DoesNotGoOnWithOtherNotes) {
  const auto head = head_of(TaskDraft());
  const TaskDraft other({1}, Tokens{array(0)},
                        Tokens{location("/home/grace/task.py", 12, Bytes{0x80, 0})});
  const Bytes bytes = other.sealed();

  EXPECT_TRUE(is_sound_alone(bytes));
  EXPECT_TRUE(head->is_start_of(bytes));
  EXPECT_FALSE(goes_on_with(*head, bytes));
}

TEST(VerifiedPrefix, DoesNotGoOnWithOtherUsesOfCode) {
  const auto head = head_of(TaskDraft());
  const TaskDraft other({code_node(0)});

  EXPECT_FALSE(goes_on_with(*head, other.sealed()));
}

TEST(VerifiedPrefix, IsNotKeptOfWhatIsSignedOrLarge) {
  Bytes bytes = TaskDraft().sealed();
  Envelope envelope = *sound_envelope(bytes);
  const Bytes signature(64);
  envelope.signature = signature;
  EXPECT_FALSE(VerifiedPrefix::make(*verify(envelope)));

  TaskDraft large;
  BodyDraft body;
  body.name.assign(20'000, 'f');
  large.code[0] = body.body();
  EXPECT_FALSE(head_of(large));
}

TEST(VerifiedPrefix, AcceptsOnlyWhatIsSoundForThoseWhoReadAll) {
  const auto head = head_of(TaskDraft());
  const TaskDraft other({"x"}, Tokens{array(2), reference(kTaskType), global("len")});
  const Bytes whole = other.sealed();
  ASSERT_TRUE(is_sound_alone(whole));
  std::size_t accepted = 0;

  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      Bytes bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(value);
      fit_digest(bytes);
      if (!head->is_start_of(bytes) || !goes_on_with(*head, bytes)) continue;
      ++accepted;
      ASSERT_TRUE(is_sound_alone(bytes)) << "byte " << at << " is " << value;
    }
  }

  EXPECT_GT(accepted, whole.size());
}

TEST(VerifiedPrefix, RefusesAnyByteAlteredOrCutOff) {
  const auto head = head_of(TaskDraft());
  const Bytes whole = TaskDraft({"x"}).sealed();
  ASSERT_TRUE(goes_on_with(*head, whole));

  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes bytes = whole;
    bytes[at] ^= 0x11;
    EXPECT_FALSE(head->is_start_of(bytes) && goes_on_with(*head, bytes)) << at;
    bytes = whole;
    bytes.resize(at);
    EXPECT_FALSE(head->is_start_of(bytes) && goes_on_with(*head, bytes)) << at;
  }
}

}  // namespace
}  // namespace waybill
