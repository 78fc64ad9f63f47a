// Tested by tests/diff/diff_test.cpp.

#include "diff/payload_tree.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "format/compression.h"

namespace waybill::envelope {
namespace {

using wire::Token;

// Keeps equal hashes of different kinds apart.
enum class Salt : std::uint64_t {
  kModule = 1,
  kReference,
  kOpenReference,
  kCode,
  kStored,
};

std::uint64_t mixed(std::uint64_t hash, std::uint64_t more) {
  const std::uint64_t both[] = {hash, more};
  return base::hash_of({reinterpret_cast<const std::uint8_t*>(both), sizeof both});
}

std::uint64_t salted(Salt salt, std::uint64_t hash) {
  return mixed(static_cast<std::uint64_t>(salt), hash);
}

std::uint64_t number_of(BytesView digest) {
  return wire::read_big_endian(digest.data(), digest.size());
}

// The digest of the decompressed bytes; nothing if they do not match the row.
std::optional<std::uint64_t> hash_of_decompressed(const StoredBuffer& row) {
  envelope::CompressedBlocks blocks(row, row.bytes, row.place);
  std::vector<std::uint8_t> block;
  base::DigestStream hash;
  for (std::uint64_t left = row.length; left != 0; left -= block.size()) {
    block.resize(std::min<std::uint64_t>(left, wire::kCompressedBlock));
    if (!blocks.next(block)) return {};
    hash.add(block);
  }
  return number_of(hash.digest());
}

std::uint64_t content_hash(const StoredBuffer& row) {
  if (row.compression && !row.bytes.empty()) {
    if (const auto hash = hash_of_decompressed(row)) return *hash;
  }
  if (row.digest.size() == sizeof(std::uint64_t)) return number_of(row.digest);
  return base::hash_of(row.bytes.empty() ? row.digest : row.bytes);
}

// Hashes the content and type of a stored buffer, whatever its number, digest and
// compression.
std::uint64_t stored_hash(const StoredBuffer& row) {
  std::uint64_t hash = salted(Salt::kStored, content_hash(row));
  for (const std::uint64_t extent : row.shape) hash = mixed(hash, extent);
  const auto* format = reinterpret_cast<const std::uint8_t*>(row.format.data());
  hash = mixed(hash, base::hash_of({format, row.format.size()}));
  hash = mixed(hash, static_cast<std::uint64_t>(row.kind) << 1 | row.is_fortran);
  return mixed(hash, row.length);
}

}  // namespace

PayloadTree::PayloadTree(const Side& side, std::size_t max_text)
    : envelope_(side.envelope), names_(side.names), max_text_(max_text) {
  if (!build()) rows_.clear();
}

bool PayloadTree::build() {
  Cursor cursor(reader_at(envelope_, envelope_.payload.offset));
  while (cursor.next()) {
    std::uint32_t index = 0;
    if (cursor.event() == CursorEvent::kClose) {
      index = cursor.container().annotation;
      rows_[index].end = static_cast<std::uint32_t>(rows_.size());
    } else {
      if (rows_.size() == UINT32_MAX) return false;
      index = static_cast<std::uint32_t>(rows_.size());
      const Token& token = cursor.token();
      Row& row = rows_.emplace_back();
      row.offset = token.offset;
      row.type = token.type;
      if (cursor.event() == CursorEvent::kOpen) {
        Cursor::Container& container = cursor.container();
        container.annotation = index;
        row.tag = container.tag;
        const auto type = static_cast<std::uint64_t>(row.type);
        row.hash = mixed(type << 8 | row.tag, container.count);
        continue;
      }
      row.end = index + 1;
      row.hash = leaf_hash(cursor);
    }
    if (index == 0) continue;
    Row& around = rows_[cursor.around().annotation];
    around.hash = mixed(around.hash, rows_[index].hash);
  }
  return !cursor.reader().failed();
}

std::uint64_t PayloadTree::leaf_hash(Cursor& cursor) const {
  const Token& token = cursor.token();
  const auto [kind, number] =
      target_of(envelope_, token, cursor.rule(), cursor.around().tag);
  switch (kind) {
    case LeafTarget::Kind::kValue:
      return reference_hash(cursor, number);
    case LeafTarget::Kind::kModule: {
      const std::string& module = envelope_.manifest.imports[number].module;
      const auto* start = reinterpret_cast<const std::uint8_t*>(module.data());
      return salted(Salt::kModule, base::hash_of({start, module.size()}));
    }
    case LeafTarget::Kind::kCode:
      return salted(Salt::kCode, base::hash_of(envelope_.code[number].hash));
    case LeafTarget::Kind::kBuffer:
      return stored_hash(envelope_.buffers[number]);
    default:
      break;
  }
  const std::size_t start = token.offset - envelope_.payload.offset;
  return base::hash_of(
      envelope_.payload.bytes.subspan(start, cursor.reader().offset() - token.offset));
}

std::uint64_t PayloadTree::reference_hash(const Cursor& cursor,
                                          std::size_t number) const {
  const std::size_t offset = envelope_.payload.offset + envelope_.shared[number];
  const auto target = std::lower_bound(
      rows_.begin(), rows_.end(), offset,
      [](const Row& row, std::size_t value) { return row.offset < value; });
  if (target == rows_.end() || target->offset != offset) {
    return salted(Salt::kReference, number);
  }
  if (target->end != 0) return salted(Salt::kReference, target->hash);
  // An open container has no hash yet: this is a cycle. Hashes how far up the container
  // is, since its number depends on the other shared values.
  const auto node = static_cast<std::uint32_t>(target - rows_.begin());
  const auto open = cursor.open();
  const auto frame =
      std::ranges::lower_bound(open, node, {}, &Cursor::Container::annotation);
  return salted(Salt::kOpenReference, static_cast<std::uint64_t>(open.end() - frame));
}

std::vector<std::uint32_t> PayloadTree::children(std::uint32_t index) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t at = index + 1; at < rows_[index].end; at = rows_[at].end) {
    found.push_back(at);
  }
  return found;
}

std::uint32_t PayloadTree::value() const {
  return is_node(0, wire::NodeTag::kDefinitions)
             ? children(0)[position_of(wire::NodeTag::kDefinitions, "value")]
             : 0;
}

std::vector<std::uint32_t> PayloadTree::definitions() const {
  if (!is_node(0, wire::NodeTag::kDefinitions)) return {};
  return children(children(0)[position_of(wire::NodeTag::kDefinitions, "definitions")]);
}

std::string PayloadTree::text(std::uint32_t index) const {
  return value_text(reader_at(envelope_, rows_[index].offset), names_, max_text_);
}

PayloadTree::Code PayloadTree::code(std::uint32_t index) const {
  const std::size_t code = at(index).code_index();
  if (code == SIZE_MAX) return {};
  return {code, envelope_.code[code].hash, names_.code[code]};
}

}  // namespace waybill::envelope
