#pragma once

#include <Python.h>

namespace waybill::extension {

// The functions of the extension that find the end of a payload in a stream;
// waybill._files calls them. Ends with a row of nulls.
extern PyMethodDef kStreamMethods[];

}  // namespace waybill::extension
