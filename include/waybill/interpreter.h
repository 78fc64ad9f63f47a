#pragma once

// Runs Python inside of a C++ program.
//
//   waybill::InterpreterOptions options;
//   options.program = "/srv/app/.venv/bin/python";
//   auto python = waybill::Interpreter::start(options);
//   if (!python) return report(python.error());
//   auto outcome = waybill::call(payload);  // From any thread.
//
// `import waybill` imports the package that is linked into the program; it need not be
// installed.

#include <string>
#include <thread>
#include <vector>

#include "waybill/error.h"

namespace waybill {

struct InterpreterOptions {
  // The Python whose standard library and, in a virtual environment, packages are used.
  // Must have the version that this library was built for. Empty: the Python it was
  // built with.
  std::string program = {};

  // Whether to ignore environment variables (PYTHONPATH and the like), the user's own
  // packages and the current folder. Text is UTF-8 then, whatever the locale.
  bool is_isolated = true;

  // First entries of sys.path, in this order.
  std::vector<std::string> search_paths = {};

  // sys.argv.
  std::vector<std::string> arguments = {};

  // Whether Python handles signals, so that Ctrl-C raises KeyboardInterrupt in the
  // thread that called start(). Otherwise the program handles them, except that
  // importing the module `signal` takes SIGINT if it has no handler.
  bool handles_signals = false;
};

// Owns a running Python. Move-only. No thread holds the GIL after start(), not even the
// caller: open a GilScope (waybill/gil.h) to use Python's functions.
class Interpreter {
 public:
  // Starts Python. Error: kRaised if it cannot start, if this process has one already,
  // or if `program` is not a Python of this version: it is missing or not executable,
  // its name (or that of the link's target) says otherwise, or Python does not find its
  // library beside it. `program` is not run to find out. Damage from a failure deep
  // inside of Python may last until the end of the process.
  [[nodiscard]] static Result<Interpreter> start(
      const InterpreterOptions& options = {});

  Interpreter(Interpreter&& other) noexcept;
  // Finishes the Python of the target first.
  Interpreter& operator=(Interpreter&& other) noexcept;
  // Calls finish() and drops its error: if Python cannot end, it runs to the end of the
  // process.
  ~Interpreter();

  // Ends Python: runs exit handlers, waits for non-daemon threads, and frees all
  // objects. Call it in the thread that called start(), with no GilScope open anywhere,
  // no call() in progress and every Object destroyed. Another one may be started
  // afterwards, but many packages, numpy among them, cannot be imported a second time
  // in one process; daemon threads must have ended before that, since Python crashes
  // when one continues in the next interpreter. Does nothing the second time. Errors,
  // all kRaised: file buffers could not be flushed; or, with Python still running, the
  // call is from another thread, inside a GilScope, or while another thread has one or
  // is in call().
  [[nodiscard]] Result<void> finish();

 private:
  explicit Interpreter(void* state)
      : state_(state), starter_(std::this_thread::get_id()) {}

  void* state_ = nullptr;  // PyThreadState of the thread that started it.
  std::thread::id starter_;
};

// For a Python that another component has started: makes `import waybill` import the
// package that is linked into the program, which encode(), decode() and call() need.
// Call it once for each interpreter, with its GIL held. Error: kRaised if `waybill` is
// imported already.
[[nodiscard]] Result<void> link_package();

}  // namespace waybill
