// Starts and ends Python, and takes its GIL where that cannot crash or hang.
// Tested by tests/embedding/interpreter_test.cpp and gil_test.cpp.

#include "waybill/interpreter.h"

#include <Python.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "embedding/python_error.h"
#include "python/runtime/compat.h"
#include "python/runtime/ref.h"
#include "waybill/gil.h"

namespace waybill {
namespace {

using py::check;
using py::Ref;

// Each side writes its own variable before it reads the other: a scope is counted
// before it checks whether Python is ending, and the end begins before it checks for
// scopes. So if a scope and the end begin at once, at least one sees the other.
std::atomic<int> open_scope_count = 0;
std::atomic<bool> is_ending = false;

bool can_open_scope() {
  if (Py_IsInitialized() == 0) return false;
  // When it ends, Python waits for its own threads, so these may continue.
  return !is_ending || PyGILState_GetThisThreadState() != nullptr;
}

// Begins the end of Python: from now on threads unknown to Python get no GilScope.
// Returns false, and changes nothing, if a GilScope is open in any thread.
bool begin_end() {
  is_ending = true;
  if (open_scope_count == 0) return true;
  is_ending = false;
  return false;
}

// Called when Python has ended: scopes may open again in the next interpreter.
void complete_end() { is_ending = false; }

tl::unexpected<Error> failure(std::string detail) {
  return tl::unexpected(Error{ErrorCode::kRaised, 0, std::move(detail)});
}

tl::unexpected<Error> start_failure(const PyStatus& status) {
  const char* message = status.err_msg != nullptr ? status.err_msg : "it exited";
  return failure(std::string("Python cannot start: ") + message);
}

// Owns a PyConfig.
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
  PyPreConfig preconfig;
  if (is_isolated) {
    PyPreConfig_InitIsolatedConfig(&preconfig);
    preconfig.utf8_mode = 1;
  } else {
    PyPreConfig_InitPythonConfig(&preconfig);
  }
  return Py_PreInitialize(&preconfig);
}

// The path that Python takes for its own program; empty: Python searches for it.
std::string program_of(const InterpreterOptions& options) {
  if (!options.program.empty()) return options.program;
  const char* built_for = WAYBILL_PYTHON_EXECUTABLE;
  return access(built_for, X_OK) == 0 ? built_for : "";
}

// "3.11": the version of the linked Python.
std::string linked_version() {
  return std::to_string(PY_MAJOR_VERSION) + "." + std::to_string(PY_MINOR_VERSION);
}

// Whether the name of a program is that of a Python of this version. Running the
// program would be certain, but takes longer than the start.
bool is_python_name(const std::string& name) {
  constexpr std::string_view kName = "python";
  const auto is_same = [](char letter, char wanted) {
    return std::tolower(static_cast<unsigned char>(letter)) == wanted;
  };
  if (!std::ranges::equal(name.substr(0, kName.size()), kName, is_same)) return false;
  const std::string rest = name.substr(kName.size());
  const std::string version = rest.substr(0, rest.find_first_not_of("0123456789."));
  const std::string linked = linked_version();
  return version.empty() || linked == version || linked.starts_with(version + ".");
}

// Follows links: the `python` of a virtual environment links to a name with a version.
bool can_be_python(const std::filesystem::path& program) {
  std::error_code error;
  const auto real = std::filesystem::canonical(program, error);
  return std::filesystem::is_regular_file(real, error) &&
         is_python_name(real.filename());
}

PyStatus initialize(const InterpreterOptions& options, const std::string& program) {
  PyStatus status = pre_initialize(options.is_isolated);
  if (PyStatus_Exception(status)) return status;
  Config config(options.is_isolated);
  config->install_signal_handlers = options.handles_signals ? 1 : 0;
  // Sets both, since a search on PATH for the name may find another version.
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

// A folder of Python, such as sys.prefix.
std::filesystem::path folder_of(const char* name) {
  PyObject* text = PySys_GetObject(name);  // Borrowed.
  const char* utf8 = text != nullptr ? PyUnicode_AsUTF8(text) : nullptr;
  if (utf8 == nullptr) PyErr_Clear();
  return utf8 != nullptr ? utf8 : "";
}

// Throws if Python uses another library than that of `program`: without a library
// beside the program, Python falls back to its build-time prefix, where the wanted
// packages are missing.
void check_library_of(const std::string& program) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path beside = fs::absolute(program, error).parent_path().parent_path();
  const fs::path real = fs::canonical(program, error).parent_path().parent_path();
  for (const char* name : {"prefix", "exec_prefix", "base_prefix"}) {
    for (const fs::path& folder : {beside, real}) {
      if (fs::equivalent(folder, folder_of(name), error)) return;
    }
  }
  PyErr_Format(PyExc_RuntimeError,
               "%s is not a Python %s: it would use the library of %s", program.c_str(),
               linked_version().c_str(), folder_of("prefix").c_str());
  throw py::PyError();
}

// Puts the paths in front of the others, in this order.
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
    if (!options.program.empty()) check_library_of(options.program);
    add_search_paths(options.search_paths);
    Result<void> linked = link_package();
    if (linked) Ref::steal(PyImport_ImportModule("waybill"));
    return linked;
  });
}

// Adds the likely cause to an error: the library of another build may lack modules that
// this build needs, or contain others.
Error with_program(Error error, const std::string& program) {
  error.detail = "Python uses the library of " + program +
                 ", which should have version " + PY_VERSION + ": " + error.detail;
  return error;
}

}  // namespace

Result<Interpreter> Interpreter::start(const InterpreterOptions& options) {
  if (Py_IsInitialized() != 0) {
    return failure("Python runs in this process already; use it with link_package()");
  }
  const std::string program = program_of(options);
  if (!program.empty() && access(program.c_str(), X_OK) != 0) {
    return failure("Python cannot start: there is no program " + program);
  }
  if (!options.program.empty() && !can_be_python(program)) {
    return failure(program + " is not a Python " + linked_version() +
                   ", judging by its name");
  }
  const PyStatus status = initialize(options, program);
  if (PyStatus_Exception(status)) return start_failure(status);
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
  // In another thread, Python would wait forever.
  if (std::this_thread::get_id() != starter_) {
    return failure("only the thread that started Python can end it");
  }
  if (py::current_thread_state() == state_) {
    return failure("Python cannot be ended in a GilScope; leave the scope first");
  }
  if (!begin_end()) {
    return failure(
        "Python cannot be ended while a GilScope is open, or a call under way, in "
        "another thread; wait for it");
  }
  PyEval_RestoreThread(static_cast<PyThreadState*>(std::exchange(state_, nullptr)));
  const bool is_flushed = Py_FinalizeEx() == 0;
  complete_end();
  if (is_flushed) return {};
  return failure("Python could not flush the buffers of files at its end");
}

GilScope::GilScope() {
  ++open_scope_count;
  is_open_ = can_open_scope();
  if (is_open_) {
    state_ = PyGILState_Ensure();
  } else {
    --open_scope_count;
  }
}

GilScope::~GilScope() {
  if (!is_open_) return;
  PyGILState_Release(static_cast<PyGILState_STATE>(state_));
  --open_scope_count;
}

GilRelease::GilRelease()
    : thread_(embedding::has_gil() ? PyEval_SaveThread() : nullptr) {}

GilRelease::~GilRelease() {
  if (thread_ != nullptr) PyEval_RestoreThread(static_cast<PyThreadState*>(thread_));
}

}  // namespace waybill
