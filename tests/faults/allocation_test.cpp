// Whichever allocation fails, the core throws std::bad_alloc or gives its result, and
// holds nothing afterwards.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "bytecode/code_file.h"
#include "faults/failing_memory.h"
#include "format/compressed_samples.h"
#include "format/samples.h"
#include "format/task_draft.h"
#include "verify/verified_prefix.h"
#include "waybill/bytecode.h"
#include "waybill/diff.h"
#include "waybill/envelope.h"
#include "waybill/report.h"
#include "waybill/signature.h"
#include "waybill/stream_length.h"
#include "waybill/value_json.h"

namespace waybill {
namespace {

using samples::Bytes;
using samples::Draft;

constexpr std::size_t kAllFromThere = std::numeric_limits<std::size_t>::max();

// Lets each allocation of `work` fail in turn. `work` tells whether its result is what
// it is with enough memory; a result that memory was too short for is as good as none.
// Gives the number of allocations that `work` makes.
std::size_t fail_each(const std::function<bool()>& work, std::size_t count) {
  EXPECT_TRUE(work());
  for (std::size_t after = 0;; ++after) {
    const std::size_t before = faults::blocks_held();
    bool is_right = true;
    bool has_failed_allocation = false;
    {
      const faults::MemoryShortage shortage(after, count);
      try {
        is_right = work();
      } catch (const std::bad_alloc&) {
      }
      has_failed_allocation = shortage.has_failed_allocation();
    }
    EXPECT_TRUE(is_right) << "allocation " << after;
    EXPECT_EQ(faults::blocks_held(), before) << "allocation " << after;
    if (!has_failed_allocation || testing::Test::HasFailure()) return after;
  }
}

void survives(const std::function<bool()>& work, std::size_t least = 1) {
  EXPECT_GE(fail_each(work, 1), least);
  fail_each(work, kAllFromThere);
  EXPECT_TRUE(work());
}

Bytes bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr std::size_t kLargest = 4096;

// Every so many bytes one is altered; fewer where each step takes ten times as long.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kSpoiledEvery = 485;
#elif defined(__has_feature)
constexpr std::size_t kSpoiledEvery = __has_feature(address_sanitizer) ? 485 : 97;
#else
constexpr std::size_t kSpoiledEvery = 97;
#endif

// The samples, golden envelopes of one version, and each of them spoiled: altered at
// one byte, with a digest that fits; and cut.
std::vector<Bytes> envelopes() {
  std::vector<Bytes> found{samples::data_envelope(), samples::function_envelope(),
                           samples::buffers_envelope()};
  const std::filesystem::path golden(WAYBILL_TESTS_DIR "/golden/v1");
  for (const auto& entry : std::filesystem::directory_iterator(golden)) {
    const std::string name = entry.path().filename().string();
    // The work grows with the third power of the size.
    const bool is_small = entry.file_size() <= kLargest;
    if (name.ends_with("-3.13.waybill") && is_small) {
      found.push_back(bytes_of(entry.path()));
    }
  }
  const std::size_t whole = found.size();
  for (std::size_t i = 0; i < whole; ++i) {
    for (std::size_t place = 20; place + 20 < found[i].size(); place += kSpoiledEvery) {
      Bytes spoiled = found[i];
      spoiled[place] ^= 0x11;
      samples::fit_digest(spoiled);
      found.push_back(std::move(spoiled));
    }
    found.emplace_back(found[i].begin(), found[i].end() - 9);
  }
  return found;
}

// An error's code and place, or that there is none: what to compare without memory.
template <typename T>
std::pair<int, std::size_t> outcome_of(const Result<T>& result) {
  if (result) return {-1, 0};
  return {static_cast<int>(result.error().code), result.error().offset};
}

TEST(FailingAllocation, InOpenIsBadAlloc) {
  for (const Bytes& bytes : envelopes()) {
    const auto expected = outcome_of(open(bytes));
    survives([&] { return outcome_of(open(bytes)) == expected; }, 0);
  }
}

TEST(FailingAllocation, InVerifyIsBadAlloc) {
  for (const Bytes& bytes : envelopes()) {
    const Result<Envelope> envelope = open(bytes);
    if (!envelope) continue;
    const auto expected = outcome_of(verify(*envelope));
    survives([&] { return outcome_of(verify(*envelope)) == expected; }, 0);
  }
}

TEST(FailingAllocation, InReportsIsBadAlloc) {
  for (const Bytes& bytes : envelopes()) {
    const Result<Envelope> envelope = open(bytes);
    if (!envelope) {
      const std::string expected = error_json(envelope.error());
      survives([&] { return error_json(envelope.error()) == expected; });
      continue;
    }
    const std::string text = report_text(*envelope);
    survives([&] { return report_text(*envelope) == text; });
  }
}

TEST(FailingAllocation, InReportsAsJsonIsBadAlloc) {
  for (const Bytes& bytes : envelopes()) {
    const Result<Envelope> envelope = open(bytes);
    if (!envelope) continue;
    const std::string json = report_json(*envelope);
    survives([&] { return report_json(*envelope) == json; });
  }
}

TEST(FailingAllocation, InSealIsBadAlloc) {
  Draft data, function, buffers;
  samples::fill_with_data(data);
  samples::fill_with_function(function);
  samples::fill_with_buffers(buffers);
  for (const Draft* draft : {&data, &function, &buffers}) {
    const Bytes expected = draft->sealed();
    survives([&] { return draft->sealed() == expected; });
  }
}

TEST(FailingAllocation, InChangesOfStoredBuffersIsBadAlloc) {
  const Bytes bytes = samples::buffers_envelope();
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kMac);
  const Bytes expected = *sign(bytes, key);
  const data::Value value = *read_value(bytes);

