#pragma once

#include <Python.h>

namespace waybill::extension {

// The functions of the extension that have to do with keys; waybill.security calls
// them. Ends with a row of nulls.
extern PyMethodDef kKeyMethods[];

}  // namespace waybill::extension
