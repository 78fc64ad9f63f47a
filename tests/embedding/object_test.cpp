// Objects go out and come in as with waybill.dumps and waybill.loads.

#include "waybill/object.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/fails.h"
#include "embedding/python.h"
#include "waybill/envelope.h"
#include "waybill/gil.h"
#include "waybill/signature.h"

namespace waybill::embedding {
namespace {

constexpr char kFunction[] = R"(
import os
def outer(n):
    def inner(x): return os.path.join(str(n), x)
    return inner
)";

TEST(Encode, GivesTheBytesOfDumps) {
  const Interpreter python = started();
  for (const char* thing : {"[1, 'a', {2: 3.5}]", "outer(1)", "(sys, len, {1, 2})"}) {
    const Bytes expected =
        bytes_of("waybill.dumps(" + std::string(thing) + ")", kFunction);
    const GilScope gil;

    const Result<Bytes> encoded = encode(evaluate(thing, kFunction).get());

    ASSERT_TRUE(encoded) << thing;
    EXPECT_EQ(*encoded, expected) << thing;
  }
}

TEST(Encode, TellsWhyThereIsNoObject) {
  const Interpreter python = started();
  const GilScope gil;
  PyErr_SetString(PyExc_KeyError, "lost");

  const Result<Bytes> failed = encode(nullptr);
  const Result<Bytes> nothing = encode(nullptr);

  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().detail, "KeyError: 'lost'");
  EXPECT_EQ(PyErr_Occurred(), nullptr);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().detail, "the object is null");
}

TEST(Encode, AndDecodeNeedAnInterpreter) {
  for (const Error& error :
       {encode(nullptr).error(), decode({}).error(), link_package().error()}) {
    EXPECT_EQ(error.code, ErrorCode::kRaised);
    EXPECT_NE(error.detail.find("Python is not running"), std::string::npos);
  }
}

TEST(Encode, TellsThePathToWhatCannotTravel) {
  const Interpreter python = started();
  const GilScope gil;

  EXPECT_THAT(encode(evaluate("{'a': [threading.Lock()]}", "import threading").get()),
              Fails(ErrorCode::kRaised, testing::_,
                    testing::HasSubstr("obj['a'][0] (_thread.lock)")));
  EXPECT_EQ(PyErr_Occurred(), nullptr);
}

TEST(Encode, SendsModulesByValueThatAreRegistered) {
  const Interpreter python = started();
  text_of("waybill.register_pickle_by_value(json)", "import json");
  const GilScope gil;

  const Result<Bytes> encoded = encode(evaluate("json.dumps", "import json").get());

  ASSERT_TRUE(encoded);
  const Result<Envelope> envelope = open(*encoded);
  ASSERT_TRUE(envelope);
  EXPECT_FALSE(envelope->code.empty());
}

TEST(Encode, SignsAndCarriesAnApplicationField) {
  const Interpreter python = started();
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kMac);
  const Bytes nonce = {1, 2, 3};
  KeyRing ring;
  ring.add(key);
  const GilScope gil;

  const Result<Bytes> encoded =
      encode(evaluate("[1]").get(), {.application = nonce, .key = &key});

  ASSERT_TRUE(encoded);
  const Result<Envelope> envelope =
      Gate({.keys = std::make_shared<KeyRing>(ring.clone())}).open_trusted(*encoded);
  ASSERT_TRUE(envelope);
  EXPECT_TRUE(std::equal(nonce.begin(), nonce.end(), envelope->application.begin()));
}

// A function whose text only linecache knows, and one that nobody has the text of.
constexpr char kSources[] = R"(
import linecache
text = "def twice(x):\n    return 2 * x\n"
linecache.cache["<made>"] = (len(text), None, text.splitlines(True), "<made>")
exec(compile(text, "<made>", "exec"))
exec("def nowhere(x): return x")
)";

