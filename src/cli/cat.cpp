// waybill cat FILE [PATH]: the plain data in an envelope, or a part of it, as JSON.
// Runs no Python. Tested by tests/cli/test_cat.py.

#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "waybill/parts.h"
#include "waybill/value_json.h"

namespace waybill::cli {
namespace {

void declare_cat(Options& options, Arguments& arguments) {
  options.add_text("FILE", arguments.file, "An envelope, or - for stdin");
  options.add_text("PATH", arguments.path,
                   "The path of a part, as in waybill ls: ['a'][0].b");
  options.add_flag("--json", arguments.json, "No colours, and errors as JSON too");
  declare_colours(options, arguments);
  options.add_number("--indent N", arguments.indent, -1, 16,
                     "Spaces for each level, or -1 for all in one line");
  options.add_flag("--loose", arguments.is_loose,
                   "Write values that JSON cannot express as the nearest JSON");
  options.add_flag("--standard", arguments.is_standard,
                   "Write dates, times, decimals and paths too");
  declare_keys(options, arguments);
}

// False if not all was written: the disk may be full, or the reader may have closed.
bool print(const std::string& text) {
  std::puts(text.c_str());
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

// The items of an array as nested lists.
Result<data::Value> items_of(const Envelope& envelope, ArrayPart array) {
  if (!array.buffer || !envelope.buffers[*array.buffer].compression) {
    return array_value(array);
  }
  const StoredBuffer& row = envelope.buffers[*array.buffer];
  if (row.length > kStrictLimits.max_memory) {
    return tl::unexpected(
        Error{ErrorCode::kLimitExceeded, envelope.buffers_offset + row.offset,
              "a compressed buffer has " + std::to_string(row.length) +
                  " bytes, more than this command decompresses"});
  }
  std::vector<std::uint8_t> items(row.length);
  const Result<void> done =
      decompress_buffer(row, row.bytes, envelope.buffers_offset + row.offset, items);
  if (!done) return tl::unexpected(done.error());
  array.bytes = BytesView(items).subspan(array.start, array.length);
  return array_value(array);
}

// The value at a path. Verifies the whole head, but applies the limits for untrusted
// input, and checks the digests of buffers, only for the part.
Result<data::Value> read_part(BytesView bytes, const std::string& path,
                              LoadOptions load_options, Objects objects) {
  load_options.limits = Limits{};
  const Gate gate(load_options);
  if (Result<void> is_signed = gate.check_signature(bytes); !is_signed) {
    return tl::unexpected(is_signed.error());
  }
  const Result<VerifiedEnvelope> envelope = open_mapped(bytes, gate.limits());
  if (!envelope) return tl::unexpected(envelope.error());
  const Result<std::size_t> offset = find_part(*envelope, path);
  if (!offset) return tl::unexpected(offset.error());
  const Part part = describe_part(*envelope, *offset);
  std::optional<ExtractedPart> extracted =
      PartExtractor(*envelope).extract(part.offset);
  if (!extracted) {
    return tl::unexpected(Error{ErrorCode::kRefused, part.offset,
                                "a " + part.type + ", which is not plain data"});
  }
  const Result<void> checked = check_buffers(extracted->envelope);
  if (!checked) return tl::unexpected(checked.error());
  if (part.array) return items_of(*envelope, *part.array);
  const Result<VerifiedEnvelope> alone = verify(extracted->envelope, kStrictLimits);
  if (!alone) return tl::unexpected(alone.error());
  return read_value(*alone, kStrictLimits, objects);
}

Exit run_cat(const Arguments& arguments) {
  Result<KeyRing> keys = read_keys(arguments);
  if (!keys) return report_error(keys.error(), arguments.json);
  Input bytes;
  if (!read_input(arguments.file, arguments.json, bytes)) return Exit::kUnreadable;
  LoadOptions load_options;
  load_options.limits = kStrictLimits;
  if (keys->size() != 0) {
    load_options.keys = std::make_shared<const KeyRing>(std::move(*keys));
  }
  const Objects objects =
      arguments.is_standard ? Objects::kStandard : Objects::kRefused;
  const Result<data::Value> value =
      arguments.path ? read_part(bytes, *arguments.path, load_options, objects)
                     : read_value(bytes, Gate(load_options), objects);
  if (!value) {
    const bool is_unsigned = value.error().code == ErrorCode::kBadSignature;
    return report_error(
        is_unsigned ? add_extent_detail(value.error(), bytes) : value.error(),
        arguments.json);
  }

  JsonOptions options;
  options.indent = arguments.indent;
  options.is_loose = arguments.is_loose;
  options.colours = !arguments.json && wants_colours(arguments);
  const Result<std::string> json = value_json(*value, options);
  if (!json) return report_error(json.error(), arguments.json);
  if (print(*json)) return Exit::kSuccess;
  std::perror("waybill: stdout");
  return Exit::kUnreadable;
}

}  // namespace

const Command kCat = {"cat", "Write the plain data in an envelope as JSON", declare_cat,
                      run_cat};

}  // namespace waybill::cli
