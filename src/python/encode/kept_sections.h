#pragma once

// What an envelope has besides its payload, in order to write it again.

#include <cstdint>
#include <vector>

#include "waybill/envelope.h"

namespace waybill::py {

class KeptSections {
 public:
  KeptSections() = default;
  // Copies manifest, code, source locations and sources.
  explicit KeptSections(const Parts& parts) {
    manifest_.assign(parts.encoded_manifest.begin(), parts.encoded_manifest.end());
    source_locations_.assign(parts.source_locations.begin(),
                             parts.source_locations.end());
    sources_.assign(parts.sources.begin(), parts.sources.end());
    std::size_t size = 0;
    for (const BytesView body : parts.code) size += body.size();
    code_.reserve(size);
    for (const BytesView body : parts.code) {
      const std::size_t begin = code_.size();
      code_.insert(code_.end(), body.begin(), body.end());
      bodies_.push_back(BytesView(code_).subspan(begin));
    }
  }
  // Views into a vector that is moved stay valid.
  KeptSections(KeptSections&&) = default;
  KeptSections& operator=(KeptSections&&) = default;

  // Views of this, which must outlive `parts`.
  void put_into(Parts& parts) const {
    parts.encoded_manifest = manifest_;
    parts.code = bodies_;
    parts.source_locations = source_locations_;
    parts.sources = sources_;
  }

  std::size_t size() const {
    return manifest_.size() + code_.size() + source_locations_.size() + sources_.size();
  }

 private:
  std::vector<std::uint8_t> manifest_, code_, source_locations_, sources_;
  std::vector<BytesView> bodies_;  // Of `code_`.
};

}  // namespace waybill::py
