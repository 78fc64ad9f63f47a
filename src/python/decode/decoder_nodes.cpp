// Builds the nodes that have codecs.
// Tested by tests/python/kinds/test_instances_received.py and
// tests/python/kinds/test_reduced_received.py.

#include <algorithm>
#include <array>
#include <memory>
#include <memory_resource>
#include <utility>

#include "python/decode/graph_decoder.h"
#include "python/decode/nodes/node_codecs.h"
#include "python/runtime/attribute.h"

namespace waybill::py {

namespace {

using wire::kEmptyArray;
using wire::kEmptyMap;
using wire::kNilByte;
using wire::NodeTag;

constexpr std::size_t kUsualPartCount = 8;

constexpr bool is_leaf(envelope::Rule rule) {
  using enum envelope::Rule;
  return rule == kText || rule == kTextOrNil || rule == kBoolean || rule == kBinary ||
         rule == kIdOrNil || rule == kUnsigned || rule == kCodeIndex ||
         rule == kModuleOrNil;
}

// Whether all parts of a node are leaves.
constexpr bool has_only_leaves(const envelope::Shape& shape) {
  if (shape.max_count == envelope::kMany) return false;
  return std::all_of(shape.parts.begin(), shape.parts.begin() + shape.max_count,
                     [](const envelope::Part& part) { return is_leaf(part.rule); });
}

// Whether the parts of a node are leaves, by its tag. Tags start at 1.
constexpr auto kHasOnlyLeaves = [] {
  std::array<bool, envelope::kShapes.size() + 1> all{};
  for (std::size_t i = 0; i < envelope::kShapes.size(); ++i) {
    all[i + 1] = has_only_leaves(envelope::kShapes[i]);
  }
  return all;
}();

// Binds a class or function to its name, cell or attribute before it is complete,
// because building its parts may call functions that read the binding. Methods are not
// bound, since code reaches them only through their class.
void bind_early(std::pmr::vector<Frame>& stack, PyObject* object) {
  if (stack.size() < 2 || (!PyType_Check(object) && !PyFunction_Check(object))) {
    return;
  }
  Frame& around = stack[stack.size() - 2];
  if (around.is_namespace) {
    const bool is_taken =
        around.is_existing && around.key && has_name(around, around.key.get());
    if (!is_taken && around.key && PyUnicode_CheckExact(around.key.get())) {
      check(PyDict_SetItem(around.object.get(), around.key.get(), object));
      around.is_bound = true;
    }
  } else if (around.kind == FrameKind::kAttributes) {
    const bool is_new = !around.is_existing && !around.is_opaque;
    const bool is_plain = Py_IS_TYPE(around.object.get(), &PyType_Type);
    if (!is_new || !is_plain || !around.key || !PyType_Check(object)) return;
    check(PyObject_SetAttr(around.object.get(), around.key.get(), object));
  } else if (around.awaits<NodeTag::kCell>("content")) {
    check(PyCell_Set(around.object.get(), object));
  } else if (around.kind == FrameKind::kList && stack.size() >= 4) {
    const Frame& fields = stack[stack.size() - 3];
    if (!fields.awaits_field(wire::FunctionField::kCells)) return;
    const std::vector<Ref>& cells = stack[stack.size() - 4].node->cells;
    if (around.position < cells.size()) {
      check(PyCell_Set(cells[around.position].get(), object));
    }
  }
}

}  // namespace

bool GraphDecoder::open_node(Ref& value, std::uint8_t tag, std::uint64_t count,
                             std::size_t offset, std::size_t slot) {
  Frame frame{
      .remaining = count, .offset = offset, .slot = slot, .node = new_parts(tag)};
  if (kHasOnlyLeaves[tag]) {
    value = read_parts(frame);
    return true;
  }
  const NodeCodec& codec = *frame.node->codec;
  if (codec.create != nullptr && codec.create_after == 0) {
    frame.object = call_codec(codec.create, frame);
  }
  push(std::move(frame));
  return false;
}

std::unique_ptr<NodeParts> GraphDecoder::new_parts(std::uint8_t tag) {
  const NodeCodec* codec = node_codec(tag);
  if (codec == nullptr ||
      (context_->nested != nullptr && !envelope::shape_of(tag)->is_constant)) {
    fail(ErrorCode::kUnknownTag, "a node whose tag is unknown, or not allowed here");
  }
  std::unique_ptr<NodeParts> parts = std::move(spare_parts_);
  if (!parts) {
    parts = std::make_unique<NodeParts>();
    parts->children.reserve(kUsualPartCount);
  }
  parts->codec = codec;
  return parts;
}

void GraphDecoder::recycle_parts(std::unique_ptr<NodeParts> parts) {
  parts->clear();
  spare_parts_ = std::move(parts);
}

void GraphDecoder::deliver_to_node(Frame& frame, Ref value) {
  --frame.remaining;
  ++frame.position;
  frame.cost.add(built_.cost);
  frame.node->children.push_back(std::move(value));
  const NodeCodec& codec = *frame.node->codec;
  if (codec.create != nullptr && !frame.object &&
      frame.node->children.size() == codec.create_after) {
    offset_ = frame.offset;
    frame.object = call_codec(codec.create, frame);
    if (PyType_Check(frame.object.get()) && !frame.is_existing) {
      received_definitions().open_type(frame.object.get());
    }
    built_.set_slot(frame.slot, frame.object.get());
    if (!frame.is_opaque) bind_early(built_.stack, frame.object.get());
  }
  if (frame.is_reduced()) skip_empty_rest(frame);
}

Ref GraphDecoder::call_codec(Ref (*codec)(GraphDecoder&, Frame&), Frame& frame) {
  const auto call = [&] { return run_foreign([&] { return codec(*this, frame); }); };
  if (hooks().opaque == nullptr) return call();
  built_.hide();
  Ref cause = opaque_cause(*this, frame);
  if (!cause) {
    try {
      return call();
    } catch (const PyError&) {
      if (!can_be_opaque(state_, frame)) throw;
      cause = take_error();
    }
  }
  Ref object = make_opaque(*this, frame, cause.get());
  if (frame.node->codec->tag == NodeTag::kFunction) {
    frame.node->cells = take_fresh_cells();
  }
  frame.object = object;
  frame.is_opaque = true;
  return object;
}

// Most objects have no items and no pairs, and many no state. Skips these parts if all
// of them are empty.
void GraphDecoder::skip_empty_rest(Frame& frame) {
  constexpr std::array<std::uint8_t, 3> kEmptyRest = {kNilByte, kEmptyArray, kEmptyMap};
  const std::size_t least = envelope::shape_of(frame.node->codec->tag).min_count;
  const auto remaining = static_cast<std::size_t>(frame.remaining);
  if (remaining < 2 || remaining > kEmptyRest.size() || keeps_history_ ||
      frame.node->children.size() + remaining != least) {
    return;
  }
  const BytesView empty_rest = BytesView(kEmptyRest).last(remaining);
  if (!std::ranges::equal(BytesView(at_, remaining), empty_rest) ||
      !built_.positions.are_none_before(position_at(at_) + remaining)) {
    return;
  }
  at_ += remaining;
  frame.remaining = 0;
}

HashCost GraphDecoder::cost_of_earlier(const Frame& earlier) const {
  // Where costs are limited, the object cannot be a key, because its cost is unknown.
  if (built_.keys.is_strict()) return {kMaxHashDepth + 1, 1};
  const auto part = earlier.parts<NodeTag::kStreamReference>();
  return context_->history.cost_of(part("payload"), part("position"));
}

Ref GraphDecoder::finish_node() {
  Frame& open = built_.stack.back();
  offset_ = open.offset;
  const NodeCodec& codec = *open.node->codec;
  HashCost cost;
  if (codec.tag == NodeTag::kSlice || codec.tag == NodeTag::kRange) {
    cost = open.cost.of_container(open.position);
  }
  if (codec.tag == NodeTag::kSlice && cost.depth > kMaxHashDepth) {
    // Python deallocates nested slices recursively on the C stack.
    fail(ErrorCode::kLimitExceeded, "slices nested more than 1000 deep");
  }
  if (codec.finish != nullptr && !open.node->replacement && !open.is_opaque) {
    Ref finished = call_codec(codec.finish, open);
    if (!open.object) open.object = std::move(finished);
  }
  if (open.is_opaque) describe_opaque(*this, open);
  Ref object = open.node->replacement ? open.node->replacement : open.object;
  Frame frame = std::move(open);
  built_.stack.pop_back();
  received_definitions().close_type(frame.object.get());
  record_node(object, frame, cost);
  recycle_parts(std::move(frame.node));
  return object;
}

void GraphDecoder::record_node(Ref& object, const Frame& frame, const HashCost& cost) {
  built_.cost = cost;
  received_definitions().report_node(position_of(frame), object.get(),
                                     frame.is_existing);
  record(object, frame.slot, frame.offset);
}

// A node of leaves is built at once and needs no frame on the stack.
Ref GraphDecoder::read_parts(Frame& frame) {
  const NodeCodec& codec = *frame.node->codec;
  for (; frame.remaining != 0; --frame.remaining) {
    offset_ = offset();
    frame.node->children.push_back(read_part(codec.tag));
  }
  offset_ = frame.offset;
  HashCost cost;
  if (codec.tag == NodeTag::kStreamReference) cost = cost_of_earlier(frame);
  Ref object = call_codec(codec.create == nullptr ? codec.finish : codec.create, frame);
  if (frame.is_opaque) describe_opaque(*this, frame);
  record_node(object, frame, cost);
  recycle_parts(std::move(frame.node));
  return object;
}

// Reads a leaf, or for a kGlobal node the number of its module.
Ref GraphDecoder::read_part(NodeTag node) {
  Ref value;
  reads_module_numbers_ = node == NodeTag::kGlobal;
  const bool is_read = at_ != end_ && read_leaf(value);
  reads_module_numbers_ = false;
  if (!is_read) fail(ErrorCode::kMalformed, "a node whose parts are not leaves");
  return value;
}

// The keys hold text, None, booleans and numbers: comparing them runs no foreign code.
Ref GraphDecoder::find_namespace(const Frame& frame) const {
  const Ref& namespaces = context_->namespaces;
  if (!namespaces || frame.part<NodeTag::kNamespace>("name") == Py_None) return {};
  return Ref::share(raw_get(namespaces.get(), new_tuple(frame.node->children).get()));
}

void GraphDecoder::record_namespace(const Frame& frame, const Ref& globals) {
  Ref& namespaces = context_->namespaces;
  if (!namespaces) namespaces = Ref::steal(PyDict_New());
  check(PyDict_SetItem(namespaces.get(), new_tuple(frame.node->children).get(),
                       globals.get()));
}

bool has_name(const Frame& frame, PyObject* name) {
  return PyUnicode_CheckExact(name) && raw_get(frame.object.get(), name) != nullptr;
}

void GraphDecoder::replace_enclosing(PyObject* object) {
  // The frame of kReplacement itself is on top.
  Frame* around =
      built_.stack.size() < 2 ? nullptr : &built_.stack[built_.stack.size() - 2];
  const bool is_state =
      around != nullptr && (around->awaits<NodeTag::kObject>("state") ||
                            around->awaits<NodeTag::kNewObject>("state"));
  if (!is_state) {
    fail(ErrorCode::kMalformed, "a replacement that is not the state of an object");
  }
  around->node->replacement = Ref::share(object);
}

}  // namespace waybill::py
