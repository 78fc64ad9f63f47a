// The manifest's section: a map of records, the file names that they share,
// substitutions and the environment. Later formats may append fields to records and
// keys to the map; readers skip both.
// Tested by tests/format/manifest_test.cpp.

#include "waybill/manifest.h"

#include <algorithm>

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
  envelope::ManifestBuilder builder;
  for (const ImportRecord& record : manifest.imports) {
    builder.add({record.module, record.time, record.chain, record.function, record.file,
                 record.line});
  }
  for (const Substitution& each : manifest.substitutions) builder.add(each);
  wire::Writer section;
  builder.encode(section);
  std::vector<std::uint8_t> bytes = section.take();
  if (manifest.environment) {
    bytes = envelope::with_environment(bytes, *manifest.environment);
  }
  out.insert(out.end(), bytes.begin(), bytes.end());
}

namespace envelope {
namespace {

using wire::ManifestKey;
using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::uint64_t kRecordLength = 6;
constexpr std::uint64_t kSubstitutionLength = 3;
// The environment: an array of three texts and of the distributions, each an array of
// name, version and modules. Later formats may append fields to each.
constexpr std::uint64_t kEnvironmentLength = 4;
constexpr std::uint64_t kDistributionLength = 3;
constexpr std::uint64_t kLastTime = static_cast<std::uint64_t>(ImportTime::kLazy);

bool read_utf8(Reader& reader, std::string_view& value, std::string_view what) {
  const std::size_t offset = reader.offset();
  if (!reader.read_text(value, what)) return false;
  return wire::is_utf8(value) || reader.fail(ErrorCode::kMalformed, offset,
                                             std::string(what) + " is not UTF-8");
}

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

constexpr std::uint64_t kNoFile = UINT64_MAX;

bool read_file_index(Reader& reader, std::uint64_t& index) {
  index = kNoFile;
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

// Reads an import, but of its file only the index: files may follow the imports.
bool read_record(Reader& reader, ImportRecord& record, std::uint64_t& file) {
  const std::size_t offset = reader.offset();
  std::uint64_t more = 0;
  std::uint64_t time = 0;
  std::string_view module, chain, function;
  if (!reader.read_row(kRecordLength, more, "an import", "an import has six fields") ||
      !read_utf8(reader, module, "the module of an import") ||
      !reader.read_unsigned(time, kLastTime, "the time of an import") ||
      !read_optional(reader, chain, "the chain of an import") ||
      !read_optional(reader, function, "the function of an import") ||
      !read_file_index(reader, file) ||
      !read_number(reader, record.line, UINT32_MAX, "the line of an import")) {
    return false;
  }
  if (module.empty()) {
    return reader.fail(ErrorCode::kMalformed, offset, "an import has no module name");
  }
  record.module = module;
  record.time = static_cast<ImportTime>(time);
  record.chain = chain.data() == nullptr ? module : chain;
  record.function = function;
  return reader.skip_values(more);
}

bool read_substitution(Reader& reader, Substitution& substitution) {
  std::uint64_t more = 0;
  std::string_view policy, type, path;
  if (!reader.read_row(kSubstitutionLength, more, "a substitution",
                       "a substitution should have three fields") ||
      !read_utf8(reader, policy, "the policy of a substitution") ||
      !read_utf8(reader, type, "the type of a substitution") ||
      !read_utf8(reader, path, "the path of a substitution")) {
    return false;
  }
  substitution = {std::string(policy), std::string(type), std::string(path)};
  return reader.skip_values(more);
}

bool read_bounded_text(Reader& reader, std::string_view& value, std::string_view what) {
  const std::size_t offset = reader.offset();
  if (!read_utf8(reader, value, what)) return false;
  return value.size() <= Environment::kMaxText ||
         reader.fail(ErrorCode::kLimitExceeded, offset,
                     std::string(what) + " has " + std::to_string(value.size()) +
                         " bytes and should have at most " +
                         std::to_string(Environment::kMaxText));
}

class EnvironmentReader {
 public:
  EnvironmentReader(Reader& reader, Environment& environment)
      : reader_(reader), environment_(environment) {}

  bool run() {
    std::uint64_t more = 0;
    std::string_view python, implementation, platform;
    if (!reader_.read_row(kEnvironmentLength, more, "the environment",
                          "the environment should have four fields") ||
        !read_bounded_text(reader_, python, "the Python of the environment") ||
        !read_bounded_text(reader_, implementation, "the implementation of Python") ||
        !read_bounded_text(reader_, platform, "the platform")) {
      return false;
    }
    environment_.python = python;
    environment_.implementation = implementation;
    environment_.platform = platform;
    return read_distributions() && reader_.skip_values(more);
  }

 private:
  bool read_distributions() {
    const std::size_t offset = reader_.offset();
    std::uint64_t count = 0;
    if (!reader_.read_array(count, "the distributions")) return false;
    if (count > Environment::kMaxDistributions) {
      return reader_.fail(ErrorCode::kLimitExceeded, offset,
                          "the environment has " + std::to_string(count) +
                              " distributions and should have at most " +
                              std::to_string(Environment::kMaxDistributions));
    }
    std::string_view last;
    for (; count != 0; --count) {
      if (!read_distribution(last)) return false;
    }
    return true;
  }

  // `last`: the name of the previous distribution; null for the first.
  bool read_distribution(std::string_view& last) {
    const std::size_t offset = reader_.offset();
    std::uint64_t more = 0;
    std::string_view name, version;
    if (!reader_.read_row(kDistributionLength, more, "a distribution",
                          "a distribution should have three fields") ||
        !read_bounded_text(reader_, name, "the name of a distribution") ||
        !read_bounded_text(reader_, version, "the version of a distribution")) {
      return false;
    }
    if (name <= last) {
      return reader_.fail(ErrorCode::kMalformed, offset,
                          "the names of distributions should ascend");
    }
    last = name;
    Distribution& distribution = environment_.distributions.emplace_back();
    distribution.name = name;
    distribution.version = version;
    return read_modules(distribution) && reader_.skip_values(more);
  }

  bool read_modules(Distribution& distribution) {
    const std::size_t offset = reader_.offset();
    std::uint64_t count = 0;
    if (!reader_.read_array(count, "the modules of a distribution")) return false;
    if (count > Environment::kMaxModules - module_count_) {
      return reader_.fail(ErrorCode::kLimitExceeded, offset,
                          "the distributions have more than " +
                              std::to_string(Environment::kMaxModules) + " modules");
    }
    module_count_ += count;
    for (; count != 0; --count) {
      std::string_view module;
      if (!read_bounded_text(reader_, module, "a module of a distribution"))
        return false;
      distribution.modules.emplace_back(module);
    }
    return true;
  }

  Reader& reader_;
  Environment& environment_;
  std::uint64_t module_count_ = 0;
};

class ManifestReader {
 public:
  ManifestReader(Reader& reader, Manifest& manifest)
      : reader_(reader), manifest_(manifest) {}

  bool run() {
    const std::size_t start = reader_.offset();
    std::uint64_t count = 0;
    if (!reader_.read_map(count, "the manifest")) return false;
    const std::size_t first_part = reader_.offset();
    std::uint64_t next_key = 0;
    for (; count != 0; --count) {
      const std::size_t offset = reader_.offset();
      std::uint64_t key = 0;
      if (!reader_.read_unsigned(key, UINT32_MAX, "a key of the manifest"))
        return false;
      if (key < next_key) {
        return reader_.fail(ErrorCode::kMalformed, offset,
                            "the keys of the manifest should ascend");
      }
      next_key = key + 1;
      if (!read_part(key)) return false;
    }
    return set_files(start, first_part);
  }

 private:
  bool read_part(std::uint64_t key) {
    switch (key) {
      case static_cast<std::uint64_t>(ManifestKey::kImports):
        return read_imports();
      case static_cast<std::uint64_t>(ManifestKey::kFiles):
        return read_files();
      case static_cast<std::uint64_t>(ManifestKey::kSubstitutions):
        return read_substitutions();
      case static_cast<std::uint64_t>(ManifestKey::kEnvironment):
        return EnvironmentReader(reader_, manifest_.environment.emplace()).run();
      default:
        return reader_.skip();
    }
  }

  bool read_imports() {
    const auto read = [&](ImportRecord& record) {
      return read_record(reader_, record, file_indices_.emplace_back());
    };
    return reader_.read_list(manifest_.imports, "the imports", read, kRecordLength + 1);
  }

  bool read_files() {
    return reader_.read_list(files_, "the files", [&](std::string_view& file) {
      return read_utf8(reader_, file, "a file name");
    });
  }

  bool read_substitutions() {
    const auto read = [&](Substitution& each) {
      return read_substitution(reader_, each);
    };
    return reader_.read_list(manifest_.substitutions, "the substitutions", read,
                             kSubstitutionLength + 1);
  }

  // Called last, since the files may follow the imports. A file name is stored once and
  // copied to each import; an honest sender's few dozen copies stay within the bound.
  bool set_files(std::size_t start, std::size_t first_part) {
    constexpr std::size_t kMaxCopies = 64;
    const std::size_t max_copied = 4096 + kMaxCopies * (reader_.offset() - start);
    std::size_t copied = 0;
    for (std::size_t i = 0; i < file_indices_.size(); ++i) {
      const std::uint64_t index = file_indices_[i];
      if (index == kNoFile) continue;
      if (index >= files_.size()) {
        return reader_.fail(ErrorCode::kMalformed, first_part,
                            "an import names file " + std::to_string(index) +
                                ", and the manifest lists " +
                                std::to_string(files_.size()) + " files");
      }
      copied += files_[index].size();
      if (copied > max_copied) {
        return reader_.fail(ErrorCode::kLimitExceeded, start,
                            "the file names of all imports together are much longer "
                            "than the manifest");
      }
      manifest_.imports[i].file = files_[index];
    }
    return true;
  }

  Reader& reader_;
  Manifest& manifest_;
  std::vector<std::uint64_t> file_indices_;  // Indexed by import.
  std::vector<std::string_view> files_;
};

void write_optional(wire::Writer& writer, std::string_view value, bool is_nil) {
  if (is_nil) {
    writer.nil();
  } else {
    writer.text(value);
  }
}

// Starts a part of the manifest; `count` values follow.
void begin_part(wire::Writer& writer, ManifestKey key, std::size_t count) {
  writer.unsigned_integer(static_cast<std::uint64_t>(key));
  writer.array(count);
}

}  // namespace

std::string_view first_file(const Manifest& manifest) {
  const auto found = std::ranges::find_if(
      manifest.imports,
      [](const ImportRecord& record) { return !record.file.empty(); });
  return found == manifest.imports.end() ? std::string_view() : found->file;
}

bool read_manifest(Reader& reader, Manifest& manifest) {
  return ManifestReader(reader, manifest).run();
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

void ManifestBuilder::fork_from(const ManifestBuilder& first) {
  records_.append(first.records_.view());
  count_ = first.count_;
  files_ = first.files_;
  substitutions_.append(first.substitutions_.view());
  substitution_count_ = first.substitution_count_;
}

std::size_t ManifestBuilder::number_of(std::string_view file) {
  // Records of one file are adjacent, and there are few files. A file beyond the bound
  // is listed again, so that the time is linear.
  constexpr std::size_t kMaxSearched = 64;
  const std::size_t end = files_.size() - std::min(files_.size(), kMaxSearched);
  for (std::size_t i = files_.size(); i > end; --i) {
    if (files_[i - 1] == file) return i - 1;
  }
  files_.emplace_back(file);
  return files_.size() - 1;
}

std::uint32_t ManifestBuilder::add(const Record& record) {
  records_.array(kRecordLength);
  records_.text(record.module);
  records_.unsigned_integer(static_cast<std::uint64_t>(record.time));
  write_optional(records_, record.chain,
                 record.chain.empty() || record.chain == record.module);
  write_optional(records_, record.function, record.function.empty());
  if (record.file.empty()) {
    records_.nil();
  } else {
    records_.unsigned_integer(number_of(record.file));
  }
  records_.unsigned_integer(record.line);
  return count_++;
}

void ManifestBuilder::add(const Substitution& substitution) {
  substitutions_.array(kSubstitutionLength);
  substitutions_.text(substitution.policy);
  substitutions_.text(substitution.type);
  substitutions_.text(substitution.path);
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

std::vector<std::uint8_t> with_environment(BytesView manifest,
                                           const Environment& environment) {
  wire::Writer writer;
  if (manifest.empty()) {
    writer.map(0);
  } else {
    writer.append(manifest);
  }
  begin_part(writer, ManifestKey::kEnvironment, kEnvironmentLength);
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
  std::vector<std::uint8_t> extended = writer.take();
  ++extended.front();  // A map of fewer than 15 parts: its first byte holds the count.
  return extended;
}

}  // namespace envelope
}  // namespace waybill
