// Tested by tests/python/explain.

#include "python/live_explanation.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "explain/code_places.h"
#include "python/encode/graph_encoder.h"
#include "python/encode/paths/path_step.h"
#include "python/encode/walk_record.h"
#include "python/runtime/attribute.h"
#include "python/runtime/text.h"
#include "python/sealing.h"
#include "wire/reader.h"

namespace waybill::py {

namespace {

using Kind = ExplainedPart::Kind;

// The code that captured a part is looked up for this many of the largest parts. Other
// parts inherit the place of their holder.
constexpr std::size_t kMaxPlaced = 500;
// How many steps above a part are searched for the code that captured it, so that the
// cost for a deep object is linear. If the search finds no code and has not reached the
// root, the part inherits the place of its holder.
constexpr std::size_t kMaxCaptureSteps = 256;

class Explainer {
 public:
  Explainer(State& state, GraphEncoder& graph, const WalkRecord& record)
      : state_(state), graph_(graph), record_(record), infos_(state) {}

  Explanation explain() {
    const SealedSize size =
        sealed_size(state_, graph_, graph_.context().wants_source());
    explanation_.total = size.total;
    explanation_.omitted_parts = record_.omitted_count();
    sum_buffers(size.buffers);
    for (std::size_t i = 0; i < record_.parts().size(); ++i) add_part(i);
    subtract_children();
    hash_own_bytes();
    place_parts();
    for (const WalkRecord::BlockedObject& blocked : record_.blockers())
      add_blocker(blocked);
    add_imports();
    add_source(size.head);
    return std::move(explanation_);
  }

 private:
  const WalkRecord::Part& recorded(std::size_t part) const {
    return record_.parts()[part];
  }

  // The step from a part to an object.
  PathStep path_step_of(std::size_t holder, const Label& label,
                        PyObject* object) const {
    const WalkRecord::Part& around = recorded(holder);
    const WalkStep to_holder{recorded(around.parent).object.get(), &around.label,
                             around.object.get()};
    return path_step(holder == 0 ? nullptr : &to_holder,
                     {around.object.get(), &label, object});
  }

  // The parent of the object to which a step leads: `holder`, or the owner of `holder`
  // if that is a state which the step skips.
  std::size_t parent_by(const PathStep& step, std::size_t holder) const {
    return step.skips_state ? recorded(holder).parent : holder;
  }

  void sum_buffers(const std::vector<std::uint64_t>& sizes) {
    buffers_before_.push_back(0);
    for (const std::uint64_t size : sizes) {
      buffers_before_.push_back(buffers_before_.back() + size);
    }
  }

  // Counts buffers by their size in the envelope, where they may be compressed.
  std::uint64_t bytes_of_part(const WalkRecord::Part& part) const {
    return part.end.payload - part.begin.payload + part.end.code - part.begin.code +
           buffers_before_[part.end.buffers] - buffers_before_[part.begin.buffers];
  }

  void add_part(std::size_t index) {
    const WalkRecord::Part& from = recorded(index);
    ExplainedPart& part = explanation_.parts.emplace_back();
    part.bytes = part.own = bytes_of_part(from);
    if (index == 0) {
      part.step = name_of_root(from.object.get());
    } else {
      const PathStep step = path_step_of(from.parent, from.label, from.object.get());
      part.parent = parent_by(step, from.parent);
      part.step = step.label.spelled();
      part.variable = step.label.variable();
      part.evaluates = step.label.evaluates();
      if (part.parent != from.parent) subtract_bytes(from.parent, part.bytes);
    }
    part.type = full_name_of_type(state_, from.object.get());
    part.kind = kind_of(from);
    part.is_shared = std::ranges::binary_search(shared(), from.begin.payload);
    part.detail = detail_of(from.object.get(), part);
  }

  // Subtracts the bytes of a part that became a child of the state's owner.
  void subtract_bytes(std::size_t state, std::uint64_t bytes) {
    explanation_.parts[state].bytes -= bytes;
    explanation_.parts[state].own -= bytes;
  }

  // The offsets of shared positions, sorted.
  const std::vector<std::uint64_t>& shared() {
    if (shared_.empty()) {
      const auto shared = graph_.context().objects.shared();
      shared_.assign(shared.begin(), shared.end());
      std::ranges::sort(shared_);
    }
    return shared_;
  }

  Kind kind_of(const WalkRecord::Part& part) const {
    wire::Reader reader(graph_.payload().subspan(part.begin.payload), Limits{});
    wire::Token token;
    if (!reader.next(token)) return Kind::kValue;
    if (token.is(wire::ExtType::kModule)) return Kind::kModule;
    std::uint8_t tag = 0;
    if (token.type != wire::TokenType::kArray || !reader.read_node_tag(tag)) {
      return Kind::kValue;
    }
    switch (static_cast<wire::NodeTag>(tag)) {
      case wire::NodeTag::kGlobal:
      case wire::NodeTag::kLazyImport:
      case wire::NodeTag::kPersistent:
        return Kind::kReference;
      case wire::NodeTag::kBuffer:
        return Kind::kOutOfBand;
      default:
        return Kind::kValue;
    }
  }

