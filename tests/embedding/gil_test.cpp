// Scopes of the GIL, and what happens without one.

#include "waybill/gil.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "embedding/python.h"
#include "waybill/call.h"

namespace waybill::embedding {
namespace {

template <typename T>
bool tells(const Result<T>& result, std::string_view words) {
  return !result && result.error().detail.find(words) != std::string::npos;
}

TEST(GilScope, MayBeInsideAnother) {
  const Interpreter python = started();
  const GilScope outer;
  {
    const GilScope inner;
    EXPECT_TRUE(evaluate("1"));
  }
  EXPECT_TRUE(evaluate("1"));
}

TEST(GilRelease, LetsOtherThreadsRun) {
  const Interpreter python = started();
  const GilScope gil;
  std::string there;
  {
    const GilRelease release;
    std::thread([&] { there = text_of("2"); }).join();
  }
  EXPECT_EQ(there, "2");
  EXPECT_TRUE(evaluate("1"));
}

TEST(GilScope, HasNothingWithoutAnInterpreter) {
  const GilScope gil;

  EXPECT_FALSE(gil);
  EXPECT_TRUE(tells(encode(nullptr), "Python is not running"));
  EXPECT_TRUE(tells(decode({}), "Python is not running"));
  EXPECT_TRUE(tells(call({}), "Python is not running"));
  EXPECT_TRUE(tells(prepare(nullptr), "Python is not running"));
}

TEST(GilRelease, DoesNothingWithoutTheGil) {
  {
    const GilRelease without_python;
  }
  const Interpreter python = started();
  {
    const GilRelease without_gil;
  }

  EXPECT_EQ(text_of("1"), "1");
}

TEST(WithoutTheGil, CallsAreErrors) {
  const Interpreter python = started();
  const Bytes bytes = bytes_of("waybill.dumps([1])");
  std::optional<PreparedCall> prepared;
  Object object;
  {
    const GilScope gil;
    object = evaluate("len");
    prepared = *prepare(object.get());
  }

  EXPECT_TRUE(tells(encode(object.get()), "GilScope"));
  EXPECT_TRUE(tells(decode(bytes), "GilScope"));
  EXPECT_TRUE(tells(prepare(object.get()), "GilScope"));
  EXPECT_TRUE(tells(prepared->encode(), "GilScope"));
  EXPECT_TRUE(tells(prepared->refresh(), "GilScope"));
  EXPECT_TRUE(tells(prepared->digest(), "GilScope"));
}

TEST(WithoutTheGil, ObjectsAreDropped) {
  const Interpreter python = started();
  std::optional<PreparedCall> prepared;
  Object object;
  {
    const GilScope gil;
    object = evaluate("made",
                      "class C:\n    def run(self): pass\n"
                      "made = sys.kept = C()");
    prepared = *prepare(evaluate("sys.kept.run").get());
  }
  const char kCount[] = "sys.getrefcount(sys.kept)";
  const int before = std::stoi(text_of(kCount));

  object = Object();
  EXPECT_EQ(std::stoi(text_of(kCount)), before - 1);
  prepared.reset();
  EXPECT_LT(std::stoi(text_of(kCount)), before - 1);
}

TEST(Object, MayOutlivePython) {
  Interpreter python = started();
  Object object;
  std::optional<PreparedCall> prepared;
  {
    const GilScope gil;
    object = evaluate("[1]");
    prepared = *prepare(evaluate("len").get());
  }

  EXPECT_TRUE(python.finish());
  prepared.reset();
  object = Object();

  EXPECT_FALSE(object);
}

TEST(PreparedCall, IsAnErrorOnceItWasMovedFrom) {
  const Interpreter python = started();
  const GilScope gil;
  PreparedCall first = *prepare(evaluate("len").get());
  const PreparedCall second = std::move(first);

  EXPECT_TRUE(second.digest());
  EXPECT_TRUE(tells(first.encode(), "moved from"));
  EXPECT_TRUE(tells(first.refresh(), "moved from"));
  EXPECT_TRUE(tells(first.digest(), "moved from"));
}

TEST(Interpreter, GoesOnWhileAnotherThreadIsInACall) {
  Interpreter python = started();
  const Bytes payload =
      bytes_of("waybill.calls.dumps_call(f, [])",
               "def f():\n    import sys, time\n    sys.is_under_way = True\n"
               "    while not hasattr(sys, 'may_end'): time.sleep(0.001)");
  std::atomic<bool> is_done = false;
  std::thread worker([&] { is_done = call(payload).has_value(); });
  while (text_of("hasattr(sys, 'is_under_way')") != "True") std::this_thread::yield();

  EXPECT_TRUE(tells(python.finish(), "call under way"));
  text_of("setattr(sys, 'may_end', True)");
  worker.join();

  EXPECT_TRUE(is_done);
  EXPECT_TRUE(python.finish());
}

// A thread that Python waits for may go on, and what is not Python's gets nothing.
TEST(GilScope, IsNotOpenedByStrangersOnceTheEndHasBegun) {
  static std::atomic<int> opened;
  opened = -1;
  Interpreter python = started();
  {
    const GilScope gil;
    PyMethodDef method = {"ask",
                          [](PyObject*, PyObject*) -> PyObject* {
                            const GilRelease release;
                            std::thread([] { opened = GilScope() ? 1 : 0; }).join();
                            Py_RETURN_NONE;
                          },
                          METH_NOARGS, nullptr};
    static PyMethodDef kept;
    kept = method;
    const Object ask = Object::steal(PyCFunction_New(&kept, nullptr));
    ASSERT_EQ(PySys_SetObject("ask", ask.get()), 0);
    evaluate("None", "import atexit\natexit.register(sys.ask)");
  }

  EXPECT_TRUE(python.finish());
  EXPECT_EQ(opened, 0);
  const Interpreter next = started();
  EXPECT_EQ(text_of("2"), "2");
}

}  // namespace
}  // namespace waybill::embedding
