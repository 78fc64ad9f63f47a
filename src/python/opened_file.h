#pragma once

// A file that is mapped, of which parts are described and built one by one.

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
    kLazy,  // Before a part is built for the first time: of those that it uses.
    kNow,   // Of all of them, when the file is opened.
  };

  // `head`: the bytes object of an envelope's head, or None where its size is not known
  // since the file may have been cut; `memory`: a memoryview of all of it, whose bytes
  // stay where they are. Both are kept alive. The file has to be signed as `options`
  // demand. Policies and limits are about the parts that are built, but for max_values,
  // max_depth, and max_bytes, which is about the head. Throws PyError.
  OpenedFile(const State& state, Ref head, Ref memory, const LoadOptions& options,
             Check check);

  const VerifiedEnvelope& envelope() const { return *envelope_; }

  // The steps from `offset`, which root_of() or one of them gave. Valid until the next
  // call.
  const std::vector<Step>& steps(std::size_t offset) { return list(offset).steps; }
  // The one of them with this key or name, keys first, or with this place in a list;
  // null if there is none. Cost: by the logarithm of their number, where the list was
  // asked for a short time ago.
  const Step* find_step(std::size_t offset, std::string_view name);
  const Step* find_step(std::size_t offset, std::uint64_t index);

  // Its number among them.
  std::size_t number_of(std::size_t offset, const Step& step) {
    return static_cast<std::size_t>(&step - steps(offset).data());
  }
  // Whether there are pairs of a dict among them.
  bool has_keys(std::size_t offset) { return list(offset).has_keys; }
  // Whether a memoryview is as large as the file.
  bool fits(PyObject* memory) const;

  // The object that is the part at `offset`. `hooks`: what the caller demands, and the
  // memory that arrays become views of: that of the file, or another mapping of it.
  // `is_whole`: whether all of it is used, so that digests are compared; else they are
  // where a signature is demanded. Throws PyError.
  Ref load(State& state, std::size_t offset, DecodeHooks hooks,
           const LoadOptions& options, bool is_whole);

 private:
  struct StepList {
    std::size_t offset = 0;
    std::vector<Step> steps;
    std::vector<const Step*> named;   // By name, keys before attributes.
    std::vector<const Step*> placed;  // Those in a list, in order.
    bool has_keys = false;
  };
  // A program that goes through all keys of a dict, and into what is there, asks for
  // the same few lists again and again. Each takes memory by what the part holds.
  static constexpr std::size_t kMostLists = 8;

  StepList& list(std::size_t offset);

  // Refuses the file if the process demands more of signatures than it did.
  void check_restrictions(const State& state, const Gate& gate);

  Ref head_, memory_;
  Result<VerifiedEnvelope> envelope_;
  std::optional<PartExtractor> extractor_;
  Check check_;
  std::size_t restrictions_;
  std::set<std::uint64_t> checked_;  // Places of the buffers whose digest was right.
  std::list<StepList> lists_;        // The last that were asked for, the newest first.
};

}  // namespace waybill::py
