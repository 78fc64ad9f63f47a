// Values without values in them: scalars, text, and what extension types mean.
// Tested by tests/python/kinds/test_values.py and
// tests/python/untrusted/test_untrusted_input.py.

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "python/decode/graph_decoder.h"
#include "python/decode/scalars.h"
#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

using wire::ExtType;
using wire::NodeTag;
using wire::Token;
using wire::TokenType;

double double_at(const std::uint8_t* bytes) {
  return std::bit_cast<double>(wire::big_endian(bytes, 8));
}

}  // namespace

Ref value_of_extension(ExtType type, BytesView bytes) {
  switch (type) {
    case ExtType::kInteger:
      return integer_from_bytes(bytes.data(), bytes.size());
    case ExtType::kComplex:
      return Ref::steal(
          PyComplex_FromDoubles(double_at(bytes.data()), double_at(bytes.data() + 8)));
    case ExtType::kText:
      return Ref::steal(
          PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(bytes.data()),
                               static_cast<Py_ssize_t>(bytes.size()), "surrogatepass"));
    case ExtType::kSingleton:
      if (bytes[0] == static_cast<std::uint8_t>(wire::Singleton::kEllipsis)) {
        return Ref::share(Py_Ellipsis);
      }
      if (bytes[0] == static_cast<std::uint8_t>(wire::Singleton::kNotImplemented)) {
        return Ref::share(Py_NotImplemented);
      }
      return {};
    default:
      return {};
  }
}

Ref GraphDecoder::leaf(const Token& token, bool is_name) {
  if (Ref scalar = scalar_of(token)) return scalar;
  switch (token.type) {
    case TokenType::kText: {
      Ref value = built_.texts.make(token.bytes.data(), token.bytes.size(),
                                    token.bytes.size() + reader_.left(), is_name);
      if (value) return value;
      fail(ErrorCode::kMalformed, "text that is not UTF-8");
    }
    case TokenType::kBinary:
      return Ref::steal(PyBytes_FromStringAndSize(
          token.text().data(), static_cast<Py_ssize_t>(token.bytes.size())));
    default:
      return extension(token);
  }
}

// The number of a module in the manifest, which an extension kModule tells.
std::uint64_t GraphDecoder::module_index(const Token& token) {
  std::uint64_t index = 0;
  const bool is_known = wire::index_of(token.bytes, index) && modules_ != nullptr &&
                        index < modules_->size();
  if (!is_known) fail(ErrorCode::kUndeclared, "a module that is not listed");
  return index;
}

Ref GraphDecoder::extension(const Token& token) {
  const auto type = static_cast<ExtType>(token.ext_type);
  switch (type) {
    case ExtType::kReference:
      return reference(token);
    case ExtType::kModule: {
      const std::uint64_t index = module_index(token);
      return outside([&] {
        Ref module = modules_->get(index);
        const Gate* gate = hooks_.gate;
        if (gate != nullptr) {
          const Ref name = modules_->name(index);
          LookupCheck(state_, gate, denied_names_, token.offset, name.get(), nullptr)
              .found(module.get());
        }
        return module;
      });
    }
    case ExtType::kInteger:
      built_.cost.steps = token.bytes.size() / 8;  // No int keeps its hash.
      break;
    case ExtType::kSingleton: {
      const bool is_empty =
          token.bytes[0] == static_cast<std::uint8_t>(wire::Singleton::kEmpty);
      if (is_empty && nested_ == nullptr) return state_.empty;
      break;
    }
    case ExtType::kCode:
      if (nested_ == nullptr || next_nested_ >= nested_->size()) break;
      return (*nested_)[next_nested_++];
    default:
      break;
  }
  if (Ref value = value_of_extension(type, token.bytes)) return value;
  fail(ErrorCode::kUnknownTag, "an extension that has no meaning here");
}

// Python code cannot make a tuple that holds itself but through something that is no
// tuple; hashing one would not end.
void GraphDecoder::demand_detour(std::size_t depth) {
  if (built_.stack.back().direct < built_.stack.size() - depth) return;
  fail(ErrorCode::kBadReference, "a tuple or frozenset that holds itself");
}

Ref GraphDecoder::reference(const Token& token) {
  std::uint64_t index = 0;
  const Slot* known =
      wire::index_of(token.bytes, index) ? slot_of_reference(index) : nullptr;
  if (known == nullptr || !known->object) {
    fail(ErrorCode::kBadReference, "a reference to an object that is not there yet");
  }
  const Slot& slot = *known;
  if (slot.depth != 0) {
    Frame& frame = built_.stack[slot.depth - 1];
    BuildState::fill_holes(frame);
    if (frame.kind == FrameKind::kTuple || frame.kind == FrameKind::kFrozenSet) {
      demand_detour(slot.depth);
      late_depth_ = std::min(late_depth_, slot.depth);
    }
  }
  built_.cost = slot.cost;
  return slot.object;
}

