// Headers that most sources that use the C API include.

#include <Python.h>

#include "core.h"

#include "python/decode/graph_decoder.h"
#include "python/encode/graph_encoder.h"
#include "python/runtime/state.h"
#include "wire/format.h"
#include "wire/reader.h"
#include "wire/writer.h"
