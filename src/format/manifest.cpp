// The manifest's section: a map of records, the file names that they share,
// substitutions and the environment. Later formats may append fields to records and
// keys to the map; readers skip both.
// Tested by tests/format/manifest_test.cpp and environment_test.cpp.

#include "waybill/manifest.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "format/code_body.h"
#include "format/manifest_codec.h"
#include "wire/utf8.h"

namespace waybill {

bool ImportRecord::is_own() const {
  return module == "waybill" || module.starts_with("waybill.");
}

std::string_view name_of(ImportTime time) {
  constexpr std::string_view kNames[] = {"load", "call", "lazy"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(ImportTime::kLazy) + 1);
  return kNames[static_cast<std::size_t>(time)];
}

void encode_manifest(const Manifest& manifest, std::vector<std::uint8_t>& out) {
  const std::size_t start = out.size();
  out.resize(start + envelope::manifest_bound(manifest));
  wire::CursorWriter writer(out.data() + start);
  envelope::write_manifest(writer, manifest);
  out.resize(static_cast<std::size_t>(writer.at() - out.data()));
}

namespace envelope {
namespace {

using wire::ManifestKey;
using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::uint64_t kRecordLength = 6;
constexpr std::uint64_t kSubstitutionLength = 3;
constexpr std::uint64_t kLastTime = static_cast<std::uint64_t>(ImportTime::kLazy);

// Reads UTF-8 text or nil.
bool read_optional(Reader& reader, std::string_view& value, std::string_view what) {
  if (reader.read_nil()) return true;
  Token token;
  if (!reader.next(token)) return false;
  if (token.type != TokenType::kText || !wire::is_utf8(token.text())) {
    return reader.fail(ErrorCode::kMalformed, token.offset,
                       std::string(what) + " should be UTF-8 text or nil");
  }
  value = token.text();
  return true;
}

bool read_file_index(Reader& reader, std::uint64_t& index) {
  index = ManifestView::kNoFile;
  if (reader.read_nil()) return true;
  Token token;
  if (!reader.next(token)) return false;
  if (token.type != TokenType::kInteger || token.integer < 0) {
    return reader.fail(ErrorCode::kMalformed, token.offset,
                       "the file of an import should be an index or nil");
  }
  index = static_cast<std::uint64_t>(token.integer);
  return true;
}

bool read_record(Reader& reader, ManifestView::Import& record) {
  const std::size_t offset = reader.offset();
  std::uint64_t more = 0;
  std::uint64_t time = 0;
  if (!reader.read_row(kRecordLength, more, "an import", "an import has six fields") ||
      !read_utf8(reader, record.module, "the module of an import") ||
      !reader.read_unsigned(time, kLastTime, "the time of an import") ||
      !read_optional(reader, record.chain, "the chain of an import") ||
      !read_optional(reader, record.function, "the function of an import") ||
      !read_file_index(reader, record.file) ||
      !read_number(reader, record.line, UINT32_MAX, "the line of an import")) {
    return false;
  }
  if (record.module.empty()) {
    return reader.fail(ErrorCode::kMalformed, offset, "an import of no module");
  }
  record.time = static_cast<ImportTime>(time);
  return reader.skip_values(more);
}

bool read_imports(Reader& reader, std::vector<ManifestView::Import>& imports) {
  std::uint64_t count = 0;
  if (!reader.read_array(count, "the imports")) return false;
  // The count may be hostile: reserves no more than the bytes left can hold.
  const std::uint64_t most = reader.left() / (kRecordLength + 1);
  imports.reserve(count < most ? count : most);
  for (; count != 0; --count) {
    if (!read_record(reader, imports.emplace_back())) return false;
  }
  return true;
}

bool read_files(Reader& reader, std::vector<std::string_view>& files) {
  std::uint64_t count = 0;
  if (!reader.read_array(count, "the files")) return false;
  for (; count != 0; --count) {
    std::string_view file;
    if (!read_utf8(reader, file, "a file name")) return false;
    files.push_back(file);
  }
  return true;
}

bool read_substitutions(Reader& reader,
                        std::vector<ManifestView::Substitution>& substitutions) {
  std::uint64_t count = 0;
  if (!reader.read_array(count, "the substitutions")) return false;
  for (; count != 0; --count) {
    std::uint64_t more = 0;
    ManifestView::Substitution& each = substitutions.emplace_back();
    if (!reader.read_row(kSubstitutionLength, more, "a substitution",
                         "a substitution has three fields") ||
        !read_utf8(reader, each.policy, "the policy of a substitution") ||
        !read_utf8(reader, each.type, "the type of a substitution") ||
        !read_utf8(reader, each.path, "the path of a substitution") ||
        !reader.skip_values(more)) {
      return false;
    }
  }
  return true;
}

// Numbers file names in order of first use. Nearly every manifest has one or two, so
// the last one is tried first, and a table is built only for many.
class FileNumbers {
 public:
  std::size_t number_of(std::string_view file) {
    if (!files_.empty() && files_[last_] == file) return last_;
    last_ = files_.size() < kFew ? scan(file) : look_up(file);
    if (last_ == files_.size()) files_.push_back(file);
    return last_;
  }
  std::span<const std::string_view> files() const { return files_; }

