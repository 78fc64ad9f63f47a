#include <gtest/gtest.h>

#include <functional>

#include "format/samples.h"
#include "format/shapes.h"
#include "format/verdict.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using samples::BodyDraft;
using samples::Bytes;
using samples::Draft;
using samples::told_of;
using samples::verdict_on;
using wire::ExtType;
using wire::NodeTag;
using wire::Writer;

// "sound", or the name of the error, for an envelope with this payload.
std::string verdict_on_payload(const std::function<void(Writer&)>& write,
                               std::vector<std::uint64_t> shared = {}) {
  Draft draft;
  draft.manifest.imports = {{"json", ImportTime::kLoad, "json", "", "", 0},
                            {"os", ImportTime::kCall, "os", "", "", 0}};
  draft.shared = std::move(shared);
  write(draft.payload);
  return told_of(draft);
}

std::string verdict_on_body(const BodyDraft& body) {
  Draft draft;
  draft.code.push_back(body.body());
  draft.payload.nil();
  return told_of(draft);
}

TEST(Verify, AcceptsTheSamples) {
  Draft data, function;
  samples::fill_with_data(data);
  samples::fill_with_function(function);

  EXPECT_TRUE(verdict_on(data));
  const Result<void> verdict = verdict_on(function);
  EXPECT_TRUE(verdict) << to_string(verdict.error());
}

TEST(Verify, KnowsAShapeForEachTag) {
  EXPECT_EQ(envelope::kShapes.size(), 25u);
  EXPECT_EQ(envelope::shape_of(0), nullptr);
  EXPECT_EQ(envelope::shape_of(26), nullptr);
  EXPECT_EQ(envelope::shape_of(16)->name, "class");
}

TEST(Verify, IdsAreBinary) {
  const auto with_id = [](const std::function<void(Writer&)>& write_id) {
    return verdict_on_payload([&](Writer& out) {
      out.node(NodeTag::kIdentified, 2);
      write_id(out);
      out.nil();
    });
  };
  EXPECT_EQ(with_id([](Writer& out) { out.binary({}); }), "sound");
  EXPECT_EQ(with_id([](Writer& out) { out.nil(); }), "malformed");
  EXPECT_EQ(with_id([](Writer& out) { out.text("id"); }), "malformed");
}

TEST(Verify, ClassesNeedNoId) {
  const auto with_id = [](const std::function<void(Writer&)>& write_id) {
    return verdict_on_payload([&](Writer& out) {
      out.node(NodeTag::kClass, 6);
      write_id(out);
      out.nil();
      out.text("C");
      out.array(0);
      out.map(0);
      out.map(0);
    });
  };
  EXPECT_EQ(with_id([](Writer& out) { out.binary({}); }), "sound");
  EXPECT_EQ(with_id([](Writer& out) { out.nil(); }), "sound");
  EXPECT_EQ(with_id([](Writer& out) { out.integer(1); }), "malformed");
}

TEST(Verify, NumbersOfBuffersAndPayloadsAreNotNegative) {
  for (const NodeTag tag : {NodeTag::kBuffer, NodeTag::kStreamReference}) {
    const auto with_number = [&](std::int64_t number) {
      return verdict_on_payload([&](Writer& out) {
        out.node(tag, 2);
        out.integer(number);
        if (tag == NodeTag::kBuffer) {
          out.boolean(true);
        } else {
          out.integer(0);
        }
      });
    };
    EXPECT_EQ(with_number(0), "sound");
    EXPECT_EQ(with_number(-1), "malformed");
  }
}

// "sound", or the name of the error, for a list of these stored buffers of the samples.
std::string verdict_on_stored(const std::vector<std::int64_t>& numbers) {
  Draft draft;
  samples::fill_with_buffers(draft);
  draft.payload.clear();
  draft.payload.array(numbers.size());
  for (const std::int64_t number : numbers) {
    draft.payload.node(NodeTag::kStored, 1);
    draft.payload.integer(number);
  }
  return told_of(draft);
}

TEST(Verify, StoredBuffersAreNumberedInOrderOfFirstUse) {
  EXPECT_EQ(verdict_on_stored({0, 1}), "sound");
  EXPECT_EQ(verdict_on_stored({0, 0, 1, 0}), "sound");
  EXPECT_EQ(verdict_on_stored({1, 0}), "bad_reference");
}

