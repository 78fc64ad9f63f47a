#pragma once

// Builds the graph of Values: equal values are one, unions may grow.

#include <cstdint>
#include <span>
#include <vector>

#include "waybill/bytecode.h"

namespace waybill::bytecode {

// The one kUnknown; it is always there.
inline constexpr ValueId kUnknownValue = 0;

// How positions of a kPack's operands can be relied on; Value::index tells it.
enum class PackOrder : std::uint32_t { kTuple = 0, kCollection = 1, kMap = 2 };

class ValueGraph {
 public:
  ValueGraph() { clear(); }

  // Back to the one kUnknown; keeps memory.
  void clear();

  // The value of that description, made at `offset` unless there is one already.
  ValueId make(Value::Kind kind, std::uint32_t index, ValueId parent,
               std::uint32_t offset, std::span<const ValueId> operands = {});

  // A kPack of a map's values. The keys, one for each, stand behind the operands.
  ValueId make_map(std::span<const ValueId> values_then_keys, std::uint32_t offset);

  // A new kUnion, equal to no other.
  ValueId make_union(std::uint32_t offset);

  // Adds to a kUnion what is not there yet. False when it is full: then `value` is
  // not in it, kUnknown is, and `value` has to be treated as escaped.
  bool add_to_union(ValueId whole, ValueId value);

  const Value& operator[](ValueId id) const { return values_[id]; }
  std::size_t size() const { return values_.size(); }
  // Numbers held besides values, to bound memory by.
  std::size_t operand_count() const { return operands_.size() + links_.size(); }

  // Operands of anything but a kUnion. Valid until the next make().
  std::span<const ValueId> operands(ValueId id) const;
  ValueId map_key(ValueId map, std::uint32_t position) const;

  // Calls `visit(ValueId)` for each operand of a kUnion.
  template <typename Visit>
  void for_each_in_union(ValueId whole, Visit visit) const {
    for (std::uint32_t at = values_[whole].first_operand; at != kNoIndex;
         at = links_[at].next) {
      visit(links_[at].value);
    }
  }

  // Moves everything into `summary`, with the unions' operands in place.
  void move_into(CodeSummary& summary);

 private:
  struct Link {
    ValueId value;
    std::uint32_t next;
  };

  ValueId intern(Value value, std::span<const ValueId> stored);
  void grow_table();
  static std::uint32_t hash_of(const Value& value, std::span<const ValueId> stored);
  std::uint32_t stored_count(const Value& value) const;

  std::vector<Value> values_;
  std::vector<ValueId> operands_;
  std::vector<Link> links_;
  // Open addressing; 0 is free, for kUnknown is never looked up.
  std::vector<ValueId> table_;
  std::size_t interned_ = 0;
};

}  // namespace waybill::bytecode