 private:
  static constexpr std::size_t kFew = 16;

  std::size_t scan(std::string_view file) const {
    std::size_t i = 0;
    while (i < files_.size() && files_[i] != file) ++i;
    return i;
  }
  std::size_t look_up(std::string_view file) {
    while (table_.size() < files_.size()) {
      const std::size_t number = table_.size();
      table_.emplace(files_[number], number);
    }
    const auto found = table_.find(file);
    return found == table_.end() ? files_.size() : found->second;
  }

  std::vector<std::string_view> files_;
  std::unordered_map<std::string_view, std::size_t> table_;
  std::size_t last_ = 0;
};

// `Writer`: wire::Writer or wire::CursorWriter.
template <typename Writer>
void write_optional(Writer& writer, std::string_view value, bool is_nil) {
  if (is_nil) {
    writer.nil();
  } else {
    writer.text(value);
  }
}

template <typename Writer>
void write_import(Writer& writer, const ManifestView::Import& import) {
  writer.array(kRecordLength);
  writer.text(import.module);
  writer.unsigned_integer(static_cast<std::uint64_t>(import.time));
  write_optional(writer, import.chain,
                 import.chain.empty() || import.chain == import.module);
  write_optional(writer, import.function, import.function.empty());
  if (import.file == ManifestView::kNoFile) {
    writer.nil();
  } else {
    writer.unsigned_integer(import.file);
  }
  writer.unsigned_integer(import.line);
}

template <typename Writer>
void write_substitution(Writer& writer, const Substitution& substitution) {
  writer.array(kSubstitutionLength);
  writer.text(substitution.policy);
  writer.text(substitution.type);
  writer.text(substitution.path);
}

// Starts a part of the manifest; `count` values follow.
template <typename Writer>
void begin_part(Writer& writer, ManifestKey key, std::size_t count) {
  writer.unsigned_integer(static_cast<std::uint64_t>(key));
  writer.array(count);
}

void write_imports(wire::CursorWriter& writer, const Manifest& manifest,
                   FileNumbers& numbers) {
  begin_part(writer, ManifestKey::kImports, manifest.imports.size());
  for (const ImportRecord& record : manifest.imports) {
    const std::uint64_t file =
        record.file.empty() ? ManifestView::kNoFile : numbers.number_of(record.file);
    write_import(writer, {record.module, record.chain, record.function, record.time,
                          record.line, file});
  }
}

}  // namespace

bool read_utf8(Reader& reader, std::string_view& value, std::string_view what) {
  const std::size_t offset = reader.offset();
  if (!reader.read_text(value, what)) return false;
  return wire::is_utf8(value) || reader.fail(ErrorCode::kMalformed, offset,
                                             std::string(what) + " is not UTF-8");
}

bool read_manifest(Reader& reader, ManifestView& manifest) {
  std::uint64_t count = 0;
  if (!reader.read_map(count, "the manifest")) return false;
  std::uint64_t next_key = 0;
  const std::size_t offset = reader.offset();
  for (; count != 0; --count) {
    const std::size_t key_offset = reader.offset();
    std::uint64_t key = 0;
    if (!reader.read_unsigned(key, UINT32_MAX, "a key of the manifest")) return false;
    if (key < next_key) {
      return reader.fail(ErrorCode::kMalformed, key_offset,
                         "the keys of the manifest should ascend");
    }
    next_key = key + 1;
    const bool read = key == static_cast<std::uint64_t>(ManifestKey::kImports)
                          ? read_imports(reader, manifest.imports)
                      : key == static_cast<std::uint64_t>(ManifestKey::kFiles)
                          ? read_files(reader, manifest.files)
                      : key == static_cast<std::uint64_t>(ManifestKey::kSubstitutions)
                          ? read_substitutions(reader, manifest.substitutions)
                      : key == static_cast<std::uint64_t>(ManifestKey::kEnvironment)
                          ? skip_environment(reader, manifest.environment)
                          : reader.skip();
    if (!read) return false;
  }
  // Checked last, since the files may follow the imports.
  for (const ManifestView::Import& record : manifest.imports) {
    if (record.file == ManifestView::kNoFile || record.file < manifest.files.size()) {
      continue;
    }
    return reader.fail(ErrorCode::kMalformed, offset,
                       "an import names file " + std::to_string(record.file) + " of " +
                           std::to_string(manifest.files.size()));
  }
  return true;
}

std::string_view ManifestView::first_file() const {
  for (const Import& import : imports) {
    if (import.file != kNoFile && !files[import.file].empty())
      return files[import.file];
  }
  return {};
}

std::string_view first_file(const Manifest& manifest) {
  const auto found = std::ranges::find_if(
      manifest.imports,
      [](const ImportRecord& record) { return !record.file.empty(); });
  return found == manifest.imports.end() ? std::string_view() : found->file;
}

bool read_manifest(Reader& reader, Manifest& manifest) {
  const std::size_t start = reader.offset();
  ManifestView view;
  if (!read_manifest(reader, view)) return false;
  manifest.imports.reserve(view.imports.size());
  // A file name is stored once and copied to each import: to a few dozen of an honest
  // sender.
  constexpr std::size_t kMaxCopies = 64;
  const std::size_t most = 4096 + kMaxCopies * (reader.offset() - start);
  std::size_t copied = 0;
  for (const ManifestView::Import& from : view.imports) {
    ImportRecord& record = manifest.imports.emplace_back();
    record.module = from.module;
    record.time = from.time;
    record.chain = from.chain.data() == nullptr ? from.module : from.chain;
    record.function = from.function;
    if (from.file != ManifestView::kNoFile) record.file = view.files[from.file];
    copied += record.file.size();
    if (copied > most) {
      return reader.fail(ErrorCode::kLimitExceeded, start,
                         "imports whose file names together are much longer than the "
                         "manifest");
    }
    record.line = from.line;
  }
  for (const ManifestView::Substitution& from : view.substitutions) {
    manifest.substitutions.push_back(
        {std::string(from.policy), std::string(from.type), std::string(from.path)});
  }
  if (view.environment.bytes.empty()) return true;
  Reader again(view.environment.bytes, Limits{}, view.environment.offset);
  return read_environment(again, &manifest.environment.emplace());
}

std::size_t manifest_bound(const Manifest& manifest) {
  constexpr std::size_t kMap = 1 + 4 * (1 + 5);
  constexpr std::size_t kRecord = 1 + 1 + 4 * 5 + 2 * 5;
  std::size_t bound = kMap;
  for (const ImportRecord& record : manifest.imports) {
    bound += kRecord + record.module.size() + record.chain.size() +
             record.function.size() + record.file.size();
  }
  for (const Substitution& substitution : manifest.substitutions) {
    bound += 1 + 3 * 5 + substitution.policy.size() + substitution.type.size() +
             substitution.path.size();
  }
  if (manifest.environment) bound += environment_bound(*manifest.environment);
  return bound;
}

std::optional<GlobalName> global_name(wire::Reader values, const Manifest* manifest) {
  Token module;
  Token name;
  if (!values.next(module) || !values.next(name)) return std::nullopt;
  // Text with lone surrogates is an extension; either token's bytes are the name.
  GlobalName global{"builtins", name.text(), module.type != TokenType::kExtension};
  if (global.is_builtin) return global;
  const ImportRecord* import =
      manifest == nullptr ? nullptr : import_of(module, *manifest);
  global.module = import == nullptr ? std::string_view() : import->module;
  return global;
}

void write_manifest(wire::CursorWriter& writer, const Manifest& manifest) {
  const std::size_t has_imports = manifest.imports.empty() ? 0 : 1;
  const std::size_t has_substitutions = manifest.substitutions.empty() ? 0 : 1;
  const std::size_t has_environment = manifest.environment ? 1 : 0;
  FileNumbers numbers;
  for (const ImportRecord& record : manifest.imports) {
    if (!record.file.empty()) numbers.number_of(record.file);
  }
  const std::size_t has_files = numbers.files().empty() ? 0 : 1;
  writer.map(has_imports + has_files + has_substitutions + has_environment);
  if (has_imports != 0) write_imports(writer, manifest, numbers);
  if (has_files != 0) {
    begin_part(writer, ManifestKey::kFiles, numbers.files().size());
    for (std::string_view file : numbers.files()) writer.text(file);
  }
  if (has_substitutions != 0) {
    begin_part(writer, ManifestKey::kSubstitutions, manifest.substitutions.size());
    for (const Substitution& each : manifest.substitutions) {
      write_substitution(writer, each);
    }
  }
  if (manifest.environment) write_environment(writer, *manifest.environment);
}

void ManifestBuilder::fork_from(const ManifestBuilder& first) {
  records_.append(first.records_.view());
  count_ = first.count_;
  files_ = first.files_;
  substitutions_.append(first.substitutions_.view());
  substitution_count_ = first.substitution_count_;
}

std::size_t ManifestBuilder::number_of(std::string_view file) {
  // Searches from the end: records of one file are adjacent, and there are few files.
  for (std::size_t i = files_.size(); i > 0; --i) {
    if (files_[i - 1] == file) return i - 1;
  }
  files_.emplace_back(file);
  return files_.size() - 1;
}

std::uint32_t ManifestBuilder::add(const Record& record) {
  const std::uint64_t file =
      record.file.empty() ? ManifestView::kNoFile : number_of(record.file);
  write_import(records_, {record.module, record.chain, record.function, record.time,
                          record.line, file});
  return count_++;
}

void ManifestBuilder::add(const Substitution& substitution) {
  write_substitution(substitutions_, substitution);
  ++substitution_count_;
}

void ManifestBuilder::encode(wire::Writer& out) const {
  out.map((count_ != 0) + (!files_.empty()) + (substitution_count_ != 0));
  if (count_ != 0) {
    begin_part(out, ManifestKey::kImports, count_);
    out.append(records_.view());
  }
  if (!files_.empty()) {
    begin_part(out, ManifestKey::kFiles, files_.size());
    for (const std::string& file : files_) out.text(file);
  }
  if (substitution_count_ == 0) return;
  begin_part(out, ManifestKey::kSubstitutions, substitution_count_);
  out.append(substitutions_.view());
}

// --- The environment: an array of three texts and of the distributions, each an array
// of name, version and modules. Later formats may append fields to each.

namespace {

constexpr std::uint64_t kEnvironmentLength = 4;
constexpr std::uint64_t kDistributionLength = 3;

bool read_bounded_text(Reader& reader, std::string_view& value, std::string_view what) {
  const std::size_t offset = reader.offset();
  if (!read_utf8(reader, value, what)) return false;
  return value.size() <= Environment::kMaxText ||
         reader.fail(
             ErrorCode::kLimitExceeded, offset,
             std::string(what) + " of " + std::to_string(value.size()) + " bytes");
}

class EnvironmentReader {
 public:
  EnvironmentReader(Reader& reader, Environment* environment)
      : reader_(reader), environment_(environment) {}

