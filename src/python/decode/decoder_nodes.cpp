// Nodes: those that a codec builds, instances of ordinary classes, objects that a short
// call makes, and what is made elsewhere.
// Tested by tests/python/kinds/test_instances_received.py and
// tests/python/kinds/test_reduced_received.py.

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "python/decode/early_binding.h"
#include "python/decode/graph_decoder.h"
#include "python/decode/nodes/opaque.h"
#include "python/decode/standard_types.h"
#include "python/runtime/attribute.h"

namespace waybill::py {

namespace {

using wire::kEmptyArray;
using wire::kEmptyMap;
using wire::kNilByte;
using wire::NodeTag;
using wire::Token;

// Most nodes have no more parts.
constexpr std::size_t kUsualParts = 8;

constexpr bool is_leaf(envelope::Rule rule) {
  using enum envelope::Rule;
  return rule == kText || rule == kTextOrNil || rule == kBoolean || rule == kBinary ||
         rule == kIdOrNil || rule == kUnsigned || rule == kCodeIndex ||
         rule == kModuleOrNil;
}

// Whether all parts of such a node are leaves.
constexpr bool is_of_leaves(const envelope::Shape& shape) {
  if (shape.most == envelope::kMany) return false;
  return std::all_of(shape.parts.begin(), shape.parts.begin() + shape.most,
                     [](const envelope::Part& part) { return is_leaf(part.rule); });
}

// By tag, from 1 on.
constexpr auto kAreOfLeaves = [] {
  std::array<bool, envelope::kShapes.size() + 1> all{};
  for (std::size_t i = 0; i < envelope::kShapes.size(); ++i) {
    all[i + 1] = is_of_leaves(envelope::kShapes[i]);
  }
  return all;
}();

}  // namespace

Ref GraphDecoder::open_node(const Token& token, std::uint8_t tag) {
  Frame frame;
  frame.left = token.count - 1;
  frame.offset = token.offset;
  frame.slot = slot_at(token.offset);
  switch (static_cast<NodeTag>(tag)) {
    case NodeTag::kTuple:
      frame.kind = FrameKind::kTuple;
      frame.object = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(frame.left)));
      return push(std::move(frame));
    case NodeTag::kSet:
      frame.kind = FrameKind::kSet;
      frame.object = Ref::steal(PySet_New(nullptr));
      return push(std::move(frame));
    case NodeTag::kFrozenSet:
      frame.kind = FrameKind::kFrozenSet;
      frame.object = Ref::steal(PyFrozenSet_New(nullptr));
      return push(std::move(frame));
    default:
      break;
  }
  if (static_cast<NodeTag>(tag) == NodeTag::kObject) {
    if (Ref object = read_call(frame)) return object;
  }
  frame.kind = FrameKind::kNode;
  frame.node = new_parts(tag);
  if (kAreOfLeaves[tag]) return read_leaves(frame);
  const NodeCodec& codec = *frame.node->codec;
  if (codec.create != nullptr && codec.create_after == 0) {
    frame.object = call_codec(codec.create, frame);
  }
  return push(std::move(frame));
}

std::unique_ptr<NodeParts> GraphDecoder::new_parts(std::uint8_t tag) {
  const NodeCodec* codec = node_codec(tag);
  if (codec == nullptr ||
      (nested_ != nullptr && !envelope::shape_of(tag)->is_constant)) {
    fail(ErrorCode::kUnknownTag, "a node that has no meaning here");
  }
  std::unique_ptr<NodeParts> parts = std::move(spare_parts_);
  if (!parts) {
    parts = std::make_unique<NodeParts>();
    parts->children.reserve(kUsualParts);
  }
  parts->codec = codec;
  return parts;
}

void GraphDecoder::give_back(std::unique_ptr<NodeParts> parts) {
  parts->clear();
  spare_parts_ = std::move(parts);
}

void GraphDecoder::deliver_to_node(Frame& frame, Ref value) {
  frame.node->children.push_back(std::move(value));
  const NodeCodec& codec = *frame.node->codec;
  if (codec.create != nullptr && !frame.object &&
      frame.node->children.size() == codec.create_after) {
    offset_ = frame.offset;
    frame.object = call_codec(codec.create, frame);
    if (PyType_Check(frame.object.get()) && !frame.is_known) {
      arrivals_.open_type(frame.object.get());
    }
    set_slot(frame.slot, frame.object.get());
    if (!frame.is_opaque) bind_early(built_.stack, frame.object.get());
  }
  if (codec.tag == NodeTag::kObject || codec.tag == NodeTag::kNewObject) {
    pass_nothing(frame);
  }
}

// Most objects have no items and no pairs, and many no state: what follows is passed
// over where it says just that.
void GraphDecoder::pass_nothing(Frame& frame) {
  constexpr std::array<std::uint8_t, 3> kNothing = {kNilByte, kEmptyArray, kEmptyMap};
  const std::size_t least = envelope::shape_of(frame.node->codec->tag).least;
  const auto left = static_cast<std::size_t>(frame.left);
  if (left < 2 || left > kNothing.size() || history_ ||
      frame.node->children.size() + left != least) {
    return;
  }
  const BytesView nothing = BytesView(kNothing).last(left);
  if (!std::ranges::equal(reader_.rest().first(left), nothing) ||
      !built_.positions.are_none_before(reader_.offset() + left - start_)) {
    return;
  }
  BytesView passed;
  reader_.take(passed, left);
  frame.left = 0;
}

