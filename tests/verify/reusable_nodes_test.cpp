// Which functions and classes of a payload may be known when they come again.

#include "verify/reusable_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "format/samples.h"
#include "format/task_draft.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using envelope::ReusableNode;
using samples::BodyDraft;
using samples::Bytes;
using samples::Draft;
using samples::kNamespace;
using samples::sound_envelope;
using samples::start_class;
using samples::TaskDraft;
using samples::write_global;
using wire::ExtType;
using wire::NodeTag;
using wire::Writer;

TEST(ReusableNodes, AreBareFunctionsAndClasses) {
  const TaskDraft draft;
  const Bytes bytes = draft.sealed();

  const std::vector<ReusableNode> nodes =
      envelope::find_reusable_nodes(sound_envelope(bytes));

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
  return envelope::find_reusable_nodes(sound_envelope(bytes)).size();
}

TEST(ReusableNodes, AreNotThoseThatOthersReferInto) {
  TaskDraft draft([](Writer& out) { out.integer(1); },
                  [](Writer& out) { out.index(ExtType::kReference, kNamespace); });

  EXPECT_EQ(known_in(draft), 0u);  // The class refers into the function, too.
}

TEST(ReusableNodes, ShareTheNamespaceOfAFunction) {
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

  EXPECT_EQ(known_in(draft), 2u);
}

TEST(ReusableNodes, AreNotThoseThatMeanWhatOnlyTheProgramKnows) {
  for (const NodeTag tag :
       {NodeTag::kPersistent, NodeTag::kIdentified, NodeTag::kStored}) {
    Draft draft;
    start_class(draft.payload, "attribute");
    if (tag == NodeTag::kIdentified) {
      draft.payload.node(tag, 2);
      draft.payload.binary(Bytes(16, 1));
    } else {
      draft.payload.node(tag, 1);
    }
    draft.payload.integer(0);
    if (tag == NodeTag::kStored) {
      draft.buffers = {{wire::BufferKind::kBytes, samples::kStoredText}};
    }

    EXPECT_EQ(known_in(draft), 0u);
  }
}

using Write = std::function<void(Writer&)>;

// The function that is the first body of code, with one global.
void write_function(Writer& out, const Write& write_global_value) {
  out.node(NodeTag::kFunction, 4);
  out.unsigned_integer(0);
  samples::write_namespace(out);
  out.array(0);
  out.map(1);
  out.unsigned_integer(0);
  out.map(1);
  out.text("name");
  write_global_value(out);
}

// [function, what follows it].
struct FunctionDraft : Draft {
  FunctionDraft(const Write& write_global_value, const Write& write_last) {
    code.push_back(BodyDraft().body());
    payload.array(2);
    shared.push_back(payload.size());
    write_function(payload, write_global_value);
    write_last(payload);
  }
};

void write_call(Writer& out, const Write& write_argument) {
  out.node(NodeTag::kObject, 5);
  write_global(out, "len");
  out.array(1);
  write_argument(out);
  out.nil();
  out.array(0);
  out.map(0);
}

TEST(ReusableNodes, AreFunctionsWhoseGlobalsAreMadeByNobody) {
  const auto number = [](Writer& out) { out.integer(1); };
  const auto itself = [](Writer& out) { out.index(ExtType::kReference, 0); };
  const auto call = [&](Writer& out) { write_call(out, number); };
  const auto global = [](Writer& out) { write_global(out, "len"); };

  EXPECT_EQ(known_in(FunctionDraft(number, itself)), 1u);
  EXPECT_EQ(known_in(FunctionDraft(call, itself)), 0u);
  EXPECT_EQ(known_in(FunctionDraft(global, itself)), 1u);
}

TEST(ReusableNodes, AreNotThoseThatReferToWhatIsAroundThem) {
  Draft draft;
  draft.code.push_back(BodyDraft().body());
  draft.payload.array(2);
  draft.shared.push_back(draft.payload.size());
  draft.payload.array(0);
  write_function(draft.payload, [](Writer& out) { out.index(ExtType::kReference, 0); });

  EXPECT_EQ(known_in(draft), 0u);
}

TEST(ReusableNodes, AreNotFunctionsOfWhichAClassHasAPart) {
  for (const bool is_list : {false, true}) {
    Draft draft;
    draft.code.push_back(BodyDraft().body());
    draft.payload.array(2);
    write_function(draft.payload, [&](Writer& out) {
      if (is_list) draft.shared.push_back(out.size());
      is_list ? out.array(0) : out.integer(1);
    });
    start_class(draft.payload, "attribute");
    is_list ? draft.payload.index(ExtType::kReference, 0) : draft.payload.integer(1);

    // Without the function, the class refers to what is not known.
    EXPECT_EQ(known_in(draft), is_list ? 0u : 2u);
  }
}

TEST(ReusableNodes, AreNotFunctionsThatOthersGet) {
  const auto number = [](Writer& out) { out.integer(1); };
  const auto itself = [](Writer& out) { out.index(ExtType::kReference, 0); };
  const auto call = [&](Writer& out) { write_call(out, itself); };

  EXPECT_EQ(known_in(FunctionDraft(number, call)), 0u);
}

TEST(ReusableNodes, AreNotFunctionsWhoseCodeIsUsedElsewhere) {
  const auto number = [](Writer& out) { out.integer(1); };
  const auto both = [](Writer& out) {
    out.array(2);
    out.index(ExtType::kReference, 0);
    out.node(NodeTag::kCode, 1);
    out.unsigned_integer(0);
  };

  EXPECT_EQ(known_in(FunctionDraft(number, both)), 0u);
}

