// Tested by tests/python/cache/test_received_functions.py.

#include "python/runtime/intern_table.h"

#include "base/hash.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

constexpr std::size_t kLongest = 128;

bool is_same(PyObject* name, std::string_view utf8) {
  Ref storage;  // Not needed: the name is ASCII.
  return utf8_of(name, storage) == utf8;
}

}  // namespace

Ref InternTable::get(std::string_view utf8) {
  Ref& entry = entries_[base::hash_of(bytes_of(utf8)) % entries_.size()];
  if (entry && is_same(entry.get(), utf8)) return entry;
  PyObject* name = new_text(utf8).release();
  PyUnicode_InternInPlace(&name);
  Ref interned = Ref::steal(name);
  if (utf8.size() <= kLongest && PyUnicode_IS_COMPACT_ASCII(name)) entry = interned;
  return interned;
}

}  // namespace waybill::py
