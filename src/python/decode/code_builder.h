#pragma once

// Builds code objects from the code section and the source locations of an envelope.

#include <Python.h>

#include <string_view>
#include <vector>

#include "format/code_body.h"
#include "python/decode/code_maker.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/envelope.h"

namespace waybill::py {

class CodeBuilder {
 public:
  // The envelope must outlive this.
  CodeBuilder(const State& state, const VerifiedEnvelope& envelope,
              const Limits& limits);

  // The code object of the next use in the payload, whose body has this index. Uses
  // that share a location share the code object. Throws PyError.
  Ref next_use(std::size_t body);

  // Passes over so many uses.
  void skip_uses(std::size_t count) { uses_ += count; }

 private:
  // Where one code object stands, and those nested in it.
  struct Location {
    CodeLocation where;
    std::string_view file;            // The same in UTF-8; null if it is not known.
    BytesView lines;                  // All but the file; empty for a nested one.
    std::vector<std::size_t> nested;  // Into locations_.
    std::size_t body = 0;             // Of the code object that was built here,
    Ref code;                         // which is this.
  };

  void start();
  // The code object of a body at a location, nested ones built before it.
  Ref build(std::size_t body, std::size_t location);
  Ref make(std::size_t body, const Location& location, std::vector<Ref> nested);
  // A code body taken apart.
  struct Body {
    bool is_read = false;
    envelope::CodeFields fields;
    std::vector<std::size_t> nested;  // Bodies of the code among its constants.
    Ref without_location;             // The code object that has none.
  };

  std::size_t body_of(BytesView hash);
  void sort_bodies();
  Body& body_at(std::size_t index);
  // The code object of a body at a location; null if it was not built yet.
  Ref built(std::size_t body, std::size_t location);
  void keep(std::size_t body, std::size_t location, const Ref& code);

  const State& state_;
  const Envelope& envelope_;
  const Limits& limits_;
  std::vector<Location> locations_;
  std::vector<std::size_t> location_of_use_;
  std::size_t uses_ = 0;
  std::size_t built_bytes_ = 0;  // Of bodies that code was built from.
  std::vector<Body> bodies_;     // Empty before the first use.
  // Indices of bodies in the order of their hashes; of many, once one is looked up.
  std::vector<std::size_t> by_hash_;
};

}  // namespace waybill::py
