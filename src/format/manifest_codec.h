#pragma once

// The manifest's section, for open() and seal().

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

// Reads the section; false when the reader has an error.
bool read_manifest(wire::Reader& reader, Manifest& manifest);

// A manifest whose text stays in the input.
struct ManifestView {
  struct Import {
    std::string_view module, chain, function;  // Chain: null if it is the module.
    ImportTime time;
    std::uint32_t line;
    std::uint64_t file;  // Into files, or kNoFile.
  };
  struct Substitution {
    std::string_view policy, type, path;
  };
  static constexpr std::uint64_t kNoFile = UINT64_MAX;

  std::vector<Import> imports;
  std::vector<std::string_view> files;
  std::vector<Substitution> substitutions;
  Section environment;  // Checked; without bytes if there is none.

  // Of the first import that has one; null if none has.
  std::string_view first_file() const;
};
bool read_manifest(wire::Reader& reader, ManifestView& manifest);
std::string_view first_file(const Manifest& manifest);

// The import that an extension kModule means; null if the token is none, or means none.
inline const ImportRecord* import_of(const wire::Token& token,
                                     const Manifest& manifest) {
  std::uint64_t index = 0;
  const bool is_known = token.is(wire::ExtType::kModule) &&
                        wire::index_of(token.bytes, index) &&
                        index < manifest.imports.size();
  return is_known ? &manifest.imports[index] : nullptr;
}

// What a node kGlobal names.
struct GlobalName {
  std::string_view module;  // Null if it is not known; of a built-in, "builtins".
  std::string_view name;
  bool is_builtin = false;
};
// `values`: at the first value of the node. Nothing where they cannot be read.
std::optional<GlobalName> global_name(wire::Reader values, const Manifest* manifest);

// At least as many bytes as write_manifest() writes.
std::size_t manifest_bound(const Manifest& manifest);
void write_manifest(wire::CursorWriter& writer, const Manifest& manifest);

// Writes the section record by record, without a Manifest in between.
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

  // Begins with what another builder has. Nothing is here yet.
  void go_on_after(const ManifestBuilder& first);

  // Appends a record; answers its index. All text must be UTF-8.
  std::uint32_t add(const Record& record);

  void add(const Substitution& substitution);

  // The first file that a record has; null if none has one.
  std::string_view first_file() const {
    return files_.empty() ? std::string_view() : files_.front();
  }

  // The section as encode_manifest() would give it, appended to `out`.
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

// Reads the value behind kEnvironment; false when the reader has an error.
// `environment` null: it is checked alone.
bool read_environment(wire::Reader& reader, Environment* environment);

// Checks it, and answers where it stands.
bool pass_environment(wire::Reader& reader, Section& section);

// Key and value. Texts and counts are within what read_environment() takes.
void write_environment(wire::CursorWriter& writer, const Environment& environment);
// At least as many bytes as that writes.
std::size_t environment_bound(const Environment& environment);

// A manifest's section with this part behind its others, of which none has a higher
// key. `manifest`: as encode_manifest() gives it, or nothing.
std::vector<std::uint8_t> with_environment(BytesView manifest,
                                           const Environment& environment);

// Reads text that is UTF-8; false when the reader has an error. `what` names it there.
bool read_utf8(wire::Reader& reader, std::string_view& value, std::string_view what);

}  // namespace waybill::envelope