HashCost GraphDecoder::cost_of_earlier(const Frame& earlier) const {
  // What comparing it takes is not noted, so where that counts it is no key.
  if (built_.keys.is_strict()) return {kMaxHashDepth + 1, 1};
  const Py_ssize_t payload =
      PyLong_AsSsize_t(earlier.part<NodeTag::kStreamReference>("payload"));
  PyErr_Clear();  // Beyond any list.
  return history_.cost_of(payload, earlier.part<NodeTag::kStreamReference>("position"));
}

Ref GraphDecoder::finish_node() {
  Frame& open = built_.stack.back();
  offset_ = open.offset;
  last_slot_ = open.slot;
  const NodeCodec& codec = *open.node->codec;
  HashCost cost;
  if (codec.tag == NodeTag::kSlice || codec.tag == NodeTag::kRange) {
    cost = open.cost.around(open.position);
  }
  if (codec.tag == NodeTag::kSlice && cost.depth > kMaxHashDepth) {
    // Python drops them on the C stack, one inside the other.
    fail(ErrorCode::kLimitExceeded, "more than 1000 slices inside each other");
  }
  if (codec.finish != nullptr && !open.node->instead && !open.is_opaque) {
    Ref finished = call_codec(codec.finish, open);
    if (!open.object) open.object = std::move(finished);
  }
  if (open.is_opaque) describe_opaque(*this, open);
  Ref object = open.node->instead ? open.node->instead : open.object;
  Frame frame = std::move(open);
  built_.stack.pop_back();
  arrivals_.close_type(frame.object.get());
  note_node(frame, object.get(), cost);
  give_back(std::move(frame.node));
  return object;
}

void GraphDecoder::note_node(const Frame& frame, PyObject* object,
                             const HashCost& cost) {
  set_slot(frame.slot, object);
  if (frame.slot != kNoSlot) built_.slots[frame.slot].cost = cost;
  built_.cost = cost;
  remember(frame.offset, object);
  arrivals_.show(frame.offset - start_, object, frame.is_known);
}

// A node whose parts are all leaves: it is built at once and never stands on the stack.
Ref GraphDecoder::read_leaves(Frame& frame) {
  const NodeCodec& codec = *frame.node->codec;
  for (; frame.left != 0; --frame.left) {
    Token token;
    if (!reader_.next(token)) raise(state_, reader_.error());
    offset_ = token.offset;
    frame.node->children.push_back(part_of(codec.tag, token));
  }
  offset_ = frame.offset;
  last_slot_ = frame.slot;
  HashCost cost;
  if (codec.tag == NodeTag::kStreamReference) cost = cost_of_earlier(frame);
  Ref object = call_codec(codec.create == nullptr ? codec.finish : codec.create, frame);
  if (frame.is_opaque) describe_opaque(*this, frame);
  note_node(frame, object.get(), cost);
  give_back(std::move(frame.node));
  return object;
}

// A leaf, but for what the maker of the node wants in its place.
Ref GraphDecoder::part_of(NodeTag node, const Token& token) {
  if (node == NodeTag::kByteArray) {
    return Ref::steal(PyByteArray_FromStringAndSize(
        token.text().data(), static_cast<Py_ssize_t>(token.bytes.size())));
  }
  if (node == NodeTag::kGlobal && token.type == wire::TokenType::kExtension &&
      token.ext_type == static_cast<std::uint8_t>(wire::ExtType::kModule)) {
    return Ref::steal(PyLong_FromUnsignedLongLong(module_index(token)));
  }
  return leaf(token, false);
}

// The state is there; items and pairs follow, and most have none. They are for an
// instance that has no state yet, so it is taken away until they came.
Ref GraphDecoder::finish_instance(Frame frame) {
  constexpr std::size_t kState =
      envelope::position_of(wire::NodeTag::kNewObject, "state");
  if (!frame.is_apart) {
    const Ref dict = std::exchange(frame.object, {});
    frame.object = Ref::steal(PyDict_Copy(dict.get()));
    PyDict_Clear(dict.get());
  }
  Frame node;
  node.left = envelope::shape_of(wire::NodeTag::kNewObject).most - kState - 1;
  node.position = kState + 1;
  node.offset = frame.instance_offset;
  node.slot = frame.slot;
  node.object = std::move(frame.instance);
  node.node = new_parts(static_cast<std::uint8_t>(wire::NodeTag::kNewObject));
  node.node->children.resize(kState);  // Class, arguments and keywords did their work.
  node.node->children.push_back(std::move(frame.object));
  return push(std::move(node));
}

