#pragma once

// The parts of a payload: what stands where, told without building it, and one part by
// itself. With a file that is mapped, nothing but the head is read.
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
  // What an item is, as NumPy and PyTorch spell it: "float64", ">i4", "<U5",
  // "bfloat16"; "object" for references. Empty if it is not known.
  std::string item;
  std::vector<std::uint64_t> shape;
  bool is_fortran = false;  // The first index varies fastest.
  // The items in that order. Empty if they do not lie together, are objects, or are in
  // a buffer that is compressed. Digests of stored buffers were not compared:
  // check_buffer() does that.
  BytesView bytes;
  // The number of the stored buffer that they are in, if they are in one; and where
  // they lie in it, once it is decompressed. No bytes if they do not lie together.
  std::optional<std::size_t> buffer;
  std::uint64_t start = 0;
  std::uint64_t length = 0;
};

// A value of a payload.
struct Part {
  std::size_t offset = 0;  // Of its first byte in the envelope.
  // "dict", "list", "int", …; for an object the name of its class, or of what makes it:
  // "numpy.ndarray", "collections.OrderedDict".
  std::string type;
  // What is in it: items, pairs, attributes. 0 for what holds nothing, or not so that
  // it could be named.
  std::uint64_t count = 0;
  // Bytes that it takes in the envelope, with the stored buffers that it uses. What it
  // shares with others is not counted where it only refers to it.
  std::uint64_t size = 0;
  // Numbers of the stored buffers that it uses, in order; likewise.
  std::vector<std::size_t> buffers;
  // A leaf as Python would write it, cut after some 60 bytes; else empty.
  std::string text;
  std::optional<ArrayPart> array;
};

// How a part is reached from what holds it.
struct Step {
  enum class Kind : std::uint8_t {
    kKey,        // By the key of a dict.
    kIndex,      // By its place in a list or tuple.
    kAttribute,  // By the name of an attribute.
  };
  Kind kind = Kind::kIndex;
  std::uint64_t index = 0;     // Among those of its kind.
  std::string_view name = {};  // An attribute; a key that is text. In the payload.
  std::size_t key_offset = 0;  // kKey: where the key stands.
  std::size_t offset = 0;      // Where the part stands: what it refers to, if it does.
};

// The part that is all of the payload.
std::size_t root_of(const VerifiedEnvelope& envelope);

// What the value at `offset` is, which is root_of() or the offset of a step: another
// offset gives a part that means nothing. Cost: by its bytes in the head.
Part describe_part(const VerifiedEnvelope& envelope, std::size_t offset);

// The steps from there to what it holds, in the order of the payload. Cost: likewise.
std::vector<Step> steps_from(const VerifiedEnvelope& envelope, std::size_t offset);

// A step as paths spell it: "['model']", "[3]", ".weights", ".['no name']"; where the
// key of a pair is too large to be told, or NaN, ".values()[3]" for the fourth pair.
std::string step_text(const VerifiedEnvelope& envelope, const Step& step);

// The offset of the part with this path, a row of steps: "['model'].layers[0]". Empty
// for all of the payload. A key that is text may stand in either kind of quotes; other
// keys are written as step_text() does. Of pairs with one key, which no dict of Python
// has, the last is meant.
//
// Errors: kRefused, for what is no path, or leads to nothing; the offset is that of the
// last value that it leads to.
[[nodiscard]] Result<std::size_t> find_part(const VerifiedEnvelope& envelope,
                                            std::string_view path);

// A part as a payload of its own: as if its sender had sent nothing else. What it
// refers to outside of it stands where it is first met; buffers stay where they are.
struct ExtractedPart {
  // The payload of `envelope`, which points into it. Offsets count from where the part
  // stands in the envelope that it is of, so they are right up to the first reference
  // to what is outside of it.
  std::vector<std::uint8_t> payload;
  // The imports and buffers that the part needs, and no code. Of its bytes there is
  // nothing but the payload, and it was not verified. Buffers point to where those of
  // the envelope do that the part is of.
  Envelope envelope;

  ExtractedPart() = default;
  ExtractedPart(ExtractedPart&&) = default;
  ExtractedPart& operator=(ExtractedPart&&) = default;
};

// Takes parts out of an envelope, which must outlive this. Thread-safe when const.
class PartExtractor {
 public:
  // Cost: by the number of shared positions.
  explicit PartExtractor(const VerifiedEnvelope& envelope);

  // Nothing if the part cannot stand alone, and has to be built with all of the
  // payload: no value starts there, there is code in it, a class by value, or what is
  // beside the payload, or it refers to what is around it. Cost: by its bytes, and
  // those of what it refers to.
  [[nodiscard]] std::optional<ExtractedPart> extract(std::size_t offset) const;

 private:
  const Envelope& envelope_;
  std::vector<std::size_t> targets_;  // Offsets that references mean, in order.
};

// open_whole() and verify() for a file that is mapped: the stored buffers are where
// they are, and no byte of them is read. The result points into `file`.
//
// Errors: those of open_head(), attach_buffers() and verify(), kTrailingBytes.
[[nodiscard]] Result<VerifiedEnvelope> open_mapped(BytesView file,
                                                   const Limits& limits = {});
template <TemporaryBytes Bytes>
Result<VerifiedEnvelope> open_mapped(Bytes&& file, const Limits& limits = {}) = delete;

// What a file may be that open_mapped() takes.
enum class FileEnd : std::uint8_t {
  kWhole,
  kCut,  // It ends where it likes behind the head: rows of buffers that are not all
         // there have no bytes.
};

// The same with a head of its own, which may not change while the file does: the
// result points into both.
[[nodiscard]] Result<VerifiedEnvelope> open_mapped(BytesView head, BytesView file,
                                                   const Limits& limits,
                                                   FileEnd end = FileEnd::kWhole);

}  // namespace waybill
