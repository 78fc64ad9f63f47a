#include "service.h"

#include <stdexcept>

#include "log.h"
#include "waybill/outcome.h"
#include "waybill/value.h"

namespace example {
namespace {

constexpr std::chrono::milliseconds kPatience = std::chrono::seconds(5);

std::optional<waybill::SigningKey> read_key(const std::string& file) {
  if (file.empty()) return std::nullopt;
  auto key = waybill::SigningKey::from_file(file);
  if (!key) throw std::runtime_error(key.error().detail);
  return *std::move(key);
}

// What workers are told first.
Bytes greeting_of(const std::string& rules) {
  auto greeting = waybill::write_value(rules);
  if (!greeting) throw std::runtime_error("rules: " + greeting.error().detail);
  return *std::move(greeting);
}

}  // namespace

Service::Service(const Settings& settings, const std::string& rules)
    : time_limit_(settings.time_limit),
      max_outcome_bytes_(settings.max_outcome_bytes),
      gate_(load_options_of(settings, rules)),
      key_(read_key(settings.sign_file)),
      pool_(worker_arguments(settings, WorkerPool::kSocket), greeting_of(rules),
            settings.workers) {}

void Service::serve(const Descriptor& client) {
  for (;;) {
    Bytes call;
    const Arrival arrival = read_payload(client.get(), gate_.limits(),
                                         {.after_first_byte = kPatience}, call);
    if (arrival == Arrival::kEnd) return;
    const bool is_refused = arrival == Arrival::kRefused;
    if (arrival == Arrival::kNoRoom) {
      return tell({"no_memory", "the host has no room for the call"});
    }
    if (arrival != Arrival::kPayload && !is_refused) {
      return tell({"cut", arrival == Arrival::kTooSlow
                              ? "the client took too long to send all of a payload"
                              : "the client sent a part of a payload and no more"});
    }
    const Bytes outcome = outcome_of(call, client);
    const auto until = Clock::now() + kPatience + time_for(outcome.size());
    if (!write_all(client.get(), outcome, until)) {
      return tell({"not_taken", "the client does not take its outcome in time"});
    }
    // Where what is no payload ends, and the next call begins, nobody knows.
    if (is_refused) return take_leave(client.get(), kPatience);
  }
}

Bytes Service::outcome_of(const Bytes& call, const Descriptor& client) {
  const auto envelope = gate_.open_trusted(call);
  if (!envelope) {
    return failed({std::string(waybill::name_of(envelope.error().code)),
                   envelope.error().detail});
  }
  Bytes outcome;
  Failure failure;
  const auto is_wanted = [&] { return !is_closed(client.get()); };
  if (!pool_.make(call, time_limit_, max_outcome_bytes_, is_wanted, outcome, failure)) {
    return failed(failure);
  }
  if (!key_) {
    count("made");
    return outcome;
  }
  auto signed_outcome = waybill::sign(outcome, *key_);
  if (!signed_outcome) return failed({"bad_outcome", signed_outcome.error().detail});
  count("made");
  return *std::move(signed_outcome);
}

Bytes Service::failed(const Failure& failure) {
  tell(failure);
  const Bytes outcome = waybill::failed_outcome(failure.code, failure.detail).value();
  return key_ ? waybill::sign(outcome, *key_).value() : outcome;
}

void Service::tell(const Failure& failure) {
  say("host", failure.code, failure.detail);
  count(failure.code);
}

void Service::count(const std::string& what) {
  const std::lock_guard lock(mutex_);
  ++counts_[what];
}

std::map<std::string, std::size_t> Service::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace example