// What the loop of plain data builds among plain data is built by it elsewhere too.
Ref GraphDecoder::read_call(const Frame& frame) {
  plain_.go_to(reader_.offset());
  Ref object;
  if (!plain_.read_call(object, frame.offset, frame.left, frame.slot)) return {};
  if (!reader_.skip_to(plain_.offset())) raise(state_, reader_.error());
  offset_ = frame.offset;
  last_slot_ = frame.slot;
  return object;
}

Ref GraphDecoder::make(PyObject* callable, std::span<PyObject* const> arguments,
                       std::size_t offset) {
  offset_ = offset;
  if (const StandardType* type = standard_type(*this, callable)) {
    demand_arguments(*this, *type, arguments);
  }
  return outside([&] {
    return Ref::steal(
        PyObject_Vectorcall(callable, arguments.data(), arguments.size(), nullptr));
  });
}

// Text, None, booleans and numbers: no code of others compares them.
Ref parts_of_namespace(const Frame& frame) {
  const std::vector<Ref>& parts = frame.node->children;
  Ref key = Ref::steal(PyTuple_New(std::ssize(parts)));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    PyTuple_SET_ITEM(key.get(), static_cast<Py_ssize_t>(i),
                     Ref::share(parts[i].get()).release());
  }
  return key;
}

Ref GraphDecoder::known_namespace(const Frame& frame) const {
  if (!namespaces_ || frame.part<NodeTag::kNamespace>("name") == Py_None) return {};
  PyObject* found =
      PyDict_GetItemWithError(namespaces_.get(), parts_of_namespace(frame).get());
  if (found == nullptr && PyErr_Occurred()) throw PyError();
  return Ref::share(found);
}

void GraphDecoder::note_namespace(const Frame& frame, const Ref& globals) {
  if (!namespaces_) namespaces_ = Ref::steal(PyDict_New());
  check(PyDict_SetItem(namespaces_.get(), parts_of_namespace(frame).get(),
                       globals.get()));
}

// Makes of an attribute that a class has in another Python what it has in this one;
// false if that is nothing.
bool GraphDecoder::translate(Ref& name, Ref& value) {
  const Ref answer = outside([&] {
    return Ref::steal(PyObject_CallFunctionObjArgs(
        late(state_, &LateHelpers::class_attribute), name.get(), value.get(), nullptr));
  });
  if (answer.get() == Py_None) return false;
  name = Ref::share(PyTuple_GetItem(answer.get(), 0));
  value = Ref::share(PyTuple_GetItem(answer.get(), 1));
  return true;
}

bool has_name(const Frame& frame, PyObject* name) {
  return PyUnicode_CheckExact(name) && raw_get(frame.object.get(), name) != nullptr;
}

void GraphDecoder::deliver_to_dict(Frame& frame, Ref value) {
  if (!frame.key) {
    demand_hashable(value.get(), frame);
    frame.key = std::move(value);
    return;
  }
  Ref key = std::move(frame.key);
  if (frame.kind == FrameKind::kFields) {
    const std::vector<Ref>& cells = built_.stack[built_.stack.size() - 2].node->cells;
    set_function_field(*this, frame.object.get(), cells,
                       PyLong_AsUnsignedLong(key.get()), value.get());
  } else if (frame.kind == FrameKind::kAttributes) {
    if (code_->is_foreign() && !frame.is_opaque && !translate(key, value)) return;
    hashed(PyDict_SetItem(frame.gathered.get(), key.get(), value.get()));
    if (frame.is_known || frame.is_opaque) return;  // Until all is complete.
    outside([&] {
      set_class_attribute(state_, frame.object.get(), key.get(), value.get());
    });
  } else if (frame.has_late || (must_wait() && !is_simple(key.get()))) {
    // Those that follow wait too: the order of a dict means something.
    frame.has_late = true;
    frame.is_whole = false;
    late_.push_back({frame.object, key, std::move(value)});
  } else if (frame.is_known && !frame.is_bound && has_name(frame, key.get()) &&
             PyUnicode_Compare(key.get(), state_.names.path.get()) != 0) {
    // Another function has brought it, which has the same namespace.
  } else {
    const bool is_of_module = frame.is_namespace && !frame.is_known;
    if (std::exchange(frame.is_bound, false) || is_of_module) {
      // Names stand in the order in which their values are complete; those of a module
      // in its own, whoever brought them first.
      if (PyDict_DelItem(frame.object.get(), key.get()) != 0) forgive(PyExc_KeyError);
    }
    // Keys that were unequal at the sender's may be equal here; those of data may not.
    if (!is_data_only_ && !is_simple(key.get())) frame.is_whole = false;
    hashed(put(frame.object.get(), key.get(), value.get()));
  }
}

void GraphDecoder::put_instead(PyObject* object) {
  // The frame of kReplacement itself is on top.
  Frame* around =
      built_.stack.size() < 2 ? nullptr : &built_.stack[built_.stack.size() - 2];
  const bool is_state =
      around != nullptr && (around->awaits<NodeTag::kObject>("state") ||
                            around->awaits<NodeTag::kNewObject>("state"));
  if (!is_state) {
    fail(ErrorCode::kMalformed, "an object that stands in for nothing");
  }
  around->node->instead = Ref::share(object);
}

}  // namespace waybill::py
