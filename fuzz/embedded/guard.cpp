#include "embedded/guard.h"

#include <Python.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "require.h"

namespace waybill::fuzz {
namespace {

bool is_guarding = false;

// Audit events that occur when ordinary objects are built and dropped.
constexpr std::string_view kHarmless[] = {
    "builtins.id",        "code.__new__",
    "function.__new__",   "object.__delattr__",
    "object.__getattr__", "object.__setattr__",
    "sys._getframe",      "sys._getframemodulename",
};

int audit(const char* event, PyObject* arguments, void*) {
  if (!is_guarding) return 0;
  for (std::string_view harmless : kHarmless) {
    if (harmless == event) return 0;
  }
  if (std::string_view(event) == "import") {
    PyErr_Format(PyExc_ModuleNotFoundError, "No module named %R",
                 PyTuple_GET_ITEM(arguments, 0));
  } else {
    if (std::getenv("WAYBILL_FUZZ_TRACE") != nullptr) PySys_WriteStderr("%s\n", event);
    PyErr_Format(PyExc_PermissionError, "%s is forbidden while fuzzing", event);
  }
  return -1;
}

void lower_limit(int resource, rlim_t soft) {
  rlimit limits;
  require(getrlimit(resource, &limits) == 0);
  limits.rlim_cur = std::min(soft, limits.rlim_max);
  require(setrlimit(resource, &limits) == 0);
}

}  // namespace

void fence_in() {
  // The fuzzer writes its corpus and its findings, and starts a thread. So the process
  // may use files and threads; the hook forbids them to Python.
  lower_limit(RLIMIT_FSIZE, rlim_t{64} << 20);
  lower_limit(RLIMIT_CORE, 0);
  char folder[] = "/tmp/waybill-fuzz-XXXXXX";
  require(mkdtemp(folder) != nullptr && chdir(folder) == 0 && rmdir(folder) == 0);
  require(PySys_AddAuditHook(audit, nullptr) == 0);
}

Guard::Guard() { is_guarding = true; }

Guard::~Guard() { is_guarding = false; }

}  // namespace waybill::fuzz
