#pragma once

// Counts the memory blocks of Python, and allocates them by malloc.

#include <cstddef>

namespace waybill::fuzz {

// Allocates each Python object by malloc, so that the address sanitizer tracks it. Call
// it after Py_PreInitialize and before Python starts.
void count_python_memory();

// Aborts if the number of live blocks keeps growing. Call it after each input; it
// checks once in some thousand calls. Counts blocks of Python, not bytes of the
// process, which the fuzzer and the sanitizers grow by design.
void check_memory_growth();

}  // namespace waybill::fuzz
