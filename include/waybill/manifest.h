#pragma once

// A manifest lists the requirements of a payload and their reasons, so that a scheduler
// or a guard can decide without Python and without reading the payload.

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
  kCall = 1,  // An import statement in a function body: when that runs.
  kLazy = 2,  // A lazy import (PEP 810): when the name is first used.
};

// "load", "call" or "lazy". Static storage.
std::string_view name_of(ImportTime time);

// One module that a payload needs, and the first place that needs it.
struct ImportRecord {
  // Full dotted name, e.g. "xml.etree.ElementTree"; with leading dots if it is relative
  // to the package of the function (only for kCall).
  std::string module;
  ImportTime time = ImportTime::kLoad;
  // The expression that needs it, e.g. "et.ElementTree.parse"; the module's own name if
  // a value refers to the module itself.
  std::string chain;
  // Qualified name of the function with the expression; empty if a value needs the
  // module.
  std::string function;
  // Location of the expression; empty and 0 if unknown.
  std::string file;
  std::uint32_t line = 0;

  // Whether it is waybill or a part of it, which every receiver has.
  bool is_own() const;

  // Whether the encoder added it to build objects, as opposed to code that names
  // waybill.
  bool is_added_by_encoder() const { return is_own() && function.empty(); }
};

// An object that was replaced, as an option of the sender requested.
struct Substitution {
  std::string policy;  // "fresh": the receiver gets a new one; "drop": None.
  std::string type;    // E.g. "_thread.lock".
  std::string path;    // The path of the object: "f.__globals__['client']._lock".
};

// An installed distribution that contains imported modules.
struct Distribution {
  std::string name;     // As its metadata has it: "scikit-learn".
  std::string version;  // "1.7.2".
  // The top-level names of these modules: "sklearn". Ascending.
  std::vector<std::string> modules;
};

// The sender's environment, if it was requested. A claim of the sender: nothing is
// decided by it.
struct Environment {
  std::string python;          // "3.11.7".
  std::string implementation;  // "cpython".
  std::string platform;        // As sysconfig.get_platform() has it: "linux-x86_64".
  // Ascending by name, each once.
  std::vector<Distribution> distributions;

  // Limits of open(): distributions, modules of all of them, bytes of a text.
  static constexpr std::size_t kMaxDistributions = 4096;
  static constexpr std::size_t kMaxModules = 16384;
  static constexpr std::size_t kMaxText = 1024;
};

// The records are in the order in which loads() imports them.
struct Manifest {
  std::vector<ImportRecord> imports;
  std::vector<Substitution> substitutions;
  std::optional<Environment> environment;
};

// Appends the manifest's section, a msgpack map, to `out`; the bytes that seal() writes
// for Parts::manifest. For callers that send the same manifest many times.
void encode_manifest(const Manifest& manifest, std::vector<std::uint8_t>& out);

}  // namespace waybill