TEST(Verify, EachStoredBufferIsUsedAndThere) {
  EXPECT_EQ(verdict_on_stored({0}), "bad_reference");
  EXPECT_EQ(verdict_on_stored({}), "bad_reference");
  EXPECT_EQ(verdict_on_stored({0, 1, 2}), "undeclared");
  EXPECT_EQ(verdict_on_stored({-1}), "malformed");
  EXPECT_EQ(verdict_on_payload([](Writer& out) {
              out.node(NodeTag::kStored, 1);
              out.integer(0);
            }),
            "undeclared");
}

TEST(Verify, StoredBuffersAreNoConstants) {
  BodyDraft body;
  body.write_constants = [](Writer& out) {
    out.array(1);
    out.node(NodeTag::kStored, 1);
    out.integer(0);
  };
  EXPECT_EQ(verdict_on_body(body), "malformed");
}

TEST(Verify, NeedsNoBytesOfStoredBuffers) {
  const Bytes bytes = samples::buffers_envelope();

  EXPECT_TRUE(verify(*open_head(bytes)));
}

TEST(Verify, LetsAnEarlierPayloadHaveTheNamespaceOfAModule) {
  for (const NodeTag tag : {NodeTag::kStreamReference, NodeTag::kPersistent}) {
    const std::string verdict = verdict_on_payload([&](Writer& out) {
      out.node(NodeTag::kModule, 3);
      out.node(tag, tag == NodeTag::kStreamReference ? 2 : 1);
      for (int i = 0; i < (tag == NodeTag::kStreamReference ? 2 : 1); ++i)
        out.integer(0);
      out.map(0);
      out.boolean(false);
    });
    EXPECT_EQ(verdict, tag == NodeTag::kStreamReference ? "sound" : "malformed");
  }
}

TEST(Verify, AcceptsEachExtension) {
  EXPECT_EQ(verdict_on_payload([](Writer& out) {
              out.array(5);
              out.index(ExtType::kModule, 0);
              out.extension(ExtType::kInteger, Bytes{1, 0, 0, 0, 0, 0, 0, 0, 0});
              out.extension(ExtType::kComplex, Bytes(16));
              out.extension(ExtType::kText, Bytes{0xed, 0xa0, 0x80});
              out.singleton(wire::Singleton::kEllipsis);
            }),
            "sound");
}

TEST(Verify, RefusesUnknownExtensions) {
  const auto write = [](Writer& out) { out.extension(ExtType{77}, Bytes{1}); };
  EXPECT_EQ(verdict_on_payload(write), "unknown_tag");
  const auto singleton = [](Writer& out) {
    out.extension(ExtType::kSingleton, Bytes{9});
  };
  EXPECT_EQ(verdict_on_payload(singleton), "unknown_tag");
}

TEST(Verify, RefusesUnknownTags) {
  const auto write = [](Writer& out) { out.node(NodeTag{200}, 0); };
  EXPECT_EQ(verdict_on_payload(write), "unknown_tag");
}

TEST(Verify, RefusesATagThatStartsNoArray) {
  EXPECT_EQ(verdict_on_payload([](Writer& out) {
              out.array(2);
              out.nil();
              out.extension(ExtType::kNode, Bytes{1});
            }),
            "malformed");
}

TEST(Verify, RefusesNodesOfTheWrongLength) {
  for (const envelope::Shape& shape : envelope::kShapes) {
    if (shape.most == envelope::kMany) continue;
    EXPECT_EQ(verdict_on_payload([&](Writer& out) {
                out.node(shape.tag, shape.most + 1u);
                for (int i = 0; i <= shape.most; ++i) out.nil();
              }),
              "malformed")
        << shape.name;
  }
}

TEST(Verify, RefusesNodesWithValuesOfTheWrongType) {
  // No shape that asks for something asks for nothing but complex numbers.
  for (const envelope::Shape& shape : envelope::kShapes) {
    if (shape.parts[0].rule == envelope::Rule::kObject ||
        shape.most == envelope::kMany ||
        shape.parts[0].rule == envelope::Rule::kObjectOrEmpty) {
      continue;
    }
    EXPECT_EQ(verdict_on_payload([&](Writer& out) {
                out.node(shape.tag, shape.most);
                for (int i = 0; i < shape.most; ++i) {
                  out.extension(ExtType::kComplex, Bytes(16));
                }
              }),
              "malformed")
        << shape.name;
  }
}

