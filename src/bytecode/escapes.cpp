// Tested by tests/bytecode/summarize_test.cpp.

#include "bytecode/escapes.h"

#include <algorithm>

#include "bytecode/flow_state.h"

namespace waybill::bytecode {

void Escapes::clear() { has_escaped_.clear(); }

bool Escapes::matters(ValueId value) const {
  switch (graph_[plain(value)].kind) {
    case Value::Kind::kUnknown:
    case Value::Kind::kConstant:
    case Value::Kind::kInteger:
      return false;
    default:
      return true;
  }
}

void Escapes::add(ValueId value) {
  value = plain(value);
  if (!matters(value)) return;
  if (graph_[value].kind == Value::Kind::kPack) {
    const auto operands = graph_.operands(value);
    if (std::none_of(operands.begin(), operands.end(),
                     [this](ValueId operand) { return matters(operand); })) {
      return;
    }
  }
  if (value >= has_escaped_.size()) has_escaped_.resize(graph_.size() + 16, 0);
  if (has_escaped_[value] != 0) return;
  has_escaped_[value] = 1;
  summary_.escapes.push_back(value);
}

void Escapes::add_packs_behind_attributes() {
  const std::size_t count = graph_.size();
  for (ValueId id = 0; id < count; ++id) {
    if (graph_[id].kind != Value::Kind::kAttribute) continue;
    const ValueId parent = graph_[id].parent;
    if (graph_[parent].kind == Value::Kind::kPack) add(parent);
    if (graph_[parent].kind != Value::Kind::kUnion) continue;
    graph_.for_each_in_union(parent, [this](ValueId value) {
      if (graph_[value].kind == Value::Kind::kPack) add(value);
    });
  }
}

}  // namespace waybill::bytecode
