// What begins like an envelope that was checked needs less checking, and gets all that
// it needs.

#include "envelope/checked_head.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "envelope/known_nodes.h"
#include "envelope/samples.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using envelope::CheckedHead;
using envelope::KnownNode;
using samples::BodyDraft;
using samples::Bytes;
using samples::Draft;
using samples::fit_digest;
using wire::ExtType;
using wire::NodeTag;
using wire::Writer;

constexpr std::uint64_t kNamespace = 0;  // Numbers of references.
constexpr std::uint64_t kType = 1;

void write_place(Writer& out) {
  out.array(4);
  out.text("/home/ada/task.py");
  out.integer(12);
  out.binary(Bytes{0x80, 0});
  out.array(0);
}

void write_global(Writer& out, const char* name) {
  out.node(NodeTag::kGlobal, 2);
  out.nil();
  out.text(name);
}

// A tuple of something, a function, a class whose method has the globals of the
// function, and something else that refers to the class.
struct TaskDraft : Draft {
  using Write = std::function<void(Writer&)>;

  explicit TaskDraft(
      const Write& write_first = [](Writer& out) { out.integer(1); },
      const Write& write_last = [](Writer& out) { out.array(0); },
      const Write& write_second_place = write_place) {
    manifest.imports = {{"json", ImportTime::kLoad, "json.dumps", "f", "task.py", 3}};
    code.push_back(BodyDraft().body());
    BodyDraft method;
    method.name = "method";
    code.push_back(method.body());
    payload.node(NodeTag::kTuple, 5);
    write_first(payload);
    write_function();
    write_class();
    write_last(payload);
    payload.index(ExtType::kReference, kType);
    places.array(2);
    write_place(places);
    write_second_place(places);
  }

  void write_function() {
    starts[0] = payload.size();
    payload.node(NodeTag::kFunction, 4);
    payload.unsigned_integer(0);
    shared.push_back(payload.size());
    samples::write_namespace(payload);
    payload.array(0);
    payload.map(1);
    payload.unsigned_integer(0);
    payload.map(1);
    payload.text("alias");
    payload.index(ExtType::kModule, 0);
  }

  void write_class() {
    starts[1] = payload.size();
    shared.push_back(payload.size());
    payload.node(NodeTag::kClass, 6);
    payload.binary(Bytes(16, 0xab));
    write_global(payload, "type");
    payload.text("C");
    payload.array(1);
    write_global(payload, "object");
    payload.map(1);
    payload.text("__module__");
    payload.text("__main__");
    payload.map(1);
    payload.text("method");
    payload.node(NodeTag::kFunction, 4);
    payload.unsigned_integer(1);
    payload.index(ExtType::kReference, kNamespace);
    payload.array(0);
    payload.map(0);
  }

  std::size_t starts[2] = {};
};

// Of which the views point into `bytes`.
Envelope sound_envelope(const Bytes& bytes) {
  Result<Envelope> envelope = open_whole(bytes);
  EXPECT_TRUE(envelope && verify(*envelope));
  return envelope ? *envelope : Envelope{};
}

bool is_sound(const Bytes& bytes) {
  const Result<Envelope> envelope = open_whole(bytes);
  return envelope && verify(*envelope);
}

std::unique_ptr<CheckedHead> head_of(const Draft& draft) {
  const Bytes bytes = draft.sealed();
  return CheckedHead::make(sound_envelope(bytes));
}

TEST(KnownNodes, AreBareFunctionsAndClasses) {
  const TaskDraft draft;
  const Bytes bytes = draft.sealed();

  const std::vector<KnownNode> nodes =
      envelope::find_known_nodes(sound_envelope(bytes));

  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].tag, NodeTag::kFunction);
  EXPECT_EQ(nodes[0].start, draft.starts[0]);
  EXPECT_EQ(nodes[0].end(), draft.starts[1]);
  EXPECT_EQ(nodes[0].code_uses, std::vector<std::uint32_t>{0});
  ASSERT_EQ(nodes[0].targets.size(), 1u);
  EXPECT_EQ(nodes[0].targets[0].number, kNamespace);
  EXPECT_EQ(nodes[0].references_after, 0u);
  EXPECT_EQ(nodes[1].tag, NodeTag::kClass);
  EXPECT_EQ(nodes[1].start, draft.starts[1]);
  EXPECT_EQ(nodes[1].code_uses, std::vector<std::uint32_t>{1});
  EXPECT_EQ(nodes[1].references_after, 1u);
  ASSERT_EQ(nodes[1].classes.size(), 1u);
  EXPECT_EQ(nodes[1].classes[0].offset, 0u);
  EXPECT_EQ(nodes[1].classes[0].id.size(), 16u);
}

