// Tested by tests/embedding/gil_test.cpp.

#include "waybill/gil.h"

#include <Python.h>

#include <atomic>

#include "embedding/gil_use.h"
#include "python/runtime/ref.h"

namespace waybill {
namespace {

// Each side writes its own and then reads the other: a scope is counted before it looks
// whether Python ends, and the end begins before it looks for scopes. So both in their
// places at once are seen by one of them at least.
std::atomic<int> open_scopes = 0;
std::atomic<bool> is_ending = false;

bool may_open() {
  if (Py_IsInitialized() == 0) return false;
  // Threads that Python waits for at its end may go on.
  return !is_ending || PyGILState_GetThisThreadState() != nullptr;
}

}  // namespace

bool embedding::has_gil() { return Py_IsInitialized() != 0 && PyGILState_Check() != 0; }

bool embedding::begin_end() {
  is_ending = true;
  if (open_scopes == 0) return true;
  is_ending = false;
  return false;
}

void embedding::complete_end() { is_ending = false; }

void embedding::drop(PyObject* object) {
  const GilScope gil;
  if (gil) static_cast<void>(py::Ref::steal_or_null(object));
}

GilScope::GilScope() {
  ++open_scopes;
  is_open_ = may_open();
  if (is_open_) {
    state_ = PyGILState_Ensure();
  } else {
    --open_scopes;
  }
}

GilScope::~GilScope() {
  if (!is_open_) return;
  PyGILState_Release(static_cast<PyGILState_STATE>(state_));
  --open_scopes;
}

GilRelease::GilRelease()
    : thread_(embedding::has_gil() ? PyEval_SaveThread() : nullptr) {}

GilRelease::~GilRelease() {
  if (thread_ != nullptr) PyEval_RestoreThread(static_cast<PyThreadState*>(thread_));
}

}  // namespace waybill
