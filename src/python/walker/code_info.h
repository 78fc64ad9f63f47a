#pragma once

// What depends on a code object alone: the analysis of its bytecode and its encoded
// form. Computed once, kept on the code object itself (co_extra: by identity), freed
// with it. Code objects never change, so nothing here is ever invalidated; only what
// was made of a function (KeptUnit) depends on more, and is compared before it is
// used.

#include <Python.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "python/runtime/arena.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/bytecode.h"
#include "waybill/envelope.h"

namespace waybill::py {

struct CodeInfo;
struct KeptUnit;  // Of the encoder.

// What is kept of a function or class, to be sent again, and how often the next was
// another or could not be kept.
struct KeptSlot {
  std::shared_ptr<KeptUnit> kept;
  std::uint32_t misses = 0;
};

// A global name that a code object, or code nested in it, uses.
struct GlobalUse {
  PyObject* name;        // Interned str of co_names; borrowed from the code.
  const CodeInfo* info;  // Whose code uses it first,
  std::uint32_t offset;  // and at which byte; kNoIndex if no instruction loads it.
};

// One line that was looked up; a code object is asked for few, again and again.
struct KnownLine {
  std::uint32_t offset;
  std::uint32_t line;
};

// Text that was proven to give a code object, as source units hold it.
struct CodeSource {
  std::string text;
  std::vector<std::uint8_t> recipe;  // The fields of a unit behind those of its place.
};

struct CodeInfo {
  PyCodeObject* code = nullptr;  // Borrowed: the code object owns this.
  CodeSummary summary;
  // The code objects in co_consts, in the order of summary.nested. They live as long
  // as this does: co_extra is freed before the constants.
  std::vector<CodeInfo*> nested;
  // Global names of this code and all nested code, each once, by first use.
  std::vector<GlobalUse> globals;

  // Whether this code or nested code gets from one value to another (by attribute, item
  // or import statement); whether values leave it by a way that is not followed.
  bool has_steps = false;
  bool has_escapes = false;
  // Whether a global or an attribute in this code or nested code is called like what
  // reads attributes whose names are data: getattr, vars and the like.
  bool names_readers = false;

  // Filled by encode_code(), at the first dumps that needs it.
  bool is_encoded = false;
  std::vector<std::uint8_t> body;
  ContentHash hash{};
  bool is_known = false;  // To KnownCodes, or it was.
  // First line, line table and source locations of nested code, without the leading
  // file.
  std::vector<std::uint8_t> place;

  // Set when its source is first asked for and proven: what was proven stays true.
  std::unique_ptr<const CodeSource> source;
  // It, or what it stands in, was compiled here from source, with which it always
  // travels on: where it goes may be another Python still, or the first one.
  bool came_as_source = false;

  KeptSlot slot;  // Of a function with this code.

  PyObject* name_at(std::uint32_t index) const {
    return PyTuple_GET_ITEM(code->co_names, index);
  }
  PyObject* local_at(std::uint32_t index) const {
    return PyTuple_GET_ITEM(code->co_localsplusnames, index);
  }
  PyObject* constant_at(std::uint32_t index) const {
    return PyTuple_GET_ITEM(code->co_consts, index);
  }
  // The source line of a byte offset in co_code; 0 if unknown.
  std::uint32_t line_of(std::uint32_t offset) const;

 private:
  mutable std::vector<KnownLine> lines_;
};

// Hands out CodeInfo. Where code objects may not carry extras (no index left, or see
// code_extra_is_safe) it keeps them itself, and they die with it: use one per call.
class CodeInfos {
 public:
  // `arena`, if there is one, outlives this.
  explicit CodeInfos(const State& state, Arena* arena = nullptr);

  // The info of `code` and of everything nested in it, which lives as long as this: the
  // code is held, since code that runs meanwhile may take it from its function. Throws
  // PyError.
  CodeInfo& get(PyObject* code);

 private:
  CodeInfo* find(PyObject* code) const;
  void hold(PyObject* code);
  CodeInfo& build(PyObject* code);
  bool came_with_source(PyObject* code) const;

  const State& state_;
  Py_ssize_t index_;
  bool keeps_extras_;
  std::unordered_map<PyObject*, std::unique_ptr<CodeInfo>> own_;
  ArenaVector<Ref> held_;
};

// It and all code nested in it, each once.
std::vector<const CodeInfo*> with_nested(const CodeInfo& info);

// The info of a code object that has one and keeps it; null if not.
CodeInfo* kept_info(const State& state, PyObject* code);

// For State::code_extra_index; -1 if the interpreter has none left.
Py_ssize_t code_info_index();

}  // namespace waybill::py
