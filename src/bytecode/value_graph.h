#pragma once

// Builds the graph of Values: equal values are interned, and unions can grow.

#include <cstdint>
#include <span>
#include <vector>

#include "waybill/bytecode.h"

namespace waybill::bytecode {

// The only kUnknown; always exists.
inline constexpr ValueId kUnknownValue = 0;

// The meaning of the positions of a kPack's operands; stored in Value::index.
enum class PackOrder : std::uint32_t { kTuple = 0, kCollection = 1, kMap = 2 };

class ValueGraph {
 public:
  ValueGraph() { clear(); }

  // Resets to the single kUnknown, and keeps the memory.
  void clear();

  // The value of this description; created with `offset` if it does not exist.
  ValueId make(Value::Kind kind, std::uint32_t index, ValueId parent,
               std::uint32_t offset, std::span<const ValueId> operands = {});

  // A kPack of a dict's values. The keys, one for each, follow the operands.
  ValueId make_map(std::span<const ValueId> values_then_keys, std::uint32_t offset);

  // A new kUnion, equal to no other.
  ValueId make_union(std::uint32_t offset);

  // Adds a value to a kUnion unless it is there. False if the union is full: it
  // contains kUnknown instead of `value`, and the caller must let `value` escape.
  bool add_to_union(ValueId whole, ValueId value);

  const Value& operator[](ValueId id) const { return values_[id]; }
  std::size_t size() const { return values_.size(); }
  // The number of stored operands, to bound memory.
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
  // Open addressing; 0 is free: kUnknown is never interned.
  std::vector<ValueId> table_;
  std::size_t interned_count_ = 0;
};

}  // namespace waybill::bytecode