std::size_t known_in(const Draft& draft) {
  const Bytes bytes = draft.sealed();
  return envelope::find_known_nodes(sound_envelope(bytes)).size();
}

TEST(KnownNodes, AreNotThoseThatOthersReferInto) {
  TaskDraft draft([](Writer& out) { out.integer(1); },
                  [](Writer& out) { out.index(ExtType::kReference, kNamespace); });

  EXPECT_EQ(known_in(draft), 0u);  // The class refers into the function, too.
}

TEST(KnownNodes, AreNotThoseThatReferToWhatIsAroundThem) {
  Draft draft;
  draft.code.push_back(BodyDraft().body());
  BodyDraft second;
  second.name = "g";
  draft.code.push_back(second.body());
  draft.payload.array(2);
  for (std::uint64_t index = 0; index < 2; ++index) {
    draft.payload.node(NodeTag::kFunction, 4);
    draft.payload.unsigned_integer(index);
    if (index == 0) {
      draft.shared.push_back(draft.payload.size());
      samples::write_namespace(draft.payload);
    } else {
      draft.payload.index(ExtType::kReference, 0);
    }
    draft.payload.array(0);
    draft.payload.map(index == 0 ? 1 : 0);  // The first has a default.
    if (index == 0) {
      draft.payload.unsigned_integer(2);
      draft.payload.node(NodeTag::kTuple, 0);
    }
  }

  EXPECT_EQ(known_in(draft), 0u);
}

TEST(KnownNodes, AreNotThoseThatMeanWhatOnlyTheProgramKnows) {
  for (const NodeTag tag : {NodeTag::kPersistent, NodeTag::kIdentified}) {
    Draft draft;
    draft.payload.node(NodeTag::kClass, 6);
    draft.payload.binary(Bytes(16, 0xab));
    write_global(draft.payload, "type");
    draft.payload.text("C");
    draft.payload.array(0);
    draft.payload.map(0);
    draft.payload.map(1);
    draft.payload.text("attribute");
    if (tag == NodeTag::kIdentified) {
      draft.payload.node(tag, 2);
      draft.payload.binary(Bytes(16, 1));
    } else {
      draft.payload.node(tag, 1);
    }
    draft.payload.integer(1);

    EXPECT_EQ(known_in(draft), 0u);
  }
}

// [function, what follows it].
struct FunctionDraft : Draft {
  using Write = std::function<void(Writer&)>;

  FunctionDraft(const Write& write_global_value, const Write& write_last) {
    code.push_back(BodyDraft().body());
    payload.array(2);
    shared.push_back(payload.size());
    payload.node(NodeTag::kFunction, 4);
    payload.unsigned_integer(0);
    samples::write_namespace(payload);
    payload.array(0);
    payload.map(1);
    payload.unsigned_integer(0);
    payload.map(1);
    payload.text("name");
    write_global_value(payload);
    write_last(payload);
  }
};

void write_call(Writer& out, const std::function<void(Writer&)>& write_argument) {
  out.node(NodeTag::kObject, 5);
  write_global(out, "len");
  out.array(1);
  write_argument(out);
  out.nil();
  out.array(0);
  out.map(0);
}

TEST(KnownNodes, AreFunctionsWhoseGlobalsAreMadeByNobody) {
  const auto number = [](Writer& out) { out.integer(1); };
  const auto itself = [](Writer& out) { out.index(ExtType::kReference, 0); };
  const auto call = [&](Writer& out) { write_call(out, number); };
  const auto global = [](Writer& out) { write_global(out, "len"); };

  EXPECT_EQ(known_in(FunctionDraft(number, itself)), 1u);
  EXPECT_EQ(known_in(FunctionDraft(call, itself)), 0u);
  EXPECT_EQ(known_in(FunctionDraft(global, itself)), 0u);
}

TEST(KnownNodes, AreNotFunctionsThatOthersGet) {
  const auto number = [](Writer& out) { out.integer(1); };
  const auto itself = [](Writer& out) { out.index(ExtType::kReference, 0); };
  const auto call = [&](Writer& out) { write_call(out, itself); };

  EXPECT_EQ(known_in(FunctionDraft(number, call)), 0u);
}

