#pragma once

// Writes the manifest's section record by record, without a Manifest in between.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/manifest.h"
#include "wire/writer.h"

namespace waybill::envelope {

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

}  // namespace waybill::envelope
