// core.h, and headers that are private to waybill::core.

#include "core.h"

#include "format/code_body.h"
#include "wire/format.h"
#include "wire/reader.h"
#include "wire/writer.h"
