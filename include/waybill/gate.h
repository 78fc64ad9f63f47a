#pragma once

// The gate opens untrusted envelopes: it checks signature, limits and policy, and
// applies the restrictions of the process.
//
//   waybill::LoadOptions options;
//   options.policy = std::make_shared<waybill::Policy>();  // Only data.
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
  // What payloads may request; null: anything.
  std::shared_ptr<const Policy> policy = nullptr;
  // One of these keys must have signed the envelope; null: no signature is required.
  std::shared_ptr<const KeyRing> keys = nullptr;
  // If not set: kStrictLimits if the policy allows no code, else Limits{}.
  std::optional<Limits> limits = {};
};

// Restricts all gates constructed from now on in this process, whatever their own
// options. Cannot be undone; later calls only add restrictions. Thread-safe. Takes no
// lock, so a process that another thread forks meanwhile can continue. A program with
// two copies of this library has two sets of restrictions.
void restrict_process(const LoadOptions& options);

// The number of calls of restrict_process(). When it changes, objects that were
// admitted before and cached may not be admissible any more. Cost: one load.
std::size_t process_restrictions();
inline bool is_process_restricted() { return process_restrictions() != 0; }

// Applies load options and the restrictions of the process at the time of construction.
// Thread-safe when const; construction takes no lock.
class Gate {
 public:
  explicit Gate(const LoadOptions& options = {});

  // Whether every valid envelope within the default limits is admitted.
  bool is_free() const {
    return policies_.empty() && keys_.empty() && limits_ == Limits{};
  }
  // Whether a signature is required.
  bool demands_signature() const { return !keys_.empty(); }
  // Whether only plain data is admitted.
  bool is_data_only() const;

  // Opens `bytes` as exactly one valid envelope that the options allow:
  // KeyRing::check(), open_whole(), verify(), check_policy(), in this order, stopping
  // at the first failure. Does not check the Python version of code (check_python).
  //
  // Errors: those of these four functions.
  [[nodiscard]] Result<VerifiedEnvelope> open_trusted(BytesView bytes) const;
  template <TemporaryBytes Bytes>
  Result<VerifiedEnvelope> open_trusted(Bytes&& bytes) const = delete;

  // The two steps of open_trusted() around the opening: KeyRing::check() of all keys,
  // on the head or the whole envelope; and verify() and check_policy().
  [[nodiscard]] Result<void> check_signature(BytesView bytes) const;
  [[nodiscard]] Result<VerifiedEnvelope> admit(Envelope envelope) const;

  // The refusal() of the first policy that denies the request; nothing if all allow it.
  [[nodiscard]] std::optional<std::string> refusal(Request request,
                                                   std::string_view module,
                                                   std::string_view name) const;

  // The policies of the options and of the process, in the order in which they are
  // asked.
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
