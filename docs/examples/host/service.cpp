#include "service.h"

#include <cstdio>
#include <stdexcept>

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

}  // namespace

Service::Service(const Settings& settings, const std::string& rules)
    : time_limit_(settings.time_limit),
      max_outcome_bytes_(settings.max_outcome_bytes),
      admission_(terms_of(settings, rules)),
      key_(read_key(settings.sign_file)),
      pool_(worker_arguments(settings, WorkerPool::kSocket),
            waybill::write_value(rules).value(), settings.workers) {}

void Service::serve(const Descriptor& client) {
  for (;;) {
    Bytes call;
    const Arrival arrival = read_payload(client.get(), admission_.limits(),
                                         {.after_first_byte = kPatience}, call);
    if (arrival == Arrival::kEnd) return;
    const bool is_refused = arrival == Arrival::kRefused;
    if (arrival != Arrival::kPayload && !is_refused) {
      return tell({"cut", "the client sent a part of a payload and no more"});
    }
    if (!write_all(client.get(), outcome_of(call, client), Clock::now() + kPatience)) {
      return tell({"not_taken", "the client does not take its outcome"});
    }
    // Where what is no payload ends, and the next call begins, nobody knows.
    if (is_refused) return take_leave(client.get(), kPatience);
  }
}

Bytes Service::outcome_of(const Bytes& call, const Descriptor& client) {
  const auto envelope = admission_.admit(call);
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
  count("made");
  return sealed(outcome);
}

Bytes Service::sealed(const Bytes& outcome) const {
  return key_ ? waybill::sign(outcome, *key_).value() : outcome;
}

Bytes Service::failed(const Failure& failure) {
  tell(failure);
  return sealed(waybill::failed_outcome(failure.code, failure.detail).value());
}

void Service::tell(const Failure& failure) {
  std::fprintf(stderr, "host: %s: %s\n", failure.code.c_str(), failure.detail.c_str());
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
