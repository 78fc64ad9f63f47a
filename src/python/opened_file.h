#pragma once

// A mapped file, whose parts are described and built one by one.

#include <Python.h>

#include <cstdint>
#include <list>
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
    kLazy,  // Before a part that uses the buffer is built for the first time.
    kNow,   // When the file is opened.
  };

  // `head`: the head of the envelope as bytes, or None if its size is unknown because
  // the file may be cut. `memory`: a memoryview of the file, at a fixed address. Both
  // are kept alive. The file must be signed as `options` demand. Policies and limits
  // apply to the parts that are built. In addition max_values and max_depth apply to
  // the file, and max_bytes to the head. Throws PyError.
  OpenedFile(const State& state, Ref head, Ref memory, const LoadOptions& options,
             Check check);

  const VerifiedEnvelope& envelope() const { return *envelope_; }

  // The steps from the value at `offset`, which root_of() or another step gave. Valid
  // until the next call.
  const std::vector<Step>& steps(std::size_t offset) {
    return step_list_at(offset).steps;
  }
  // The step with this key or name, keys first, or with this index of a list; null if
  // there is none. Cost: logarithmic, if the steps are cached.
  const Step* find_step(std::size_t offset, std::string_view name);
  const Step* find_step(std::size_t offset, std::uint64_t index);

  // The index of a step in steps().
  std::size_t index_of(std::size_t offset, const Step& step) {
    return static_cast<std::size_t>(&step - steps(offset).data());
  }
  // Whether the steps include pairs of a dict.
  bool has_keys(std::size_t offset) { return step_list_at(offset).has_keys; }
  // Whether a memoryview has the size of the file.
  bool has_same_size(PyObject* memory) const;

  // Builds the part at `offset`. hooks.memory: a mapping of the file, of which arrays
  // become views. `is_whole`: whether the program will read all of the part; else
  // digests are compared only if a signature is demanded. Throws PyError.
  Ref load(State& state, std::size_t offset, DecodeHooks hooks,
           const LoadOptions& options, bool is_whole);

 private:
  struct StepList {
    std::size_t offset = 0;
    std::vector<Step> steps;
    std::vector<const Step*> named;    // By name, keys before attributes.
    std::vector<const Step*> indexed;  // The items of a list, in order.
    bool has_keys = false;
  };
  // A program that visits all keys of a dict, and the values, needs the same few lists
  // again and again. The memory of each is proportional to the part's content.
  static constexpr std::size_t kMaxLists = 8;

  StepList& step_list_at(std::size_t offset);

  // Checks the signature again if the restrictions of the process have changed.
  void check_restrictions(const State& state, const Gate& gate);

  Ref head_, memory_;
  std::optional<VerifiedEnvelope> envelope_;
  std::optional<PartExtractor> extractor_;
  Check check_;
  std::size_t restrictions_;
  std::set<std::uint64_t> checked_offsets_;  // Of buffers with a correct digest.
  std::list<StepList> lists_;                // Cached, the most recent first.
};

}  // namespace waybill::py