  // The number of items of a container, the name of a reference, or the shape of an
  // array or data frame as LazyHelpers::shape_of describes it.
  std::string detail_of(PyObject* object, const ExplainedPart& part) {
    if (PyDict_CheckExact(object) || PyList_CheckExact(object) ||
        PyTuple_CheckExact(object) || PyAnySet_CheckExact(object)) {
      return "of " + std::to_string(PyObject_Size(object));
    }
    if (part.kind == Kind::kReference) return name_of_global(object);
    if (part.kind != Kind::kValue || part.bytes < kMinDetailedBytes) return {};
    const Ref shape = steal_unless(
        PyExc_Exception,
        PyObject_CallOneArg(lazy_helper(state_, &LazyHelpers::shape_of), object));
    return shape ? text_of(shape.get()) : "";
  }

  // Module and qualified name, such as "json.dumps"; empty if there are none.
  std::string name_of_global(PyObject* object) const {
    std::string name;
    for (const char* attribute : {"__module__", "__qualname__"}) {
      const Ref text = steal_unless(
          PyExc_Exception, PyObject_GetAttr(object, interned(attribute).get()));
      if (!text || !PyUnicode_Check(text.get())) continue;
      name += (name.empty() ? "" : ".") + text_of(text.get());
    }
    return name;
  }

  void subtract_children() {
    for (std::size_t i = 1; i < explanation_.parts.size(); ++i) {
      const ExplainedPart& part = explanation_.parts[i];
      explanation_.parts[part.parent].own -= part.bytes;
    }
  }

  // Hashes the bytes of each part without those of its children. The numbers of a
  // function's code and of a module depend on the rest of the payload, so the hash of
  // the code and the name of the module replace them.
  void hash_own_bytes() {
    const BytesView payload = graph_.payload();
    const std::vector<BufferParts> buffers = graph_.context().stored.parts();
    struct Hash {
      base::DigestStream own;
      std::uint64_t at;    // Payload bytes before this offset are hashed.
      std::size_t buffer;  // Buffers before this index are hashed.
    };
    std::vector<Hash> hashes;
    hashes.reserve(explanation_.parts.size());
    const auto hash_up_to = [&](std::size_t part, const WrittenAmounts& end) {
      Hash& hash = hashes[part];
      if (end.payload > hash.at) {
        hash.own.add(payload.subspan(hash.at, end.payload - hash.at));
      }
      for (; hash.buffer < end.buffers; ++hash.buffer) {
        hash.own.add(buffers[hash.buffer].bytes);
      }
    };
    for (std::size_t i = 0; i < explanation_.parts.size(); ++i) {
      const WalkRecord::Part& part = recorded(i);
      if (i != 0) {
        hash_up_to(part.parent, part.begin);
        hashes[part.parent].at = part.end.payload;
        hashes[part.parent].buffer = part.end.buffers;
      }
      Hash& hash = hashes.emplace_back(
          Hash{{}, part.begin.payload + size_of_numbers(i), part.begin.buffers});
      if (PyFunction_Check(part.object.get()) &&
          explanation_.parts[i].kind == Kind::kValue) {
        hash.own.add(infos_.get(PyFunction_GET_CODE(part.object.get())).hash);
      }
      if (explanation_.parts[i].kind != Kind::kValue)
        hash.own.add(bytes_of(explanation_.parts[i].detail));
    }
    for (std::size_t i = 0; i < explanation_.parts.size(); ++i) {
      if (explanation_.parts[i].kind == Kind::kValue) hash_up_to(i, recorded(i).end);
      const auto digest = hashes[i].own.digest();
      std::memcpy(&explanation_.parts[i].own_hash, digest.data(), digest.size());
    }
  }

  // The number of bytes at the start of a part that its hash leaves out.
  std::uint64_t size_of_numbers(std::size_t index) const {
    const WalkRecord::Part& part = recorded(index);
    if (!PyFunction_Check(part.object.get())) return 0;
    wire::Reader reader(graph_.payload().subspan(part.begin.payload), Limits{});
    wire::Token token;
    if (!reader.next(token) || token.type != wire::TokenType::kArray ||
        !reader.next(token) || !reader.next(token)) {
      return 0;
    }
    return reader.offset();
  }