  bool run() {
    std::uint64_t more = 0;
    std::string_view python, implementation, platform;
    if (!reader_.read_row(kEnvironmentLength, more, "the environment",
                          "the environment is too short") ||
        !read_bounded_text(reader_, python, "the Python of the environment") ||
        !read_bounded_text(reader_, implementation, "the implementation of Python") ||
        !read_bounded_text(reader_, platform, "the platform")) {
      return false;
    }
    if (environment_ != nullptr) {
      environment_->python = python;
      environment_->implementation = implementation;
      environment_->platform = platform;
    }
    return distributions() && reader_.skip_values(more);
  }

 private:
  bool distributions() {
    const std::size_t offset = reader_.offset();
    std::uint64_t count = 0;
    if (!reader_.read_array(count, "the distributions")) return false;
    if (count > Environment::kMaxDistributions) {
      return reader_.fail(ErrorCode::kLimitExceeded, offset,
                          std::to_string(count) + " distributions");
    }
    std::string_view last;
    for (; count != 0; --count) {
      if (!distribution(last)) return false;
    }
    return true;
  }

  // `last`: the name of the previous one; null for the first.
  bool distribution(std::string_view& last) {
    const std::size_t offset = reader_.offset();
    std::uint64_t more = 0;
    std::string_view name, version;
    if (!reader_.read_row(kDistributionLength, more, "a distribution",
                          "a distribution is too short") ||
        !read_bounded_text(reader_, name, "the name of a distribution") ||
        !read_bounded_text(reader_, version, "the version of a distribution")) {
      return false;
    }
    if (name <= last) {
      return reader_.fail(ErrorCode::kMalformed, offset,
                          "the names of distributions should ascend");
    }
    last = name;
    Distribution* added = nullptr;
    if (environment_ != nullptr) {
      added = &environment_->distributions.emplace_back();
      added->name = name;
      added->version = version;
    }
    return modules(added) && reader_.skip_values(more);
  }

