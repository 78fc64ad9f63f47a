// Copies a value out of a payload, together with the values that it refers to.
//
// In the place of a reference to a value that is not copied yet, a walk of its own
// copies that value: a detour. A second visit to a value writes a reference. A detour
// that leads back to a container that is still open would make a reference to an
// incomplete object, which the original does not have: then nothing is extracted.
// Tested by tests/parts/parts_test.cpp and tests/python/api/test_open_loading.py.

#include <algorithm>
#include <map>
#include <utility>

#include "format/leaf_kind.h"
#include "format/payload_cursor.h"
#include "format/value_view.h"
#include "waybill/parts.h"
#include "wire/writer.h"

namespace waybill {
namespace {

using envelope::CursorEvent;
using envelope::reader_at;
using wire::NodeTag;
using wire::Token;

// Whether a node of this shape keeps its meaning outside its payload.
bool is_self_contained(const envelope::Shape& shape) {
  if (shape.request == Request::kCode || shape.request == Request::kImport)
    return false;
  return shape.tag != NodeTag::kPersistent && shape.tag != NodeTag::kBuffer &&
         shape.tag != NodeTag::kStreamReference && shape.tag != NodeTag::kReplacement;
}

// Maps the old numbers of items to new ones, as items are copied from one list to
// another. Ordered, not hashed: the sender chooses the keys.
class Renumbering {
 public:
  template <typename Item>
  std::size_t take(const std::vector<Item>& from, std::size_t old,
                   std::vector<Item>& into) {
    const auto [number, is_new] = numbers_.try_emplace(old, into.size());
    if (is_new) into.push_back(from[old]);
    return number->second;
  }

 private:
  std::map<std::size_t, std::size_t> numbers_;
};

class PartCopier {
 public:
  PartCopier(const Envelope& envelope, const std::vector<std::size_t>& targets)
      : envelope_(envelope), targets_(targets) {}

  // False if the part is not self-contained.
  bool copy(std::size_t offset) {
    root_ = offset;
    walks_.emplace_back(reader_at(envelope_, offset));
    while (!walks_.empty()) {
      Walk& walk = walks_.back();
      if (walk.next()) {
        if (!copy_next(walk)) return false;
      } else if (walk.reader().failed()) {
        return false;
      } else {
        walks_.pop_back();
      }
    }
    return true;
  }

  ExtractedPart take_part() {
    ExtractedPart part;
    part.payload = out_.take();
    Envelope& excerpt = part.envelope;
    excerpt.format_version = envelope_.format_version;
    excerpt.python = envelope_.python;
    excerpt.manifest = std::move(manifest_);
    excerpt.manifest.substitutions = envelope_.manifest.substitutions;
    excerpt.manifest.environment = envelope_.manifest.environment;
    excerpt.shared = std::move(shared_);
    excerpt.payload = {root_, part.payload};
    excerpt.debug_info = {root_ + part.payload.size(), kNoDebugInfo};
    excerpt.buffers = std::move(buffers_);
    excerpt.bytes = part.payload;
    excerpt.size = envelope_.size;
    excerpt.buffers_offset = envelope_.buffers_offset;
    return part;
  }

 private:
  static constexpr std::uint8_t kNoDebugInfo[] = {wire::kEmptyMap};
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // A copied value that references may lead to.
  struct Target {
    std::uint64_t position = 0;  // The position in the copy.
    std::size_t number = kNone;  // The number that references to it have, or kNone.
    std::size_t walks = 0;       // The number of walks when it was copied.
    bool is_open = false;
  };
  // The annotation: the target that a container is, if it is one.
  using Walk = envelope::PayloadCursor<Target*>;

  bool is_target(std::size_t offset) const {
    return offset == root_ || std::ranges::binary_search(targets_, offset);
  }

