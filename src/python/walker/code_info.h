#pragma once

// The analysis of the bytecode of a code object, and its encoded form. Both depend on
// the code object alone. They are computed once, stored on the code object itself
// (co_extra), and freed with it. Code objects never change, so there is no
// invalidation. The cached definition of a function depends on more than its code; its
// guards are checked before it is used.

#include <Python.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "python/runtime/arena.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/bytecode.h"
#include "waybill/envelope.h"

namespace waybill::py {

struct CodeInfo;
struct CachedDefinition;  // A type of the encoder.

// The cached definition of a function or class, with the number of times that its
// guards failed or that it could not be cached.
struct CacheSlot {
  std::shared_ptr<CachedDefinition> entry;
  std::uint32_t misses = 0;
};

// A global name that a code object, or code nested in it, uses.
struct GlobalUse {
  PyObject* name;        // Interned str of co_names; borrowed from the code.
  const CodeInfo* info;  // The code that uses it first.
  std::uint32_t offset;  // Byte of the first load; kNoIndex if nothing loads it.
};

// The line of an offset. The same few offsets of a code object are looked up
// repeatedly.
struct CachedLine {
  std::uint32_t offset;
  std::uint32_t line;
};

// Shows a Python code object as a waybill::CodeView, without copying bytes or names.
// Owns the tables that the view points into. The text belongs to the code object, which
// must outlive this object.
class CodeTables {
 public:
  explicit CodeTables(PyCodeObject* code);
  CodeTables(const CodeTables&) = delete;
  CodeTables& operator=(const CodeTables&) = delete;

  const CodeView& view() const { return view_; }

 private:
  ConstantView constant(PyObject* object, int depth);
  std::string_view text_of(PyObject* text);

  Ref instructions_;
  std::vector<std::string_view> names_, local_names_;
  std::vector<ConstantView> constants_;
  std::vector<std::unique_ptr<std::vector<ConstantView>>> tuples_;
  std::vector<Ref> texts_;  // UTF-8 of names that are not ASCII.
  CodeView view_;
};

// Source text that compiles to a code object, as a source unit holds it.
struct CodeSource {
  std::string text;
  std::vector<std::uint8_t> encoded_fields;  // Those after the location of the text.
};

struct CodeInfo {
  PyCodeObject* code = nullptr;  // Borrowed: the code object owns this info.
  CodeSummary summary;
  // The code objects in co_consts, in the order of summary.nested. They live at least
  // as long as this info: co_extra is freed before the constants.
  std::vector<CodeInfo*> nested;
  // Global names of this code and all nested code, each once, in order of first use.
  std::vector<GlobalUse> globals;

  // Whether this code or nested code steps from one value to another: by an attribute,
  // an item or an import statement.
  bool has_steps = false;
  // Whether values leave this code or nested code in a way that is not followed.
  bool has_escapes = false;
  // Whether this code or nested code uses a global or an attribute with the name of a
  // function that reads attributes by name: getattr, vars and the like.
  bool uses_attribute_readers = false;

  // Filled by encode_code(), at the first dumps that needs it.
  bool is_encoded = false;
  std::vector<std::uint8_t> body;
  ContentHash hash{};
  bool is_in_code_cache = false;  // The code was added to State::code_cache.
  // The source location without the leading file: first line, line table, and the
  // source locations of nested code.
  std::vector<std::uint8_t> location;

  // The source, set when it is first needed and proven. A proof stays valid.
  std::unique_ptr<const CodeSource> source;
  // This code, or code around it, was received as source and compiled here. It is
  // always sent with its source: the next receiver may be another Python, or the first
  // sender.
  bool was_received_as_source = false;

  CacheSlot slot;  // For the function with this code.

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
  mutable std::vector<CachedLine> lines_;
};

// Returns the CodeInfo of code objects. Where code objects cannot hold extras (no index
// is left, or see can_store_code_extras), this object owns the infos: use one per call.
class CodeInfos {
 public:
  // `arena`, unless it is null, must outlive this object.
  explicit CodeInfos(const State& state, Arena* arena = nullptr);

  // The info of `code`, which is made if needed, as are the infos of all nested code.
  // Valid as long as this object, which holds the code: other Python code may replace
  // the code of its function. Throws PyError.
  CodeInfo& get(PyObject* code);

 private:
  CodeInfo* find(PyObject* code) const;
  void hold(PyObject* code);
  CodeInfo& build(PyObject* code);
  bool is_from_source(PyObject* code) const;

  const State& state_;
  Py_ssize_t index_;
  bool stores_extras_;
  std::unordered_map<PyObject*, std::unique_ptr<CodeInfo>> own_;
  ArenaVector<Ref> held_;
};

// `info` and the infos of all nested code, each once.
std::vector<const CodeInfo*> with_nested(const CodeInfo& info);

// The info that is stored on a code object; null if there is none.
CodeInfo* cached_info(const State& state, PyObject* code);

// Requests State::code_extra_index; -1 if the interpreter has no index left.
Py_ssize_t code_info_index();

}  // namespace waybill::py
