#include "embedded/mutator.h"

#include <algorithm>
#include <utility>

#include "embedded/generator.h"
#include "embedded/sections.h"
#include "wire/reader.h"
#include "wire/writer.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                        std::size_t max_size);

namespace waybill::fuzz {
namespace {

using envelope::Rule;
using wire::ExtType;
using wire::SectionIndex;
using wire::TokenType;

// The first origin of added values, above all positions.
constexpr std::uint64_t kFirstNewOrigin = std::uint64_t{1} << 40;

// Leaves the mutation to the fuzzer, which records failed comparisons.
void mutate_bytes(Bytes& bytes, std::size_t max_growth) {
  const std::size_t size = bytes.size();
  bytes.resize(size + max_growth);
  bytes.resize(LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
}

// Changes a tree at random places.
class TreeMutator {
 public:
  TreeMutator(Random& random, Value& root, std::vector<std::uint64_t>& shared)
      : random_(random), root_(root), shared_(shared) {}

  void mutate() {
    for (std::size_t changes = 1 + below(random_, 3); changes != 0; --changes) {
      collect();
      change();
    }
  }

 private:
  // Collects the values in the order in which they are written.
  void collect() {
    values_.clear();
    containers_.clear();
    collect(root_);
  }

  void collect(Value& value) {
    values_.push_back(&value);
    if (!value.items.empty()) containers_.push_back(&value);
    for (Value& item : value.items) collect(item);
  }

  Value& pick_value() { return *values_[below(random_, values_.size())]; }

  void change() {
    switch (below(random_, containers_.empty() ? 6 : 10)) {
      case 0:
        return replace(pick_value(), Value(pick_value()));
      case 1:
        return change_leaf(pick_value());
      case 2:
        return replace(pick_value(), random_value(random_, Rule::kObject));
      case 3:
        return replace(pick_value(), random_leaf(random_));
      case 4:
        return wrap(pick_value());
      case 5:
        return share();
      case 6:
        return swap_items(pick_container());
      case 7:
        return insert(pick_container());
      case 8:
        return remove(pick_container());
      default:
        return change_leaf(pick_value());
    }
  }

  Value& pick_container() { return *containers_[below(random_, containers_.size())]; }

  // Takes a copy, since the new value may be a part of the old one.
  static void replace(Value& target, Value value) { target = std::move(value); }

  void change_leaf(Value& value) {
    if (value.is_container()) return;
    const auto token = extension_in(value);
    if (token && token->ext_type == static_cast<std::int8_t>(ExtType::kNode)) {
      value.leaf.back() = static_cast<std::uint8_t>(1 + below(random_, 24));
    } else if (token && below(random_, 2) == 0) {
      value.leaf.back() = static_cast<std::uint8_t>(random_());
    } else {
      change_bytes(value);
    }
  }

  // Changes the content of text, binary and extensions, and the encoding of numbers.
  void change_bytes(Value& value) {
    wire::Reader reader(value.leaf);
    wire::Token token;
    if (!reader.next(token)) return;
    Bytes bytes(token.bytes.begin(), token.bytes.end());
    mutate_bytes(bytes, 16);
    wire::Writer writer;
    switch (token.type) {
      case TokenType::kText:
        writer.text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        break;
      case TokenType::kBinary:
        writer.binary(bytes);
        break;
      case TokenType::kExtension:
        writer.extension(static_cast<ExtType>(token.ext_type), bytes);
        break;
      default:
        return replace(value, random_leaf(random_));
    }
    value.leaf = writer.take();
  }

  // Wraps the value in a list. A list that starts with a node tag is a node.
  void wrap(Value& value) {
    Value outer;
    outer.type = TokenType::kArray;
    outer.origin = kFirstNewOrigin + random_();
    outer.items.push_back(std::move(value));
    value = std::move(outer);
  }

  // Replaces a value by a reference to an earlier one, which may contain it.
  void share() {
    const std::size_t from = below(random_, values_.size());
    const std::size_t to = below(random_, values_.size());
    Value& target = *values_[std::min(from, to)];
    if (from == to) return;
    if (target.origin == 0 && &target != &root_) {
      target.origin = kFirstNewOrigin + random_();
    }
    wire::Writer writer;
    writer.index(ExtType::kReference, shared_.size());
    shared_.push_back(target.origin);
    *values_[std::max(from, to)] = leaf_of(writer.take());
  }

  // In a map, pairs are swapped, inserted and removed.
  static std::size_t width(const Value& value) {
    return value.type == TokenType::kMap ? 2 : 1;
  }

  std::size_t item_of(const Value& value) {
    return below(random_, value.items.size() / width(value)) * width(value);
  }

  void swap_items(Value& value) {
    const std::size_t first = item_of(value);
    const std::size_t second = item_of(value);
    if (first == second) return;
    for (std::size_t i = 0; i < width(value); ++i) {
      std::swap(value.items[first + i], value.items[second + i]);
    }
  }

  void insert(Value& value) {
    const std::size_t at = item_of(value);
    std::vector<Value> added;
    for (std::size_t i = 0; i < width(value); ++i) {
      added.push_back(below(random_, 2) == 0 ? value.items[at + i]
                                             : random_value(random_, Rule::kObject));
    }
    value.items.insert(value.items.begin() + static_cast<std::ptrdiff_t>(at),
                       added.begin(), added.end());
  }

  void remove(Value& value) {
    const auto at = value.items.begin() + static_cast<std::ptrdiff_t>(item_of(value));
    value.items.erase(at, at + static_cast<std::ptrdiff_t>(width(value)));
  }

  Random& random_;
  Value& root_;
  std::vector<std::uint64_t>& shared_;
  std::vector<Value*> values_;
  std::vector<Value*> containers_;
};

void mutate_payload(Random& random, Sections& sections) {
  Bytes payload = section(sections, SectionIndex::kPayload);
  auto tree = parse(payload);
  auto shared = shared_in(sections);
  if (!tree || !shared || below(random, 16) == 0) {
    mutate_bytes(payload, 16);
    return set_payload(sections, std::move(payload));
  }
  TreeMutator(random, *tree, *shared).mutate();
  fit_buffers(*tree, sections.buffers);
  set_payload(sections, write_payload(*tree, *shared));
  section(sections, SectionIndex::kShared) = section_of(*shared);
}

void mutate_buffer(Random& random, OwnedBuffer& buffer) {
  buffer.kind = static_cast<wire::BufferKind>(below(random, 5));
  if (buffer.compression && below(random, 2) == 0) {
    buffer.compression->item_size = static_cast<std::uint8_t>(1 << below(random, 5));
    if (below(random, 2) == 0)
      buffer.length = buffer.bytes.size() + below(random, 4096);
    return;
  }
  mutate_bytes(buffer.bytes, 16);
  if (buffer.bytes.empty()) buffer.bytes.push_back(0);
}

// Sets the length of each body, with which its entry starts.
void repair_lengths(Value& code) {
  for (Value& entry : code.items) {
    if (entry.type != TokenType::kArray || entry.items.size() < 2) continue;
    Bytes body;
    write(entry.items[1], body);
    wire::Writer writer;
    writer.unsigned_integer(body.size());
    entry.items[0] = leaf_of(writer.take());
  }
}

void mutate_section(Random& random, Sections& sections, SectionIndex index) {
  Bytes& bytes = section(sections, index);
  auto tree = parse(bytes);
  if (!tree || below(random, 8) == 0) return mutate_bytes(bytes, 16);
  std::vector<std::uint64_t> shared;
  TreeMutator(random, *tree, shared).mutate();
  if (index == SectionIndex::kCode) repair_lengths(*tree);
  bytes.clear();
  write(*tree, bytes);
}

void mutate(Random& random, Sections& sections) {
  constexpr SectionIndex kOthers[] = {
      SectionIndex::kHeader, SectionIndex::kManifest,  SectionIndex::kCode,
      SectionIndex::kCode,   SectionIndex::kShared,    SectionIndex::kPayloadLength,
      SectionIndex::kShared, SectionIndex::kDebugInfo, SectionIndex::kDebugInfo};
  if (!sections.buffers.empty() && below(random, 8) == 0) {
    return mutate_buffer(random,
                         sections.buffers[below(random, sections.buffers.size())]);
  }
  if (below(random, 4) != 0) return mutate_payload(random, sections);
  mutate_section(random, sections, kOthers[below(random, std::size(kOthers))]);
}

std::size_t put(const Bytes& bytes, std::uint8_t* out, std::size_t max_size) {
  if (bytes.size() > max_size) return 0;
  std::ranges::copy(bytes, out);
  return bytes.size();
}

}  // namespace

std::size_t mutate_envelope(std::uint8_t* data, std::size_t size, std::size_t max_size,
                            unsigned seed) {
  Random random(seed);
  auto sections = split({data, size});
  if (!sections || below(random, 32) == 0) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  mutate(random, *sections);
  const std::size_t written = put(seal_sections(*sections), data, max_size);
  return written != 0 ? written : LLVMFuzzerMutate(data, size, max_size);
}

std::size_t cross_over(BytesView first, BytesView second, std::uint8_t* out,
                       std::size_t max_size, unsigned seed) {
  Random random(seed);
  auto target = split(first);
  auto source = split(second);
  if (!target || !source) return 0;
  auto tree = parse(section(*target, SectionIndex::kPayload));
  const auto other = parse(section(*source, SectionIndex::kPayload));
  auto shared = shared_in(*target);
  if (!tree || !other || !shared) return 0;
  const auto random_part = [&](auto* value) {
    while (!value->items.empty() && below(random, 3) != 0) {
      value = &value->items[below(random, value->items.size())];
    }
    return value;
  };
  Value part = *random_part(&*other);
  *random_part(&*tree) = std::move(part);
  target->buffers.insert(target->buffers.end(), source->buffers.begin(),
                         source->buffers.end());
  fit_buffers(*tree, target->buffers);
  set_payload(*target, write_payload(*tree, *shared));
  section(*target, SectionIndex::kShared) = section_of(*shared);
  return put(seal_sections(*target), out, max_size);
}

}  // namespace waybill::fuzz
