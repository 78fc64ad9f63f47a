// The restrictions are the only state that belongs to the process instead of a value or
// an interpreter: they must hold for code that imports the module again or starts
// another interpreter. Reading and adding them takes no lock, so a fork during either
// leaves nothing locked.
// Tested by tests/trust/gate_test.cpp and tests/threads/core_test.cpp.

#include "waybill/gate.h"

#include <algorithm>
#include <atomic>
#include <memory>

namespace waybill {
namespace {

// The options of one call of restrict_process(). Never changed and never freed: threads
// may still read it while the process exits.
struct Restriction {
  LoadOptions options;
  const Restriction* earlier = nullptr;
  std::size_t number = 1;  // The number of restrictions up to this one.
};

constinit std::atomic<const Restriction*> last_restriction = nullptr;

Limits usual_limits(const Policy& policy) {
  return policy.ask(Request::kCode, {}, {}).allows ? Limits{} : kStrictLimits;
}

// All restrictions, in the order of the calls.
std::vector<const LoadOptions*> options_of_process() {
  std::vector<const LoadOptions*> all;
  const Restriction* restriction = last_restriction.load(std::memory_order_acquire);
  for (; restriction != nullptr; restriction = restriction->earlier) {
    all.push_back(&restriction->options);
  }
  std::ranges::reverse(all);
  return all;
}

}  // namespace

void restrict_process(const LoadOptions& options) {
  auto added = std::make_unique<Restriction>(Restriction{.options = options});
  // Later callers may pass limits of their own, which must not lift these.
  if (options.policy && !options.limits)
    added->options.limits = usual_limits(*options.policy);
  const Restriction* last = last_restriction.load(std::memory_order_acquire);
  do {
    added->earlier = last;
    added->number = last == nullptr ? 1 : last->number + 1;
  } while (!last_restriction.compare_exchange_weak(
      last, added.get(), std::memory_order_acq_rel, std::memory_order_acquire));
  static_cast<void>(added.release());
}

std::size_t process_restrictions() {
  const Restriction* last = last_restriction.load(std::memory_order_acquire);
  return last == nullptr ? 0 : last->number;
}

Gate::Gate(const LoadOptions& options) {
  const std::vector<const LoadOptions*> process_options = options_of_process();
  const auto take = [&](const LoadOptions& each) {
    if (each.policy) policies_.push_back(each.policy);
    if (each.keys) keys_.push_back(each.keys);
  };
  take(options);
  for (const LoadOptions* each : process_options) take(*each);
  limits_ = options.limits   ? *options.limits
            : options.policy ? usual_limits(*options.policy)
                             : Limits{};
  for (const LoadOptions* each : process_options) {
    if (each->limits) limits_ = stricter(limits_, *each->limits);
  }
}

bool Gate::is_data_only() const {
  return std::ranges::any_of(policies_,
                             [](const auto& policy) { return policy->is_data_only(); });
}

Result<VerifiedEnvelope> Gate::open_trusted(BytesView bytes) const {
  Result<void> is_signed = check_signature(bytes);
  if (!is_signed) return tl::unexpected(std::move(is_signed.error()));
  Result<Envelope> opened = open_whole(bytes, limits_);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  return admit(*std::move(opened));
}

Result<void> Gate::check_signature(BytesView bytes) const {
  for (const auto& ring : keys_) {
    Result<void> checked = ring->check(bytes);
    if (!checked) return checked;
  }
  return {};
}

Result<VerifiedEnvelope> Gate::admit(Envelope opened) const {
  Result<VerifiedEnvelope> envelope = verify(std::move(opened), limits_);
  if (!envelope) return envelope;
  for (const auto& policy : policies_) {
    Result<void> allowed = check_policy(*envelope, *policy);
    if (!allowed) return tl::unexpected(std::move(allowed.error()));
  }
  return envelope;
}

std::optional<std::string> Gate::refusal(Request request, std::string_view module,
                                         std::string_view name) const {
  for (const auto& policy : policies_) {
    const Verdict verdict = policy->ask(request, module, name);
    if (!verdict.allows) return waybill::refusal(request, module, name, verdict);
  }
  return std::nullopt;
}

}  // namespace waybill
