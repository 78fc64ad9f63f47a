#pragma once

// How an object that is not a plain container is written: stretches of ready msgpack
// with child objects between them. Codecs make plans; the encoder, which keeps the
// stack, carries them out.

#include <Python.h>

#include <cstdint>
#include <vector>

#include "python/encode/paths/label.h"
#include "python/runtime/ref.h"
#include "wire/writer.h"

namespace waybill::py {

class Plan {
 public:
  Plan() { steps_.reserve(kUsualSteps); }

  struct Step {
    std::size_t raw_end;  // Raw bytes up to here stand before the child.
    Ref child;            // Null in the last step.
    Label label;
    bool creates;  // Once this step's bytes are out, a reader has the object.
    // The child is the value of a global that the label names.
    bool is_global = false;
    // The child is a module, of which code needs a part.
    bool is_part = false;
  };

  // What is written next.
  wire::Writer& raw() { return raw_; }

  void child(Ref object, Label label) {
    steps_.push_back({raw_.size(), std::move(object), std::move(label), creates_});
    creates_ = false;
  }
  // The child that was planned last is the value of a global under the label's name.
  void last_is_global() { steps_.back().is_global = true; }
  // The child that was planned last is a module, of which code needs a part.
  void last_is_part() { steps_.back().is_part = true; }

  // From here on the reader has the object, so children may refer to it. A plan that
  // never says so has its object from the start.
  void creates() {
    creates_ = true;
    creates_late_ = true;
    created_at_ = raw_.size();
  }
  std::size_t created_at() const { return created_at_; }  // In the raw bytes.

  // What closes the node early if children have built the object themselves, which
  // takes a cycle through another object that its creation needs.
  enum class Early : std::uint8_t {
    kNone,
    kClass,
    kClassWithWord,
    kReduced,
    kReducedWithSetter
  };
  void may_close_early(Early how) { early_ = how; }
  Early early() const { return early_; }

  // The child is the id of an object, and has no id itself.
  void child_is_id() { child_is_id_ = true; }
  bool is_child_id() const { return child_is_id_; }

  // Whether all of it is raw, and the reader has the object from the start.
  bool has_no_child() const { return steps_.empty() && !creates_late_; }

  // Closes the plan; called by the encoder.
  void finish() { child({}, {}); }

  // Forgets all but its memory.
  void clear() {
    raw_.clear();
    steps_.clear();
    creates_ = creates_late_ = child_is_id_ = false;
    created_at_ = 0;
    early_ = Early::kNone;
  }

  bool creates_late() const { return creates_late_; }
  std::vector<Step>& steps() { return steps_; }
  BytesView raw_between(std::size_t begin, std::size_t end) const {
    return raw_.view().subspan(begin, end - begin);
  }

 private:
  static constexpr std::size_t kUsualSteps = 8;

  wire::Writer raw_;
  std::vector<Step> steps_;
  bool creates_ = false;
  bool creates_late_ = false;
  std::size_t created_at_ = 0;
  bool child_is_id_ = false;
  Early early_ = Early::kNone;
};

}  // namespace waybill::py
