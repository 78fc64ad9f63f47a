// The manifest's environment: an array of three texts and of the distributions, each
// an array of name, version and modules. All of these may be longer one day.
// Tested by tests/format/environment_test.cpp.

#include "format/environment.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "format/manifest_codec.h"

namespace waybill::envelope {

namespace {

using wire::Reader;

constexpr std::uint64_t kEnvironmentLength = 4;
constexpr std::uint64_t kDistributionLength = 3;

bool read_text(Reader& reader, std::string_view& value, std::string_view what) {
  const std::size_t offset = reader.offset();
  if (!read_utf8(reader, value, what)) return false;
  return value.size() <= Environment::kMaxText ||
         reader.fail(
             ErrorCode::kLimitExceeded, offset,
             std::string(what) + " of " + std::to_string(value.size()) + " bytes");
}

class Reading {
 public:
  Reading(Reader& reader, Environment* environment)
      : reader_(reader), environment_(environment) {}

  bool run() {
    std::uint64_t more = 0;
    std::string_view python, implementation, platform;
    if (!reader_.read_row(kEnvironmentLength, more, "the environment",
                          "the environment is too short") ||
        !read_text(reader_, python, "the Python of the environment") ||
        !read_text(reader_, implementation, "the implementation of Python") ||
        !read_text(reader_, platform, "the platform")) {
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

  // `last`: the name of the one before; null for the first.
  bool distribution(std::string_view& last) {
    const std::size_t offset = reader_.offset();
    std::uint64_t more = 0;
    std::string_view name, version;
    if (!reader_.read_row(kDistributionLength, more, "a distribution",
                          "a distribution is too short") ||
        !read_text(reader_, name, "the name of a distribution") ||
        !read_text(reader_, version, "the version of a distribution")) {
      return false;
    }
    if (name <= last) {
      return reader_.fail(ErrorCode::kMalformed, offset,
                          "the names of distributions should ascend");
    }
    last = name;
    Distribution* made = nullptr;
    if (environment_ != nullptr) {
      made = &environment_->distributions.emplace_back();
      made->name = name;
      made->version = version;
    }
    return modules(made) && reader_.skip_values(more);
  }

  bool modules(Distribution* made) {
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
      if (!read_text(reader_, module, "a module of a distribution")) return false;
      if (made != nullptr) made->modules.emplace_back(module);
    }
    return true;
  }

  Reader& reader_;
  Environment* environment_;
  std::uint64_t modules_ = 0;
};

}  // namespace

bool read_environment(Reader& reader, Environment* environment) {
  return Reading(reader, environment).run();
}

bool pass_environment(Reader& reader, Section& section) {
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
  std::vector<std::uint8_t> made(before.size() + environment_bound(environment));
  std::ranges::copy(before, made.begin());
  // A map of less than 15 parts, whose first byte counts them.
  ++made.front();
  wire::CursorWriter writer(made.data() + before.size());
  write_environment(writer, environment);
  made.resize(static_cast<std::size_t>(writer.at() - made.data()));
  return made;
}

}  // namespace waybill::envelope
