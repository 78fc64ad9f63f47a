// The results of a simulation, from C++ to Python and back, without Python in here.
//
//   simulate write FILE [--key KEYFILE]     writes results; FILE - is stdout
//   simulate summary FILE [--key KEYFILE]   reads results, whoever wrote them
//
// read.py is the other side.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "waybill/signature.h"
#include "waybill/value.h"

namespace {

using Bytes = std::vector<std::uint8_t>;
using waybill::data::Binary;
using waybill::data::List;
using waybill::data::Map;
using waybill::data::Tuple;
using waybill::data::Value;

// A weight on a spring with friction, by small steps.
struct Oscillator {
  double position = 1.0;
  double velocity = 0.0;
  double stiffness = 4.0;
  double friction = 0.1;

  void step(double seconds) {
    velocity += seconds * (-stiffness * position - friction * velocity);
    position += seconds * velocity;
  }
  double energy() const {
    return 0.5 * (velocity * velocity + stiffness * position * position);
  }
};

// What a program of one's own would have, as plain data. Python gets a dict.
Value simulate() {
  constexpr double kStep = 0.01;
  constexpr int kSteps = 1000;
  constexpr int kEach = 100;
  Oscillator oscillator;
  List records;
  Binary trace;  // One byte for each step: a position between -1 and 1.
  for (int i = 0; i < kSteps; ++i) {
    if (i % kEach == 0) {
      records.items.push_back(
          Map{{"time", i * kStep}, {"energy", oscillator.energy()}});
    }
    trace.push_back(
        static_cast<std::uint8_t>(std::lround(oscillator.position * 127) + 128));
    oscillator.step(kStep);
  }
  return Map{
      {"run", "oscillator-7"},
      {"steps", kSteps},
      {"parameters", Map{{"stiffness", oscillator.stiffness},
                         {"friction", oscillator.friction},
                         {"range", Tuple{-1.0, 1.0}}}},
      {"records", std::move(records)},
      {"trace", std::move(trace)},
  };
}

[[noreturn]] void stop(const std::string& why) {
  std::cerr << "simulate: " << why << '\n';
  std::exit(1);
}

template <typename T>
T expect(waybill::Result<T> result) {
  if (!result) stop(waybill::to_string(result.error()));
  return std::move(*result);
}

void write(const std::string& file, const std::string& key_file) {
  std::optional<waybill::SigningKey> key;
  if (!key_file.empty()) key = expect(waybill::SigningKey::from_file(key_file));
  waybill::WriteOptions options;
  options.key = key ? &*key : nullptr;
  const Bytes bytes = expect(waybill::write_value(simulate(), options));

  std::ofstream out;
  if (file != "-") out.open(file, std::ios::binary);
  std::ostream& target = file == "-" ? std::cout : out;
  target.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  if (!target.flush()) stop(file + " cannot be written");
}

Bytes content_of(const std::string& file) {
  std::ifstream in;
  if (file != "-") in.open(file, std::ios::binary);
  std::istream& source = file == "-" ? std::cin : in;
  if (!source) stop(file + " cannot be read");
  return {std::istreambuf_iterator<char>(source), {}};
}

// Bytes from anybody: load_options first, then a look at what came.
void summarize(const std::string& file, const std::string& key_file) {
  waybill::LoadOptions load_options;
  load_options.limits = waybill::kStrictLimits;
  if (!key_file.empty()) {
    load_options.keys = std::make_shared<waybill::KeyRing>(
        expect(waybill::KeyRing::from_file(key_file)));
  }
  const Value value =
      expect(waybill::read_value(content_of(file), waybill::Gate(load_options)));

  const Map* results = value.get_if<Map>();
  const Value* run = results != nullptr ? results->find("run") : nullptr;
  const Value* records = results != nullptr ? results->find("records") : nullptr;
  const std::string* name = run != nullptr ? run->get_if<std::string>() : nullptr;
  const List* list = records != nullptr ? records->get_if<List>() : nullptr;
  if (name == nullptr || list == nullptr) stop("these are no results of a simulation");
  std::cout << *name << ": " << list->items.size() << " records";
  double last = 0;
  for (const Value& record : list->items) {
    const Map* fields = record.get_if<Map>();
    const Value* energy = fields != nullptr ? fields->find("energy") : nullptr;
    if (energy != nullptr && energy->get_if<double>() != nullptr) {
      last = *energy->get_if<double>();
    }
  }
  std::cout << ", last energy " << last << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool has_key = arguments.size() == 4 && arguments[2] == "--key";
  if (arguments.size() == 2 || has_key) {
    const std::string key_file = has_key ? arguments[3] : "";
    if (arguments[0] == "write") {
      write(arguments[1], key_file);
      return 0;
    }
    if (arguments[0] == "summary") {
      summarize(arguments[1], key_file);
      return 0;
    }
  }
  std::cerr << "usage: simulate write|summary FILE [--key KEYFILE]\n";
  return 2;
}
