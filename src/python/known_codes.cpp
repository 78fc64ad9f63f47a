// Tested by tests/python/test_known_codes.py.

#include "python/known_codes.h"

#include <bit>
#include <cstring>

#include "base/hash.h"
#include "python/compat.h"
#include "python/text.h"

namespace waybill::py {

CodeKey code_key(const ContentHash& body, std::string_view file, BytesView lines) {
  return {body, base::hash_of(lines) ^ std::rotl(base::hash_of(bytes_of(file)), 1)};
}

std::size_t KnownCodes::slot_of(const CodeKey& key) {
  std::uint64_t body = 0;
  std::memcpy(&body, key.body.data(), sizeof body);
  return (body ^ key.place) % std::tuple_size_v<decltype(entries_)>;
}

Ref KnownCodes::find(const CodeKey& key) const {
  if (!is_used_) return {};
  const Entry& entry = entries_[slot_of(key)];
  return entry.code && entry.key == key ? weakly_referenced(entry.code.get()) : Ref();
}

void KnownCodes::note(const CodeKey& key, PyObject* code) {
  if (!is_used_) return;
  Entry& entry = entries_[slot_of(key)];
  // The interpreter gives the same reference again.
  entry.code = Ref::steal(PyWeakref_NewRef(code, nullptr));
  entry.key = key;
}

}  // namespace waybill::py