  // Copies the current value of the last walk.
  bool copy_next(Walk& walk) {
    if (walk.event() == CursorEvent::kClose) {
      Target* const target = walk.container().annotation;
      if (target != nullptr) target->is_open = false;
      return true;
    }
    const bool is_leaf = walk.event() == CursorEvent::kLeaf;
    Target* target = nullptr;
    if (is_target(walk.token().offset)) {
      const auto [at, is_new] = copied_.try_emplace(walk.token().offset);
      target = &at->second;
      if (!is_new) return (is_leaf || walk.skip()) && refer_to(*target);
      target->position = out_.size();
      target->walks = walks_.size();
    }
    return is_leaf ? copy_leaf(walk, target != nullptr) : open(walk, target);
  }

  bool open(Walk& walk, Target* target) {
    Walk::Container& container = walk.container();
    const std::size_t count = container.count;
    if (container.is_map) {
      out_.map(count / 2);
    } else if (count == walk.token().count) {
      out_.array(count);
    } else {  // A node, whose tag is not counted.
      if (container.shape == nullptr || !is_self_contained(*container.shape))
        return false;
      out_.node(container.shape->tag, count);
    }
    container.annotation = target;
    if (target != nullptr) target->is_open = true;
    return true;
  }

  bool copy_leaf(Walk& walk, bool is_target) {
    const Token& token = walk.token();
    const auto [kind, number] =
        envelope::target_of(envelope_, token, walk.rule(), walk.around().tag);
    switch (kind) {
      case envelope::LeafTarget::Kind::kValue:
        // A reference that is itself the target of others: no writer makes it, and the
        // copy would merge it with its own target.
        return !is_target && follow(number);
      case envelope::LeafTarget::Kind::kModule:
        out_.index(wire::ExtType::kModule,
                   import_numbers_.take(envelope_.manifest.imports, number,
                                        manifest_.imports));
        return true;
      case envelope::LeafTarget::Kind::kBuffer:
        out_.unsigned_integer(
            buffer_numbers_.take(envelope_.buffers, number, buffers_));
        return true;
      default:
        break;
    }
    // Valid in a cell only, but a reference may lead to it from elsewhere.
    if (envelope::leaf_kind(token) == envelope::LeafKind::kEmpty) return false;
    const std::size_t start = token.offset - envelope_.payload.offset;
    const std::size_t size = walk.reader().offset() - token.offset;
    out_.append(envelope_.payload.bytes.subspan(start, size));
    return true;
  }

  // Refers to a target, or begins a detour to one that is not copied yet.
  bool follow(std::size_t number) {
    const std::size_t offset = envelope_.payload.offset + envelope_.shared[number];
    if (const auto at = copied_.find(offset); at != copied_.end()) {
      return refer_to(at->second);
    }
    walks_.emplace_back(reader_at(envelope_, offset));
    return true;
  }

  bool refer_to(Target& target) {
    if (target.is_open && target.walks != walks_.size()) return false;
    if (target.number == kNone) {
      target.number = shared_.size();
      shared_.push_back(target.position);
    }
    out_.index(wire::ExtType::kReference, target.number);
    return true;
  }

  const Envelope& envelope_;
  const std::vector<std::size_t>& targets_;
  std::size_t root_ = 0;
  std::vector<Walk> walks_;  // The last one goes on; the others wait at a reference.
  wire::Writer out_;
  std::map<std::size_t, Target> copied_;  // By offset; ordered, as in Renumbering.
  Renumbering import_numbers_, buffer_numbers_;
  std::vector<std::uint64_t> shared_;
  std::vector<StoredBuffer> buffers_;
  Manifest manifest_;
};

}  // namespace

PartExtractor::PartExtractor(const VerifiedEnvelope& envelope) : envelope_(*envelope) {
  targets_.reserve(envelope_.shared.size());
  for (const std::uint64_t position : envelope_.shared) {
    targets_.push_back(envelope_.payload.offset + position);
  }
  std::ranges::sort(targets_);
}

std::optional<ExtractedPart> PartExtractor::extract(std::size_t offset) const {
  PartCopier copier(envelope_, targets_);
  if (!copier.copy(offset)) return std::nullopt;
  return copier.take_part();
}

}  // namespace waybill
