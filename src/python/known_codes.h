#pragma once

// Code objects that are here already.

#include <Python.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "python/ref.h"
#include "waybill/envelope.h"

namespace waybill::py {

// What one code object is like, whoever made it: its body, with all that is nested in
// it, and where it stands.
struct CodeKey {
  ContentHash body{};
  std::uint64_t place = 0;  // Of the file, and of the lines in it.

  friend bool operator==(const CodeKey&, const CodeKey&) = default;
};

// `file`: in UTF-8; `lines`: the rest of its place in the notes.
CodeKey code_key(const ContentHash& body, std::string_view file, BytesView lines);

// Code objects that were sent or received of late, while they live: what comes again
// need not be built again, and what comes home is the same. Holds weak references;
// bounded; needs the GIL.
class KnownCodes {
 public:
  // Null if there is none.
  Ref find(const CodeKey& key) const;
  void note(const CodeKey& key, PyObject* code);
  void clear() { entries_ = {}; }
  // If it is not used, it finds and notes nothing.
  void use(bool is_used) { is_used_ = is_used; }

 private:
  struct Entry {
    CodeKey key;
    Ref code;  // A weak reference.
  };
  static std::size_t slot_of(const CodeKey& key);

  std::array<Entry, 1024> entries_;
  bool is_used_ = true;
};

}  // namespace waybill::py
