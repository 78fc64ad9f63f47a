#pragma once

// Finds, describes and extracts parts of a payload without building them. Of a mapped
// file, only the head is read.
//
//   auto file = waybill::MappedFile::open("run.waybill");  // waybill/mapped_file.h
//   auto envelope = waybill::open_mapped(file->bytes());
//   auto offset = waybill::find_part(*envelope, "['model']['layer1.weight']");
//   auto part = waybill::describe_part(*envelope, *offset);
//   if (part.array) use(part.array->item, part.array->shape, part.array->bytes);

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/bytes.h"
#include "waybill/envelope.h"
#include "waybill/error.h"
#include "waybill/limits.h"

namespace waybill {

// An array of NumPy, or a tensor of PyTorch.
struct ArrayPart {
  // The type of an item in NumPy and PyTorch: "float64", ">i4", "<U5", "bfloat16";
  // "object" for references. Empty if unknown.
  std::string item;
  std::vector<std::uint64_t> shape;
  bool is_fortran = false;  // The first index varies fastest.
  // The items in that order. Empty if they are not contiguous, are objects, or are in a
  // compressed buffer. The digest is not checked: check_buffer() does that.
  BytesView bytes;
  // The stored buffer that contains them, if any, and their range in it, decompressed.
  // `length` is 0 if they are not contiguous.
  std::optional<std::size_t> buffer;
  std::uint64_t start = 0;
  std::uint64_t length = 0;
};

// A value of a payload.
struct Part {
  std::size_t offset = 0;  // The offset of its first byte in the envelope.
  // "dict", "list", "int", …; for an object the name of its class, or of its
  // constructor: "numpy.ndarray", "collections.OrderedDict".
  std::string type;
  // The number of items, pairs or attributes in it; 0 if it has none that can be named.
  std::uint64_t count = 0;
  // Its bytes in the envelope, with the stored buffers that it uses. Objects that it
  // only refers to are not counted.
  std::uint64_t size = 0;
  // Numbers of the stored buffers that it uses, in order, without those of objects that
  // it only refers to.
  std::vector<std::size_t> buffers;
  // A leaf in Python's syntax, cut after some 60 bytes; empty for containers.
  std::string text;
  std::optional<ArrayPart> array;
};

// The step from a part to one in it.
struct Step {
  enum class Kind : std::uint8_t {
    kKey,        // A key of a dict.
    kIndex,      // An index into a list or tuple.
    kAttribute,  // An attribute.
  };
  Kind kind = Kind::kIndex;
  std::uint64_t index = 0;     // Its number among the steps of its kind.
  std::string_view name = {};  // An attribute, or a text key; a view of the payload.
  std::size_t key_offset = 0;  // kKey: offset of the key.
  std::size_t offset = 0;      // Offset of the part, with a reference followed.
};

// The offset of the root, the whole payload.
std::size_t root_of(const VerifiedEnvelope& envelope);

// Describes the value at `offset`, which must be root_of() or the offset of a step; for
// other offsets the result is meaningless. Cost: linear in its bytes in the head.
Part describe_part(const VerifiedEnvelope& envelope, std::size_t offset);

// The steps from the value at `offset`, as for describe_part(), to the parts directly
// in it, in the order of the payload. Cost: linear in its bytes in the head.
std::vector<Step> steps_from(const VerifiedEnvelope& envelope, std::size_t offset);

// A step in path syntax: "['model']", "[3]", ".weights", ".['no name']"; ".values()[3]"
// for the fourth pair if its key is too large, or NaN.
std::string step_text(const VerifiedEnvelope& envelope, const Step& step);

// The offset of the part with this path, a sequence of steps: "['model'].layers[0]".
// Empty for all of the payload. A text key may be in either kind of quotes; other keys
// are written as by step_text(). Of pairs with equal keys, which no dict of Python has,
// the last one is found.
//
// Errors: kRefused for an invalid path, and for one that leads to nothing; the offset
// is that of the last value that it reaches.
[[nodiscard]] Result<std::size_t> find_part(const VerifiedEnvelope& envelope,
                                            std::string_view path);

// A part as a payload of its own, as if its sender had sent nothing else. Objects
// outside of the part are included at their first reference; buffers are not copied.
struct ExtractedPart {
  // The payload of `envelope`, which points into it. Offsets count from the part's
  // offset in the original envelope, so they are right up to the first included object.
  std::vector<std::uint8_t> payload;
  // The imports and buffers that the part needs, and no code. Its only bytes are the
  // payload, and it is not verified. Buffers point to those of the original envelope.
  Envelope envelope;

  ExtractedPart() = default;
  ExtractedPart(ExtractedPart&&) = default;
  ExtractedPart& operator=(ExtractedPart&&) = default;
};

// Extracts parts of an envelope, which must outlive this. Thread-safe when const.
class PartExtractor {
 public:
  // Cost: linear in the number of shared positions.
  explicit PartExtractor(const VerifiedEnvelope& envelope);

  // Extracts a part. Returns nothing if the part cannot be separated: no value starts
  // at `offset`, it contains code, a class by value or an object from outside of the
  // payload (a persistent id, a buffer out of band), or it refers to a container around
  // it. Cost: linear in its bytes and in those of the objects it refers to.
  [[nodiscard]] std::optional<ExtractedPart> extract(std::size_t offset) const;

 private:
  const Envelope& envelope_;
  std::vector<std::size_t> targets_;  // Offsets of referenced values, sorted.
};

// open_whole() and verify() for a mapped file: stored buffers stay in the file, and
// none of their bytes are read. The result points into `file`.
//
// Errors: those of open_head(), attach_buffers() and verify(), kTrailingBytes.
[[nodiscard]] Result<VerifiedEnvelope> open_mapped(BytesView file,
                                                   const Limits& limits = {});
template <TemporaryBytes Bytes>
Result<VerifiedEnvelope> open_mapped(Bytes&& file, const Limits& limits = {}) = delete;

// Whether open_mapped() accepts an incomplete file.
enum class FileEnd : std::uint8_t {
  kWhole,
  // The file may end anywhere after the head; rows of incomplete buffers have no bytes.
  kCut,
};

// open_mapped() with a separate head, which must stay unchanged while the file may
// change: the result points into both.
[[nodiscard]] Result<VerifiedEnvelope> open_mapped(BytesView head, BytesView file,
                                                   const Limits& limits,
                                                   FileEnd end = FileEnd::kWhole);

}  // namespace waybill
