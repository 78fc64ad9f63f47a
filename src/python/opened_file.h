#pragma once

// A file that is mapped, of which parts are described and built one by one.

#include <Python.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "python/decode/decode_hooks.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/gate.h"
#include "waybill/parts.h"

namespace waybill::py {

class OpenedFile {
 public:
  // When the digests of stored buffers are compared.
  enum class Check : std::uint8_t {
    kNever,
    kLazy,  // Before a part is built for the first time: of those that it uses.
    kNow,   // Of all of them, when the file is opened.
  };

  // `head`: the bytes object of an envelope's head; `memory`: a memoryview of all of
  // it, whose bytes stay where they are. Both are kept alive. The file has to be signed
  // as `options` demand. Policies and limits are about the parts that are built, but
  // for max_values, max_depth, and max_bytes, which is about the head. Throws PyError.
  OpenedFile(const State& state, Ref head, Ref memory, const LoadOptions& options,
             Check check);

  const VerifiedEnvelope& envelope() const { return *envelope_; }

  // The steps from `offset`, which root_of() or one of them gave. The list lives until
  // the next call: a program that goes through all keys of a dict asks again and again.
  const std::vector<Step>& steps(std::size_t offset);

  // The object that is the part at `offset`. `hooks`: what the caller demands; where
  // the buffers are is known here. `checks`: whether their digests are compared, if
  // that is to be done at all. Throws PyError.
  Ref load(State& state, std::size_t offset, DecodeHooks hooks,
           const LoadOptions& options, bool checks);

 private:
  // Refuses the file if the process demands more of signatures than it did.
  void check_restrictions(const State& state, const Gate& gate);

  Ref head_, memory_;
  Result<VerifiedEnvelope> envelope_;
  std::optional<PartExtractor> extractor_;
  Check check_;
  std::size_t restrictions_;
  std::set<std::uint64_t> checked_;  // Places of the buffers whose digest was right.
  std::size_t steps_offset_ = static_cast<std::size_t>(-1);
  std::vector<Step> steps_;
};

}  // namespace waybill::py
