#pragma once

#include <Python.h>

namespace waybill::extension {

// The functions of the extension that describe and build parts of a file;
// waybill._parts calls them. Ends with a row of nulls.
extern PyMethodDef kPartMethods[];

}  // namespace waybill::extension
