#pragma once

#include <Python.h>

namespace waybill::py {

// Calls `work` without the GIL, so that other threads run. `work` must not use Python;
// it may throw.
template <typename Work>
auto without_gil(const Work& work) {
  struct Release {
    Release() : thread(PyEval_SaveThread()) {}
    ~Release() { PyEval_RestoreThread(thread); }
    Release(const Release&) = delete;
    Release& operator=(const Release&) = delete;

    PyThreadState* thread;
  };
  const Release release;
  return work();
}

}  // namespace waybill::py
