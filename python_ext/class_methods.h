#pragma once

// Functions of waybill._core that merging class state needs: see _merge.py.

#include <Python.h>

namespace waybill::extension {

extern PyMethodDef kClassMethods[];

}  // namespace waybill::extension
