#include "embedded/callables.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unordered_map>

#include "embedded/value_tree.h"
#include "wire/reader.h"

namespace waybill::fuzz {
namespace {

using wire::ExtType;
using wire::NodeTag;
using wire::TokenType;

// What a callable may be used for.
enum Use : unsigned {
  kCall = 1,      // kObject: called, and what it gives gets state, items and pairs.
  kCallBare = 2,  // Called, but what it gives may stand for another: it is left alone.
  kNew = 4,       // The class of a kNewObject.
  kBase = 8,      // A base of a kClass.
  kMeta = 16,     // Its metaclass.
};

struct Row {
  std::string_view module;  // Empty: builtins.
  std::string_view name;
  unsigned uses;
};

// None calls its arguments, keeps anything for the process, or takes all of an
// iterable: a range of a few bytes can be endless.
constexpr Row kHarmless[] = {
    {"", "object", kCall | kNew | kBase},
    {"", "type", kMeta},
    {"abc", "ABCMeta", kMeta},
    {"", "Exception", kCall | kNew | kBase},
    {"", "ValueError", kCall | kNew | kBase},
    {"", "complex", kCall | kNew},
    {"", "getattr", kCallBare},
    {"", "property", kCall},
    {"", "staticmethod", kCall},
    {"", "classmethod", kCall},
    {"collections", "OrderedDict", kCall | kNew | kBase},
    {"collections", "defaultdict", kCall | kNew},
    {"datetime", "date", kCall | kNew},
    {"datetime", "datetime", kCall | kNew},
    {"datetime", "time", kCall | kNew},
    {"datetime", "timedelta", kCall | kNew},
    {"decimal", "Decimal", kCall | kNew},
    {"functools", "partial", kCall | kNew},
    {"types", "GenericAlias", kCallBare},
    {"types", "MethodType", kCallBare},
    {"types", "SimpleNamespace", kCall | kNew | kBase},
    {"uuid", "UUID", kCall | kNew},
};

class Check {
 public:
  Check(const Envelope& envelope, const Value& payload) : envelope_(envelope) {
    note(payload);
  }

  bool run(const KnownBodies& known) const {
    bool has_class = false;
    for (const auto& [origin, value] : all_) {
      const auto tag = tag_in(*value);
      if (!tag) continue;
      has_class = has_class || *tag == NodeTag::kClass;
      if (!is_harmless_node(*tag, value->items)) return false;
    }
    // Classes call methods of each other while they are made, and of their instances.
    return !has_class || std::ranges::all_of(envelope_.code, [&](const CodeBody& body) {
      return known.contains(body.hash);
    });
  }

 private:
  void note(const Value& value) {
    all_.emplace(value.origin, &value);
    for (const Value& item : value.items) note(item);
  }

  // `items` start with the tag.
  bool is_harmless_node(NodeTag tag, const std::vector<Value>& items) const {
    switch (tag) {
      case NodeTag::kObject:
        return items.size() >= 6 &&
               (may(items[1], kCall) || (may(items[1], kCallBare) && is_bare(items))) &&
               (items.size() == 6 || may(items[6], kCall));
      case NodeTag::kNewObject:
        return items.size() >= 2 && may(items[1], kNew);
      case NodeTag::kClass:
        return items.size() >= 5 && may(items[2], kMeta) &&
               std::ranges::all_of(items[4].items, [this](const Value& base) {
                 return may(base, kBase);
               });
      default:
        return true;
    }
  }

  // No state, no items, no pairs.
  static bool is_bare(const std::vector<Value>& items) {
    return items[3].type == TokenType::kNil && items[4].items.empty() &&
           items[5].items.empty();
  }

  bool may(const Value& callable, unsigned use) const {
    const Value* meant = &callable;
    if (const auto number = reference_in(callable)) {
      if (*number >= envelope_.shared.size()) return false;
      const auto found = all_.find(envelope_.shared[*number]);
      if (found == all_.end()) return false;
      meant = found->second;
    }
    const auto tag = tag_in(*meant);
    if (tag == NodeTag::kClass) return (use & (kNew | kBase)) != 0;
    if (tag != NodeTag::kGlobal || meant->items.size() != 3) return false;
    wire::Reader reader(meant->items[2].leaf);
    std::string_view name;
    if (!reader.read_text(name, "a name")) return false;
    std::string_view module;
    if (meant->items[1].type != TokenType::kNil) {
      const auto token = extension_in(meant->items[1]);
      std::uint64_t index = 0;
      if (!token || token->ext_type != static_cast<std::int8_t>(ExtType::kModule) ||
          !wire::index_of(token->bytes, index) ||
          index >= envelope_.manifest.imports.size()) {
        return false;
      }
      module = envelope_.manifest.imports[index].module;
    }
    return std::ranges::any_of(kHarmless, [&](const Row& row) {
      return row.module == module && row.name == name && (row.uses & use) != 0;
    });
  }

  const Envelope& envelope_;
  std::unordered_map<std::uint64_t, const Value*> all_;
};

}  // namespace

KnownBodies bodies_in(const char* folder) {
  KnownBodies known;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".waybill") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(file), {}};
    const auto envelope = open(bytes);
    if (!envelope) continue;
    for (const CodeBody& body : envelope->code) known.insert(body.hash);
  }
  return known;
}

bool is_harmless(const Envelope& envelope, const KnownBodies& known) {
  const auto payload = parse(envelope.payload.bytes);
  return payload && Check(envelope, *payload).run(known);
}

}  // namespace waybill::fuzz
