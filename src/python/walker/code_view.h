#pragma once

// A Python code object as waybill::CodeView sees it: bytes and names, not copied.

#include <Python.h>

#include <memory>
#include <string_view>
#include <vector>

#include "python/runtime/ref.h"
#include "python/runtime/text.h"
#include "waybill/bytecode.h"

namespace waybill::py {

// Owns the tables that a CodeView points into; the text itself belongs to the code
// object, which must outlive this.
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

}  // namespace waybill::py
