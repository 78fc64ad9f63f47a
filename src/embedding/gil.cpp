#include "waybill/gil.h"

#include <Python.h>

namespace waybill {

GilScope::GilScope() : state_(PyGILState_Ensure()) {}

GilScope::~GilScope() { PyGILState_Release(static_cast<PyGILState_STATE>(state_)); }

GilRelease::GilRelease() : thread_(PyEval_SaveThread()) {}

GilRelease::~GilRelease() {
  PyEval_RestoreThread(static_cast<PyThreadState*>(thread_));
}

}  // namespace waybill
