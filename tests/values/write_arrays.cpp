// The C++ side of tests/libraries/test_arrays_from_cpp.py:
//
//   write_arrays write FILE MAJOR MINOR MAGIC   arrays of each item, as that Python's
//   write_arrays read FILE                      what arrays a mapped file has

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/mapped_file.h"
#include "waybill/parts.h"
#include "waybill/value.h"

namespace waybill {
namespace {

using data::Array;
using data::Binary;
using data::List;
using data::Map;

constexpr std::pair<const char*, std::size_t> kItems[] = {
    {"bool", 1},      {"int8", 1},        {"uint8", 1},   {"int16", 2},
    {"uint16", 2},    {"int32", 4},       {"uint32", 4},  {"int64", 8},
    {"uint64", 8},    {"float16", 2},     {"float32", 4}, {"float64", 8},
    {"complex64", 8}, {"complex128", 16}, {">i2", 2},     {">u4", 4},
    {">i8", 8},       {">f4", 4},         {">c16", 16},
};

int write(const char* file, const PythonVersion& python) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < 1'600'000; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i / 3 % 2));
  }
  const BytesView content(bytes);
  Map small, large;
  for (const auto& [item, size] : kItems) {
    small.pairs.emplace_back(item, Array{item, {2, 3}, content.first(6 * size)});
    large.pairs.emplace_back(item,
                             Array{item, {1000, 100}, content.first(100'000 * size)});
  }
  const Map value = {
      {"names", List{"a", "b"}},
      {"small", std::move(small)},
      {"step", 3},
      {"large", std::move(large)},
      {"columns", Array{"float64", {100, 200}, content.first(160'000), true}},
      {"few columns", Array{"float64", {2, 3}, content.first(48), true}},
      {"one column", Array{"float64", {6, 1}, content.first(48), true}},
      {"one", Array{"float32", {}, content.first(4)}},
      {"none", Array{"float32", {0, 3}, {}}},
      {"raw", List{Binary(70'000, 'x'), data::ByteArray{Binary(70'000, 'y')},
                   Map{{Binary(70'000, 'k'), data::Set{Binary(70'000, 's')}}}}},
      {"edge", List{Array{"int8", {65535}, content.first(65535)},
                    Array{"int8", {65536}, content.first(65536)}}},
  };
  std::ofstream out(file, std::ios::binary);
  const Result<void> done = write_value_to(
      [&](BytesView piece) {
        out.write(reinterpret_cast<const char*>(piece.data()),
                  static_cast<std::streamsize>(piece.size()));
      },
      value, {.python = python});
  return done && out.flush() ? EXIT_SUCCESS : EXIT_FAILURE;
}

void tell(const VerifiedEnvelope& envelope, std::size_t offset,
          const std::string& path) {
  const Part part = describe_part(envelope, offset);
  if (part.array) {
    std::printf("%s %s (", path.c_str(), part.array->item.c_str());
    for (const std::uint64_t extent : part.array->shape) {
      std::printf("%llu,", static_cast<unsigned long long>(extent));
    }
    unsigned long long sum = 0;
    for (const std::uint8_t byte : part.array->bytes) sum += byte;
    std::printf(") %s %zu %llu\n", part.array->is_fortran ? "F" : "C",
                part.array->bytes.size(), sum);
    return;
  }
  for (const Step& step : steps_from(envelope, offset)) {
    tell(envelope, step.offset, path + step_text(envelope, step));
  }
}

int read(const char* name) {
  const auto file = MappedFile::open(name);
  if (!file) return EXIT_FAILURE;
  const auto envelope = open_mapped(file->bytes());
  if (!envelope) return EXIT_FAILURE;
  tell(*envelope, root_of(*envelope), "");
  return EXIT_SUCCESS;
}

std::uint32_t number(const char* text) {
  return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

}  // namespace
}  // namespace waybill

int main(int argc, char** argv) {
  using namespace waybill;  // NOLINT: it is a part of waybill's tests.
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "write" && argc == 6) {
    return write(argv[2], {number(argv[3]), number(argv[4]), number(argv[5])});
  }
  return verb == "read" && argc == 3 ? read(argv[2]) : EXIT_FAILURE;
}
