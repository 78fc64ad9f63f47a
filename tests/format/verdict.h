#pragma once

// The results of verify() for drafts.

#include <gtest/gtest.h>

#include <string>

#include "format/samples.h"

namespace waybill::samples {

inline Result<void> verdict_on(const Draft& draft, const Limits& limits = {}) {
  const Bytes bytes = draft.sealed();
  const Result<Envelope> envelope = open(bytes);
  if (!envelope) return tl::unexpected(envelope.error());
  const Result<VerifiedEnvelope> verdict = verify(*envelope, limits);
  if (!verdict) {
    EXPECT_LE(verdict.error().offset, bytes.size());
  }
  return verdict.map([](const auto&) {});
}

// "sound", or the name of the error.
inline std::string verdict_name(const Draft& draft) {
  const Result<void> verdict = verdict_on(draft);
  return verdict ? "sound" : std::string(name_of(verdict.error().code));
}

}  // namespace waybill::samples
