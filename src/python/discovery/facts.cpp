// Tested by tests/python/imports/discovery.

#include "python/discovery/facts.h"

#include <algorithm>

namespace waybill::py {

namespace {

constexpr std::size_t kMaxObjects = 256;

}  // namespace

void Facts::add(PyObject* object, bool imported) {
  for (const Fact& fact : objects) {
    if (fact.object.get() == object && fact.imported == imported) return;
  }
  objects.push_back({Ref::share(object), imported});
}

bool Facts::merge(const Facts& from) {
  bool has_grown = from.unknown && !unknown;
  unknown = unknown || from.unknown;
  for (const Fact& fact : from.objects) {
    const std::size_t before = objects.size();
    if (before < kMaxObjects) add(fact.object.get(), fact.imported);
    has_grown |= objects.size() != before;
  }
  for (const Pack& pack : from.packs) {
    const bool known = std::ranges::any_of(packs, [&](const Pack& other) {
      return other.scope == pack.scope && other.value == pack.value;
    });
    if (known || packs.size() >= kMaxObjects) continue;
    packs.push_back(pack);
    has_grown = true;
  }
  return has_grown;
}

}  // namespace waybill::py