// ---- Keys of dicts and items of sets: which may be hashed, and when ----------------
//
// As long as a tuple or frozenset is open that something inside of it refers to, an
// entry of a dict or set there waits, because hashing its key might look into what is
// not there yet. Tested by tests/python/kinds/test_sharing.py,
// tests/python/untrusted/test_untrusted_input.py.

void GraphDecoder::demand_hashable(PyObject* key, Frame& frame) {
  const bool is_set =
      frame.kind == FrameKind::kSet || frame.kind == FrameKind::kFrozenSet;
  const auto kind = is_set ? KeyProbes::Kind::kSet : KeyProbes::Kind::kDict;
  // What gets its entries one by one has no room for them from the start.
  const bool has_room = !is_set && frame.kind != FrameKind::kPairs;
  const std::uint64_t announced = has_room ? (frame.position + frame.left) / 2 : 0;
  const std::uint64_t before = is_set ? frame.position - 1 : frame.position / 2;
  const auto look = [&] {
    return built_.keys.look_at(key, built_.cost, kind, announced, before, frame.probes);
  };
  if (built_.keys.is_strict() && must_wait() && !is_simple(key)) {
    fail(ErrorCode::kBadReference, "a key or set item inside a tuple in a cycle");
  }
  const KeyGuard::Finding finding = is_simple(key) ? look() : outside(look);
  if (finding == KeyGuard::Finding::kFine) return;
  const bool is_malformed =
      finding == KeyGuard::Finding::kNan || finding == KeyGuard::Finding::kUnhashable;
  fail(is_malformed ? ErrorCode::kMalformed : ErrorCode::kLimitExceeded,
       describe(finding));
}

void GraphDecoder::hashed(int result) {
  if (result >= 0) return;
  // What keys of other kinds raise is theirs.
  if (PyErr_ExceptionMatches(PyExc_RecursionError) && is_data_only_) {
    fail(ErrorCode::kLimitExceeded, describe(KeyGuard::Finding::kTooDeep));
  }
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PyError();
  fail(ErrorCode::kMalformed, describe(KeyGuard::Finding::kUnhashable));
}

void GraphDecoder::demand_whole(const Frame& frame) {
  if (!frame.is_whole) return;
  const Py_ssize_t count = PyDict_GET_SIZE(frame.object.get());
  if (static_cast<std::uint64_t>(count) == frame.position / 2) return;
  fail(ErrorCode::kMalformed, "a map with two equal keys");
}

void GraphDecoder::insert_late() {
  const CollectorPause::Break others(collector_);
  late_depth_ = kNotLate;
  for (const Late& late : std::exchange(late_, {})) {
    PyObject* container = late.container.get();
    if (late.value) {
      const Py_ssize_t before = PyDict_GET_SIZE(container);
      hashed(PyDict_SetItem(container, late.key.get(), late.value.get()));
      if (is_data_only_ && PyDict_GET_SIZE(container) == before) {
        fail(ErrorCode::kMalformed, "a map with two equal keys");
      }
    } else if (PyFrozenSet_CheckExact(container)) {
      hashed(fill_frozen_set(container, late.key.get()));
    } else {
      hashed(PySet_Add(container, late.key.get()));
    }
  }
}

bool GraphDecoder::has_late_entries(PyObject* dict) const {
  return std::ranges::any_of(
      late_, [&](const Late& late) { return late.container.get() == dict; });
}

void GraphDecoder::move_late_entries(PyObject* dict, PyObject* other) {
  for (Late& late : late_) {
    if (late.container.get() == dict) late.container = Ref::share(other);
  }
}

void GraphDecoder::fill(const Frame& frame, std::size_t depth) {
  if (!frame.gathered) return;
  PyObject* items = frame.gathered.get();
  const std::span<PyObject* const> each(
      PySequence_Fast_ITEMS(items), static_cast<std::size_t>(PyList_GET_SIZE(items)));
  if (depth > late_depth_ && !std::ranges::all_of(each, is_simple)) {
    late_.push_back({frame.object, frame.gathered, {}});
  } else {
    hashed(outside([&] { return fill_frozen_set(frame.object.get(), items); }));
  }
}

}  // namespace waybill::py
