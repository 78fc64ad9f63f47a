#pragma once

// A manifest says what a payload needs, and why, so that a scheduler or a guard can
// decide without Python and without touching the payload.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/error.h"

namespace waybill {

// When a module has to be importable.
enum class ImportTime : std::uint8_t {
  kLoad = 0,  // loads() imports it before anything is built.
  kCall = 1,  // An import statement in a body: when that body runs, if it does.
  kLazy = 2,  // A lazy import (PEP 810): when the name is first used, if it is.
};

// "load", "call" or "lazy". Static storage.
std::string_view name_of(ImportTime time);

// One module that a payload needs, with the first place that showed the need.
struct ImportRecord {
  // Full dotted name, e.g. "xml.etree.ElementTree"; with leading dots when it is
  // relative to the package of the function (only ever kCall).
  std::string module;
  ImportTime time = ImportTime::kLoad;
  // The expression that needs it, e.g. "et.ElementTree.parse"; the module's own name
  // where a value refers to the module itself.
  std::string chain;
  // Qualified name of the function whose code holds the expression; empty when the
  // need comes from a value and not from code.
  std::string function;
  // Where that code stands; empty and 0 when unknown.
  std::string file;
  std::uint32_t line = 0;

  // Whether it is waybill or a part of it, which is there wherever payloads are loaded:
  // nothing that a worker has to have besides.
  bool is_own() const;

  // Whether waybill brings it to make objects, as opposed to code that names waybill.
  bool is_brought() const { return is_own() && function.empty(); }
};

// Something that did not travel as it is, because the sender asked for that.
struct Substitution {
  std::string policy;  // "fresh": the receiver gets a new one; "drop": None.
  std::string type;    // E.g. "_thread.lock".
  std::string path;    // Where it stood, e.g. "f.__globals__['client']._lock".
};

// An installed distribution that modules of the imports belong to.
struct Distribution {
  std::string name;     // As its metadata has it: "scikit-learn".
  std::string version;  // "1.7.2".
  // First parts of the names of those imports: "sklearn". Ascending.
  std::vector<std::string> modules;
};

// What a payload was made with, where the sender says so. What it says is the sender's
// word: nothing is refused or chosen by it.
struct Environment {
  std::string python;          // "3.11.7".
  std::string implementation;  // "cpython".
  std::string platform;        // As sysconfig.get_platform() has it: "linux-x86_64".
  // Ascending by name, each once.
  std::vector<Distribution> distributions;

  // What open() reads at most: distributions, modules of all of them, bytes of a text.
  static constexpr std::size_t kMaxDistributions = 4096;
  static constexpr std::size_t kMaxModules = 16384;
  static constexpr std::size_t kMaxText = 1024;
};

// The records stand in the order in which loads() imports them.
struct Manifest {
  std::vector<ImportRecord> imports;
  std::vector<Substitution> substitutions;
  std::optional<Environment> environment;
};

// Appends the manifest's section, a msgpack map, to `out`; what seal() writes for
// Parts::manifest. For callers that send the same manifest many times.
void encode_manifest(const Manifest& manifest, std::vector<std::uint8_t>& out);

}  // namespace waybill
