// A prepared call gives the bytes of waybill.prepare() of Python.

#include <gtest/gtest.h>

#include <utility>

#include "embedding/python.h"
#include "waybill/call.h"
#include "waybill/envelope.h"
#include "waybill/gil.h"
#include "waybill/signature.h"

namespace waybill::embedding {
namespace {

constexpr char kProgram[] = R"(
import os
scale = 3
class Config:
    def __init__(self, x): self.x = x
def task(x=1, *, z=2): return os.path.join(str(x)), scale, Config
)";

TEST(PreparedCall, GivesTheBytesOfDumpsCall) {
  const Interpreter python = started();
  const GilScope gil;
  const Object all = evaluate(
      "(task, *[waybill.calls.dumps_call(task, *call) for call in "
      "[(), ((1, [2, Config('a')]), {'z': 3.5})]], (1, [2, Config('a')]), {'z': 3.5})",
      kProgram);
  const auto item = [&](Py_ssize_t i) { return PyTuple_GET_ITEM(all.get(), i); };
  const auto as_bytes = [&](Py_ssize_t i) {
    const auto* start =
        reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(item(i)));
    return Bytes(start, start + PyBytes_GET_SIZE(item(i)));
  };

  const Result<PreparedCall> prepared = prepare(item(0));

  ASSERT_TRUE(prepared) << prepared.error().detail;
  EXPECT_EQ(prepared->encode().value(), as_bytes(1));
  EXPECT_EQ(prepared->encode(item(3), item(4)).value(), as_bytes(2));
}

TEST(PreparedCall, IsFrozenUntilItIsRefreshed) {
  const Interpreter python = started();
  const GilScope gil;
  const Object task = evaluate("task", kProgram);
  Result<PreparedCall> made = prepare(task.get());
  ASSERT_TRUE(made);
  PreparedCall prepared = std::move(*made);
  const Bytes before = prepared.encode().value();
  const ContentHash digest = prepared.digest().value();

  PyObject* globals = PyFunction_GetGlobals(task.get());
  const Object changed = Object::steal(PyLong_FromLong(99));
  ASSERT_EQ(PyDict_SetItemString(globals, "scale", changed.get()), 0);

  EXPECT_EQ(prepared.encode().value(), before);
  EXPECT_EQ(prepared.digest().value(), digest);
  ASSERT_TRUE(prepared.refresh());
  EXPECT_NE(prepared.encode().value(), before);
  EXPECT_NE(prepared.digest().value(), digest);
}

TEST(PreparedCall, SignsEachCallAndSendsTheApplicationField) {
  const Interpreter python = started();
  const GilScope gil;
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kEd25519);
  const std::uint8_t field[] = {1, 2, 3};
  EncodeOptions options;
  options.key = &key;
  options.application = field;
  const Object task = evaluate("task", kProgram);
  const Result<PreparedCall> prepared = prepare(task.get(), options);
  ASSERT_TRUE(prepared);

  const Bytes bytes = prepared->encode().value();

  const Result<Envelope> envelope = open_whole(bytes);
  ASSERT_TRUE(envelope);
  EXPECT_FALSE(envelope->signature.empty());
  EXPECT_EQ(envelope->application.size(), 3U);
}

TEST(PreparedCall, CompressesAsPythonDoes) {
  const Interpreter python = started();
  const GilScope gil;
  const Object text = evaluate("(b'one line as the other\\n' * 5000,)");
  const Object all = evaluate(
      "(task, *[waybill.calls.dumps_call(task, (b'one line as the other\\n' * 5000,), "
      "compress=('zstd', level)) for level in (1, 19, -7)])",
      kProgram);
  const auto expected = [&](Py_ssize_t i) {
    PyObject* const item = PyTuple_GET_ITEM(all.get(), i);
    const auto* start = reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(item));
    return Bytes(start, start + PyBytes_GET_SIZE(item));
  };
  const auto bytes_at = [&](int level) {
    const EncodeOptions options{.compression_level = level};
    return prepare(PyTuple_GET_ITEM(all.get(), 0), options)->encode(text.get()).value();
  };

  EXPECT_EQ(bytes_at(1), expected(1));
  EXPECT_EQ(bytes_at(19), expected(2));
  EXPECT_EQ(bytes_at(99), expected(2));
  EXPECT_EQ(bytes_at(-99), expected(3));
  EXPECT_LT(bytes_at(1).size(), 2000u);
  EXPECT_GT(bytes_at(0).size(), 100'000u);
}

TEST(PreparedCall, TellsWhatCannotTravelAndGoesOn) {
  const Interpreter python = started();
  const GilScope gil;
  const Object task = evaluate("task", kProgram);
  const Result<PreparedCall> prepared = prepare(task.get());
  ASSERT_TRUE(prepared);
  const Object lock = evaluate("(threading.Lock(),)", "import threading");
  const Object numbered = evaluate("{1: 2}");

  const Result<Bytes> failed = prepared->encode(lock.get());
  const Result<Bytes> misnamed = prepared->encode(nullptr, numbered.get());

  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().detail.find("_thread.lock"), std::string::npos);
  ASSERT_FALSE(misnamed);
  EXPECT_EQ(misnamed.error().detail, "TypeError: keywords must be strings");
  EXPECT_TRUE(prepared->encode());
  EXPECT_EQ(PyErr_Occurred(), nullptr);
}

TEST(PreparedCall, NeedsAFunctionAndAnInterpreter) {
  {
    const Result<PreparedCall> prepared = prepare(nullptr);
    ASSERT_FALSE(prepared);
    EXPECT_NE(prepared.error().detail.find("Python is not running"), std::string::npos);
  }
  const Interpreter python = started();
  const GilScope gil;
  const Result<PreparedCall> prepared = prepare(nullptr);
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().detail, "the object is null");
  const Result<PreparedCall> number = prepare(evaluate("1").get());
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().detail, "TypeError: 'int' object is not callable");
}

}  // namespace
}  // namespace waybill::embedding
