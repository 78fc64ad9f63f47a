// Hash-consing: values are interned by kind, index, parent and operands. Unions are not
// interned, since they grow; their operands are linked lists until move_into() lays
// them out.
// Tested by tests/bytecode/summarize_test.cpp.

#include "bytecode/value_graph.h"

#include <algorithm>

namespace waybill::bytecode {
namespace {

constexpr std::size_t kFirstTableSize = 64;
// A larger union says little, and the bound keeps additions cheap.
constexpr std::uint32_t kMaxAlternatives = 48;

}  // namespace

void ValueGraph::clear() {
  values_.clear();
  operands_.clear();
  links_.clear();
  table_.assign(std::max(table_.size(), kFirstTableSize), 0);
  interned_count_ = 0;
  values_.emplace_back();
}

std::uint32_t ValueGraph::hash_of(const Value& value, std::span<const ValueId> stored) {
  std::uint64_t hash = static_cast<std::uint64_t>(value.kind) * 0x9e3779b97f4a7c15u;
  const auto mix = [&hash](std::uint32_t number) {
    hash = (hash ^ number) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  };
  mix(value.index);
  mix(value.parent);
  for (const ValueId operand : stored) mix(operand);
  return static_cast<std::uint32_t>(hash);
}

// A map's keys are stored after its values.
std::uint32_t ValueGraph::stored_count(const Value& value) const {
  const bool is_map = value.kind == Value::Kind::kPack &&
                      value.index == static_cast<std::uint32_t>(PackOrder::kMap);
  return is_map ? 2 * value.operand_count : value.operand_count;
}

ValueId ValueGraph::intern(Value value, std::span<const ValueId> stored) {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = hash_of(value, stored) & mask;
  for (; table_[slot] != 0; slot = (slot + 1) & mask) {
    const Value& other = values_[table_[slot]];
    if (other.kind == value.kind && other.index == value.index &&
        other.parent == value.parent && stored_count(other) == stored.size() &&
        std::equal(stored.begin(), stored.end(),
                   operands_.begin() + other.first_operand)) {
      return table_[slot];
    }
  }
  const auto id = static_cast<ValueId>(values_.size());
  value.first_operand = static_cast<std::uint32_t>(operands_.size());
  operands_.insert(operands_.end(), stored.begin(), stored.end());
  values_.push_back(value);
  table_[slot] = id;
  if (++interned_count_ * 2 > table_.size()) grow_table();
  return id;
}

void ValueGraph::grow_table() {
  table_.assign(table_.size() * 4, 0);
  const std::size_t mask = table_.size() - 1;
  for (ValueId id = 1; id < values_.size(); ++id) {
    const Value& value = values_[id];
    if (value.kind == Value::Kind::kUnion) continue;
    const std::span<const ValueId> stored(operands_.data() + value.first_operand,
                                          stored_count(value));
    std::size_t slot = hash_of(value, stored) & mask;
    while (table_[slot] != 0) slot = (slot + 1) & mask;
    table_[slot] = id;
  }
}

ValueId ValueGraph::make(Value::Kind kind, std::uint32_t index, ValueId parent,
                         std::uint32_t offset, std::span<const ValueId> operands) {
  Value value;
  value.kind = kind;
  value.index = index;
  value.parent = parent;
  value.operand_count = static_cast<std::uint32_t>(operands.size());
  value.offset = offset;
  return intern(value, operands);
}

ValueId ValueGraph::make_map(std::span<const ValueId> values_then_keys,
                             std::uint32_t offset) {
  Value value;
  value.kind = Value::Kind::kPack;
  value.index = static_cast<std::uint32_t>(PackOrder::kMap);
  value.operand_count = static_cast<std::uint32_t>(values_then_keys.size() / 2);
  value.offset = offset;
  return intern(value, values_then_keys);
}

ValueId ValueGraph::make_union(std::uint32_t offset) {
  Value value;
  value.kind = Value::Kind::kUnion;
  value.first_operand = kNoIndex;
  value.offset = offset;
  values_.push_back(value);
  return static_cast<ValueId>(values_.size() - 1);
}

bool ValueGraph::add_to_union(ValueId whole, ValueId value) {
  if (whole == value) return true;
  std::uint32_t last = kNoIndex;
  for (std::uint32_t at = values_[whole].first_operand; at != kNoIndex;
       at = links_[at].next) {
    if (links_[at].value == value) return true;
    last = at;
  }
  const bool is_full = values_[whole].operand_count >= kMaxAlternatives;
  if (is_full && links_[values_[whole].first_operand].value == kUnknownValue)
    return false;
  const auto link = static_cast<std::uint32_t>(links_.size());
  links_.push_back({is_full ? kUnknownValue : value, kNoIndex});
  if (is_full) {
    // In front, so the next call sees at once that the union is full.
    links_[link].next = values_[whole].first_operand;
    values_[whole].first_operand = link;
  } else if (last == kNoIndex) {
    values_[whole].first_operand = link;
  } else {
    links_[last].next = link;
  }
  ++values_[whole].operand_count;
  return !is_full;
}

std::span<const ValueId> ValueGraph::operands(ValueId id) const {
  return {operands_.data() + values_[id].first_operand, values_[id].operand_count};
}

ValueId ValueGraph::map_key(ValueId map, std::uint32_t position) const {
  const Value& value = values_[map];
  return operands_[value.first_operand + value.operand_count + position];
}

void ValueGraph::move_into(CodeSummary& summary) {
  for (Value& value : values_) {
    if (value.kind != Value::Kind::kUnion) continue;
    const auto first = static_cast<std::uint32_t>(operands_.size());
    for (std::uint32_t at = value.first_operand; at != kNoIndex; at = links_[at].next) {
      operands_.push_back(links_[at].value);
    }
    value.first_operand = first;
  }
  summary.values = std::move(values_);
  summary.operands = std::move(operands_);
  clear();
}

}  // namespace waybill::bytecode
