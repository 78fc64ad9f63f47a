// Tested by tests/embedding/interpreter_test.cpp.

#include "waybill/interpreter.h"

#include <Python.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "embedding/gil_use.h"
#include "embedding/python_error.h"
#include "python/runtime/compat.h"
#include "python/runtime/ref.h"

namespace waybill {
namespace {

using py::check;
using py::Ref;

Error failure(const PyStatus& status) {
  const char* message = status.err_msg != nullptr ? status.err_msg : "it exited";
  return {ErrorCode::kRaised, 0, std::string("Python cannot start: ") + message};
}

// Frees what it holds whichever way it is left.
class Config {
 public:
  explicit Config(bool is_isolated) {
    if (is_isolated) {
      PyConfig_InitIsolatedConfig(&config_);
    } else {
      PyConfig_InitPythonConfig(&config_);
    }
    config_.parse_argv = 0;
  }
  ~Config() { PyConfig_Clear(&config_); }
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  PyConfig* operator->() { return &config_; }
  PyConfig* get() { return &config_; }

 private:
  PyConfig config_;
};

PyStatus pre_initialize(bool is_isolated) {
  PyPreConfig before;
  if (is_isolated) {
    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
  } else {
    PyPreConfig_InitPythonConfig(&before);
  }
  return Py_PreInitialize(&before);
}

// The program that Python takes itself for; empty: whatever it finds by itself.
std::string program_of(const InterpreterOptions& options) {
  if (!options.program.empty()) return options.program;
  const char* known = WAYBILL_PYTHON_EXECUTABLE;
  return access(known, X_OK) == 0 ? known : "";
}

// "3.11": of the Python that is linked in.
std::string own_version() {
  return std::to_string(PY_MAJOR_VERSION) + "." + std::to_string(PY_MINOR_VERSION);
}

// Whether a program is named as Pythons of this version are. Running it would tell, and
// cost more than the start.
bool is_named_python(const std::string& name) {
  constexpr std::string_view kName = "python";
  const auto is_same = [](char letter, char wanted) {
    return std::tolower(static_cast<unsigned char>(letter)) == wanted;
  };
  if (!std::ranges::equal(name.substr(0, kName.size()), kName, is_same)) return false;
  const std::string rest = name.substr(kName.size());
  const std::string version = rest.substr(0, rest.find_first_not_of("0123456789."));
  const std::string own = own_version();
  return version.empty() || own == version || own.starts_with(version + ".");
}

// A virtual environment's `python` is a link to one with a version in its name.
bool may_be_python(const std::filesystem::path& program) {
  std::error_code error;
  const auto real = std::filesystem::canonical(program, error);
  return std::filesystem::is_regular_file(real, error) &&
         is_named_python(real.filename());
}

PyStatus initialize(const InterpreterOptions& options, const std::string& program) {
  PyStatus status = pre_initialize(options.is_isolated);
  if (PyStatus_Exception(status)) return status;
  Config config(options.is_isolated);
  config->install_signal_handlers = options.handles_signals ? 1 : 0;
  // Both: what is found on PATH under the name may be another version.
  for (wchar_t** field : {&config->program_name, &config->executable}) {
    if (program.empty()) break;
    status = PyConfig_SetBytesString(config.get(), field, program.c_str());
    if (PyStatus_Exception(status)) return status;
  }
  std::vector<char*> arguments;
  for (const std::string& argument : options.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  status = PyConfig_SetBytesArgv(
      config.get(), static_cast<Py_ssize_t>(arguments.size()), arguments.data());
  if (PyStatus_Exception(status)) return status;
  return Py_InitializeFromConfig(config.get());
}

// Where a part of Python stands, e.g. sys.prefix.
std::filesystem::path place(const char* name) {
  PyObject* text = PySys_GetObject(name);  // Borrowed.
  const char* utf8 = text != nullptr ? PyUnicode_AsUTF8(text) : nullptr;
  if (utf8 == nullptr) PyErr_Clear();
  return utf8 != nullptr ? utf8 : "";
}

// Python falls back to the place that it was built for where it finds no library beside
// its program, and the packages that were asked for would just be missing.
void demand_place_of(const std::string& program) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path beside = fs::absolute(program, error).parent_path().parent_path();
  const fs::path real = fs::canonical(program, error).parent_path().parent_path();
  for (const char* name : {"prefix", "exec_prefix", "base_prefix"}) {
    for (const fs::path& folder : {beside, real}) {
      if (fs::equivalent(folder, place(name), error)) return;
    }
  }
  PyErr_Format(PyExc_RuntimeError,
               "%s is no Python %s: the library would be that of %s", program.c_str(),
               own_version().c_str(), place("prefix").c_str());
  throw py::PyError();
}

// In front of what is there, in the order given.
void add_search_paths(const std::vector<std::string>& paths) {
  PyObject* all = PySys_GetObject("path");
  if (all == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "there is no sys.path");
    throw py::PyError();
  }
  Py_ssize_t index = 0;
  for (const std::string& path : paths) {
    const Ref text = Ref::steal(PyUnicode_DecodeFSDefaultAndSize(
        path.data(), static_cast<Py_ssize_t>(path.size())));
    check(PyList_Insert(all, index++, text.get()));
  }
}

Result<void> set_up(const InterpreterOptions& options) {
  return embedding::guarded([&]() -> Result<void> {
    if (!options.program.empty()) demand_place_of(options.program);
    add_search_paths(options.search_paths);
    Result<void> linked = link_package();
    if (linked) Ref::steal(PyImport_ImportModule("waybill"));
    return linked;
  });
}

// The library of another build may lack what is part of this one, and the other way.
Error with_program(Error error, const std::string& program) {
  error.detail = "with the library of " + program +
                 ", which should be that of the Python " + PY_VERSION +
                 " that is linked in: " + error.detail;
  return error;
}

}  // namespace

