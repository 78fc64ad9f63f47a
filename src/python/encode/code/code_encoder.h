#pragma once

// Code objects, field by field, as the code section and the debug
// information hold them.

#include <Python.h>

#include <map>
#include <string_view>
#include <vector>

#include "python/runtime/code_cache.h"
#include "python/runtime/memo.h"
#include "python/walker/code_info.h"
#include "wire/writer.h"

namespace waybill::py {

// Fills body, hash and place of `info` and of all nested code. Cheap when done before.
// Throws PyError: TypeError if a constant is of a type that the compiler never writes
// (bytecode tools do).
void encode_code(CodeInfos& infos, CodeInfo& info);

// The source of a code object, which `info` keeps once it is found; null, and why in
// `reason`, if there is none. `owner`: the class that is being sent around it, or null:
// what has written methods of the class is asked for them. Runs Python code, such as
// loaders of modules, where the source is not kept. Throws PyError.
const CodeSource* source_of(const State& state, CodeInfo& info, PyObject* owner,
                            std::string& reason);

// The code section and the source locations of one envelope, as they grow.
class CodeSection {
 public:
  explicit CodeSection(CodeInfos& infos) : infos_(infos) {}

  // Adds the code, and nested code before it, unless a body of equal content is there;
  // notes one use of it: those in definitions come before all others. Returns the index
  // of its body. Throws PyError.
  std::uint32_t use(PyObject* code, bool is_in_definition = false);

  // Begins with what another section has, which outlives this. Nothing is here yet.
  void fork_from(const CodeSection& first) {
    bodies_ = first.bodies_;
    hashes_ = first.hashes_;
    index_of_ = first.index_of_;
    uses_ = first.uses_;
    definition_uses_ = first.definition_uses_;
    sources_ = first.sources_;
    lacks_source_ = first.lacks_source_;
    classes_ = first.classes_;
  }

  // Notes the source of a body, unless it has one. It must outlive this.
  void add_source(std::uint32_t body, const CodeSource& source);
  void record_lack_of_source() { lacks_source_ = true; }
  // The number of a source among all that were noted by this: equal ones have one.
  std::uint32_t number_of(const CodeSource& source);
  // All of these one behind the other.
  void write_numbered(wire::Writer& out) const;
  // Notes the two ids of a class, and the line of its statement; 0 if it is not known.
  void add_class(BytesView id, BytesView text_id, std::uint32_t first_line);
  // Whether the source of some body was asked for in vain.
  bool lacks_source() const { return lacks_source_; }

  const std::vector<BytesView>& bodies() const { return bodies_; }
  // Bytes of the bodies that were added here.
  std::size_t size() const { return size_; }
  // Writes the source locations as one msgpack value; nothing if there is no code. From
  // then on the code objects are among those that are known. `file`: the first that the
  // manifest names; null if it names none. Throws PyError.
  void write_source_locations(wire::Writer& out, std::string_view file,
                              CodeCache& cache) const;
  // Writes the sources as one msgpack value; nothing if there are none.
  void write_sources(wire::Writer& out) const;
  // What the source of a body is; null if it has none.
  const CodeSource* source_of(std::uint32_t body) const;

  // The code of each use, in order.
  std::vector<CodeInfo*> uses() const { return uses_; }
  struct ClassSource {
    std::vector<std::uint8_t> text_id;
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
  std::ptrdiff_t definition_uses_ = 0;                  // Of these, the first.
  std::map<std::uint32_t, const CodeSource*> sources_;  // By index of the body.
  bool lacks_source_ = false;
  std::vector<const CodeSource*> numbered_;
  ClassSources classes_;
  std::size_t size_ = 0;
};

}  // namespace waybill::py
