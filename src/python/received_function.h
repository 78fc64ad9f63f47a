#pragma once

// What bare functions were made of that were received before, to be made again while
// their code lives.

#include <Python.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "envelope/bare_function.h"
#include "python/ref.h"
#include "python/state.h"
#include "waybill/bytes.h"

namespace waybill::py {

// An envelope that was checked, of a bare function. Holds text and a weak reference to
// the code object: no module but builtins, no globals, no function.
class ReceivedFunction {
 public:
  // Null for one that is made the long way each time.
  static std::unique_ptr<ReceivedFunction> look(const State& state,
                                                const envelope::BareFunction& function,
                                                BytesView envelope);

  bool is_of(BytesView envelope) const;

  // `reference`: a weak one to the code.
  void set_code(Ref reference) { code_ = std::move(reference); }

  // A new function like the one before. Null if its code is gone, or if a module it
  // needs is not imported.
  Ref make(const State& state) const;

 private:
  struct Global {
    Ref name;
    std::size_t import;  // Into imports_.
  };
  static constexpr std::size_t kMaxImports = 16;

  std::vector<std::uint8_t> envelope_;
  Ref code_;  // A weak reference; null until it is set.
  // Names of modules, one for each record of the manifest; null for those that are not
  // needed at load.
  std::vector<Ref> imports_;
  std::vector<Global> globals_;  // Names of modules.
  Ref builtins_;                 // The module that was in sys.modules.
  Ref namespace_;                // Globals with None in place of each module.
};

// The last of them, by the digest at the end of the envelope; all bytes are compared.
// Bounded: one takes the place of another, and large envelopes are left out. Needs the
// GIL.
class ReceivedFunctions {
 public:
  // A new function of an envelope that gave one before; null if nothing is known of it,
  // or see ReceivedFunction::make.
  Ref make_again(const State& state, BytesView envelope);

  // Takes note of what an envelope gave: of its code at the second time and from then
  // on, since most come once.
  void note(const State& state, const envelope::BareFunction& function,
            BytesView envelope, PyObject* code);

 private:
  struct Entry {
    std::uint64_t digest = 0;
    bool is_known = false;                       // It came before.
    std::unique_ptr<ReceivedFunction> function;  // Null if it is made the long way.
  };

  std::array<Entry, 256> entries_;
};

}  // namespace waybill::py
