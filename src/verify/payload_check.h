#pragma once

// Checks a payload, or the constants of a code body, against the grammar
// (format/shapes.h). An accepted payload can be built without further checks of its
// form.

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

// A container of plain data that a decoder has read already. The decoder accepts only
// what PayloadCheck accepts, so PayloadCheck skips it.
struct CheckedPart {
  std::size_t size() const { return end - start; }

  // Offsets in the envelope. By default no container starts there.
  std::size_t start = SIZE_MAX;
  std::size_t end = SIZE_MAX;
  // The number of reference targets in the payload before `end`.
  std::size_t targets = 0;
  // The number of distinct references in the value before `end`.
  std::uint64_t references = 0;
};

// Walks one value with a stack of its own. Not thread-safe; one value per checker.
class PayloadCheck {
 public:
  // `meter` counts all values of the envelope; null if no limit needs it. Envelope and
  // meter must outlive the checker.
  PayloadCheck(const Envelope& envelope, const Limits& limits,
               ResourceMeter* meter = nullptr)
      : envelope_(envelope), limits_(limits), meter_(meter) {}

  // Makes check_value() skip a part that the caller has checked.
  void skip(const CheckedPart& part) { checked_part_ = part; }

  // Checks the whole payload. Returns false with an error in the reader.
  bool check_payload(wire::Reader& reader);

  // Checks the value alone; its definitions must be valid. Refuses references into a
  // definition whose target is not an object.
  bool check_value(wire::Reader& reader);

  // Checks the array of constants of a code body; the reader is at its start.
  bool check_constants(wire::Reader& reader);

  // Indices of the code of functions and code objects in the payload, in order of use.
  const std::vector<std::uint32_t>& code_uses() const { return code_uses_; }
  // Hashes of the code objects among the constants, in order.
  const std::vector<ContentHash>& nested() const { return nested_hashes_; }

 private:
  // The values left in a container, and their rules.
  struct Frame {
    std::uint64_t left;  // Values; pairs, for a function's fields.
    Contents contents = {};
    std::uint16_t fields_seen = 0;
  };
  // A position that references point to.
  struct Target {
    std::uint64_t position;
    std::uint64_t number;
  };

  bool sort_targets(wire::Reader& reader);
  bool check_definitions(wire::Reader& reader);
  bool run(wire::Reader& reader, const Frame& root);
  std::size_t next_stop(const wire::Reader& reader) const;
  // Inlined parts of run(): as calls they would take a fifth of its time.
  [[gnu::always_inline]] inline bool next_rule(wire::Reader& reader, Frame& frame,
                                               Rule& rule);
  [[gnu::always_inline]] inline bool check_next(wire::Reader& reader, Rule rule);
  static inline bool skip_short(wire::Reader& reader, Rule rule);
  inline bool enter_target(wire::Reader& reader, Rule rule);
  bool check_extension(wire::Reader& reader, const wire::Token& token, Rule rule);
  bool check_reference(wire::Reader& reader, const wire::Token& token, Rule rule);
  bool check_module(wire::Reader& reader, const wire::Token& token);
  bool check_code_index(wire::Reader& reader, const wire::Token& token);
  bool check_stored(wire::Reader& reader, const wire::Token& token);
  bool check_all_referenced(wire::Reader& reader) const;
  bool check_all_stored_used(wire::Reader& reader) const;
  bool check_array(wire::Reader& reader, const wire::Token& token, Rule rule);
  bool check_node(wire::Reader& reader, const wire::Token& token, Rule rule,
                  std::uint8_t tag);
  bool check_to_end(wire::Reader& reader);
  bool skip_short_call(wire::Reader& reader, std::uint64_t count);
  bool skip_checked_part(wire::Reader& reader, Rule rule);
  static bool fail_rule(wire::Reader& reader, const wire::Token& token, Rule rule);
  bool push(wire::Reader& reader, const wire::Token& token, const Frame& frame);

  bool meter_token(wire::Reader& reader, const wire::Token& token);

  const Envelope& envelope_;
  const Limits limits_;
  ResourceMeter* meter_;
  // Inline memory for the frames; only deep payloads need more.
  alignas(Frame) std::array<std::byte, 16 * sizeof(Frame)> first_frames_;
  std::pmr::monotonic_buffer_resource frames_memory_{first_frames_.data(),
                                                     first_frames_.size()};
  std::pmr::vector<Frame> stack_{&frames_memory_};
  std::size_t start_ = 0;        // Offset of the payload in the reader.
  std::vector<Target> targets_;  // Sorted by position.
  std::size_t next_target_ = 0;
  // Tags of reference targets, indexed by number; 0 for values that are not nodes.
  std::vector<std::uint8_t> target_tags_;
  bool is_target_ = false;  // The current value is a reference target.
  // For the definitions first, then for the value.
  ReferenceScope scope_ = ReferenceScope::of_definitions(envelope_);
  std::uint64_t reference_count_ = 0;  // Distinct references so far.
  std::uint64_t stored_count_ = 0;     // Distinct stored buffers so far.
  CheckedPart checked_part_;
  std::vector<std::uint32_t> code_uses_;
  std::vector<ContentHash> nested_hashes_;
};

}  // namespace waybill::envelope
