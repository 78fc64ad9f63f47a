// The ceiling is the one thing here that belongs to the process and not to a value or
// an interpreter: it has to hold for code that imports the module anew, or starts
// another interpreter. Tested by tests/envelope/admission_test.cpp.

#include "waybill/admission.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace waybill {
namespace {

// Asked for each load, and so no part of what has to be made first.
constinit std::atomic<bool> is_restricted = false;

struct Ceiling {
  std::mutex mutex;
  std::vector<Terms> terms;  // Guarded by `mutex`.
};

// Never destroyed: threads may go on while the process ends.
Ceiling& ceiling() {
  static Ceiling& instance = *new Ceiling;
  return instance;
}

Limits usual_limits(const Policy& policy) {
  return policy.ask(Request::kCode, {}, {}).allows ? Limits{} : kStrictLimits;
}

std::vector<Terms> terms_of_process() {
  if (!is_process_restricted()) return {};
  const std::lock_guard lock(ceiling().mutex);
  return ceiling().terms;
}

}  // namespace

void restrict_process(const Terms& terms) {
  Ceiling& process = ceiling();
  const std::lock_guard lock(process.mutex);
  process.terms.push_back(terms);
  Terms& added = process.terms.back();
  // Who loads something later may give limits, and not lift these.
  if (added.policy && !added.limits) added.limits = usual_limits(*added.policy);
  is_restricted.store(true, std::memory_order_release);
}

bool is_process_restricted() { return is_restricted.load(std::memory_order_acquire); }

Admission::Admission(const Terms& terms) {
  const std::vector<Terms> above = terms_of_process();
  const auto take = [&](const Terms& each) {
    if (each.policy) policies_.push_back(each.policy);
    if (each.keys) keys_.push_back(each.keys);
  };
  take(terms);
  std::ranges::for_each(above, take);
  limits_ = terms.limits   ? *terms.limits
            : terms.policy ? usual_limits(*terms.policy)
                           : Limits{};
  for (const Terms& each : above) {
    if (each.limits) limits_ = stricter(limits_, *each.limits);
  }
}

bool Admission::is_data_only() const {
  return std::ranges::any_of(policies_,
                             [](const auto& policy) { return policy->is_data_only(); });
}

Result<Envelope> Admission::admit(BytesView bytes) const {
  for (const auto& ring : keys_) {
    Result<void> signed_by_one = ring->check(bytes);
    if (!signed_by_one) return tl::unexpected(std::move(signed_by_one.error()));
  }
  Result<Envelope> envelope = open_whole(bytes, limits_);
  if (!envelope) return envelope;
  Result<void> checked = verify(*envelope, limits_);
  for (const auto& policy : policies_) {
    if (checked) checked = check_policy(*envelope, *policy);
  }
  if (!checked) return tl::unexpected(std::move(checked.error()));
  return envelope;
}

std::optional<std::string> Admission::objection(Request request,
                                                std::string_view module,
                                                std::string_view name) const {
  for (const auto& policy : policies_) {
    const Verdict verdict = policy->ask(request, module, name);
    if (!verdict.allows) return refusal(request, module, name, verdict);
  }
  return std::nullopt;
}

}  // namespace waybill
