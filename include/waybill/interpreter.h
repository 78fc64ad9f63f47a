#pragma once

// A Python inside of a C++ program.
//
//   waybill::InterpreterOptions options;
//   options.program = "/srv/app/.venv/bin/python";
//   auto python = waybill::Interpreter::start(options);
//   if (!python) return report(python.error());
//   auto outcome = waybill::call(payload);  // From any thread.
//
// `import waybill` gives there what is linked into the program; nothing has to be
// installed for it.

#include <string>
#include <thread>
#include <vector>

#include "waybill/error.h"

namespace waybill {

struct InterpreterOptions {
  // Which Python to be: its standard library is used, and if it is that of a virtual
  // environment, the packages of that. Of the version that this library was built for.
  // Empty: the one that it was built with.
  std::string program = {};

  // Whether the environment (PYTHONPATH and the like), the user's own packages and the
  // folder that the program runs in are left alone. Text is UTF-8 then, whatever the
  // locale.
  bool is_isolated = true;

  // Go before all else in sys.path, in this order.
  std::vector<std::string> search_paths = {};

  // sys.argv.
  std::vector<std::string> arguments = {};

  // Whether Python handles signals, which makes Ctrl-C a KeyboardInterrupt in the
  // thread that called start(). Else they stay the program's, but for SIGINT once code
  // imports the module `signal`, which takes it if nobody handles it.
  bool handles_signals = false;
};

// While one lives, Python runs. Move-only. No thread holds the GIL after start(), also
// not the one that called it: open a GilScope (waybill/gil.h) to use Python's
// functions.
class Interpreter {
 public:
  // Starts Python. Error: kRaised if it cannot start, if there is one already in this
  // process, and if `program` can be told to be no Python of this version: it is not
  // there or cannot be run, it is not named so (the file that a link leads to counts),
  // or Python does not find its library beside it. It is not run to find out. What went
  // wrong deep inside of Python may stay wrong until the end of the process.
  [[nodiscard]] static Result<Interpreter> start(
      const InterpreterOptions& options = {});

  Interpreter(Interpreter&& other) noexcept;
  // What was running here ends first, as by finish().
  Interpreter& operator=(Interpreter&& other) noexcept;
  // As finish(), whose error is lost: where it tells that Python goes on, it does so to
  // the end of the process.
  ~Interpreter();

  // Ends Python: runs what is registered to run then, waits for threads that are no
  // daemons, and frees all objects. To be called in the thread that called start(),
  // with no GilScope open anywhere, no call() under way and every Object gone. Another
  // may be started afterwards, but many packages, numpy among them, cannot be imported
  // a second time in one process; daemon threads must have ended before that, for
  // Python itself crashes when one goes on in the next. Does nothing the second time.
  // Errors, all kRaised: buffers of files could not be flushed; and, with Python going
  // on, in another thread, in a GilScope, or while another thread has one or is in
  // call().
  [[nodiscard]] Result<void> finish();

 private:
  explicit Interpreter(void* state)
      : state_(state), starter_(std::this_thread::get_id()) {}

  void* state_ = nullptr;  // PyThreadState of the thread that started it.
  std::thread::id starter_;
};

// For a Python that somebody else has started: makes `import waybill` give what is
// linked into the program, which encode(), decode() and call() need. Once for each
// interpreter, with its GIL held. Error: kRaised if `waybill` is imported already.
[[nodiscard]] Result<void> link_package();

}  // namespace waybill