  bool modules(Distribution* added) {
    const std::size_t offset = reader_.offset();
    std::uint64_t count = 0;
    if (!reader_.read_array(count, "the modules of a distribution")) return false;
    if (count > Environment::kMaxModules - modules_) {
      return reader_.fail(ErrorCode::kLimitExceeded, offset,
                          "distributions with more than " +
                              std::to_string(Environment::kMaxModules) + " modules");
    }
    modules_ += count;
    for (; count != 0; --count) {
      std::string_view module;
      if (!read_bounded_text(reader_, module, "a module of a distribution"))
        return false;
      if (added != nullptr) added->modules.emplace_back(module);
    }
    return true;
  }

  Reader& reader_;
  Environment* environment_;
  std::uint64_t modules_ = 0;
};

}  // namespace

bool read_environment(Reader& reader, Environment* environment) {
  return EnvironmentReader(reader, environment).run();
}

bool skip_environment(Reader& reader, Section& section) {
  section.offset = reader.offset();
  const BytesView rest = reader.rest();
  if (!read_environment(reader, nullptr)) return false;
  section.bytes = rest.first(reader.offset() - section.offset);
  return true;
}

void write_environment(wire::CursorWriter& writer, const Environment& environment) {
  writer.unsigned_integer(static_cast<std::uint64_t>(wire::ManifestKey::kEnvironment));
  writer.array(kEnvironmentLength);
  writer.text(environment.python);
  writer.text(environment.implementation);
  writer.text(environment.platform);
  writer.array(environment.distributions.size());
  for (const Distribution& distribution : environment.distributions) {
    writer.array(kDistributionLength);
    writer.text(distribution.name);
    writer.text(distribution.version);
    writer.array(distribution.modules.size());
    for (const std::string& module : distribution.modules) writer.text(module);
  }
}

std::size_t environment_bound(const Environment& environment) {
  constexpr std::size_t kHead = 5;  // Of any array or text.
  std::size_t bound = 1 + 5 * kHead + environment.python.size() +
                      environment.implementation.size() + environment.platform.size();
  for (const Distribution& distribution : environment.distributions) {
    bound += 4 * kHead + distribution.name.size() + distribution.version.size();
    for (const std::string& module : distribution.modules) {
      bound += kHead + module.size();
    }
  }
  return bound;
}

std::vector<std::uint8_t> with_environment(BytesView manifest,
                                           const Environment& environment) {
  constexpr std::uint8_t kEmpty[] = {wire::kEmptyMap};
  const BytesView before = manifest.empty() ? BytesView(kEmpty) : manifest;
  std::vector<std::uint8_t> added(before.size() + environment_bound(environment));
  std::ranges::copy(before, added.begin());
  // A map of fewer than 15 parts, whose first byte is its count.
  ++added.front();
  wire::CursorWriter writer(added.data() + before.size());
  write_environment(writer, environment);
  added.resize(static_cast<std::size_t>(writer.at() - added.data()));
  return added;
}

}  // namespace envelope
}  // namespace waybill
