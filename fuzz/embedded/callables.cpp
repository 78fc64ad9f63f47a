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

// The uses of a callable.
enum Use : unsigned {
  kCall = 1,      // Makes a kObject, with state, items and pairs.
  kCallBare = 2,  // Makes a kObject without these: the result may be a proxy.
  kNew = 4,       // The class of a kNewObject.
  kBase = 8,      // A base of a kClass.
  kMeta = 16,     // The metaclass of a kClass.
};

struct Row {
  std::string_view module;  // Empty: builtins.
  std::string_view name;
  unsigned uses;
};

// None calls its arguments, changes the process, or consumes an iterable: a range of a
// few bytes can be endless.
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

class HarmCheck {
 public:
  HarmCheck(const Envelope& envelope, const Value& payload) : envelope_(envelope) {
    collect(payload);
  }

  bool is_harmless(const CompiledBodies& compiled) const {
    bool has_class = false;
    for (const auto& [origin, value] : all_) {
      const auto tag = tag_in(*value);
      if (!tag) continue;
      has_class = has_class || *tag == NodeTag::kClass;
      if (!is_harmless_node(*tag, value->items)) return false;
    }
    // Making classes and instances calls their methods.
    return !has_class || std::ranges::all_of(envelope_.code, [&](const CodeBody& body) {
      return compiled.contains(body.hash);
    });
  }

 private:
  void collect(const Value& value) {
    all_.emplace(value.origin, &value);
    for (const Value& item : value.items) collect(item);
  }

  // `items` start with the tag.
  bool is_harmless_node(NodeTag tag, const std::vector<Value>& items) const {
    switch (tag) {
      case NodeTag::kObject:
        return items.size() >= 6 &&
               (allows(items[1], kCall) ||
                (allows(items[1], kCallBare) && is_bare(items))) &&
               (items.size() == 6 || allows(items[6], kCall));
      case NodeTag::kNewObject:
        return items.size() >= 2 && allows(items[1], kNew);
      case NodeTag::kClass:
        return items.size() >= 5 && allows(items[2], kMeta) &&
               std::ranges::all_of(items[4].items, [this](const Value& base) {
                 return allows(base, kBase);
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

  // Whether a callable is in the table for this use.
  bool allows(const Value& callable, unsigned use) const {
    const Value* target = &callable;
    if (const auto number = reference_in(callable)) {
      if (*number >= envelope_.shared.size()) return false;
      const auto found = all_.find(envelope_.shared[*number]);
      if (found == all_.end()) return false;
      target = found->second;
    }
    const auto tag = tag_in(*target);
    if (tag == NodeTag::kClass) return (use & (kNew | kBase)) != 0;
    if (tag != NodeTag::kGlobal || target->items.size() != 3) return false;
    wire::Reader reader(target->items[2].leaf);
    std::string_view name;
    if (!reader.read_text(name, "a name")) return false;
    std::string_view module;
    if (target->items[1].type != TokenType::kNil) {
      const auto token = extension_in(target->items[1]);
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

CompiledBodies bodies_in(const char* folder) {
  CompiledBodies compiled;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".waybill") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(file), {}};
    const auto envelope = open(bytes);
    if (!envelope) continue;
    for (const CodeBody& body : envelope->code) compiled.insert(body.hash);
  }
  return compiled;
}

bool is_harmless(const Envelope& envelope, const CompiledBodies& compiled) {
  const auto payload = parse(envelope.payload.bytes);
  return payload && HarmCheck(envelope, *payload).is_harmless(compiled);
}

}  // namespace waybill::fuzz
