#pragma once

// The gate opens envelopes from outside: it checks signature, limits and policy, and
// applies a ceiling for the whole process.
//
//   waybill::LoadOptions options;
//   options.policy = std::make_shared<waybill::Policy>();  // Nothing but data.
//   auto envelope = waybill::Gate(options).open_trusted(bytes);

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "waybill/envelope.h"
#include "waybill/error.h"
#include "waybill/limits.h"
#include "waybill/policy.h"
#include "waybill/signature.h"

namespace waybill {

struct LoadOptions {
  // What payloads may do; null: anything.
  std::shared_ptr<const Policy> policy = nullptr;
  // One of these keys has to have signed what is let in; null: nobody has to.
  std::shared_ptr<const KeyRing> keys = nullptr;
  // Nothing: kStrictLimits where the policy lets no code in, else Limits{}.
  std::optional<Limits> limits = {};
};

// From now on, all gates of this process apply these options too, whatever else they
// are given. Nothing takes that back: later calls can only add. Thread-safe; a gate
// that exists already does not see it. Takes no lock, so a process that is
// forked meanwhile by another thread can go on. A program that has two copies of this
// library has two ceilings.
void restrict_process(const LoadOptions& options);

// How often restrict_process() was called: what was let in before, and kept, may not be
// let in any more once this is another. Cost: one load.
std::size_t process_restrictions();
inline bool is_process_restricted() { return process_restrictions() != 0; }

// Applies load options and the ceiling of the process at the time of construction.
// Thread-safe when const; constructing it takes no lock.
class Gate {
 public:
  explicit Gate(const LoadOptions& options = {});

  // Whether all is let in that is sound, within the default limits.
  bool is_free() const {
    return policies_.empty() && keys_.empty() && limits_ == Limits{};
  }
  // Whether nothing is let in that is not signed.
  bool demands_signature() const { return !keys_.empty(); }
  // Whether nothing but data is let in.
  bool is_data_only() const;

  // All of `bytes` as one sound envelope that the options allow: KeyRing::check(),
  // open_whole(), verify(), check_policy(), in this order, each only if those before it
  // passed. What code needs a certain Python is not looked at (check_python).
  //
  // Errors: those of the four.
  [[nodiscard]] Result<VerifiedEnvelope> open_trusted(BytesView bytes) const;
  template <TemporaryBytes Bytes>
  Result<VerifiedEnvelope> open_trusted(Bytes&& bytes) const = delete;

  // Two steps of open_trusted(), for who opens an envelope in between: KeyRing::check()
  // of all keys, on the head or the whole envelope; and verify() and check_policy().
  [[nodiscard]] Result<void> check_signature(BytesView bytes) const;
  [[nodiscard]] Result<VerifiedEnvelope> admit(Envelope envelope) const;

  // The first policy that denies it, in words (see refusal()); nothing if all allow it.
  [[nodiscard]] std::optional<std::string> objection(Request request,
                                                     std::string_view module,
                                                     std::string_view name) const;

  // Those of the options and of the process, in the order in which they are asked.
  const std::vector<std::shared_ptr<const Policy>>& policies() const {
    return policies_;
  }

  const Limits& limits() const { return limits_; }

 private:
  std::vector<std::shared_ptr<const Policy>> policies_;
  std::vector<std::shared_ptr<const KeyRing>> keys_;
  Limits limits_;
};

}  // namespace waybill
