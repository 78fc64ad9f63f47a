#pragma once

// What envelopes have besides their value, kept by their definitions: a program sends
// the same functions and classes with other data again and again. Tested by
// tests/python/cache/test_kept_functions.py.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "python/encode/definitions/definition.h"
#include "python/encode/written_objects.h"
#include "python/guards/guards.h"
#include "python/runtime/state.h"
#include "python/walker/import_collector.h"
#include "waybill/envelope.h"

namespace waybill::py {

// The definitions of a payload as they are written.
struct WrittenDefinitions {
  // Where the numbers in a definition have other sizes than it has them with, what
  // follows stands elsewhere.
  struct Shift {
    std::uint64_t from;  // In the definition.
    std::int64_t by;
  };
  struct Start {
    std::uint64_t position = 0;
    std::vector<Shift> shifts;  // Most have none.
  };

  std::vector<std::uint8_t> bytes;    // All before the value.
  std::vector<std::uint64_t> shared;  // Positions of what references in them mean.
  std::vector<Start> starts;          // Of each definition.

  // Of what stands in a definition.
  std::uint64_t position_of(const Place& place) const {
    const Start& start = starts[place.definition];
    std::uint64_t position = start.position + place.offset;
    for (const Shift& shift : start.shifts) {
      if (shift.from > place.offset) break;
      position += static_cast<std::uint64_t>(shift.by);
    }
    return position;
  }
};

// What an envelope has besides its payload, in order to write it again.
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

struct KeptHead {
  std::vector<std::shared_ptr<const Definition>> definitions;
  std::vector<std::vector<Place>> needs;  // Of each: where they stand.
  WrittenDefinitions written;
  KeptSections sections;
  SeenWorld seen;
};

// The last heads. Used under the interpreter's lock.
class KeptHeads {
 public:
  // The head that `is_it` tells, which gets one after the other; null if none is kept,
  // or if what it depends on has changed.
  template <typename IsIt>
  std::shared_ptr<const KeptHead> find(const State& state, IsIt is_it) {
    const auto found = std::ranges::find_if(heads_, is_it);
    if (found == heads_.end()) return nullptr;
    std::rotate(heads_.begin(), found, found + 1);
    std::shared_ptr<const KeptHead> head = heads_.front();
    if (holds(state, head->seen)) return head;
    std::erase(heads_, head);
    return nullptr;
  }
  void keep(KeptHead head) {
    if (head.sections.size() + head.written.bytes.size() > kMostBytes) return;
    if (heads_.size() == kMost) heads_.pop_back();
    heads_.insert(heads_.begin(), std::make_shared<const KeptHead>(std::move(head)));
  }

 private:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostBytes = 32 << 10;  // Of one.

  std::vector<std::shared_ptr<const KeptHead>> heads_;  // The last one first.
};

}  // namespace waybill::py
