// Which values of class attributes are referred to from elsewhere in a payload.

#include "format/attribute_targets.h"

#include <gtest/gtest.h>

#include <functional>

#include "format/samples.h"
#include "format/task_draft.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using envelope::AttributeTarget;
using namespace samples;

// A list of `before`, a class with one attribute, and `after`. `value` gives the
// attribute, and notes in the draft what is referred to.
struct ClassDraft : Draft {
  ClassDraft(const Token& before, const std::function<Tokens(Draft&)>& value,
             const Token& after) {
    put(payload, {array(3), before, class_head("kinds"), value(*this), after});
  }
};

void check(const Draft& draft, std::size_t count,
           const std::function<void(const std::vector<AttributeTarget>&)>& look = {}) {
  const Bytes bytes = draft.sealed();
  const VerifiedEnvelope envelope = sound_envelope(bytes);
  const std::vector<AttributeTarget> targets =
      envelope::find_attribute_targets(envelope);
  ASSERT_EQ(targets.size(), count);
  if (look) look(targets);
}

TEST(AttributeTargets, AreValuesThatAreReferredToAfterTheClass) {
  const auto value = [](Draft& draft) { return Tokens{draft.here(), map(0)}; };
  check(ClassDraft(kNil, value, reference(0)), 1, [](const auto& targets) {
    EXPECT_EQ(targets[0].number, 0u);
    EXPECT_EQ(targets[0].name, "kinds");
    EXPECT_EQ(targets[0].class_id.size(), 16u);
    EXPECT_FALSE(targets[0].is_entry);
  });
}

TEST(AttributeTargets, AreObjectsBeforeTheClassThatItRefersTo) {
  const auto value = [](Draft& draft) {
    draft.shared.push_back(1);  // Behind the head of the list around it.
    return Tokens{reference(0)};
  };
  check(ClassDraft(array(0), value, kNil), 1,
        [](const auto& targets) { EXPECT_EQ(targets[0].end, 2u); });
}

TEST(AttributeTargets, AreAllPlacesOfAnObjectInTheirOrder) {
  const auto value = [](Draft& draft) { return Tokens{draft.here(), map(0)}; };
  const Tokens second = {class_head("names"), map(1), "csv", reference(0)};
  check(ClassDraft(kNil, value, second), 2, [](const auto& targets) {
    EXPECT_EQ(targets[0].name, "kinds");
    EXPECT_EQ(targets[1].name, "names");
    EXPECT_EQ(targets[1].key, "csv");
    EXPECT_EQ(targets[0].number, targets[1].number);
    EXPECT_EQ(targets[0].end, targets[1].end);
  });
}

TEST(AttributeTargets, AreNotNamesClassesAndText) {
  const std::vector<Tokens> values = {
      {global("float")}, {class_head("inner"), kNil}, {"text"}, {binary(Bytes(3, 1))}};
  for (const Tokens& tokens : values) {
    const auto value = [&](Draft& draft) { return Tokens{draft.here(), tokens}; };
    check(ClassDraft(kNil, value, reference(0)), 0);
  }
}

TEST(AttributeTargets, AreEntriesOfDictsToo) {
  const auto value = [](Draft& draft) {
    return Tokens{map(1), "csv", draft.here(), array(0)};
  };
  check(ClassDraft(kNil, value, reference(0)), 1, [](const auto& targets) {
    EXPECT_TRUE(targets[0].is_entry);
    EXPECT_EQ(targets[0].key, "csv");
  });
}

TEST(AttributeTargets, AreNotWhatNothingRefersTo) {
  check(ClassDraft(kNil, [](Draft&) { return Tokens{array(0)}; }, kNil), 0);
}

TEST(AttributeTargets, AreNotWhatSharesItsPartsOrACellWithOthers) {
  const Tokens both = {array(2), reference(0), reference(1)};
  const auto with_list = [](Draft& draft) {
    return Tokens{draft.here(), array(1), draft.here(), array(0)};
  };
  const auto with_cell = [](Draft& draft) {
    return Tokens{draft.here(), map(1), -1, draft.here(), node(NodeTag::kCell, 0)};
  };
  check(ClassDraft(kNil, with_list, both), 0);
  check(ClassDraft(kNil, with_cell, both), 0);
}

TEST(AttributeTargets, AreNotWhatRefersToObjectsOutsideOfIt) {
  const auto value = [](Draft& draft) {
    draft.shared = {1};
    return Tokens{draft.here(), array(1), reference(0)};
  };
  check(ClassDraft(array(0), value, reference(1)), 0);
}

TEST(AttributeTargets, AreFoundInTimeThatGrowsWithThePayload) {
  // Lists inside each other, each of which is referred to: a look at all that is in
  // each would take the square.
  constexpr std::uint64_t kDeep = 60'000;
  const auto value = [](Draft& draft) {
    return Tokens{[&](Writer& out) {
      out.map(kDeep / 2);
      for (std::uint64_t i = 0; i < kDeep / 2; ++i) {
        put(out, {"k" + std::to_string(i), draft.here(), array(1), reference(i)});
      }
    }};
  };
  check(ClassDraft(kNil, value, kNil), kDeep / 2);
}

}  // namespace
}  // namespace waybill
