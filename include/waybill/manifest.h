#pragma once

// A manifest says what a payload needs, and why, so that a scheduler or a guard can
// decide without Python and without touching the payload.

#include <cstdint>
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

// The records stand in the order in which loads() imports them.
struct Manifest {
  std::vector<ImportRecord> imports;
  std::vector<Substitution> substitutions;
};

// Appends the manifest's section, a msgpack map, to `out`; what seal() writes for
// Parts::manifest. For callers that send the same manifest many times.
void encode_manifest(const Manifest& manifest, std::vector<std::uint8_t>& out);

}  // namespace waybill
