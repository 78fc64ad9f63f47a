// Builds the report as a tree, and writes the tree as JSON.
// Tested by tests/report/report_test.cpp.

#include "waybill/report.h"

#include <algorithm>

#include "report/code_listing.h"
#include "report/report_model.h"
#include "report/value_text.h"
#include "text/control_characters.h"
#include "text/json.h"
#include "waybill/signature.h"
#include "wire/reader.h"
#include "wire/utf8.h"

namespace waybill {
namespace envelope {
namespace {

using wire::Reader;

// Only some envelopes have the section of buffers.
constexpr const char* kSectionNames[wire::kSectionCountWithBuffers] = {
    "header",  "manifest",   "code",    "shared", "payload_length",
    "payload", "debug_info", "buffers", "digest", "signature"};
constexpr std::size_t kBuffersAt = 7;

// Indexed by wire::BufferKind.
constexpr const char* kBufferKinds[] = {"bytes", "bytearray", "read_only", "writable",
                                        "source"};

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    std::size_t length = 0;
    const char32_t point = first_character(text, length);
    if (length == 0 || is_control(point)) return false;
    text.remove_prefix(length);
  }
  return true;
}

void add_buffers(const Envelope& envelope, std::size_t max_text, Json buffers) {
  buffers.make_array();
  for (const StoredBuffer& row : envelope.buffers) {
    const Json model = buffers.append().make_object(7);
    model["kind"] = kBufferKinds[static_cast<std::size_t>(row.kind)];
    model["offset"] = envelope.buffers_offset + row.offset;
    model["length"] = row.length;
    set_text_or_null(model["format"], start_of(row.format, max_text));
    const Json shape = model["shape"];
    if (!row.shape.empty()) shape.make_array();
    for (const std::uint64_t extent : row.shape) shape.append() = extent;
    model["order"] = row.is_fortran ? "F" : "C";
    if (row.compression) {
      const Json compression = model["compression"].make_object(3);
      compression["method"] = "zstd";  // The only method so far.
      compression["item_size"] = row.compression->item_size;
      compression["stored_length"] = row.stored_length;
    }
  }
}

// Optional parts of an envelope. Their keys exist only if the envelope has them.
void add_optional_parts(const Envelope& envelope, std::size_t max_text, Json model) {
  if (const auto info = signature_info(envelope)) {
    const Json signature = model["signature"].make_object(2);
    signature["algorithm"] = name_of(info->algorithm);
    signature["key"] = to_string(info->key);
  }
  if (!envelope.application.empty()) {
    const std::size_t shown = std::min(envelope.application.size(), max_text / 2);
    const Json application = model["application"].make_object(3);
    application["size"] = envelope.application.size();
    application["start"] = hex(envelope.application.first(shown));
    const std::string_view text = wire::as_text(envelope.application);
    if (is_printable(text)) application["text"] = start_of(text, max_text);
  }
  if (!envelope.buffers.empty()) add_buffers(envelope, max_text, model["buffers"]);
}

void add_import(const ImportRecord& record, Json imports) {
  const Json import = imports.append().make_object(6);
  import["module"] = record.module;
  import["time"] = name_of(record.time);
  set_text_or_null(import["chain"], record.chain);
  set_place(import, record.function, record.file, record.line);
}

// Modules that waybill itself needs to build the objects are listed apart.
void add_imports(const Manifest& manifest, Json model) {
  const Json imports = model["imports"].make_array();
  for (const ImportRecord& record : manifest.imports) {
    if (!record.is_added_by_encoder()) add_import(record, imports);
  }
  for (const ImportRecord& record : manifest.imports) {
    if (record.is_added_by_encoder()) add_import(record, model["own_imports"]);
  }
}

void add_substitutions(const Manifest& manifest, Json substitutions) {
  substitutions.make_array();
  for (const Substitution& substitution : manifest.substitutions) {
    const Json model = substitutions.append().make_object(3);
    model["policy"] = substitution.policy;
    model["type"] = substitution.type;
    model["path"] = substitution.path;
  }
}

void add_environment(const Environment& environment, Json model) {
  model.make_object(4);
  model["python"] = environment.python;
  model["implementation"] = environment.implementation;
  model["platform"] = environment.platform;
  const Json distributions = model["distributions"].make_array();
  for (const Distribution& from : environment.distributions) {
    const Json distribution = distributions.append().make_object(3);
    distribution["name"] = from.name;
    distribution["version"] = from.version;
    const Json modules = distribution["modules"].make_array();
    for (const std::string& module : from.modules) modules.append() = module;
  }
}

void add_sections(const Envelope& envelope, Json sections) {
  sections.make_object(wire::kSectionCountWithBuffers);
  Reader reader(envelope.bytes);
  std::uint64_t count = 0;
  if (!reader.read_array(count, "the envelope")) return;
  for (std::size_t i = 0; i < wire::kSectionCountWithBuffers; ++i) {
    if (i == kBuffersAt && envelope.buffers.empty()) continue;
    const char* const name = kSectionNames[i];
    const std::size_t offset = reader.offset();
    const bool is_payload = i == static_cast<std::size_t>(wire::SectionIndex::kPayload);
    const std::size_t payload_end = offset + envelope.payload.bytes.size();
    if (is_payload ? !reader.skip_to(payload_end) : !reader.skip()) return;
    const Json section = sections[name].make_object(2);
    section["offset"] = offset;
    section["size"] = reader.offset() - offset;
  }
}

// Replaces bytes that are not UTF-8, which names may hold.
std::string dump(Json model) { return format_for_terminal(model.dump(2), false); }

}  // namespace

void fill_report(const Envelope& envelope, const ReportOptions& options, Json model) {
  model.make_object(15);
  model["format_version"] = envelope.format_version;
  const Json python = model["python"].make_object(3);
  python["major"] = envelope.python.major;
  python["minor"] = envelope.python.minor;
  python["magic"] = envelope.python.magic;
  model["size"] = envelope.size;
  model["digest"] = hex(envelope.digest);
  model["signed"] = !envelope.signature.empty();
  add_imports(envelope.manifest, model);
  add_substitutions(envelope.manifest, model["substitutions"]);
  if (envelope.manifest.environment) {
    add_environment(*envelope.manifest.environment, model["environment"]);
  }
  const ValueNames names = names_of(envelope);
  fill_code(envelope, names, options, model["code"]);
  fill_payload(envelope, names, options, model["payload"]);
  add_sections(envelope, model["sections"]);
  add_optional_parts(envelope, options.max_text, model);
}

}  // namespace envelope

std::string report_json(const Envelope& envelope, const ReportOptions& options) {
  envelope::JsonTree tree;
  envelope::fill_report(envelope, options, tree.root());
  return envelope::dump(tree.root());
}

std::string error_json(const Error& error) {
  envelope::JsonTree tree;
  tree.root().make_object(2)["ok"] = false;
  envelope::set_error(tree.root()["error"], error);
  return envelope::dump(tree.root());
}

}  // namespace waybill
