#pragma once

// Builds code objects from the code section and the source locations of an envelope:
// from their bodies, or from their source where another Python wrote them.

#include <Python.h>

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "format/code_body.h"
#include "python/decode/code/unit_compiler.h"
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

  // Describes the code of the next use, whose body has this index, as a tuple: name,
  // qualified name, signature_of(), the unit of its source or None, file or None, first
  // line. Throws PyError: DecodeError.
  Ref describe_next_use(std::size_t body);

  // Whether another Python version wrote the code.
  bool is_foreign() const { return is_foreign_; }
  // Compiles all code of another Python version that the payload uses, so that it fails
  // before anything is built. `uses`: indices of bodies, in the order of the payload.
  void compile_all(std::span<const std::uint32_t> uses);
  // Sets the exception that explains why the code cannot be built here. The caller then
  // builds no code.
  void refuse(Ref error) {
    refusal_ = std::move(error);
    use_count_ = 0;
  }
  // Null if the code can be built.
  const Ref& refusal() const { return refusal_; }
  // Reorders the cells of a closure: from the order of the body's free names to that of
  // `code`, which was compiled from source. Throws PyError: DecodeError if one is
  // missing.
  Ref closure_for(PyObject* code, std::size_t body, PyObject* cells);

  void skip_uses(std::size_t count) { use_count_ += count; }

 private:
  // The source location of a code object and of those nested in it.
  struct Location {
    CodeLocation where;
    std::string_view file;  // In UTF-8; null if unknown.
    BytesView lines;        // The location without the file; empty for a nested one.
    std::vector<std::size_t> nested;  // Indices in locations_.
    Ref code;                         // The code object built for this location.
    std::size_t body = 0;             // The body of `code`.
  };

  static constexpr std::size_t kNoLocation = static_cast<std::size_t>(-1);

  void read_locations();
  UnitCompiler& unit_compiler();
  // The location of the next use; kNoLocation if it is unknown.
  std::size_t next_location();
  const Location& location_at(std::size_t location) const;
  Ref foreign_use(std::size_t body, std::size_t number);
  // Builds the code object of a body at a location, nested ones first.
  Ref build(std::size_t body, std::size_t location);
  Ref make(std::size_t body, const Location& location, std::vector<Ref> nested);
  // A code body whose fields are read on first use.
  struct Body {
    bool is_read = false;
    envelope::CodeFields fields;
    std::vector<std::size_t> nested;  // Bodies of the code among its constants.
    Ref without_location;             // The code object for uses without a location.
  };

  std::size_t body_of(BytesView hash);
  void sort_bodies();
  Body& body_at(std::size_t index);
  // The code object of a body at a location; null if it was not built yet.
  Ref find_built(std::size_t body, std::size_t location);
  void store(std::size_t body, std::size_t location, const Ref& code);

  const State& state_;
  const Envelope& envelope_;
  const Limits& limits_;
  const bool is_foreign_;
  Ref refusal_;
  bool has_sources_ = false;
  std::optional<UnitCompiler> unit_compiler_;
  std::vector<Location> locations_;
  std::vector<std::size_t> locations_by_use_;
  std::size_t use_count_ = 0;
  std::size_t built_bytes_ = 0;  // The size of all bodies from which code was built.
  std::vector<Body> bodies_;     // Empty before the first use.
  // Indices of bodies in the order of their hashes; see body_of().
  std::vector<std::size_t> by_hash_;
};

}  // namespace waybill::py
