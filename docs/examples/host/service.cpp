#include "service.h"

#include <cstdio>
#include <stdexcept>

#include "waybill/measurer.h"
#include "waybill/outcome.h"

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

Service::Service(const Settings& settings, std::vector<std::string> worker_arguments)
    : time_limit_(settings.time_limit),
      admission_(terms_of(settings)),
      key_(read_key(settings.sign_file)),
      pool_(std::move(worker_arguments), settings.workers) {}

void Service::serve(Descriptor client) {
  Bytes call;
  for (;;) {
    const Arrival arrival =
        read_payload(client.get(), admission_.limits(), kPatience, {}, call);
    if (arrival == Arrival::kEnd) return;
    if (arrival != Arrival::kPayload) {
      failed({"cut", "the client sent a part of a payload and no more"});
      return;
    }
    const bool sent = write_all(client.get(), outcome_of(call), kPatience);
    if (!sent) {
      failed({"not_taken", "the client does not take its outcome"});
      return;
    }
    // Where what is no payload ends, and the next call begins, nobody knows.
    if (waybill::Measurer(admission_.limits()).measure(call).size != call.size()) {
      return take_leave(client.get(), kPatience);
    }
  }
}

Bytes Service::outcome_of(const Bytes& call) {
  const auto envelope = admission_.admit(call);
  if (!envelope) {
    return failed({std::string(waybill::name_of(envelope.error().code)),
                   envelope.error().detail});
  }
  Bytes outcome;
  Failure failure;
  if (!pool_.make(call, time_limit_, outcome, failure)) return failed(failure);
  count("made");
  return sealed(std::move(outcome));
}

Bytes Service::sealed(Bytes outcome) const {
  if (!key_) return outcome;
  return waybill::sign(outcome, *key_).value_or(Bytes());
}

Bytes Service::failed(const Failure& failure) {
  std::fprintf(stderr, "host: %s: %s\n", failure.code.c_str(), failure.detail.c_str());
  count(failure.code);
  return sealed(
      waybill::failed_outcome(failure.code, failure.detail).value_or(Bytes()));
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
