// Summarizes all code objects of a file that stdlib_codes.py or make_chains.py wrote,
// and checks that those of the first are found sound.
//
//   summarize_codes codes.txt          errors, and the time a code object takes
//   summarize_codes --list codes.txt   the listing of each

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <string>

#include "bytecode/compact_code.h"
#include "bytecode/line_table.h"
#include "bytecode/soundness.h"
#include "code_file.h"

namespace {

using waybill::test::CodeText;

int list(const std::vector<std::unique_ptr<CodeText>>& codes) {
  for (const auto& code : codes) {
    const auto summary = waybill::summarize(code->view);
    if (!summary) {
      std::cout << waybill::to_string(summary.error()) << '\n';
      return 1;
    }
    for (const std::string& line : listing(*code, *summary)) std::cout << line << '\n';
  }
  return 0;
}

// What is checked of code that arrives.
waybill::Result<void> check(const CodeText& code) {
  waybill::bytecode::CodeShape shape;
  shape.version = code.view.version;
  const auto compact =
      waybill::bytecode::compact_code(shape.version, code.instructions);
  shape.instructions = compact;
  shape.exception_table = code.exceptions;
  shape.local_kinds = code.kinds;
  shape.name_count = code.names.size();
  shape.constant_count = code.constants.size();
  shape.stack_size = code.stack_size;
  const auto sound = waybill::bytecode::check_soundness(shape);
  if (!sound) return tl::unexpected(sound.error());
  return waybill::bytecode::check_line_table(code.line_table, *sound / 2);
}

int measure(const std::vector<std::unique_ptr<CodeText>>& codes) {
  std::vector<double> times;
  int failures = 0;
  std::size_t coarse = 0, values = 0, bytes = 0, unsound = 0;
  double total = 0;
  for (const auto& code : codes) {
    const auto start = std::chrono::steady_clock::now();
    const auto summary = waybill::summarize(code->view);
    const std::chrono::duration<double, std::micro> took =
        std::chrono::steady_clock::now() - start;
    times.push_back(took.count());
    total += took.count();
    bytes += code->instructions.size();
    if (const auto sound = check(*code); !sound) {
      ++unsound;
      std::cout << code->name << ": " << waybill::to_string(sound.error()) << '\n';
    }
    if (!summary) {
      ++failures;
      std::cout << code->name << ": " << waybill::to_string(summary.error()) << '\n';
      continue;
    }
    values += summary->values.size();
    // Only the coarse way gives text constants to a getattr() of kUnknown.
    coarse += std::any_of(summary->values.begin(), summary->values.end(), [](auto& v) {
      return v.kind == waybill::Value::Kind::kGetattr && v.parent == 0 &&
             v.operand_count == 1 && v.offset == 0;
    });
  }
  std::sort(times.begin(), times.end());
  const auto at = [&times](double share) {
    const double last = static_cast<double>(times.size() - 1);
    return times[static_cast<std::size_t>(share * last)];
  };
  std::cout << codes.size() << " code objects, " << failures << " errors, " << unsound
            << " unsound, " << coarse << " coarse, " << values << " values; " << bytes
            << " bytes; us: median " << at(0.5) << ", 90 % " << at(0.9) << ", 99 % "
            << at(0.99) << ", max " << at(1) << ", mean "
            << total / static_cast<double>(codes.size()) << '\n';
  return failures == 0 && unsound == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: summarize_codes [--list] FILE\n";
    return 1;
  }
  std::ifstream in(argv[argc - 1]);
  const auto codes = waybill::test::read_codes(in);
  if (codes.empty()) {
    std::cerr << "no code objects in " << argv[argc - 1] << '\n';
    return 1;
  }
  return std::string(argv[1]) == "--list" ? list(codes) : measure(codes);
}
