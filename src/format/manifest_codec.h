#pragma once

// Reads and writes the manifest's section.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/envelope.h"
#include "waybill/manifest.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill::envelope {

// Reads the section. Returns false with an error in the reader.
bool read_manifest(wire::Reader& reader, Manifest& manifest);

// The file of the first import that has one; null if none has.
std::string_view first_file(const Manifest& manifest);

// The import that an extension kModule refers to; null for other tokens and invalid
// indices.
inline const ImportRecord* import_of(const wire::Token& token,
                                     const Manifest& manifest) {
  std::uint64_t index = 0;
  const bool is_valid = token.is(wire::ExtType::kModule) &&
                        wire::index_of(token.bytes, index) &&
                        index < manifest.imports.size();
  return is_valid ? &manifest.imports[index] : nullptr;
}

// The name in a node kGlobal.
struct GlobalName {
  std::string_view module;  // "builtins" for a built-in; null if unknown.
  std::string_view name;
  bool is_builtin = false;
};
// `values` is at the first value of the node. Nothing if the values are unreadable.
std::optional<GlobalName> global_name(wire::Reader values, const Manifest* manifest);

// Writes the section record by record, without building a Manifest.
class ManifestBuilder {
 public:
  struct Record {
    std::string_view module;
    ImportTime time = ImportTime::kLoad;
    std::string_view chain;     // Empty: the module's name.
    std::string_view function;  // Empty: none.
    std::string_view file;      // Empty: unknown.
    std::uint32_t line = 0;
  };

  // Starts as a copy of `first`. This builder must be empty.
  void fork_from(const ManifestBuilder& first);

  // Appends a record and returns its index. All text must be UTF-8.
  std::uint32_t add(const Record& record);

  void add(const Substitution& substitution);

  // The file of the first record that has one; null if none has.
  std::string_view first_file() const {
    return files_.empty() ? std::string_view() : files_.front();
  }

  // Appends the section to `out`.
  void encode(wire::Writer& out) const;

 private:
  std::size_t number_of(std::string_view file);

  wire::Writer records_;
  std::uint32_t count_ = 0;
  std::vector<std::string> files_;
  wire::Writer substitutions_;
  std::uint32_t substitution_count_ = 0;
};

// --- The environment, a part of the manifest.

// Appends the environment to a manifest's section; its key is the highest. `manifest`:
// what encode_manifest() gives, or empty. Texts and counts must be within the limits in
// Environment.
std::vector<std::uint8_t> with_environment(BytesView manifest,
                                           const Environment& environment);

}  // namespace waybill::envelope
