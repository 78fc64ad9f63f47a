#pragma once

// The objects of the encoder and decoder benchmarks, as source that binds each to `it`.

#include <benchmark/benchmark.h>

#include <string>

namespace waybill::bench {

inline constexpr char kFunction[] =
    "import collections, re, asyncio\n"
    "def it(): return [collections, re, asyncio]\n";
inline constexpr char kClosure[] =
    "import collections, math\n"
    "def outer(package, factor):\n"
    "    def inner(x): return package.abc.Mapping, [x * factor, math.pi]\n"
    "    return inner\n"
    "it = outer(collections, 3)\n";
inline constexpr char kClass[] =
    "import math\n"
    "class it:\n"
    "    def __init__(self, x): self.x = x\n"
    "    def area(self): return math.pi * self.x\n";
inline constexpr char kMessage[] =
    "it = {'id': 7, 'args': [1, 2.5, None, True], 'retries': {'max': 3}}\n";
inline constexpr char kRecords[] =
    "it = [{'id': i, 'name': f'user {i}', 'score': i * 0.5, 'tags': ['new', 'paid']}\n"
    "      for i in range(1000)]\n";
inline constexpr char kFloats[] = "it = [i * 0.1 for i in range(1000)]\n";
inline constexpr char kTexts[] = "it = [f'value number {i}' for i in range(1000)]\n";
inline constexpr char kTuples[] = "it = [(i, i * 0.5, f'{i}') for i in range(1000)]\n";
inline constexpr char kSets[] = "it = [{i, f'tag {i}'} for i in range(1000)]\n";
inline constexpr char kInstances[] =
    "import fractions\n"
    "it = [fractions.Fraction(i, 7) for i in range(1000)]\n";

struct Case {
  const char* name;
  const char* source;
};

inline constexpr Case kCases[] = {
    {"function", kFunction},    {"closure", kClosure},
    {"class", kClass},          {"small message", kMessage},
    {"1000 records", kRecords}, {"1000 floats", kFloats},
    {"1000 texts", kTexts},     {"1000 tuples", kTuples},
    {"1000 sets", kSets},       {"1000 instances", kInstances},
};

// Makes a benchmark "<verb>/<case>" of each.
inline bool add_cases(const std::string& verb,
                      void (*run)(benchmark::State&, const char* source)) {
  for (const Case& each : kCases) {
    const std::string name = verb + "/" + each.name;
    benchmark::RegisterBenchmark(name.c_str(), run, each.source);
  }
  return true;
}

}  // namespace waybill::bench
