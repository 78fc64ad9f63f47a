// core.h, and what only sees the private headers of waybill::core.

#include "core.h"

#include "format/code_body.h"
#include "wire/format.h"
#include "wire/reader.h"
#include "wire/writer.h"
