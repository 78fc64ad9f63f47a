#pragma once

#include <Python.h>

namespace waybill::py {

// Calls what takes long and needs no Python, while other threads run. It may throw.
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
