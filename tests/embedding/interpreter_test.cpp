// Python starts, is what was asked for, ends, and starts again.

#include "waybill/interpreter.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/fails.h"
#include "embedding/python.h"
#include "waybill/call.h"
#include "waybill/gil.h"

namespace waybill::embedding {
namespace {

TEST(Interpreter, HasThePackageThatIsLinkedIn) {
  const Interpreter python = started();

  EXPECT_EQ(text_of("waybill.__spec__.origin"), "linked");
  EXPECT_EQ(text_of("waybill.loads(waybill.dumps([1, len]))"),
            "[1, <built-in function len>]");
}

TEST(Interpreter, PrefersItToOneThatIsInstalled) {
  const Interpreter python = started({.search_paths = {WAYBILL_PACKAGE}});

  EXPECT_EQ(text_of("waybill.__spec__.origin"), "linked");
}

TEST(Interpreter, StartsAgainAfterItsEnd) {
  for (int round = 0; round < 3; ++round) {
    Interpreter python = started();
    const Bytes call_bytes = bytes_of("waybill.calls.dumps_call(f, [20])",
                                      "def f(x): return x + sys.maxsize");
    const Result<Bytes> outcome = call(call_bytes);

    ASSERT_TRUE(outcome);
    EXPECT_EQ(text_of(*outcome, "waybill.calls.loads_outcome(data) - sys.maxsize"),
              "20");
    EXPECT_TRUE(python.finish());
    EXPECT_TRUE(python.finish());
  }
}

TEST(Interpreter, GoesOnIfAnotherThreadWantsToEndIt) {
  Interpreter python = started();
  Result<void> ended;

  std::thread([&] { ended = python.finish(); }).join();

  ASSERT_FALSE(ended);
  EXPECT_NE(ended.error().detail.find("thread that started"), std::string::npos);
  EXPECT_EQ(text_of("1"), "1");
  EXPECT_TRUE(python.finish());
}

TEST(Interpreter, GoesOnIfItIsToEndInAGilScope) {
  Interpreter python = started();
  {
    const GilScope gil;
    const Result<void> ended = python.finish();

    ASSERT_FALSE(ended);
    EXPECT_NE(ended.error().detail.find("GilScope"), std::string::npos);
  }
  EXPECT_EQ(text_of("1"), "1");
  EXPECT_TRUE(python.finish());
}

TEST(Interpreter, IsOneAtATime) {
  const Interpreter python = started();

  EXPECT_THAT(Interpreter::start(),
              Fails(ErrorCode::kRaised, testing::_, testing::HasSubstr("already")));
  EXPECT_EQ(text_of("1"), "1");
}

TEST(Interpreter, CanBeMoved) {
  Interpreter first = started();
  Interpreter second = std::move(first);
  first = std::move(second);

  EXPECT_EQ(text_of("1"), "1");
}

TEST(Interpreter, DoesNotListenToTheEnvironmentUnlessToldTo) {
  setenv("PYTHONPATH", "/from/the/environment", 1);
  const char* asked = "'/from/the/environment' in sys.path";
  {
    const Interpreter python = started();
    EXPECT_EQ(text_of(asked), "False");
    EXPECT_EQ(text_of("sys.flags.isolated"), "1");
    EXPECT_EQ(text_of("sys.getfilesystemencoding()"), "utf-8");
  }
  {
    const Interpreter python = started({.is_isolated = false});
    EXPECT_EQ(text_of(asked), "True");
  }
  unsetenv("PYTHONPATH");
}

TEST(Interpreter, TakesSearchPathsAndArguments) {
  const Interpreter python =
      started({.search_paths = {"/b", "/a"}, .arguments = {"host", "-x", "ü"}});

  EXPECT_EQ(text_of("sys.path[:2]"), "['/b', '/a']");
  EXPECT_EQ(text_of("sys.argv"), "['host', '-x', 'ü']");
}

bool is_default(int signal) {
  struct sigaction action;
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_DFL;
}

TEST(Interpreter, LeavesSignalsToTheProgramUnlessToldTo) {
  std::signal(SIGINT, SIG_DFL);
  {
    const Interpreter python = started();
    EXPECT_TRUE(is_default(SIGINT));
  }
  const Interpreter python = started({.handles_signals = true});
  EXPECT_FALSE(is_default(SIGINT));
}

TEST(Interpreter, DoesNotStartAsAProgramThatIsNone) {
  for (const char* program : {"/no/such/place/bin/python3", "/bin/false"}) {
    EXPECT_THAT(Interpreter::start({.program = program}),
                Fails(ErrorCode::kRaised, testing::_, testing::HasSubstr(program)))
        << program;
    EXPECT_EQ(Py_IsInitialized(), 0);
  }
  const Interpreter python = started();
  EXPECT_EQ(text_of("1"), "1");
}

// A program of this name, beside the library of Python.
class Program {
 public:
  explicit Program(const std::string& name)
      : place_(own_folder()), path_(place_ / "bin" / name) {
    namespace fs = std::filesystem;
    const fs::path library = fs::path(WAYBILL_PYTHON_LIBRARY).parent_path();
    fs::create_directories(place_ / "bin");
    fs::create_directory_symlink(library, place_ / library.filename());
    std::ofstream(path_) << "#!/bin/false\n";
    fs::permissions(path_, fs::perms::owner_all);
  }
  ~Program() { std::filesystem::remove_all(place_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::string& path() const { return path_; }

 private:
  // Tests of several Pythons run at once, in one folder for what is temporary.
  static std::string own_folder() {
    std::string path = testing::TempDir() + "waybill_XXXXXX";
    EXPECT_NE(::mkdtemp(path.data()), nullptr) << path;
    return path;
  }

  std::filesystem::path place_;
  std::string path_;
};

TEST(Interpreter, DoesNotStartAsAProgramThatIsNamedOtherwise) {
  for (const char* name : {"ls", "python3.2", "python2", "python3.110"}) {
    const Program program(name);
    const Result<Interpreter> python = Interpreter::start({.program = program.path()});

    ASSERT_FALSE(python) << name;
    EXPECT_NE(python.error().detail.find(program.path() + " is not a Python 3."),
              std::string::npos)
        << python.error().detail;
    EXPECT_EQ(Py_IsInitialized(), 0);
  }
}

bool starts_as(const std::string& name) {
  const Program program(name);
  const Result<Interpreter> python = Interpreter::start({.program = program.path()});
  if (!python) std::fputs(python.error().detail.c_str(), stderr);
  return python.has_value();
}

// Each in a process of its own: Python keeps where its library was.
TEST(Interpreter, StartsAsAProgramThatIsNamedAsThisPython) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const std::string version =
      std::to_string(PY_MAJOR_VERSION) + "." + std::to_string(PY_MINOR_VERSION);
  for (const std::string& name :
       {std::string("python"), std::string("python3"), std::string("Python"),
        "python" + version, "python" + version + "-dbg"}) {
    EXPECT_EXIT(std::_Exit(starts_as(name) ? 0 : 1), testing::ExitedWithCode(0), "")
        << name;
  }
}

TEST(Interpreter, EndsWhenItIsReplaced) {
  Interpreter python = started();
  Interpreter none = std::move(python);
  EXPECT_TRUE(none.finish());

  python = started();
  python = std::move(none);

  EXPECT_EQ(Py_IsInitialized(), 0);
}

TEST(Interpreter, LetsNobodyHaveTheGilAfterItsStart) {
  const Interpreter python = started();
  std::string there;

  std::thread([&] { there = text_of("1 + 1"); }).join();

  EXPECT_EQ(there, "2");
}

TEST(LinkPackage, IsPartOfAPythonThatOthersStarted) {
  Py_InitializeEx(0);
  EXPECT_TRUE(link_package());
  EXPECT_EQ(text_of("waybill.__spec__.origin"), "linked");
  const Result<void> again = link_package();
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().detail.find("imported already"), std::string::npos);
  Py_FinalizeEx();
}

}  // namespace
}  // namespace waybill::embedding