  survives([&] { return *sign(bytes, key) == expected; });
  survives([&] { return *with_application(expected, {}) == bytes; });
  survives([&] { return read_value(bytes) == value; });
}

TEST(FailingAllocation, InCompressionIsBadAlloc) {
  const Bytes content = samples::rising(20'000, 8);
  Bytes frames(content.size());
  const auto compress = [&] {
    BufferParts buffer;
    buffer.bytes = content;
    compress_buffer(buffer, 1, frames.data());
    return buffer;
  };
  const BufferParts made = compress();
  const Bytes sealed = samples::with_stored(made.bytes, made.length, 8);

  survives([&] { return compress().bytes.size() == made.bytes.size(); });
  survives([&] { return samples::first_buffer(sealed) == content; });
  survives([&] { return !diff(*open(sealed), *open(sealed)).differs; });
}

data::Value some_data() {
  using namespace data;  // NOLINT: List, Map and the like are what this is about.
  return Map{{"a", List{1, Tuple{2.5, std::string(40, 'x')}, std::complex<double>(1)}},
             {Tuple{1, FrozenSet{2}}, Set{"b", Binary(40)}}};
}

TEST(FailingAllocation, InCopiesOfValuesIsBadAlloc) {
  const data::Value nested = data::Map{{data::List{}, data::List{data::List{1}}}};
  const data::Value value = data::List{some_data(), nested};
  survives([&] {
    const data::Value copy = value;
    return copy == value;
  });
}

TEST(FailingAllocation, InReadingAndWritingValuesIsBadAlloc) {
  const data::Value value = some_data();
  const Bytes bytes = *write_value(value);
  survives([&] { return *write_value(value) == bytes; });
  survives([&] { return read_value(bytes) == value; });
}

TEST(FailingAllocation, InWritingArraysIsBadAlloc) {
  const std::vector<double> numbers(10'000);
  const data::Value value =
      data::List{data::array_of(numbers, {100, 100}, true),
                 data::array_of(std::span(numbers).first(3), {3}), some_data()};
  const Bytes bytes = *write_value(value);
  std::size_t written = 0;
  const auto write = [&](BytesView piece) { written += piece.size(); };
  survives([&] { return *write_value(value) == bytes; });
  survives([&] {
    written = 0;
    return write_value_to(write, value) && written == bytes.size();
  });
}

TEST(FailingAllocation, InJsonOfValuesIsBadAlloc) {
  const data::Value value = some_data();
  const std::string json = *value_json(value);
  survives([&] { return *value_json(value) == json; });
  const data::Value names = data::Map{{1, "b"}, {true, data::List{1, data::Tuple{2}}}};
  JsonOptions loose = {.is_loose = true};
  const std::string text = *value_json(names, loose);
  survives([&] { return *value_json(names, loose) == text; });
  // A key that is no name.
  survives([&] { return !value_json(value, loose); });
}

TEST(FailingAllocation, InManifestIsBadAlloc) {
  Draft draft;
  samples::fill_with_function(draft);
  Manifest many = draft.manifest;
  for (int i = 0; i < 100; ++i) {
    many.imports.push_back({"module_of_a_long_name_" + std::to_string(i),
                            ImportTime::kLoad, "a.chain.that.allocates.memory", "f",
                            "/home/ada/another_task.py", 3});
  }
  many.environment = {"3.11.7",
                      "cpython",
                      "a-platform-of-a-long-name",
                      {{"a-distribution-of-a-long-name",
                        "2026.11.26.post1+of.a.long.name",
                        {"module_of_a_long_name_1", "module_of_a_long_name_2"}},
                       {"another-distribution-of-a-long-name", "1.0", {"module"}}}};
  draft.manifest = many;
  const Bytes expected = draft.sealed();

  survives([&] { return draft.sealed() == expected; });
  survives([&] {
    const Result<Envelope> envelope = open(expected);
    return envelope && envelope->manifest.imports.size() == many.imports.size() &&
           envelope->manifest.environment->distributions.size() == 2;
  });
}

TEST(FailingAllocation, OfWhatIsKnownIsBadAlloc) {
  const Bytes bytes = samples::TaskDraft().sealed();
  const Result<VerifiedEnvelope> envelope = verify(*open(bytes));
  ASSERT_TRUE(envelope);
  survives([&] {
    const auto head = envelope::VerifiedPrefix::make(*envelope);
    return head && head->is_start_of(bytes) && head->begin(bytes) &&
           head->check_value();
  });
}

TEST(FailingAllocation, LeavesAStreamLengthWhereItWas) {
  for (const Bytes& bytes : envelopes()) {
    const Extent expected = StreamLength().measure(bytes);
    survives([&] {
      StreamLength stream_length;
      try {
        return stream_length.measure(bytes) == expected;
      } catch (const std::bad_alloc&) {
        return stream_length.measure(bytes) == expected;
      }
    });
  }
}

// The code objects of all golden chains, of one version.
std::vector<std::unique_ptr<test::CodeText>> codes() {
  std::stringstream section;
  const std::filesystem::path chains(WAYBILL_TESTS_DIR "/bytecode/chains");
  for (const auto& entry : std::filesystem::directory_iterator(chains)) {
    std::ifstream file(entry.path());
    std::string line;
    bool is_wanted = false;
    while (std::getline(file, line)) {
      if (!line.empty() && line[0] != ' ') is_wanted = line == "Code 3.13";
      if (is_wanted && line.starts_with("  ")) section << line.substr(2) << "\n";
    }
  }
  return test::read_codes(section);
}

TEST(FailingAllocation, InSummarizeIsBadAlloc) {
  const auto all = codes();
  ASSERT_GT(all.size(), 20U);
  for (const auto& code : all) {
    const Result<CodeSummary> expected = summarize(code->view);
    ASSERT_TRUE(expected) << code->name;
    survives([&] {
      const Result<CodeSummary> found = summarize(code->view);
      return found && found->values.size() == expected->values.size() &&
             found->escapes == expected->escapes && found->globals == expected->globals;
    });
  }
}

TEST(FailingAllocation, InSummarizeOfBrokenCodeIsBadAlloc) {
  for (const auto& code : codes()) {
    for (std::size_t place = 0; place < code->instructions.size(); place += 7) {
      std::vector<std::uint8_t> broken = code->instructions;
      broken[place] ^= 0x5a;
      CodeView view = code->view;
      view.instructions = broken;
      const auto expected = outcome_of(summarize(view));
      survives([&] { return outcome_of(summarize(view)) == expected; }, 0);
    }
  }
}

}  // namespace
}  // namespace waybill
