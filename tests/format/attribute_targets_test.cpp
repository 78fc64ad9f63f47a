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
using samples::Bytes;
using samples::Draft;
using samples::sound_envelope;
using samples::start_class;
using wire::ExtType;
using wire::NodeTag;
using wire::Writer;

using Write = std::function<void(Writer&)>;

// A list of what `before` writes, a class with one attribute, and what `after` writes.
// `value` writes the attribute, and notes in the draft what is referred to.
struct ClassDraft : Draft {
  ClassDraft(const Write& before, const std::function<void(Draft&)>& value,
             const Write& after) {
    payload.array(3);
    before(payload);
    start_class(payload, "kinds");
    value(*this);
    after(payload);
  }
};

void nothing(Writer& out) { out.nil(); }
void first_reference(Writer& out) { out.index(ExtType::kReference, 0); }

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
  const auto value = [](Draft& draft) {
    draft.shared.push_back(draft.payload.size());
    draft.payload.map(0);
  };
  check(ClassDraft(nothing, value, first_reference), 1, [](const auto& targets) {
    EXPECT_EQ(targets[0].number, 0u);
    EXPECT_EQ(targets[0].name, "kinds");
    EXPECT_EQ(targets[0].class_id.size(), 16u);
    EXPECT_FALSE(targets[0].is_entry);
  });
}

TEST(AttributeTargets, AreObjectsBeforeTheClassThatItRefersTo) {
  const auto value = [](Draft& draft) {
    draft.shared.push_back(1);  // Behind the head of the list around it.
    first_reference(draft.payload);
  };
  check(ClassDraft([](Writer& out) { out.array(0); }, value, nothing), 1,
        [](const auto& targets) { EXPECT_EQ(targets[0].end, 2u); });
}

TEST(AttributeTargets, AreNotNamesClassesAndText) {
  const std::vector<Write> values = {
      [](Writer& out) { samples::write_global(out, "float"); },
      [](Writer& out) {
        start_class(out, "inner");
        out.nil();
      },
      [](Writer& out) { out.text("text"); },
      [](Writer& out) { out.binary(Bytes(3, 1)); },
  };
  for (const Write& write : values) {
    const auto value = [&](Draft& draft) {
      draft.shared.push_back(draft.payload.size());
      write(draft.payload);
    };
    check(ClassDraft(nothing, value, first_reference), 0);
  }
}

TEST(AttributeTargets, AreEntriesOfDictsToo) {
  const auto value = [](Draft& draft) {
    draft.payload.map(1);
    draft.payload.text("csv");
    draft.shared.push_back(draft.payload.size());
    draft.payload.array(0);
  };
  check(ClassDraft(nothing, value, first_reference), 1, [](const auto& targets) {
    EXPECT_TRUE(targets[0].is_entry);
    EXPECT_EQ(targets[0].key, "csv");
  });
}

TEST(AttributeTargets, AreNotWhatNothingRefersTo) {
  check(ClassDraft(nothing, [](Draft& draft) { draft.payload.array(0); }, nothing), 0);
}

TEST(AttributeTargets, AreNotWhatSharesItsPartsWithOthers) {
  const auto value = [](Draft& draft) {
    draft.shared.push_back(draft.payload.size());
    draft.payload.array(1);
    draft.shared.push_back(draft.payload.size());
    draft.payload.array(0);
  };
  const auto both = [](Writer& out) {
    out.array(2);
    out.index(ExtType::kReference, 0);
    out.index(ExtType::kReference, 1);
  };
  check(ClassDraft(nothing, value, both), 0);
}

TEST(AttributeTargets, AreNotWhatSharesACellWithOthers) {
  const auto value = [](Draft& draft) {
    draft.shared.push_back(draft.payload.size());
    draft.payload.map(1);
    draft.payload.integer(-1);
    draft.shared.push_back(draft.payload.size());
    draft.payload.node(NodeTag::kCell, 0);
  };
  const auto both = [](Writer& out) {
    out.array(2);
    out.index(ExtType::kReference, 0);
    out.index(ExtType::kReference, 1);
  };
  check(ClassDraft(nothing, value, both), 0);
}

TEST(AttributeTargets, AreNotWhatRefersToObjectsOutsideOfIt) {
  const auto value = [](Draft& draft) {
    draft.shared = {1, draft.payload.size()};
    draft.payload.array(1);
    draft.payload.index(ExtType::kReference, 0);
  };
  const auto second = [](Writer& out) { out.index(ExtType::kReference, 1); };
  check(ClassDraft([](Writer& out) { out.array(0); }, value, second), 0);
}

TEST(AttributeTargets, AreFoundInTimeThatGrowsWithThePayload) {
  // Lists inside each other, each of which is referred to: a look at all that is in
  // each would take the square.
  constexpr std::uint64_t kDeep = 60'000;
  const auto value = [](Draft& draft) {
    draft.payload.map(kDeep / 2);
    for (std::uint64_t i = 0; i < kDeep / 2; ++i) {
      draft.payload.text("k" + std::to_string(i));
      draft.shared.push_back(draft.payload.size());
      draft.payload.array(1);
      draft.payload.index(ExtType::kReference, i);
    }
  };
  check(ClassDraft(nothing, value, nothing), kDeep / 2);
}

}  // namespace
}  // namespace waybill