TEST(Encode, SendsSourceAsPythonDoes) {
  const Interpreter python = started();
  struct Row {
    Source source;
    const char* spelled;
  };
  for (const auto& [source, spelled] : {Row{Source::kOff, "False"},
                                        {Source::kAuto, "'auto'"},
                                        {Source::kRequired, "True"}}) {
    const std::string call = "waybill.dumps(twice, source=" + std::string(spelled);
    const Bytes expected = bytes_of(call + ")", kSources);
    const GilScope gil;

    const Result<Bytes> encoded =
        encode(evaluate("twice", kSources).get(), {.source = source});

    ASSERT_TRUE(encoded) << encoded.error().detail;
    EXPECT_EQ(*encoded, expected) << spelled;
  }
}

TEST(Encode, RefusesFunctionsWithoutRequiredSource) {
  const Interpreter python = started();
  const GilScope gil;
  const Object function = evaluate("nowhere", kSources);

  EXPECT_TRUE(encode(function.get(), {.source = Source::kAuto}));
  const Result<Bytes> required = encode(function.get(), {.source = Source::kRequired});

  ASSERT_FALSE(required);
  EXPECT_NE(required.error().detail.find("has no source"), std::string::npos)
      << required.error().detail;
}

TEST(Decode, RenamesWhatMoved) {
  const Interpreter python = started();
  const Bytes bytes = bytes_of("waybill.dumps(json.dumps)", "import json");
  const GilScope gil;

  const Result<Object> object = decode(bytes, {}, {{"json:dumps", "os.path:join"}});
  const Result<Object> wrong = decode(bytes, {}, {{"json:dumps", "os path"}});

  ASSERT_TRUE(object) << object.error().detail;
  EXPECT_EQ(object->get(), evaluate("os.path.join", "import os").get());
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kRaised);
}

TEST(Decode, BuildsWhatArrives) {
  const Interpreter python = started();
  const Bytes bytes = bytes_of("waybill.dumps(outer(7))", kFunction);
  const GilScope gil;

  const Result<Object> object = decode(bytes);

  ASSERT_TRUE(object);
  const Object result = Object::steal(PyObject_CallFunction(object->get(), "s", "x"));
  ASSERT_TRUE(result);
  EXPECT_STREQ(PyUnicode_AsUTF8(result.get()), "7/x");
}

TEST(Decode, GivesErrorsOfTheCoreWithCodeAndOffset) {
  const Interpreter python = started();
  Bytes bytes = bytes_of("waybill.dumps([1, 2, 3])");
  bytes.pop_back();
  const Error expected = open_whole(bytes).error();
  const GilScope gil;

  EXPECT_THAT(decode(bytes), Fails(expected.code, expected.offset, expected.detail));
}

TEST(Decode, RefusesWhatTheTermsDoNotAllow) {
  const Interpreter python = started();
  const Bytes function = bytes_of("waybill.dumps(outer(7))", kFunction);
  const Bytes data = bytes_of("waybill.dumps([7])");
  const LoadOptions load_options = {.policy = std::make_shared<Policy>()};
  const GilScope gil;

  EXPECT_TRUE(decode(data, load_options));
  EXPECT_THAT(decode(function, load_options), Fails(ErrorCode::kRefused));
}

TEST(Decode, TellsWhichModuleIsMissing) {
  const Interpreter python = started();
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/gone_elsewhere.py") << "value = 1\n";
  const Bytes bytes =
      bytes_of("waybill.dumps(lambda: gone_elsewhere.value)",
               "sys.path.insert(0, '" + folder + "')\nimport gone_elsewhere");
  text_of("sys.modules.pop('gone_elsewhere'), sys.path.pop(0)");
  const GilScope gil;

  const Result<Object> object = decode(bytes);

  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().code, ErrorCode::kRaised);
  EXPECT_NE(object.error().detail.find("MissingModuleError"), std::string::npos);
  EXPECT_NE(object.error().detail.find("gone_elsewhere"), std::string::npos);
}

TEST(Decode, NeedsThePackageThatIsLinkedIn) {
  Py_InitializeEx(0);
  const Result<Object> object = decode(Bytes{1});
  Py_FinalizeEx();

  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().code, ErrorCode::kRaised);
}

}  // namespace
}  // namespace waybill::embedding
