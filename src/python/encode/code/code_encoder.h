#pragma once

// Writes code objects to the code section and the source locations.

#include <Python.h>

#include <map>
#include <string_view>
#include <vector>

#include "python/runtime/code_cache.h"
#include "python/runtime/memo.h"
#include "python/walker/code_info.h"
#include "wire/writer.h"

namespace waybill::py {

// Sets body, hash and location of `info` and of all nested code, unless they are set.
// Throws PyError: TypeError if a constant is of a type that no compiler writes
// (bytecode tools do).
void encode_code(CodeInfos& infos, CodeInfo& info);

// The source of a code object, which is stored in `info`. If there is none, returns
// null and sets `reason`. `owner`: the class whose method this is, or null; libraries
// that generate methods provide the source of a class's methods. Runs Python
// code, such as loaders of modules, unless the source is stored. Throws PyError.
const CodeSource* source_of(const State& state, CodeInfo& info, PyObject* owner,
                            std::string& reason);

// The code section, the source locations and the sources of one envelope.
class CodeSection {
 public:
  explicit CodeSection(CodeInfos& infos) : infos_(infos) {}

  // Adds a use of a code object, and its body and those of nested code unless equal
  // ones exist. Uses in definitions precede all others. Returns the index of the body.
  // Throws PyError.
  std::uint32_t add_use(PyObject* code, bool is_in_definition = false);

  // Starts as a copy of `first`, which must outlive this. This must be empty.
  void fork_from(const CodeSection& first) {
    bodies_ = first.bodies_;
    hashes_ = first.hashes_;
    index_of_ = first.index_of_;
    uses_ = first.uses_;
    definition_use_count_ = first.definition_use_count_;
    sources_ = first.sources_;
    lacks_source_ = first.lacks_source_;
    classes_ = first.classes_;
  }

  // Sets the source of a body, unless it has one. The source must outlive this.
  void add_source(std::uint32_t body, const CodeSource& source);
  void record_lack_of_source() { lacks_source_ = true; }
  // The number of a source; equal sources have one number.
  std::uint32_t number_of(const CodeSource& source);
  // Writes all numbered sources, in order.
  void write_numbered(wire::Writer& out) const;
  // Adds the two ids of a class, and the line of its statement; 0 if unknown.
  void add_class(BytesView id, BytesView source_id, std::uint32_t first_line);
  // Whether some body has no source although it was needed.
  bool lacks_source() const { return lacks_source_; }

  const std::vector<BytesView>& bodies() const { return bodies_; }
  // Bytes of the bodies that were added here.
  std::size_t size() const { return size_; }
  // Writes the source locations as one msgpack value; nothing if there is no code. Adds
  // the code objects to `cache`. `file`: the first file that the manifest names; null
  // if it names none. Throws PyError.
  void write_source_locations(wire::Writer& out, std::string_view file,
                              CodeCache& cache) const;
  // Writes the sources as one msgpack value; nothing if there are none.
  void write_sources(wire::Writer& out) const;
  // The source of a body; null if it has none.
  const CodeSource* source_of(std::uint32_t body) const;

  // The code of each use, in order.
  std::vector<CodeInfo*> uses() const { return uses_; }
  struct ClassSource {
    std::vector<std::uint8_t> source_id;
    std::uint32_t first_line;
  };
  using ClassSources = std::map<std::string, ClassSource>;  // By id.
  const ClassSources& classes() const { return classes_; }

 private:
  std::uint32_t add(const CodeInfo& info);

  CodeInfos& infos_;
  std::vector<BytesView> bodies_;  // Point into CodeInfos.
  std::vector<const ContentHash*> hashes_;
  Memo index_of_;  // By the first bytes of the hash.
  std::vector<CodeInfo*> uses_;
  std::ptrdiff_t definition_use_count_ = 0;  // Number of uses in definitions.
  std::map<std::uint32_t, const CodeSource*> sources_;  // By index of the body.
  bool lacks_source_ = false;
  std::vector<const CodeSource*> numbered_;
  ClassSources classes_;
  std::size_t size_ = 0;
};

}  // namespace waybill::py
