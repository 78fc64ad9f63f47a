// Tested by tests/format/source_units_test.cpp.

#include "format/source_units.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include <zstd.h>
#include <zstd_errors.h>

#include "format/code_body.h"
#include "format/compression.h"
#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::uint64_t kPartCount = 3;         // Texts, units and classes.
constexpr std::uint64_t kCompressedFields = 2;  // Length and frame.
constexpr std::uint64_t kClassFields = 2;       // Both ids; the line may follow.
constexpr std::uint32_t kMaxLine = INT32_MAX;
constexpr int kLevel = 3;
constexpr int kWindowBits = 24;  // All texts are one segment.
static_assert(wire::kMaxSourceText <= std::uint32_t{1} << kWindowBits);
// Compressing shorter texts gains too little.
constexpr std::size_t kMinCompressedSize = 256;

bool read_name(Reader& reader, std::string_view& name, std::string_view what) {
  if (!reader.read_text(name, what)) return false;
  return wire::is_utf8(name) ||
         reader.fail(ErrorCode::kMalformed, reader.offset() - name.size(),
                     std::string(what) + " should be UTF-8");
}

bool read_utf8_names(Reader& reader, std::vector<std::string_view>& names,
                     std::string_view what) {
  return reader.read_list(names, what, [&](std::string_view& name) {
    return read_name(reader, name, what);
  });
}

bool read_texts(Reader& reader, Sources& sources) {
  Token token;
  if (!reader.next(token)) return false;
  sources.is_compressed = token.type == TokenType::kArray;
  if (token.type == TokenType::kText) {
    sources.texts = token.bytes;
    sources.text_length = token.bytes.size();
  } else if (!sources.is_compressed || token.count != kCompressedFields) {
    return reader.fail(ErrorCode::kMalformed, token.offset,
                       "texts of sources should be text, or a length and a zstd frame");
  } else if (!reader.read_unsigned(sources.text_length, wire::kMaxSourceText,
                                   "the length of source texts") ||
             !reader.read_binary(sources.texts, "compressed source texts")) {
    return false;
  }
  sources.offset = reader.offset() - sources.texts.size();
  return sources.text_length <= wire::kMaxSourceText ||
         reader.fail(ErrorCode::kLimitExceeded, token.offset,
                     "source texts should be at most 16 MiB");
}

bool read_text_range(Reader& reader, const Sources& sources, SourceUnit& unit) {
  const std::size_t offset = reader.offset();
  if (!reader.read_unsigned(unit.start, UINT32_MAX, "the start of a source text") ||
      !reader.read_unsigned(unit.length, UINT32_MAX, "the length of a source text")) {
    return false;
  }
  return unit.start + unit.length <= sources.text_length ||
         reader.fail(ErrorCode::kMalformed, offset,
                     "a source text ends after the end of all texts");
}

bool read_encoded_fields(Reader& reader, SourceUnit& unit) {
  const BytesView rest = reader.rest();
  const std::size_t start = reader.offset();
  std::uint32_t kind = 0;
  constexpr auto kLastKind = static_cast<std::uint64_t>(wire::UnitKind::kGenerated);
  if (!read_number(reader, kind, kLastKind, "the kind of a source unit") ||
      !read_name(reader, unit.name, "the name of a source unit") ||
      !read_name(reader, unit.qualified_name, "the qualified name of a source unit")) {
    return false;
  }
  unit.kind = static_cast<wire::UnitKind>(kind);
  unit.class_name = {};
  if (!reader.read_nil() &&
      !read_name(reader, unit.class_name, "the class of a source unit")) {
    return false;
  }
  if (!read_number(reader, unit.flags, wire::kUnitFlags, "flags of a source unit") ||
      !read_number(reader, unit.optimization, 2, "the optimization of a source unit") ||
      !read_number(reader, unit.lines, INT32_MAX, "lines of a source unit") ||
      !read_number(reader, unit.column, INT32_MAX, "the column of a source unit") ||
      !read_utf8_names(reader, unit.futures, "future features of a source unit") ||
      !read_utf8_names(reader, unit.free_names, "free names of a source unit") ||
      !read_utf8_names(reader, unit.imports, "imports of a source unit")) {
    return false;
  }
  unit.encoded_fields = rest.first(reader.offset() - start);
  return true;
}

