// Copies a value out of a payload, together with the values that it refers to.
//
// One loop over the bytes, with a stack of open containers. A reference to a value that
// is not copied yet is a detour: the walk copies that value and returns. A second visit
// to a value writes a reference. A detour that leads back to a container that is still
// open would make a reference to an incomplete object, which the original does not
// have: then nothing is extracted. Tested by tests/parts/parts_test.cpp and
// tests/python/api/test_open_loading.py.

#include <algorithm>
#include <map>
#include <utility>

#include "format/definitions.h"
#include "format/shapes.h"
#include "format/value_view.h"
#include "waybill/parts.h"
#include "wire/writer.h"

namespace waybill {
namespace {

using envelope::reader_at;
using envelope::shape_of;
using wire::ExtType;
using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

// Whether such a node keeps its meaning outside its payload.
bool is_self_contained(const envelope::Shape& shape) {
  if (shape.request == Request::kCode || shape.request == Request::kImport)
    return false;
  return shape.tag != NodeTag::kPersistent && shape.tag != NodeTag::kBuffer &&
         shape.tag != NodeTag::kStreamReference && shape.tag != NodeTag::kReplacement;
}

class PartCopier {
 public:
  PartCopier(const Envelope& envelope, const std::vector<std::size_t>& targets)
      : envelope_(envelope),
        targets_(targets),
        reader_(reader_at(envelope, envelope.payload.offset)) {}

  // False if the part is not self-contained.
  bool copy(std::size_t offset) {
    root_ = offset;
    reader_ = reader_at(envelope_, offset);
    stack_.push_back({.left = 1});
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.left == 0) {
        close();
      } else {
        --frame.left;
        if (!copy_next()) return false;
      }
    }
    return true;
  }

  ExtractedPart take_part() {
    ExtractedPart part;
    part.payload = out_.take();
    Envelope& made = part.envelope;
    made.format_version = envelope_.format_version;
    made.python = envelope_.python;
    made.manifest = std::move(manifest_);
    made.manifest.substitutions = envelope_.manifest.substitutions;
    made.manifest.environment = envelope_.manifest.environment;
    made.shared = std::move(shared_);
    made.payload = {root_, part.payload};
    made.debug_info = {root_ + part.payload.size(), kNoDebugInfo};
    made.buffers = std::move(buffers_);
    made.bytes = part.payload;
    made.size = envelope_.size;
    made.buffers_offset = envelope_.buffers_offset;
    return part;
  }

 private:
  static constexpr std::uint8_t kNoDebugInfo[] = {wire::kEmptyMap};
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // A copied value that references may lead to.
  struct Target {
    std::uint64_t position = 0;  // In the copy.
    std::size_t number = kNone;  // Of the references to it; kNone if there are none.
    std::size_t detours = 0;     // The number of open detours when it was copied.
    bool is_open = false;
  };
  struct Frame {
    std::uint64_t left = 0;
    Target* target = nullptr;  // If references may lead to this container.
    bool is_detour = false;
    bool is_stored = false;  // A node kStored.
  };

  void close() {
    Frame& frame = stack_.back();
    if (frame.target != nullptr) frame.target->is_open = false;
    if (frame.is_detour) {
      reader_ = std::move(detours_.back());
      detours_.pop_back();
    }
    stack_.pop_back();
  }

  bool is_target(std::size_t offset) const {
    return offset == root_ || std::ranges::binary_search(targets_, offset);
  }

  bool copy_next() {
    const std::size_t offset = reader_.offset();
    Target* target = nullptr;
    if (is_target(offset)) {
      const auto [at, is_new] = copied_.try_emplace(offset);
      if (!is_new) return reader_.skip() && refer_to(at->second);
      target = &at->second;
      target->position = out_.size();
      target->detours = detours_.size();
    }
    Token token;
    if (!reader_.next(token)) return false;
    switch (token.type) {
      case TokenType::kArray:
        return copy_array(token, target);
      case TokenType::kMap:
        out_.map(token.count);
        return open({.left = token.count * 2, .target = target});
      case TokenType::kExtension:
        return copy_extension(token, target != nullptr);
      default:
        return copy_leaf(token);
    }
  }