Result<Interpreter> Interpreter::start(const InterpreterOptions& options) {
  if (Py_IsInitialized() != 0) {
    return tl::unexpected(
        Error{ErrorCode::kRaised, 0,
              "Python runs in this process already; link_package() takes part in it"});
  }
  const std::string program = program_of(options);
  if (!program.empty() && access(program.c_str(), X_OK) != 0) {
    return tl::unexpected(Error{ErrorCode::kRaised, 0,
                                "Python cannot start: there is no program " + program});
  }
  if (!options.program.empty() && !may_be_python(program)) {
    return tl::unexpected(
        Error{ErrorCode::kRaised, 0,
              program + " is no Python " + own_version() + ": it is named otherwise"});
  }
  const PyStatus status = initialize(options, program);
  if (PyStatus_Exception(status)) return tl::unexpected(failure(status));
  const Result<void> done = set_up(options);
  Interpreter interpreter(PyEval_SaveThread());
  if (!done && options.program.empty()) return tl::unexpected(done.error());
  if (!done) return tl::unexpected(with_program(done.error(), options.program));
  return interpreter;
}

Interpreter::Interpreter(Interpreter&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)), starter_(other.starter_) {}

Interpreter& Interpreter::operator=(Interpreter&& other) noexcept {
  void* state = std::exchange(other.state_, nullptr);
  static_cast<void>(finish());
  state_ = state;
  starter_ = other.starter_;
  return *this;
}

Interpreter::~Interpreter() { static_cast<void>(finish()); }

Result<void> Interpreter::finish() {
  if (state_ == nullptr) return {};
  // Python would wait for ever.
  if (std::this_thread::get_id() != starter_) {
    return tl::unexpected(
        Error{ErrorCode::kRaised, 0, "only the thread that started Python can end it"});
  }
  if (py::current_thread_state() == state_) {
    return tl::unexpected(
        Error{ErrorCode::kRaised, 0, "Python cannot be ended in a GilScope"});
  }
  if (!embedding::begin_end()) {
    return tl::unexpected(Error{ErrorCode::kRaised, 0,
                                "Python cannot be ended while a GilScope is open, or a "
                                "call under way, in another thread; wait for it"});
  }
  PyEval_RestoreThread(static_cast<PyThreadState*>(std::exchange(state_, nullptr)));
  const bool is_flushed = Py_FinalizeEx() == 0;
  embedding::complete_end();
  if (is_flushed) return {};
  return tl::unexpected(
      Error{ErrorCode::kRaised, 0, "buffers of files could not be flushed at the end"});
}

}  // namespace waybill