bool read_unit(Reader& reader, std::size_t code_count, Sources& sources) {
  const std::size_t offset = reader.offset();
  std::uint64_t more = 0;
  SourceUnit unit;
  if (!reader.read_row(wire::kUnitFieldCount, more, "a source unit",
                       "a source unit has 14 fields or more") ||
      !read_number(reader, unit.code, UINT32_MAX, "the code of a source unit")) {
    return false;
  }
  if (unit.code >= code_count ||
      (!sources.units.empty() && unit.code <= sources.units.back().code)) {
    return reader.fail(ErrorCode::kMalformed, offset,
                       "source units should be in the order of the code section, at "
                       "most one for a body");
  }
  if (!read_text_range(reader, sources, unit) || !read_encoded_fields(reader, unit))
    return false;
  sources.units.push_back(std::move(unit));
  return reader.skip_values(more);
}

bool read_class(Reader& reader, ClassSource& ids) {
  std::uint64_t more = 0;
  return reader.read_row(kClassFields, more, "a class with source",
                         "a class with source has two ids") &&
         reader.read_binary(ids.id, "the id of a class") &&
         reader.read_binary(ids.source_id, "the source id of a class") &&
         (more == 0 ||
          (read_number(reader, ids.first_line, kMaxLine, "the line of a class") &&
           reader.skip_values(more - 1)));
}

Error damaged(const Sources& sources, const char* detail) {
  return {ErrorCode::kMalformed, sources.offset, detail};
}

}  // namespace

const SourceUnit* Sources::unit_of(std::uint32_t code) const {
  const auto found = std::ranges::lower_bound(units, code, {}, &SourceUnit::code);
  return found != units.end() && found->code == code ? &*found : nullptr;
}

bool read_sources(Reader& reader, std::size_t code_count, Sources& sources) {
  const std::size_t offset = reader.offset();
  std::uint64_t count = 0;
  if (!reader.read_array(count, "the sources")) return false;
  if (count != kPartCount) {
    return reader.fail(ErrorCode::kMalformed, offset,
                       "sources should be texts, units and classes");
  }
  if (!read_texts(reader, sources) || !reader.read_array(count, "the source units")) {
    return false;
  }
  sources.units.reserve(std::min<std::uint64_t>(count, code_count));
  for (; count != 0; --count) {
    if (!read_unit(reader, code_count, sources)) return false;
  }
  return reader.read_list(sources.classes, "classes with source",
                          [&](ClassSource& ids) { return read_class(reader, ids); });
}

Sources sources_of(const Envelope& envelope, const Section& section) {
  Sources sources;
  if (section.bytes.empty()) return sources;
  Reader reader(section.bytes, Limits{}, section.offset);
  read_sources(reader, envelope.code.size(), sources);
  return sources;
}

Result<std::string> texts_of(const Sources& sources) {
  std::string texts;
  if (!sources.is_compressed) {
    texts.assign(sources.texts.begin(), sources.texts.end());
  } else {
    const std::size_t size =
        ZSTD_findFrameCompressedSize(sources.texts.data(), sources.texts.size());
    if (ZSTD_isError(size) != 0 || size != sources.texts.size() ||
        !is_frame_start(sources.texts, sources.text_length)) {
      return tl::unexpected(
          damaged(sources, "source texts should be one zstd frame of their length"));
    }
    texts.resize(sources.text_length);
    const std::size_t written = ZSTD_decompress(
        texts.data(), texts.size(), sources.texts.data(), sources.texts.size());
    if (ZSTD_getErrorCode(written) == ZSTD_error_memory_allocation) {
      throw std::bad_alloc();
    }
    if (written != texts.size()) {
      return tl::unexpected(
          damaged(sources, "the zstd frame of source texts is damaged"));
    }
  }
  if (wire::is_utf8(texts)) return texts;
  return tl::unexpected(damaged(sources, "source texts should be UTF-8"));
}

void write_texts(wire::Writer& out, std::string_view texts) {
  if (texts.size() >= kMinCompressedSize) {
    struct ContextDeleter {
      void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    };
    const std::unique_ptr<ZSTD_CCtx, ContextDeleter> context(ZSTD_createCCtx());
    if (!context) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, kWindowBits);
    std::vector<std::uint8_t> frame(texts.size());
    const std::size_t size = ZSTD_compress2(context.get(), frame.data(), frame.size(),
                                            texts.data(), texts.size());
    if (ZSTD_isError(size) == 0) {
      out.array(kCompressedFields);
      out.unsigned_integer(texts.size());
      out.binary(BytesView(frame).first(size));
      return;
    }
    if (ZSTD_getErrorCode(size) != ZSTD_error_dstSize_tooSmall) throw std::bad_alloc();
  }
  out.text(texts);
}

}  // namespace waybill::envelope
