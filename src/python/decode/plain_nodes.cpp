// Instances of ordinary classes among plain data. Tested by
// tests/python/cache/test_recipes.py and test_known_classes.py.

#include <algorithm>
#include <array>
#include <utility>

#include "format/shapes.h"
#include "python/decode/plain_loop.h"
#include "python/decode/scalars.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "verify/short_call.h"
#include "wire/format.h"

namespace waybill::py {

bool PlainLoop::is_nothing_next(std::size_t more) const {
  return static_cast<std::size_t>(end_ - at_) >= 2 + more &&
         at_[0] == wire::kEmptyArray && at_[1] == wire::kEmptyMap &&
         built_.positions.are_none_before(static_cast<std::uint64_t>(at_ - start_) + 2 +
                                          more);
}

// Null if the class has a say in how its instances are made, or has not got its
// attributes yet.
Ref PlainLoop::new_instance(PyObject* type) {
  if (!PyType_Check(type)) return {};
  auto* cls = reinterpret_cast<PyTypeObject*>(type);
  if (!state_->ordinary_types.know(cls)) {
    built_.hide();  // To look at a class may run code, if it is a strange one.
    if (!state_->ordinary_types.have(state_->names, cls)) return {};
  }
  if (is_trusted_ && std::ranges::find(*open_types_, type) != open_types_->end()) {
    return {};
  }
  const Ref no_arguments = Ref::steal(PyTuple_New(0));
  return Ref::steal(cls->tp_new(cls, no_arguments.get(), nullptr));
}

// A reference. What else makes a class is not for here, and would be read by recursion.
bool PlainLoop::is_class_next() const {
  return at_ != end_ && wire::kLeads[*at_].counts == wire::Counts::kBytes;
}

// What is still open may need to know what stands between it and a reference, so no
// argument refers to it.
bool PlainLoop::read_call(Ref& value, std::size_t offset, std::uint64_t count,
                          std::size_t slot) {
  using envelope::ShortCall;
  if (maker_ == nullptr || count != envelope::shape_of(wire::NodeTag::kObject).least) {
    return false;
  }
  std::array<Ref, 1 + ShortCall::kMaxArguments> parts;  // The callable first.
  Ref* next = parts.data();
  const auto take_reference = [&](std::uint64_t number) {
    const Slot* const named = slot_of_reference(number);
    if (named == nullptr || named->depth != 0) return false;
    *next = named->object;
    return static_cast<bool>(*next++);
  };
  const auto take_leaf = [&](BytesView bytes) {
    *next = leaf(bytes);
    return static_cast<bool>(*next++);
  };
  const auto call = envelope::short_call_at({at_, end_}, take_reference, take_leaf);
  const auto position = static_cast<std::uint64_t>(at_ - start_);
  if (call.size == 0 || !built_.positions.are_none_before(position + call.size) ||
      !maker_->may_make(parts.front().get())) {
    return false;
  }
  std::array<PyObject*, ShortCall::kMaxArguments> arguments;
  for (std::size_t i = 0; i < call.arguments; ++i) arguments[i] = parts[i + 1].get();
  at_ += call.size;
  built_.hide();
  value = maker_->make(parts.front().get(), {arguments.data(), call.arguments}, offset);
  built_.cost = {};
  note(slot, value.get());
  return true;
}

// Of a leaf that is no extension, and was verified.
Ref PlainLoop::leaf(BytesView bytes) {
  const wire::Lead& lead = wire::kLeads[bytes[0]];
  if (lead.counts == wire::Counts::kNothing) {
    wire::Token token;
    wire::set_scalar(token, bytes.data());
    return scalar_of(token);
  }
  const BytesView content = bytes.subspan(lead.head);
  if (wire::bytes_type(bytes[0]) == wire::TokenType::kText) {
    const auto room = static_cast<std::size_t>(end_ - content.data());
    return built_.texts.make(content.data(), content.size(), room);
  }
  return Ref::steal(
      PyBytes_FromStringAndSize(reinterpret_cast<const char*>(content.data()),
                                static_cast<Py_ssize_t>(content.size())));
}

// [class, [], {}, {name: …}, [], {}]: its state goes straight into its dict.
bool PlainLoop::open_instance(const std::uint8_t* start, std::uint64_t count,
                              std::size_t slot) {
  const bool are_built = is_trusted_ ? open_types_ != nullptr : state_ != nullptr;
  Ref type;
  if (!are_built || count != envelope::shape_of(wire::NodeTag::kNewObject).most ||
      !is_class_next() || !read(type) || !is_nothing_next(1)) {
    return false;
  }
  const std::uint8_t* const map = at_ + 2;
  const wire::Lead& lead = wire::kLeads[*map];
  if (lead.counts != wire::Counts::kPairs || lead.head > end_ - map) return false;
  const std::uint64_t values = 2 * wire::length_of(lead, map);
  // Those who verify count the node and its state as two containers.
  if (values == 0 || !announce(values) || max_depth_ < 2 ||
      built_.stack.size() + open_instances_ >= max_depth_ - 1) {
    return false;
  }
  Ref instance = new_instance(type.get());
  if (!instance) return false;
  Ref dict = instance_dict(instance.get());
  if (!dict || !PyDict_CheckExact(dict.get())) return false;
  at_ = map + lead.head;
  if (!is_trusted_) ++open_instances_;
  built_.cost = {};
  Frame frame;
  frame.kind = FrameKind::kInstance;
  frame.object = std::move(dict);
  frame.instance = std::move(instance);
  frame.left = values;
  frame.offset = base_ + static_cast<std::size_t>(map - start_);
  frame.instance_offset = base_ + static_cast<std::size_t>(start - start_);
  frame.slot = slot;
  frame.is_whole = true;
  built_.push(std::move(frame));
  return false;
}

}  // namespace waybill::py