TEST(KnownNodes, AreNotFunctionsWhoseCodeIsUsedElsewhere) {
  const auto number = [](Writer& out) { out.integer(1); };
  const auto both = [](Writer& out) {
    out.array(2);
    out.index(ExtType::kReference, 0);
    out.node(NodeTag::kCode, 1);
    out.unsigned_integer(0);
  };

  EXPECT_EQ(known_in(FunctionDraft(number, both)), 0u);
}

TEST(KnownNodes, AreNotClassesWithoutAnId) {
  Draft draft;
  draft.payload.node(NodeTag::kClass, 6);
  draft.payload.nil();
  write_global(draft.payload, "type");
  draft.payload.text("C");
  draft.payload.array(0);
  draft.payload.map(0);
  draft.payload.map(0);

  EXPECT_EQ(known_in(draft), 0u);
}

TEST(CheckedHead, KeepsTheApplicationFieldWithoutTheBytesItCameFrom) {
  const Bytes application = {1, 2, 3};
  Bytes bytes = TaskDraft().sealed(nullptr, application);
  const auto head = CheckedHead::make(sound_envelope(bytes));
  ASSERT_TRUE(head);

  std::ranges::fill(bytes, 0);

  EXPECT_TRUE(std::ranges::equal(head->envelope().application, application));
}

TEST(CheckedHead, GoesOnWithOtherValues) {
  const auto head = head_of(TaskDraft());
  ASSERT_TRUE(head);
  const TaskDraft other([](Writer& out) { out.text("somewhere else"); },
                        [](Writer& out) {
                          out.array(2);
                          out.integer(70'000);
                          out.real(0.5);
                        });
  const Bytes bytes = other.sealed();

  ASSERT_TRUE(head->is_start_of(bytes));
  ASSERT_TRUE(head->continue_with(bytes));

  const Envelope expected = sound_envelope(bytes);
  const Envelope& found = head->envelope();
  EXPECT_EQ(found.shared, expected.shared);
  EXPECT_EQ(found.payload.offset, expected.payload.offset);
  EXPECT_EQ(found.payload.bytes.data(), expected.payload.bytes.data());
  EXPECT_EQ(found.payload.bytes.size(), expected.payload.bytes.size());
  EXPECT_EQ(found.notes.offset, expected.notes.offset);
  EXPECT_EQ(found.notes.bytes.size(), expected.notes.bytes.size());
  EXPECT_EQ(found.digest, expected.digest);
  EXPECT_EQ(found.size, expected.size);
  EXPECT_EQ(found.python, expected.python);
  ASSERT_EQ(found.code.size(), expected.code.size());
  for (std::size_t i = 0; i < found.code.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(found.code[i].bytes, expected.code[i].bytes));
    EXPECT_EQ(found.code[i].hash, expected.code[i].hash);
    EXPECT_EQ(found.code[i].offset, expected.code[i].offset);
  }
  ASSERT_EQ(head->known_nodes().size(), 2u);
  EXPECT_EQ(head->known_nodes()[0].start, other.starts[0]);
  EXPECT_EQ(head->known_nodes()[1].start, other.starts[1]);
}

TEST(CheckedHead, GoesOnWithWhatItBeganWith) {
  const TaskDraft draft;
  const auto head = head_of(draft);
  const TaskDraft other([](Writer& out) { out.text("somewhere else"); });
  const Bytes bytes = draft.sealed();

  ASSERT_TRUE(head->continue_with(other.sealed()));
  ASSERT_TRUE(head->continue_with(bytes));

  EXPECT_EQ(head->known_nodes()[0].start, draft.starts[0]);
  EXPECT_FALSE(head->is_all_of(bytes));  // There is more than what is known.
}

// A function that names nothing, alone or in a list.
void fill_with_bare_function(Draft& draft, bool is_alone) {
  draft.code.push_back(BodyDraft().body());
  if (!is_alone) draft.payload.array(1);
  draft.payload.node(NodeTag::kFunction, 4);
  draft.payload.unsigned_integer(0);
  samples::write_namespace(draft.payload);
  draft.payload.array(0);
  draft.payload.map(0);
  draft.places.array(1);
  write_place(draft.places);
}

TEST(CheckedHead, IsAllOfAnEnvelopeOfNothingElse) {
  Draft draft;
  fill_with_bare_function(draft, true);
  const auto head = head_of(draft);
  Bytes bytes = draft.sealed();

  EXPECT_TRUE(head->is_all_of(bytes));
  bytes.back() ^= 1;
  EXPECT_FALSE(head->is_all_of(bytes));
  head->forget_known_nodes();
  EXPECT_FALSE(head->is_all_of(draft.sealed()));
  EXPECT_TRUE(head->continue_with(draft.sealed()));
}

