// Objects that a call makes, with a few leaves and objects that came before, and
// nothing more: dates, decimals, paths and the like. Tested by
// tests/python/kinds/test_reduced_received.py.

#include <array>

#include "python/decode/graph_decoder.h"
#include "python/decode/standard_types.h"

namespace waybill::py {

namespace {

using wire::kEmptyArray;
using wire::kEmptyMap;
using wire::kNilByte;

constexpr std::size_t kMaxArguments = 8;

// [callable, [argument, …], nil, [], {}], where the callable is one that came before.
struct Call {
  std::uint64_t callable = 0;  // The number of the reference.
  std::size_t start = 0;       // Where the arguments begin; 0 if it is not so.
  std::size_t count = 0;
  std::size_t end = 0;
  // Numbers of references among the arguments.
  std::array<std::uint64_t, kMaxArguments> references{};
  std::size_t reference_count = 0;
};

// The size of a leaf or reference; 0 if something else is there, or not all of it.
std::size_t size_of_argument(BytesView bytes) {
  if (const std::size_t size = wire::size_of_reference(bytes)) return size;
  if (bytes.empty()) return 0;
  const wire::Lead& lead = wire::kLeads[bytes[0]];
  if (lead.head > bytes.size()) return 0;
  if (lead.counts == wire::Counts::kNothing) return lead.head;
  if (lead.counts != wire::Counts::kBytes ||
      wire::bytes_type(bytes[0]) == wire::TokenType::kExtension) {
    return 0;
  }
  const std::uint64_t length = wire::length_of(lead, bytes.data());
  return length <= bytes.size() - lead.head ? lead.head + length : 0;
}

Call call_at(BytesView node) {
  const std::size_t reference = wire::size_of_reference(node);
  Call call;
  if (reference == 0 || reference >= node.size() ||
      !wire::index_of(node.subspan(2, reference - 2), call.callable)) {
    return {};
  }
  call.count = node[reference] & 0x0f;
  if ((node[reference] & 0xf0) != kEmptyArray || call.count > kMaxArguments) return {};
  call.end = reference + 1;
  for (std::size_t i = 0; i < call.count; ++i) {
    const BytesView argument = node.subspan(call.end);
    const std::size_t size = size_of_argument(argument);
    if (size == 0) return {};
    if (wire::size_of_reference(argument) != 0 &&
        !wire::index_of(argument.subspan(2, size - 2),
                        call.references[call.reference_count++])) {
      return {};
    }
    call.end += size;
  }
  const BytesView rest = node.subspan(call.end);
  if (rest.size() < 3 || rest[0] != kNilByte || rest[1] != kEmptyArray ||
      rest[2] != kEmptyMap) {
    return {};
  }
  call.start = reference + 1;
  call.end += 3;
  return call;
}

}  // namespace

Ref GraphDecoder::read_reduced(const Frame& frame) {
  const Call call = call_at(reader_.rest());
  if (call.start == 0 ||
      frame.left != envelope::shape_of(wire::NodeTag::kObject).least || history_ ||
      call.callable >= built_.slots.size() ||
      !built_.positions.are_none_before(reader_.offset() + call.end - start_)) {
    return {};
  }
  const Ref callable = built_.slots[call.callable].object;
  if (!callable || counts_keys_of(callable.get())) return {};
  // What is open yet may need to know what stands between it and the reference.
  for (std::size_t i = 0; i < call.reference_count; ++i) {
    const std::uint64_t number = call.references[i];
    if (number >= built_.slots.size() || built_.slots[number].depth != 0) return {};
  }
  BytesView passed;
  reader_.take(passed, call.start);
  std::array<Ref, kMaxArguments> arguments;
  std::array<PyObject*, kMaxArguments> vector{};
  for (std::size_t i = 0; i < call.count; ++i) {
    wire::Token token;
    if (!reader_.next(token)) raise(state_, reader_.error());
    offset_ = token.offset;
    arguments[i] = leaf(token, false);
    vector[i] = arguments[i].get();
  }
  reader_.take(passed, 3);
  offset_ = frame.offset;
  if (const StandardType* type = standard_type(*this, callable.get())) {
    demand_arguments(*this, *type, {vector.data(), call.count});
  }
  const CollectorPause::Break others(collector_);
  Ref object = Ref::steal(
      PyObject_Vectorcall(callable.get(), vector.data(), call.count, nullptr));
  set_slot(frame.slot, object.get());
  last_slot_ = frame.slot;
  built_.cost = {};
  return object;
}

}  // namespace waybill::py