  void place_parts() {
    std::vector<std::uint64_t> sizes;
    for (const ExplainedPart& part : explanation_.parts) sizes.push_back(part.bytes);
    std::uint64_t min_bytes = 0;
    if (sizes.size() > kMaxPlaced) {
      const auto nth = sizes.begin() + kMaxPlaced;
      std::ranges::nth_element(sizes, nth, std::greater<>());
      min_bytes = *nth + 1;
    }
    for (std::size_t i = 0; i < explanation_.parts.size(); ++i) {
      ExplainedPart& part = explanation_.parts[i];
      if (part.bytes >= min_bytes || recorded(i).is_listed) {
        part.place = place_of(i);
      } else {
        part.place = explanation_.parts[part.parent].place;
      }
    }
  }

  // The place of the holder must be set already.
  CodePlace place_of(std::size_t part) {
    const std::size_t holder = explanation_.parts[part].parent;
    std::vector<PathStep> steps;
    while (part != 0 && steps.size() < kMaxCaptureSteps) {
      const WalkRecord::Part& from = recorded(part);
      steps.push_back(path_step_of(from.parent, from.label, from.object.get()));
      part = parent_by(steps.back(), from.parent);
    }
    std::ranges::reverse(steps);
    Capture capture = capture_of(infos_, steps);
    if (part != 0 && capture.file.empty()) return explanation_.parts[holder].place;
    return {std::move(capture.expression), std::move(capture.function),
            std::move(capture.file), capture.line};
  }

  // The path of an object that `label` attaches to a part.
  PartPath path_by(std::size_t parent, const Label& label, PyObject* object) const {
    const PathStep step = path_step_of(parent, label, object);
    PartPath path = path_of(explanation_, parent_by(step, parent));
    path.add(step.label.spelled(), step.label.variable(), step.label.evaluates());
    return path;
  }

  void add_blocker(const WalkRecord::BlockedObject& blocked) {
    const WalkRecord::Part& part = recorded(blocked.part);
    const PartPath path = path_of(explanation_, blocked.part);
    Blocker& blocker = explanation_.blockers.emplace_back();
    blocker.path = path.full;
    blocker.short_path = path.short_path;
    blocker.evaluates = path.evaluates;
    blocker.paths.push_back(path.full);
    for (std::size_t i = 1; i < blocked.edges.size(); ++i) {
      blocker.paths.push_back(
          path_by(blocked.edges[i].parent, blocked.edges[i].label, part.object.get())
              .full);
    }
    blocker.path_count = blocked.edge_count;
    blocker.type = explanation_.parts[blocked.part].type;
    blocker.place = explanation_.parts[blocked.part].place;
    blocker.reason = blocked.reason;
    blocker.remedy = remedy_of(state_, part.object.get(), blocked.reason,
                               path.evaluates ? path.full : std::string());
  }

  void add_imports() {
    if (!graph_.context().has_others()) return;
    Manifest manifest = manifest_of(state_, graph_);
    for (ImportRecord& record : manifest.imports) {
      if (!record.is_added_by_encoder())
        explanation_.imports.push_back({std::move(record), false});
    }
  }

  // Describes the source in the head, as receivers get it. Functions that were received
  // with source are sent with it regardless of the options.
  void add_source(BytesView head) {
    if (head.empty()) return;
    explanation_.source = envelope::explained_source(require(state_, open_head(head)),
                                                     graph_.context().wants_source());
  }

  static constexpr std::uint64_t kMinDetailedBytes = 1024;

  State& state_;
  GraphEncoder& graph_;
  const WalkRecord& record_;
  CodeInfos infos_;
  Explanation explanation_;
  // By index of the buffer: the sum of the sizes before it.
  std::vector<std::uint64_t> buffers_before_;
  std::vector<std::uint64_t> shared_;
};

}  // namespace

Explanation explain(State& state, PyObject* object, const EncodeHooks& hooks,
                    PyObject* progress) {
  WalkRecord record;
  if (progress != nullptr) {
    record.set_progress([progress](std::uint64_t objects, std::uint64_t bytes) {
      Ref::steal(PyObject_CallFunction(progress, "KK",
                                       static_cast<unsigned long long>(objects),
                                       static_cast<unsigned long long>(bytes)));
    });
  }
  Explanation explanation;
  write_graph(
      state, {.skips_blockers = true, .record = &record, .hooks = hooks},
      [&](GraphEncoder& graph) {
        record.clear();
        graph.encode(object);
      },
      [&](State& sealing_state, GraphEncoder& graph) {
        explanation = Explainer(sealing_state, graph, record).explain();
        return Ref();
      });
  if (!explanation.blockers.empty() || !hooks.has_no_callbacks()) return explanation;
  // The first walk writes no definitions, but dumps() does, so the total is measured
  // anew.
  write_graph(
      state, {.hooks = hooks}, [&](GraphEncoder& graph) { graph.encode(object); },
      [&](State& sealing_state, GraphEncoder& graph) {
        explanation.total = sealed_size(sealing_state, graph, false).total;
        return Ref();
      });
  return explanation;
}

}  // namespace waybill::py
