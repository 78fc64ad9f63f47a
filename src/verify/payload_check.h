#pragma once

// Checks a payload, or the constants of a code body, against the table of shapes. What
// passes can be built without looking at any of it twice.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "format/definitions.h"
#include "format/shapes.h"
#include "verify/resource_meter.h"
#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// A container of plain data in a payload that somebody has passed over who accepts
// nothing that PayloadCheck refuses, so that it need not be checked again.
struct PassedPart {
  std::size_t size() const { return end - start; }

  // Offsets in the envelope; no container starts at the first by default.
  std::size_t start = SIZE_MAX;
  std::size_t end = SIZE_MAX;
  // Until its end: objects that references mean, of all of the payload, and distinct
  // numbers of references in the value.
  std::size_t targets = 0;
  std::uint64_t references = 0;
};

// Walks one value with a stack of its own. Not thread-safe; one value per checker.
class PayloadCheck {
 public:
  // `meter`: of all values of the envelope; null if none of its ceilings is set.
  // Envelope and meter must outlive the checker.
  PayloadCheck(const Envelope& envelope, const Limits& limits,
               ResourceMeter* meter = nullptr)
      : envelope_(envelope), limits_(limits), meter_(meter) {}

  // Has check_value() pass over a part of the value that was checked.
  void skip(const PassedPart& part) { skipped_ = part; }

  // Checks the whole payload. False when the reader has an error.
  bool check_payload(wire::Reader& reader);

  // The same of its value alone, whose definitions are known to be sound. What asks for
  // a part of a definition that is no object is refused.
  bool check_value(wire::Reader& reader);

  // Checks the array of constants of a code body, at which the reader stands.
  bool check_constants(wire::Reader& reader);

  // Indices of the code that functions and code objects in the payload use, in order.
  const std::vector<std::uint32_t>& code_uses() const { return code_uses_; }
  // Hashes of the code objects among the constants, in order.
  const std::vector<ContentHash>& nested() const { return nested_; }

 private:
  // Values still to come inside a container, and what they may be.
  struct Frame {
    std::uint64_t left;  // Of the fields of a function: pairs.
    Contents contents = {};
    std::uint16_t fields_seen = 0;
  };
  // A position that references mean.
  struct Target {
    std::uint64_t position;
    std::uint64_t number;
  };

  bool sort_targets(wire::Reader& reader);
  bool definitions(wire::Reader& reader);
  bool run(wire::Reader& reader, const Frame& root);
  // Parts of run(), in the same source: as calls they would take a fifth of its time.
  inline bool next_rule(wire::Reader& reader, Frame& frame, Rule& rule);
  inline bool value(wire::Reader& reader, Rule rule);
  static inline bool is_short(wire::Reader& reader, Rule rule);
  inline bool pass_target(wire::Reader& reader, Rule rule);
  bool extension(wire::Reader& reader, const wire::Token& token, Rule rule);
  bool reference(wire::Reader& reader, const wire::Token& token, Rule rule);
  bool module(wire::Reader& reader, const wire::Token& token);
  bool code_index(wire::Reader& reader, const wire::Token& token);
  bool stored(wire::Reader& reader, const wire::Token& token);
  bool are_all_named(wire::Reader& reader) const;
  bool are_all_stored_used(wire::Reader& reader) const;
  bool array(wire::Reader& reader, const wire::Token& token, Rule rule);
  bool node(wire::Reader& reader, const wire::Token& token, Rule rule,
            std::uint8_t tag);
  bool value_to_end(wire::Reader& reader);
  bool pass_call(wire::Reader& reader, std::uint64_t count);
  bool pass_part(wire::Reader& reader, Rule rule);
  static bool wrong(wire::Reader& reader, const wire::Token& token, Rule rule);
  bool push(wire::Reader& reader, const wire::Token& token, const Frame& frame);

  bool weigh(wire::Reader& reader, const wire::Token& token);

  const Envelope& envelope_;
  const Limits limits_;
  ResourceMeter* meter_;
  // The frames of all but deep payloads are in the checker itself.
  alignas(Frame) std::array<std::byte, 16 * sizeof(Frame)> first_frames_;
  std::pmr::monotonic_buffer_resource frames_memory_{first_frames_.data(),
                                                     first_frames_.size()};
  std::pmr::vector<Frame> stack_{&frames_memory_};
  std::size_t start_ = 0;        // Of the payload, as the reader counts.
  std::vector<Target> targets_;  // Sorted by position; passed one by one.
  std::size_t targets_passed_ = 0;
  std::vector<std::uint8_t> target_tags_;  // By number; 0 where it is no node.
  bool at_target_ = false;                 // The value at hand is the last one passed.
  // Of the definitions, then of the value.
  ReferenceScope scope_ = ReferenceScope::of_definitions(envelope_);
  std::uint64_t references_seen_ = 0;  // Distinct numbers.
  std::uint64_t stored_seen_ = 0;      // The same of stored buffers.
  PassedPart skipped_;
  std::vector<std::uint32_t> code_uses_;
  std::vector<ContentHash> nested_;
};

}  // namespace waybill::envelope