TEST(Verify, RefusesIntegersThatNeedNoExtension) {
  const auto verdict_on_integer = [](const Bytes& bytes) {
    return verdict_on_payload(
        [&](Writer& out) { out.extension(ExtType::kInteger, bytes); });
  };
  EXPECT_EQ(verdict_on_integer({1}), "malformed");
  EXPECT_EQ(verdict_on_integer({0, 0xff, 0, 0, 0, 0, 0, 0, 0}), "malformed");
  EXPECT_EQ(verdict_on_integer({0, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0}), "malformed");
  EXPECT_EQ(verdict_on_integer({0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0}), "sound");
}

TEST(Verify, RefusesTextThatIsNotUtf8) {
  EXPECT_EQ(verdict_on_payload([](Writer& out) { out.text("\xff"); }), "malformed");
}

TEST(Verify, RefusesEmptyOutsideCells) {
  const auto empty = [](Writer& out) { out.singleton(wire::Singleton::kEmpty); };
  EXPECT_EQ(verdict_on_payload(empty), "malformed");
  EXPECT_EQ(verdict_on_payload([&](Writer& out) {
              out.node(NodeTag::kCell, 1);
              empty(out);
            }),
            "sound");
}

TEST(Verify, RefusesReferencesThatMeanNothing) {
  const auto refer_to = [](std::uint64_t number) {
    return [number](Writer& out) {
      out.array(2);
      out.array(0);
      out.index(ExtType::kReference, number);
    };
  };
  EXPECT_EQ(verdict_on_payload(refer_to(0), {1}), "sound");
  EXPECT_EQ(verdict_on_payload(refer_to(0)), "bad_reference");
  EXPECT_EQ(verdict_on_payload(refer_to(1), {1}), "bad_reference");
}

TEST(Verify, AcceptsACycle) {
  EXPECT_EQ(verdict_on_payload(
                [](Writer& out) {
                  out.array(1);
                  out.index(ExtType::kReference, 0);
                },
                {0}),
            "sound");
}

TEST(Verify, RefusesReferencesToWhatHasNotComeYet) {
  EXPECT_EQ(verdict_on_payload(
                [](Writer& out) {
                  out.array(2);
                  out.index(ExtType::kReference, 0);
                  out.array(0);
                },
                {4}),
            "bad_reference");
}

TEST(Verify, RefusesPositionsThatNoObjectStartsAt) {
  const auto write = [](Writer& out) {
    out.array(2);
    out.text("text");
    out.index(ExtType::kReference, 0);
  };
  EXPECT_EQ(verdict_on_payload(write, {1}), "sound");
  EXPECT_EQ(verdict_on_payload(write, {2}), "bad_reference");
  EXPECT_EQ(verdict_on_payload(write, {1000}), "bad_reference");
  EXPECT_EQ(verdict_on_payload(write, {UINT64_MAX}), "bad_reference");
}

TEST(Verify, RefusesPositionsListedTwiceOrNeverUsed) {
  const auto write = [](Writer& out) {
    out.array(2);
    out.array(0);
    out.index(ExtType::kReference, 0);
  };
  EXPECT_EQ(verdict_on_payload(write, {1, 1}), "bad_reference");
  EXPECT_EQ(verdict_on_payload(write, {1, 0}), "bad_reference");
}

TEST(Verify, RefusesReferencesNumberedOutOfOrder) {
  EXPECT_EQ(verdict_on_payload(
                [](Writer& out) {
                  out.array(4);
                  out.array(0);
                  out.array(0);
                  out.index(ExtType::kReference, 1);
                  out.index(ExtType::kReference, 0);
                },
                {1, 2}),
            "bad_reference");
}

TEST(Verify, RefusesAReferenceToALessThanFittingNode) {
  EXPECT_EQ(verdict_on_payload(
                [](Writer& out) {
                  out.array(2);
                  out.array(0);
                  out.node(NodeTag::kFunction, 4);
                  out.integer(0);
                  out.index(ExtType::kReference, 0);
                  out.array(0);
                  out.map(0);
                },
                {1}),
            "undeclared");  // The code comes first; with code, see below.
  Draft draft;
  draft.code.push_back(BodyDraft().body());
  draft.shared = {1};
  draft.payload.array(2);
  draft.payload.array(0);
  draft.payload.node(NodeTag::kFunction, 4);
  draft.payload.integer(0);
  draft.payload.index(ExtType::kReference, 0);
  draft.payload.array(0);
  draft.payload.map(0);
  EXPECT_EQ(verdict_on(draft).error().code, ErrorCode::kBadReference);
}