TEST(CheckedHead, IsAllOfWhatItWentOnWithIfThatIsKnown) {
  Draft in_list, alone;
  fill_with_bare_function(in_list, false);
  fill_with_bare_function(alone, true);
  const auto head = head_of(in_list);
  EXPECT_FALSE(head->is_all_of(alone.sealed()));

  const Bytes bytes = alone.sealed();
  ASSERT_TRUE(head->continue_with(bytes));

  EXPECT_TRUE(head->is_known_node_alone());
  EXPECT_TRUE(head->is_all_of(bytes));
  EXPECT_FALSE(head->is_all_of(in_list.sealed()));
  EXPECT_TRUE(head->continue_with(in_list.sealed()));
  EXPECT_FALSE(head->is_known_node_alone());
}

TEST(CheckedHead, DoesNotGoOnWithReferencesIntoWhatIsKnown) {
  const auto head = head_of(TaskDraft());
  const TaskDraft other([](Writer& out) { out.integer(1); },
                        [](Writer& out) {
                          out.array(1);
                          out.index(ExtType::kReference, kNamespace);
                        });
  const Bytes bytes = other.sealed();

  EXPECT_TRUE(is_sound(bytes));
  EXPECT_FALSE(head->continue_with(bytes));
}

TEST(CheckedHead, DoesNotGoOnWithOtherNotes) {
  const auto head = head_of(TaskDraft());
  const TaskDraft other([](Writer& out) { out.integer(1); },
                        [](Writer& out) { out.array(0); },
                        [](Writer& out) {
                          out.array(4);
                          out.text("/home/grace/task.py");
                          out.integer(12);
                          out.binary(Bytes{0x80, 0});
                          out.array(0);
                        });
  const Bytes bytes = other.sealed();

  EXPECT_TRUE(is_sound(bytes));
  EXPECT_TRUE(head->is_start_of(bytes));
  EXPECT_FALSE(head->continue_with(bytes));
}

TEST(CheckedHead, DoesNotGoOnWithOtherUsesOfCode) {
  const auto head = head_of(TaskDraft());
  const TaskDraft other([](Writer& out) {
    out.node(NodeTag::kCode, 1);
    out.unsigned_integer(0);
  });

  EXPECT_FALSE(head->continue_with(other.sealed()));
}

TEST(CheckedHead, IsNotKeptOfWhatIsSignedOrLarge) {
  Bytes bytes = TaskDraft().sealed();
  Envelope envelope = sound_envelope(bytes);
  const Bytes signature(64);
  envelope.signature = signature;
  EXPECT_FALSE(CheckedHead::make(envelope));

  TaskDraft large;
  BodyDraft body;
  body.name.assign(10'000, 'f');
  large.code[0] = body.body();
  EXPECT_FALSE(head_of(large));
}

TEST(CheckedHead, AcceptsOnlyWhatIsSoundForThoseWhoReadAll) {
  const auto head = head_of(TaskDraft());
  const TaskDraft other([](Writer& out) { out.text("x"); },
                        [](Writer& out) {
                          out.array(2);
                          out.index(ExtType::kReference, kType);
                          write_global(out, "len");
                        });
  const Bytes whole = other.sealed();
  ASSERT_TRUE(is_sound(whole));
  std::size_t accepted = 0;

  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      Bytes bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(value);
      fit_digest(bytes);
      if (!head->is_start_of(bytes) || !head->continue_with(bytes)) continue;
      ++accepted;
      ASSERT_TRUE(is_sound(bytes)) << "byte " << at << " is " << value;
    }
  }

  EXPECT_GT(accepted, whole.size());
}

TEST(CheckedHead, RefusesAnyByteAlteredOrCutOff) {
  const auto head = head_of(TaskDraft());
  const Bytes whole = TaskDraft([](Writer& out) { out.text("x"); }).sealed();
  ASSERT_TRUE(head->continue_with(whole));

  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes bytes = whole;
    bytes[at] ^= 0x11;
    EXPECT_FALSE(head->is_start_of(bytes) && head->continue_with(bytes)) << at;
    bytes = whole;
    bytes.resize(at);
    EXPECT_FALSE(head->is_start_of(bytes) && head->continue_with(bytes)) << at;
  }
}

}  // namespace
}  // namespace waybill