  bool open(const Frame& frame) {
    if (frame.target != nullptr) frame.target->is_open = true;
    stack_.push_back(frame);
    return true;
  }

  bool copy_array(const Token& token, Target* target) {
    std::uint8_t tag = 0;
    if (token.count == 0 || !reader_.read_node_tag(tag)) {
      out_.array(token.count);
      return open({.left = token.count, .target = target});
    }
    const envelope::Shape* shape = shape_of(tag);
    if (shape == nullptr || !is_self_contained(*shape)) return false;
    out_.node(shape->tag, token.count - 1);
    return open({.left = token.count - 1,
                 .target = target,
                 .is_stored = shape->tag == NodeTag::kStored});
  }

  bool copy_leaf(const Token& token) {
    if (!stack_.back().is_stored) return append_from(token.offset);
    const auto old = static_cast<std::uint64_t>(token.integer);
    if (old >= envelope_.buffers.size()) return false;
    const auto [number, is_new] = buffer_numbers_.try_emplace(old, buffers_.size());
    if (is_new) buffers_.push_back(envelope_.buffers[old]);
    out_.unsigned_integer(number->second);
    return true;
  }

  bool copy_extension(const Token& token, bool is_target) {
    std::uint64_t number = 0;
    if (token.is(ExtType::kReference)) {
      // A reference that is itself the target of others: no writer makes it, and the
      // copy would merge it with its own target.
      if (is_target || !envelope::is_reference(envelope_, token, number)) return false;
      const std::size_t offset = envelope_.payload.offset + envelope_.shared[number];
      if (const auto at = copied_.find(offset); at != copied_.end()) {
        return refer_to(at->second);
      }
      detours_.push_back(std::exchange(reader_, reader_at(envelope_, offset)));
      return open({.left = 1, .is_detour = true});
    }
    // kEmpty is valid in a cell only, but a reference may lead to it from elsewhere.
    const auto empty = static_cast<std::uint8_t>(wire::Singleton::kEmpty);
    if (token.is(ExtType::kSingleton) &&
        (token.bytes.empty() || token.bytes[0] == empty)) {
      return false;
    }
    if (!token.is(ExtType::kModule) || !wire::index_of(token.bytes, number)) {
      return append_from(token.offset);
    }
    if (number >= envelope_.manifest.imports.size()) return false;
    std::vector<ImportRecord>& imports = manifest_.imports;
    const auto [at, is_new] = import_numbers_.try_emplace(number, imports.size());
    if (is_new) imports.push_back(envelope_.manifest.imports[number]);
    out_.index(ExtType::kModule, at->second);
    return true;
  }

  bool refer_to(Target& target) {
    if (target.is_open && target.detours != detours_.size()) return false;
    if (target.number == kNone) {
      target.number = shared_.size();
      shared_.push_back(target.position);
    }
    out_.index(ExtType::kReference, target.number);
    return true;
  }

  // Copies the bytes that were read since this offset.
  bool append_from(std::size_t offset) {
    const std::size_t start = offset - envelope_.payload.offset;
    out_.append(envelope_.payload.bytes.subspan(start, reader_.offset() - offset));
    return true;
  }

  const Envelope& envelope_;
  const std::vector<std::size_t>& targets_;
  std::size_t root_ = 0;
  Reader reader_;
  wire::Writer out_;
  std::vector<Frame> stack_;
  std::vector<Reader> detours_;  // Where each open detour returns to.
  // By offset, old number and old index. Ordered, not hashed: the sender chooses the
  // keys.
  std::map<std::size_t, Target> copied_;
  std::map<std::uint64_t, std::size_t> buffer_numbers_;
  std::map<std::uint64_t, std::size_t> import_numbers_;
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