TEST(Verify, RefusesModulesThatTheManifestDoesNotList) {
  const auto use = [](std::uint64_t index) {
    return [index](Writer& out) { out.index(ExtType::kModule, index); };
  };
  EXPECT_EQ(verdict_on_payload(use(0)), "sound");
  EXPECT_EQ(verdict_on_payload(use(1)), "undeclared");  // Needed when called only.
  EXPECT_EQ(verdict_on_payload(use(2)), "undeclared");
}

TEST(Verify, RefusesCodeThatIsNotThere) {
  EXPECT_EQ(verdict_on_payload([](Writer& out) { samples::write_code(out, 0); }),
            "undeclared");
}

TEST(Verify, RefusesFunctionFieldsTwiceOrUnknown) {
  const auto verdict_on_fields = [](std::uint64_t one, std::uint64_t other) {
    Draft draft;
    draft.code.push_back(BodyDraft().body());
    samples::start_function(draft.payload, 0, 2);
    draft.payload.unsigned_integer(one);
    draft.payload.nil();
    draft.payload.unsigned_integer(other);
    draft.payload.nil();
    return told_of(draft);
  };
  EXPECT_EQ(verdict_on_fields(2, 3), "sound");
  EXPECT_EQ(verdict_on_fields(2, 2), "malformed");
  EXPECT_EQ(verdict_on_fields(2, 13), "unknown_tag");
  EXPECT_EQ(verdict_on_fields(0, 2), "malformed");  // Globals are a map.
}

TEST(Verify, StopsAtTheLimitOfDepth) {
  Draft draft;
  for (int i = 0; i < 5; ++i) draft.payload.array(1);
  draft.payload.nil();
  Limits limits;

  limits.max_depth = 5;
  EXPECT_TRUE(verdict_on(draft, limits));
  limits.max_depth = 4;
  EXPECT_EQ(verdict_on(draft, limits).error().code, ErrorCode::kLimitExceeded);
}

TEST(Verify, WalksAMillionNestedTuples) {
  Draft draft;
  for (int i = 0; i < 1000000; ++i) draft.payload.node(NodeTag::kTuple, 1);
  draft.payload.nil();

  EXPECT_TRUE(verdict_on(draft));
}

TEST(Verify, AcceptsASoundBody) { EXPECT_EQ(verdict_on_body({}), "sound"); }

TEST(Verify, RefusesBodiesWhoseCountsDisagree) {
  BodyDraft kinds, parameters, positional, odd;
  kinds.local_kinds = {0x20, 0x20};
  parameters.argument_count = 2;
  positional.positional_only_count = 2;
  odd.instructions = {1, 2, 3};

  for (const BodyDraft& body : {kinds, parameters, positional, odd}) {
    EXPECT_EQ(verdict_on_body(body), "malformed");
  }
}

TEST(Verify, RefusesNestedCodeThatIsNotEarlier) {
  BodyDraft outer;
  outer.nested_hash = samples::hash_of(BodyDraft().body());
  Draft missing, later, earlier;
  missing.code = {outer.body()};
  later.code = {outer.body(), BodyDraft().body()};
  earlier.code = {BodyDraft().body(), outer.body()};
  for (Draft* draft : {&missing, &later, &earlier}) draft->payload.nil();

  EXPECT_EQ(verdict_on(missing).error().code, ErrorCode::kUndeclared);
  EXPECT_EQ(verdict_on(later).error().code, ErrorCode::kUndeclared);
  EXPECT_TRUE(verdict_on(earlier));
}

TEST(Verify, RefusesTheSameBodyTwice) {
  Draft draft;
  draft.code = {BodyDraft().body(), BodyDraft().body()};
  draft.payload.nil();

  EXPECT_EQ(verdict_on(draft).error().code, ErrorCode::kMalformed);
}

TEST(Verify, RefusesABodyThatIsNoCode) {
  Draft draft;
  draft.code = {Bytes{0xc0}};
  draft.payload.nil();

  EXPECT_EQ(verdict_on(draft).error().code, ErrorCode::kMalformed);
}

}  // namespace
}  // namespace waybill
