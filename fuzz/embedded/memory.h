#pragma once

// Python's memory, on plain malloc and counted.

#include <cstddef>

namespace waybill::fuzz {

// Lets every Python object have a block of malloc's, where the address sanitizer sees
// what happens to it. To be called after Py_PreInitialize and before Python starts.
void count_python_memory();

// Aborts when the objects that live grow without end. To be called after each input;
// looks once in some thousand calls. Counts blocks of Python, not bytes of the process:
// what the fuzzer and the sanitizers keep grows by design.
void demand_flat_memory();

}  // namespace waybill::fuzz