// A class whose only attribute is a function, whose only global it is told to write.
struct MethodDraft : Draft {
  explicit MethodDraft(const Write& write_global_value, bool is_wrapped = false) {
    code.push_back(BodyDraft().body());
    start_class(payload, "method");
    const auto write_method = [&](Writer& out) {
      write_function(out, write_global_value);
    };
    is_wrapped ? write_call(payload, write_method) : write_method(payload);
  }
};

TEST(ReusableNodes, AreClassesWhoseMethodsHoldNothingThatACallMakes) {
  const auto number = [](Writer& out) { out.integer(1); };
  const auto call = [&](Writer& out) { write_call(out, number); };

  EXPECT_EQ(known_in(MethodDraft(number)), 1u);
  EXPECT_EQ(known_in(MethodDraft(number, true)), 1u);  // As properties are.
  EXPECT_EQ(known_in(MethodDraft(call)), 0u);
  EXPECT_EQ(known_in(MethodDraft(call, true)), 0u);
}

// [a class, what follows it]. The reference 0 means a class among its attributes, or,
// if `to_attribute`, a part of that.
struct ClassInClassDraft : Draft {
  explicit ClassInClassDraft(const Write& write_last, bool to_attribute = false) {
    payload.array(2);
    start_class(payload, "inner");
    if (!to_attribute) shared.push_back(payload.size());
    start_class(payload, "attribute");
    if (to_attribute) shared.push_back(payload.size());
    payload.array(0);
    write_last(payload);
  }
};

TEST(ReusableNodes, HaveClassesInsideToWhichAnybodyMayRefer) {
  const ClassInClassDraft draft([](Writer& out) { out.index(ExtType::kReference, 0); });
  const Bytes bytes = draft.sealed();

  const std::vector<ReusableNode> nodes =
      envelope::find_reusable_nodes(sound_envelope(bytes));

  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_TRUE(nodes[0].targets.empty());  // Whatever its number is.
  ASSERT_EQ(nodes[0].classes.size(), 2u);
  EXPECT_EQ(nodes[0].classes[0].object, 0u);
  EXPECT_EQ(nodes[0].start + nodes[0].classes[1].offset, draft.shared[0]);
  EXPECT_EQ(nodes[0].classes[1].object, 1u);
  EXPECT_EQ(envelope::object_count(nodes), 2u);
  EXPECT_EQ(nodes[0].class_at(nodes[0].classes[1].offset), &nodes[0].classes[1]);
}

TEST(ReusableNodes, AreNotClassesWhoseAttributesOthersReferTo) {
  const auto itself = [](Writer& out) { out.index(ExtType::kReference, 0); };

  EXPECT_EQ(known_in(ClassInClassDraft(itself, true)), 0u);
}

TEST(ReusableNodes, AreFunctionsWithClassesInside) {
  const FunctionDraft draft(
      [](Writer& out) {
        start_class(out, "attribute");
        out.integer(1);
      },
      [](Writer& out) { out.index(ExtType::kReference, 0); });
  const Bytes bytes = draft.sealed();

  const std::vector<ReusableNode> nodes =
      envelope::find_reusable_nodes(sound_envelope(bytes));

  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].tag, NodeTag::kFunction);
  EXPECT_EQ(nodes[0].classes.size(), 1u);
}

TEST(ReusableNodes, AreFunctionsOfWhichOthersGetAClassInside) {
  std::uint64_t position = 0;
  FunctionDraft draft(
      [&](Writer& out) {
        position = out.size();
        start_class(out, "attribute");
        out.integer(1);
      },
      [](Writer& out) {
        write_call(out, [](Writer& inner) { inner.index(ExtType::kReference, 0); });
      });
  draft.shared[0] = position;

  EXPECT_EQ(known_in(draft), 1u);
}

TEST(ReusableNodes, AreClassesInsideOfAFunctionThatIsNone) {
  const FunctionDraft draft(
      [](Writer& out) {
        out.node(NodeTag::kSet, 1);
        start_class(out, "attribute");
        out.integer(1);
      },
      [](Writer& out) { out.index(ExtType::kReference, 0); });
  const Bytes bytes = draft.sealed();

  const std::vector<ReusableNode> nodes =
      envelope::find_reusable_nodes(sound_envelope(bytes));

  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].tag, NodeTag::kClass);
}

TEST(TargetCheck, TakesClassesByAnyNumberAndAllElseByItsOwn) {
  ReusableNode node;
  node.targets = {{7, 10}, {3, 20}};
  node.classes = {{0, {1}, 0}, {20, {1}, 1}, {30, {1}, 2}};
  const auto passes = [&](std::vector<ReusableNode::Target> met) {
    envelope::TargetCheck check(node);
    return std::ranges::all_of(met,
                               [&](const auto& target) {
                                 return check.meet(target.offset, target.number) &&
                                        check.type() == node.class_at(target.offset);
                               }) &&
           check.is_complete();
  };

  EXPECT_TRUE(passes({{7, 10}, {3, 20}}));
  EXPECT_TRUE(passes({{7, 10}, {3, 20}, {99, 30}}));
  EXPECT_FALSE(passes({{7, 10}}));                    // One is not met.
  EXPECT_FALSE(passes({{7, 10}, {4, 20}}));           // By another number.
  EXPECT_FALSE(passes({{7, 10}, {1, 15}, {3, 20}}));  // No class stands there.
  EXPECT_FALSE(passes({{3, 10}, {7, 20}}));
}

TEST(ReusableNodes, AreNotClassesWithoutAnId) {
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

}  // namespace
}  // namespace waybill
