// The loop that builds objects: it reads a value, hands it to the innermost open
// container, and closes complete containers.
//
// References. The envelope lists the positions of the referenced objects. So the loop
// compares one number per value, and stores only those objects.
//
// Cycles. Lists, dicts, sets, functions and classes are created before their contents,
// so the contents can refer to them. Tuples and frozensets are too, which Python code
// cannot do. While a value inside an open tuple or frozenset refers to it, entries of
// dicts and sets inside are deferred, because hashing their keys might read an
// incomplete object.
//
// Plain data. Values of containers of plain data are read in runs, which bypass the
// frame, unless each must be recorded.
//
// Tested by tests/python/kinds/test_values.py, test_sharing.py,
// tests/python/untrusted/test_untrusted_input.py, test_unverified_data.py and
// test_among_plain_data.py.

#include "python/decode/graph_decoder.h"

#include <algorithm>
#include <utility>

#include "python/decode/nodes/node_codecs.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/objects.h"

namespace waybill::py {

namespace {

using wire::NodeTag;

// In payloads of this size short texts recur.
constexpr std::size_t kCacheMinPayload = 2048;

}  // namespace

bool Frame::awaits_field(wire::FunctionField field) const {
  return kind == FrameKind::kFields && key &&
         PyLong_AsLong(key.get()) == static_cast<long>(field);
}

bool GraphDecoder::begin() {
  const CollectorPause pause;
  return run();
}

void GraphDecoder::restart() {
  built_.abandon();
  built_.keys = KeyGuard(limits_);
  longest_part_ = {};
  stop_before(first_, value_);
}

void GraphDecoder::stop_before(const std::uint8_t* start, Ref& value) {
  at_ = start;
  built_.positions.go_back_to(position_at(at_),
                              [&](std::size_t number) { built_.slots[number] = {}; });
  update_target();
  value = Ref();
  stop();
}

Ref GraphDecoder::decode(DecodeContext& context) {
  context_ = &context;
  references_seen_ = built_.slots.size();
  open_instances_ = 0;
  keeps_history_ = static_cast<bool>(context.history);
  makes_calls_ = !keeps_history_ && context.hooks.opaque == nullptr;
  // Where code is forbidden, each name of a state is checked; see demand_no_shadow().
  builds_instances_ = !context.forbids_code;
  try {
    if (context.envelope != nullptr) {
      const Envelope& envelope = **context.envelope;
      const bool are_built = context.definition_code_uses.has_value();
      context.received_definitions.use_sources(*context.envelope);
      context.received_definitions.find_targets(
          *context.envelope, are_built ? envelope.definitions.value : 0);
      if (envelope.payload.bytes.size() >= kCacheMinPayload)
        built_.texts.enable_cache();
    }
    batch_start_ =
        keeps_history_ ? end_ : start_ + context.received_definitions.targets_end();
    if (batch_start_ > start_) restart();
    build_definitions();
    if (!context.only_definitions) run();
    context.received_definitions.apply();
    return take_value();
  } catch (const PyError&) {
    built_.hide();
    describe_failure(state_, built_.stack);
    built_.abandon();
    throw;
  } catch (...) {
    built_.abandon();
    throw;
  }
}

// Builds the definitions one by one. Later definitions and the value refer to them.
void GraphDecoder::build_definitions() {
  if (context_->envelope == nullptr) return;
  const Envelope& envelope = **context_->envelope;
  const Definitions& definitions = envelope.definitions;
  if (definitions.value == 0) return;
  if (context_->definition_code_uses) {
    code().skip_uses(*context_->definition_code_uses);
  } else {
    at_ = start_ +
          (definitions.starts.empty() ? definitions.value : definitions.starts.front());
    scope_ = envelope::ReferenceScope::of_definitions(envelope);
    for (std::size_t i = 0; i < definitions.starts.size(); ++i) {
      run();
      value_ = Ref();
    }
  }
  scope_ = envelope::ReferenceScope::of_value(envelope);
}

bool GraphDecoder::run() {
  Ref value = std::exchange(value_, {});
  is_running_ = true;
  update_target();
  if (!value && built_.stack.empty()) read(value);
  while (is_running_ && !built_.stack.empty()) {
    if (value) deliver(value);
    if (is_running_ && built_.stack.back().remaining != 0) read_next(value);
    if (is_running_ && built_.stack.back().remaining == 0) close(value);
  }
  if (!is_verified()) built_.hide();
  value_ = std::move(value);
  return built_.stack.empty() && value_;
}

void GraphDecoder::fail(ErrorCode code, std::string detail) {
  built_.hide();
  raise_decode(state_, code, offset_, std::move(detail));
}

// ---- Values that follow each other -------------------------------------------------

[[gnu::always_inline]] inline void GraphDecoder::read_next(Ref& value) {
  Frame& frame = built_.stack.back();
  if (frame.is_plain() && can_batch()) return fill(frame, value);
  is_name_ = frame.kind == FrameKind::kInstance && !frame.key;
  read(value);
  is_name_ = false;
}

// Reads values until a container is opened.
[[gnu::always_inline]] inline void GraphDecoder::fill(Frame& frame, Ref& value) {
  constexpr std::uint64_t kMinBatch = 8;  // Fewer are not worth a call.
  built_.cost = {};
  if (frame.kind == FrameKind::kDict || frame.kind == FrameKind::kInstance) {
    return fill_dict(frame, value);
  }
  if (frame.kind == FrameKind::kList && !frame.are_holes_filled) {
    if (has_passed_shared_ && frame.remaining >= kMinBatch) fill_with_numbers(frame);
    return fill_list(frame, value);
  }
  while (frame.remaining != 0) {
    offset_ = offset();
    if (!next(value)) return;
    deliver(value);
    if (!is_running_ || deferral_depth_ != kNoDeferral) return;
    built_.cost = {};
  }
}

void GraphDecoder::fill_list(Frame& list, Ref& value) {
  while (list.remaining != 0 && next(value)) {
    if (list.are_holes_filled) return deliver(value);  // A value refers to the list.
    PyList_SET_ITEM(list.object.get(), static_cast<Py_ssize_t>(list.position++),
                    value.release());
    --list.remaining;
  }
}

// Reads pairs of leaves. Reading a value may open a container, which invalidates the
// reference to the frame, so the frame gets the key first.
void GraphDecoder::fill_dict(Frame& frame, Ref& value) {
  // Hashing a key that deliver() has stored may run code, so deliver() inserts the
  // pair.
  if (frame.key && !is_simple(frame.key.get())) {
    offset_ = offset();
    next(value);
    return;
  }
  while (frame.remaining != 0) {
    if (!frame.key && !read_key(frame, value)) return;
    if (!next(value)) return;
    check(PyDict_SetItem(frame.object.get(), frame.key.get(), value.get()));
    frame.key = Ref();
    value = Ref();
    ++frame.position;
    --frame.remaining;
    built_.cost = {};
  }
}

[[gnu::always_inline]] inline bool GraphDecoder::read_key(Frame& frame, Ref& value) {
  const std::uint8_t* const start = at_;
  const bool is_name = frame.kind == FrameKind::kInstance;
  KeyGuess* guess = nullptr;
  if (!guesses_.empty() && start != target_) {
    guess = &guesses_[(8 * built_.stack.size() + frame.position / 2) % kMaxGuesses];
  }
  if (guess != nullptr && guess->is_at(start, end_) &&
      (!is_name || PyUnicode_CHECK_INTERNED(guess->key.get()) != 0)) {
    frame.key = guess->key;
    at_ += guess->size;
  } else {
    is_name_ = is_name;
    const bool is_read = next(value);
    is_name_ = false;
    if (!is_read) return false;
    if (!PyUnicode_CheckExact(value.get())) {
      offset_ = offset_of(start);
      if (!is_simple(value.get()) || !demand_hashable(value.get(), frame)) return false;
    }
    if (guess != nullptr && (*start & 0xe0) == 0xa0) {
      *guess = {start, static_cast<std::size_t>(at_ - start), value};
    }
    frame.key = std::move(value);
  }
  ++frame.position;
  --frame.remaining;
  return true;
}

// Reads the numbers that come next: large lists often hold only numbers. Leaves the
// last bytes of the envelope to fill_list().
void GraphDecoder::fill_with_numbers(Frame& list) {
  const std::uint8_t* at = at_;
  PyObject** const first = PySequence_Fast_ITEMS(list.object.get());
  PyObject** item = first + list.position;
  PyObject** const end = item + list.remaining;
  for (; item != end && end_ - at >= static_cast<std::ptrdiff_t>(wire::kMaxNumberSize);
       ++item) {
    std::int64_t value = 0;
    if (*at == 0xcb) {
      const auto real = std::bit_cast<double>(wire::read_big_endian(at + 1, 8));
      *item = Ref::steal(PyFloat_FromDouble(real)).release();
      at += wire::kMaxNumberSize;
    } else if (*at < 0x80) {
      *item = Ref::steal(PyLong_FromLong(*at)).release();
      ++at;
    } else if (wire::is_wide_integer(*at) && wire::read_wide_integer(at, value)) {
      *item = Ref::steal(PyLong_FromLongLong(value)).release();
      at += wire::kLeads[*at].head;
    } else {
      break;
    }
  }
  at_ = at;
  list.position = static_cast<std::uint64_t>(item - first);
  list.remaining = static_cast<std::uint64_t>(end - item);
}

// ---- Delivery of a value to its frame ----------------------------------------------

void GraphDecoder::deliver(Ref& value) {
  Frame& frame = built_.stack.back();
  const auto index = static_cast<Py_ssize_t>(frame.position);
  switch (frame.kind) {
    case FrameKind::kList:
      // Code that the payload calls may have changed the list.
      if (index >= PyList_GET_SIZE(frame.object.get())) {
        refuse(ErrorCode::kMalformed, "a list that was changed while it was built");
        return;
      }
      [[fallthrough]];
    case FrameKind::kTuple:
      BuildState::put_item(frame, index, std::move(value));
      break;
    case FrameKind::kSet:
      if (!demand_hashable(value.get(), frame) || !deliver_to_set(frame, value)) return;
      break;
    case FrameKind::kFrozenSet:
      if (!demand_hashable(value.get(), frame) ||
          !deliver_to_frozen_set(frame, value)) {
        return;
      }
      break;
    case FrameKind::kPairs:
      if (index % 2 == 0) demand_hashable(value.get(), frame);
      check(PyList_Append(frame.object.get(), value.get()));
      break;
    case FrameKind::kNode:
      return deliver_to_node(frame, std::move(value));
    case FrameKind::kDict:
    case FrameKind::kInstance:
    case FrameKind::kFields:
    case FrameKind::kAttributes:
      if (!deliver_to_dict(frame, value)) return;
      break;
  }
  value = Ref();
  --frame.remaining;
  ++frame.position;
  frame.cost.add(built_.cost);
}

bool GraphDecoder::deliver_to_set(const Frame& frame, const Ref& value) {
  if (must_defer() && !is_simple(value.get())) {
    deferred_.push_back({frame.object, value, {}});
    return true;
  }
  return check_hashed(run_hashing(
      value.get(), [&] { return PySet_Add(frame.object.get(), value.get()); }));
}

bool GraphDecoder::deliver_to_frozen_set(Frame& frame, const Ref& value) {
  if (!frame.gathered && must_defer() && !is_simple(value.get())) {
    BuildState::gather(frame);
  }
  if (!BuildState::must_gather(frame)) return deliver_to_set(frame, value);
  check(PyList_Append(frame.gathered.get(), value.get()));
  return true;
}

bool GraphDecoder::deliver_to_dict(Frame& frame, Ref& value) {
  if (!frame.key) {
    if (!demand_hashable(value.get(), frame)) return false;
    frame.key = std::move(value);
    return true;
  }
  if (frame.kind == FrameKind::kFields) {
    deliver_field(frame, value);
  } else if (frame.kind == FrameKind::kAttributes) {
    deliver_attribute(frame, value);
  } else if (frame.has_deferred || (must_defer() && !is_simple(frame.key.get()))) {
    // Later entries are deferred too, to keep the order of the dict.
    frame.has_deferred = true;
    frame.checks_length = false;
    deferred_.push_back({frame.object, std::move(frame.key), value});
  } else if (!set_item(frame, value)) {
    return false;
  }
  frame.key = Ref();
  return true;
}

// Stores the value under the frame's key.
bool GraphDecoder::set_item(Frame& frame, const Ref& value) {
  PyObject* const dict = frame.object.get();
  PyObject* const key = frame.key.get();
  if (frame.is_namespace) [[unlikely]] {
    if (frame.is_existing && !frame.is_bound && has_name(frame, key) &&
        PyUnicode_Compare(key, state_.names.path.get()) != 0) {
      return true;  // An earlier function has defined this name.
    }
    built_.hide();
    if (std::exchange(frame.is_bound, false) || !frame.is_existing) {
      // Names are in the order in which their values become complete. The names of a
      // module are in the order of the module, even if an earlier function defined
      // some.
      if (PyDict_DelItem(dict, key) != 0) ignore_error(PyExc_KeyError);
    }
  }
  // Keys of other types may be equal here although they differ at the sender.
  if (!is_simple(key) && !(is_verified() && context_->is_data_only)) {
    frame.checks_length = false;
  }
  return check_hashed(
      run_hashing(key, [&] { return PyDict_SetItem(dict, key, value.get()); }));
}

// Setting an attribute of a function may run foreign code.
void GraphDecoder::deliver_field(Frame& frame, const Ref& value) {
  built_.hide();
  const std::vector<Ref>& cells = built_.stack[built_.stack.size() - 2].node->cells;
  set_function_field(*this, frame.object.get(), cells,
                     PyLong_AsUnsignedLong(frame.key.get()), value.get());
}

void GraphDecoder::deliver_attribute(Frame& frame, Ref value) {
  Ref key = frame.key;
  if (code().is_foreign() && !frame.is_opaque && !translate(key, value)) return;
  check_hashed(PyDict_SetItem(frame.gathered.get(), key.get(), value.get()));
  if (frame.is_existing || frame.is_opaque) return;  // Applied later, all at once.
  run_foreign(
      [&] { set_class_attribute(state_, frame.object.get(), key.get(), value.get()); });
}

// Converts a class attribute of another Python version to this one; false if this
// version has no such attribute.
bool GraphDecoder::translate(Ref& name, Ref& value) {
  const Ref answer = run_foreign([&] {
    return call(lazy_helper(state_, &LazyHelpers::class_attribute), name.get(),
                value.get());
  });
  if (answer.get() == Py_None) return false;
  name = Ref::share(PyTuple_GetItem(answer.get(), 0));
  value = Ref::share(PyTuple_GetItem(answer.get(), 1));
  return true;
}

// ---- Complete frames ---------------------------------------------------------------

[[gnu::always_inline]] inline void GraphDecoder::close(Ref& value) {
  Frame& frame = built_.stack.back();
  if (frame.kind == FrameKind::kNode) {
    value = finish_node();
    return;
  }
  const std::size_t depth = built_.stack.size();
  offset_ = frame.offset;
  if (frame.kind == FrameKind::kFrozenSet ? !fill_frozen(frame)
                                          : !demand_distinct_keys(frame)) {
    return;
  }
  BuildState::show(frame);
  if (frame.kind == FrameKind::kInstance) {
    if (frame.is_detached || !can_batch() || !is_empty_rest_at(at_, 0)) {
      if (is_verified()) return finish_instance();
      stop();
      return;
    }
    at_ += 2;
    if (!is_verified()) --open_instances_;
    offset_ = frame.instance_offset;
    value = std::move(frame.instance);
  } else {
    value =
        std::move(frame.kind == FrameKind::kAttributes ? frame.gathered : frame.object);
  }
  built_.cost = {};
  if (frame.kind == FrameKind::kTuple) {
    built_.cost = frame.cost.of_container(frame.position);
  }
  const std::size_t slot = frame.slot;
  built_.stack.pop_back();
  if (!is_verified()) record_longest_part();
  if (depth == deferral_depth_) insert_deferred();
  record(value, slot, offset_);
}

// Items and pairs follow the state of an instance. They are added before the state, so
// the state is taken away until then.
void GraphDecoder::finish_instance() {
  constexpr std::size_t kState = envelope::position_of(NodeTag::kNewObject, "state");
  Frame frame = std::move(built_.stack.back());
  built_.stack.pop_back();
  if (!frame.is_detached) {
    const Ref dict = std::exchange(frame.object, {});
    frame.object = Ref::steal(PyDict_Copy(dict.get()));
    PyDict_Clear(dict.get());
  }
  Frame node{
      .object = std::move(frame.instance),
      .remaining = envelope::shape_of(NodeTag::kNewObject).max_count - kState - 1,
      .position = kState + 1,
      .offset = frame.instance_offset,
      .slot = frame.slot,
      .node = new_parts(static_cast<std::uint8_t>(NodeTag::kNewObject))};
  node.node->children.resize(
      kState);  // Class, arguments and keywords are used already.
  node.node->children.push_back(std::move(frame.object));
  push(std::move(node));
}

void GraphDecoder::record_longest_part() {
  constexpr std::size_t kMinPassedSize = 64;
  const std::size_t size = offset() - offset_;
  if (size < kMinPassedSize || size <= longest_part_.size()) return;
  longest_part_ = {offset_, offset(), built_.positions.passed_count(),
                   references_seen_};
}

void GraphDecoder::record_shared(Ref& value, std::size_t slot, std::size_t offset) {
  if (slot != kNoSlot) built_.slots[slot] = {value, 0, built_.cost};
  if (!is_verified()) return;
  if (keeps_history_) {
    context_->history.record(offset - base_, value.get(), built_.cost);
  }
  if (slot == kNoSlot || !received_definitions().has_targets()) return;
  built_.hide();
  if (Ref own = received_definitions().resolve_early(slot, value.get())) {
    value = std::move(own);
    built_.set_slot(slot, value.get());
  }
}

// ---- Keys of dicts and items of sets: which may be hashed, and when ----------------

bool GraphDecoder::demand_hashable(PyObject* key, Frame& frame) {
  if (!is_simple(key)) {
    // Hashing an instance runs its __hash__, also inside a tuple.
    if (!is_verified() && builds_instances_) return stop();
    if (is_verified() && built_.keys.is_strict() && must_defer()) {
      fail(ErrorCode::kBadReference,
           "a key or set item in a tuple that contains itself; max_key_steps cannot "
           "limit its cost");
    }
  }
  const bool is_set =
      frame.kind == FrameKind::kSet || frame.kind == FrameKind::kFrozenSet;
  const auto kind = is_set ? KeyProbes::Kind::kSet : KeyProbes::Kind::kDict;
  // Only dicts of the payload are made with room for all entries.
  const bool has_room = !is_set && frame.kind != FrameKind::kPairs;
  const std::uint64_t announced = has_room ? (frame.position + frame.remaining) / 2 : 0;
  const std::uint64_t before = is_set ? frame.position : frame.position / 2;
  const KeyGuard::Finding finding = run_hashing(key, [&] {
    return built_.keys.inspect(key, built_.cost, kind, announced, before, frame.probes);
  });
  if (finding == KeyGuard::Finding::kFine) return true;
  const bool is_malformed =
      finding == KeyGuard::Finding::kNan || finding == KeyGuard::Finding::kUnhashable;
  return refuse(is_malformed ? ErrorCode::kMalformed : ErrorCode::kLimitExceeded,
                describe(finding));
}

bool GraphDecoder::check_hashed(int result) {
  if (result >= 0) return true;
  const bool is_too_deep = PyErr_ExceptionMatches(PyExc_RecursionError) != 0;
  const bool is_unhashable = PyErr_ExceptionMatches(PyExc_TypeError) != 0;
  if (!is_verified() && (is_too_deep || is_unhashable)) {
    PyErr_Clear();
    return stop();
  }
  // Keys that are not plain data may raise RecursionError in code of their own.
  if (is_too_deep && context_->is_data_only) {
    fail(ErrorCode::kLimitExceeded, describe(KeyGuard::Finding::kTooDeep));
  }
  if (!is_unhashable) throw PyError();
  fail(ErrorCode::kMalformed, describe(KeyGuard::Finding::kUnhashable));
}

bool GraphDecoder::demand_distinct_keys(const Frame& frame) {
  if (!frame.checks_length) return true;
  const Py_ssize_t count = PyDict_GET_SIZE(frame.object.get());
  if (static_cast<std::uint64_t>(count) == frame.position / 2) return true;
  return refuse(ErrorCode::kMalformed, "a map with two equal keys");
}

bool GraphDecoder::fill_frozen(const Frame& frame) {
  if (!frame.gathered) return true;
  PyObject* const items = frame.gathered.get();
  if (must_defer() && !std::ranges::all_of(items_of(items), is_simple)) {
    deferred_.push_back({frame.object, frame.gathered, {}});
    return true;
  }
  return check_hashed(
      run_hashing(items, [&] { return fill_frozen_set(frame.object.get(), items); }));
}

void GraphDecoder::insert_deferred() {
  built_.hide();
  const CollectorPause::Break collector_break(context_->collector);
  deferral_depth_ = kNoDeferral;
  for (const DeferredEntry& entry : std::exchange(deferred_, {})) {
    PyObject* container = entry.container.get();
    if (entry.value) {
      const Py_ssize_t before = PyDict_GET_SIZE(container);
      check_hashed(PyDict_SetItem(container, entry.key.get(), entry.value.get()));
      if (context_->is_data_only && PyDict_GET_SIZE(container) == before) {
        fail(ErrorCode::kMalformed, "a map with two equal keys");
      }
    } else if (PyFrozenSet_CheckExact(container)) {
      check_hashed(fill_frozen_set(container, entry.key.get()));
    } else {
      check_hashed(PySet_Add(container, entry.key.get()));
    }
  }
}

bool GraphDecoder::has_deferred_entries(PyObject* dict) const {
  return std::ranges::any_of(deferred_, [&](const DeferredEntry& entry) {
    return entry.container.get() == dict;
  });
}

void GraphDecoder::move_deferred_entries(PyObject* dict, PyObject* other) {
  for (DeferredEntry& entry : deferred_) {
    if (entry.container.get() == dict) entry.container = Ref::share(other);
  }
}

Ref decode_constants(const State& state, const Section& constants, const Limits& limits,
                     const std::vector<Ref>& nested) {
  GraphDecoder decoder(state, constants.bytes, 0, constants.offset, limits, {});
  DecodeContext context(state, nested);
  const Ref list = decoder.decode(context);
  return Ref::steal(PyList_AsTuple(list.get()));
}

}  // namespace waybill::py
