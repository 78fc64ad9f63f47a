#include "waybill/manifest.h"

#include <gtest/gtest.h>

#include "base/fails.h"
#include "format/manifest_codec.h"
#include "format/samples.h"

namespace waybill {
namespace {

using namespace samples;

// The manifest's section as the writer makes it.
Bytes encode_to_bytes(const Manifest& manifest) {
  Bytes bytes;
  encode_manifest(manifest, bytes);
  return bytes;
}

// The manifest that the section `bytes` holds, or the reader's error.
Result<Manifest> decode_manifest(BytesView bytes) {
  wire::Reader reader(bytes);
  Manifest manifest;
  if (!envelope::read_manifest(reader, manifest)) return tl::unexpected(reader.error());
  return manifest;
}

// A record as a newer writer might send it, or a broken one.
Bytes one_record(std::size_t count, const Tokens& fields) {
  return packed({map(1), 0, array(1), array(count), fields});
}

Tokens sound_record() { return {"os.path", 0, kNil, kNil, kNil, 0}; }

TEST(Manifest, ComesBackAsItWas) {
  Manifest manifest;
  manifest.imports = {
      {"json", ImportTime::kLoad, "json.dumps", "f", "a.py", 3},
      {".sibling", ImportTime::kCall, "sibling.x", "C.f", "b.py", 70000},
      {"numpy", ImportTime::kLazy, "numpy", "", "", 0},
      {"re", ImportTime::kLoad, "re", "g", "a.py", 9},
  };

  const Result<Manifest> read = decode_manifest(encode_to_bytes(manifest));

  ASSERT_TRUE(read);
  ASSERT_EQ(read->imports.size(), manifest.imports.size());
  for (std::size_t i = 0; i < manifest.imports.size(); ++i) {
    const ImportRecord& before = manifest.imports[i];
    const ImportRecord& after = read->imports[i];
    EXPECT_EQ(after.module, before.module);
    EXPECT_EQ(after.time, before.time);
    EXPECT_EQ(after.chain, before.chain);
    EXPECT_EQ(after.function, before.function);
    EXPECT_EQ(after.file, before.file);
    EXPECT_EQ(after.line, before.line);
  }
}

TEST(Manifest, OfManyFilesInTurnComesBackAsItWas) {
  constexpr std::size_t kFiles = 100;  // More than the writer searches.
  Manifest manifest;
  for (std::size_t i = 0; i < 3 * kFiles; ++i) {
    ImportRecord& record = manifest.imports.emplace_back();
    record.module = "json";
    record.chain = "json";
    record.file = std::to_string(i % kFiles) + ".py";
  }

  const Result<Manifest> read = decode_manifest(encode_to_bytes(manifest));

  ASSERT_TRUE(read);
  EXPECT_TRUE(std::ranges::equal(read->imports, manifest.imports, {},
                                 &ImportRecord::file, &ImportRecord::file));
}

TEST(Manifest, KnowsWhatWaybillBringsItself) {
  for (const char* own : {"waybill", "waybill._reducers", "waybill._kinds.errors"}) {
    ImportRecord record;
    record.module = own;
    EXPECT_TRUE(record.is_own()) << own;
  }
  for (const char* other : {"waybills", "waybill_extra.a", "my.waybill", ".waybill"}) {
    ImportRecord record;
    record.module = other;
    EXPECT_FALSE(record.is_own()) << other;
  }
}

TEST(Manifest, SubstitutionsComeBackAsTheyWere) {
  Manifest manifest;
  manifest.substitutions = {{"fresh", "_thread.lock", "f.__globals__['x']._lock"},
                            {"drop", "generator", "obj[0]"}};

  const Result<Manifest> read = decode_manifest(encode_to_bytes(manifest));

  ASSERT_TRUE(read);
  EXPECT_TRUE(read->imports.empty());
  ASSERT_EQ(read->substitutions.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read->substitutions[i].policy, manifest.substitutions[i].policy);
    EXPECT_EQ(read->substitutions[i].type, manifest.substitutions[i].type);
    EXPECT_EQ(read->substitutions[i].path, manifest.substitutions[i].path);
  }
}

TEST(Manifest, RefusesASubstitutionThatIsTooShort) {
  const Bytes bytes = packed({map(1), 2, array(1), array(2), "drop", "generator"});

  EXPECT_THAT(decode_manifest(bytes), Fails(ErrorCode::kMalformed));
}

TEST(Manifest, TakesOneByteWhenEmpty) { EXPECT_EQ(encode_to_bytes({}), (Bytes{0x80})); }

TEST(Manifest, WritesEachFileOnce) {
  Manifest manifest;
  for (int i = 0; i < 100; ++i) {
    const std::string file = "file" + std::to_string(i % 40) + ".py";
    manifest.imports.push_back({"m", ImportTime::kLoad, "m", "f", file, 1});
  }
  const Bytes bytes = encode_to_bytes(manifest);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());

  const std::size_t first = text.find("file3.py");

  EXPECT_NE(first, std::string_view::npos);
  EXPECT_EQ(text.find("file3.py", first + 1), std::string_view::npos);
  EXPECT_EQ(decode_manifest(bytes)->imports[43].file, "file3.py");
}

TEST(Manifest, PassesOverFieldsOfALaterVersion) {
  const Bytes bytes = one_record(8, {sound_record(), "a later field", array(0)});

  const Result<Manifest> manifest = decode_manifest(bytes);

  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->imports[0].module, "os.path");
  EXPECT_EQ(manifest->imports[0].chain, "os.path");
}

TEST(Manifest, PassesOverKeysOfALaterVersion) {
  EXPECT_TRUE(decode_manifest(packed({map(1), 17, array(1), "distributions"})));
}

TEST(Manifest, RefusesRecordsWithOneFieldThatIsWrong) {
  struct Row {
    const char* module = "m";
    std::int64_t time = 0;
    bool has_file = false;  // Of a table that is empty.
    const char* words = "";
  };
  for (const Row& row : {Row{.has_file = true}, Row{.time = 3}, Row{.module = "\xff"},
                         Row{.module = "", .words = "an import has no module name"}}) {
    const Bytes bytes = one_record(
        6, {row.module, row.time, kNil, kNil, row.has_file ? Token(0) : kNil, 1});

    EXPECT_THAT(decode_manifest(bytes), Fails(ErrorCode::kMalformed, testing::_,
                                              testing::HasSubstr(row.words)));
  }
}

TEST(Manifest, RefusesAKeyTwice) {
  const Bytes bytes = {0x82, 0x00, 0x90, 0x00, 0x90};

  EXPECT_EQ(decode_manifest(bytes).error().code, ErrorCode::kMalformed);
  EXPECT_EQ(decode_manifest(bytes).error().offset, 3u);
}

TEST(Manifest, RefusesARecordThatIsTooShort) {
  const Bytes bytes = one_record(2, {"m", 0});

  EXPECT_EQ(decode_manifest(bytes).error().code, ErrorCode::kMalformed);
}

TEST(Manifest, NamesTheTimes) {
  EXPECT_EQ(name_of(ImportTime::kLoad), "load");
  EXPECT_EQ(name_of(ImportTime::kCall), "call");
  EXPECT_EQ(name_of(ImportTime::kLazy), "lazy");
}

Environment sample() {
  return {"3.11.7",
          "cpython",
          "linux-x86_64",
          {{"numpy", "1.26.4", {"numpy"}}, {"scikit-learn", "1.7.2", {"sklearn"}}}};
}

void expect_sample(const std::optional<Environment>& environment) {
  ASSERT_TRUE(environment);
  EXPECT_EQ(environment->python, "3.11.7");
  EXPECT_EQ(environment->implementation, "cpython");
  EXPECT_EQ(environment->platform, "linux-x86_64");
  ASSERT_EQ(environment->distributions.size(), 2u);
  const Distribution& second = environment->distributions[1];
  EXPECT_EQ(second.name, "scikit-learn");
  EXPECT_EQ(second.version, "1.7.2");
  EXPECT_EQ(second.modules, std::vector<std::string>{"sklearn"});
}

// A manifest with an environment with these rows of distributions.
Bytes with_rows(std::size_t count, const Tokens& rows) {
  return packed(
      {map(1), 3, array(4), "3.11.7", "cpython", "linux-x86_64", array(count), rows});
}

Tokens row_of(std::string_view name, std::string_view module) {
  return {array(3), name, "1.0", array(1), module};
}

ErrorCode error_of(BytesView bytes) {
  const Result<Manifest> read = decode_manifest(bytes);
  EXPECT_FALSE(read);
  return read ? ErrorCode::kMalformed : read.error().code;
}

TEST(Environment, ComesBackAsItWas) {
  Manifest manifest;
  manifest.imports = {{"numpy", ImportTime::kLoad, "numpy", "f", "a.py", 3}};
  manifest.substitutions = {{"drop", "generator", "obj[0]"}};
  manifest.environment = sample();

  const Result<Manifest> read = decode_manifest(encode_to_bytes(manifest));

  ASSERT_TRUE(read);
  expect_sample(read->environment);
  EXPECT_EQ(read->imports.size(), 1u);
  EXPECT_EQ(read->substitutions.size(), 1u);
}

TEST(Environment, IsAbsentWhereNobodyTellsIt) {
  EXPECT_FALSE(decode_manifest(encode_to_bytes({}))->environment);
}

TEST(Environment, IsPutBehindWhatAManifestHas) {
  Manifest manifest;
  manifest.imports = {{"numpy", ImportTime::kLoad, "numpy", "f", "a.py", 3}};
  const Bytes before = encode_to_bytes(manifest);
  manifest.environment = sample();

  const Bytes made = envelope::with_environment(before, sample());

  EXPECT_EQ(made, encode_to_bytes(manifest));
}

TEST(Environment, IsPutIntoWhereThereIsNoManifest) {
  Manifest manifest;
  manifest.environment = sample();

  EXPECT_EQ(envelope::with_environment({}, sample()), encode_to_bytes(manifest));
  EXPECT_EQ(envelope::with_environment(encode_to_bytes({}), sample()),
            encode_to_bytes(manifest));
}

TEST(Environment, MayBeLongerOneDay) {
  const Bytes bytes = packed({map(1), 3, array(5), "3.15.0", "cpython", "any", array(1),
                              array(4), "numpy", "3.0", array(0), map(0), "later"});

  const Result<Manifest> read = decode_manifest(bytes);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->environment->python, "3.15.0");
  EXPECT_EQ(read->environment->distributions[0].version, "3.0");
}

TEST(Environment, RefusesOneThatIsTooShort) {
  const Bytes bytes = {0x81, 0x03, 0x93, 0xa0, 0xa0, 0xa0};

  EXPECT_EQ(error_of(bytes), ErrorCode::kMalformed);
}

TEST(Environment, RefusesADistributionThatIsTooShort) {
  const Bytes bytes = with_rows(1, {array(2), "numpy", "1.26.4"});

  EXPECT_EQ(error_of(bytes), ErrorCode::kMalformed);
}

TEST(Environment, RefusesWhatIsNoText) {
  Manifest manifest;
  manifest.environment = sample();
  const Bytes sound = encode_to_bytes(manifest);

  for (const std::string_view text :
       {"3.11.7", "cpython", "linux-x86_64", "numpy", "1.26.4", "sklearn"}) {
    const auto at =
        std::search(sound.begin(), sound.end(), text.begin(), text.end()) - 1;
    for (const std::uint8_t byte : Bytes{0xc0, 0x80, 0x90}) {
      Bytes spoilt(sound.cbegin(), at);
      spoilt.push_back(byte);
      spoilt.insert(spoilt.end(), at + 1 + static_cast<std::ptrdiff_t>(text.size()),
                    sound.end());
      EXPECT_EQ(error_of(spoilt), ErrorCode::kMalformed) << text;
    }
    Bytes spoilt = sound;
    spoilt[static_cast<std::size_t>(at - sound.begin()) + 1] = 0xff;
    EXPECT_EQ(error_of(spoilt), ErrorCode::kMalformed) << text;
  }
}

TEST(Environment, RefusesNamesThatDoNotAscend) {
  for (const char* second : {"a", "b"}) {
    const Bytes bytes = with_rows(2, {row_of("b", "b"), row_of(second, "b")});
    EXPECT_EQ(error_of(bytes), ErrorCode::kMalformed) << second;
  }
  const Bytes nameless = with_rows(1, row_of("", "b"));
  EXPECT_EQ(error_of(nameless), ErrorCode::kMalformed);
}

TEST(Environment, RefusesWhatIsCutOff) {
  Manifest manifest;
  manifest.environment = sample();
  const Bytes bytes = encode_to_bytes(manifest);

  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(error_of(BytesView(bytes).first(size)), ErrorCode::kTruncated) << size;
  }
}

TEST(Environment, RefusesMoreDistributionsThanTheLimit) {
  const auto rows = [](std::size_t count) {
    return with_rows(count, {[&](Writer& out) {
                       for (std::size_t i = 0; i < count; ++i) {
                         put(out, row_of(std::to_string(100000 + i), "b"));
                       }
                     }});
  };

  EXPECT_TRUE(decode_manifest(rows(Environment::kMaxDistributions)));
  EXPECT_EQ(error_of(rows(Environment::kMaxDistributions + 1)),
            ErrorCode::kLimitExceeded);
}

TEST(Environment, RefusesMoreModulesThanTheLimit) {
  const auto rows = [](std::size_t last) {
    return with_rows(
        2, {[&](Writer& out) {
          for (const std::size_t count : {Environment::kMaxModules - 1, last}) {
            put(out, {array(3), std::to_string(10 - count % 10), "1", array(count),
                      times(count, "m")});
          }
        }});
  };

  EXPECT_TRUE(decode_manifest(rows(1)));
  EXPECT_EQ(error_of(rows(2)), ErrorCode::kLimitExceeded);
}

TEST(Environment, RefusesTextsAboveTheLimit) {
  const auto row = [](std::size_t size) {
    const std::string name(size, 'n');
    return with_rows(1, row_of(name, "b"));
  };

  EXPECT_TRUE(decode_manifest(row(Environment::kMaxText)));
  EXPECT_EQ(error_of(row(Environment::kMaxText + 1)), ErrorCode::kLimitExceeded);
}

TEST(Environment, IsPartOfWhatOpenGives) {
  Draft draft;
  draft.manifest.environment = sample();
  draft.payload.integer(1);
  const Bytes bytes = draft.sealed();

  const Result<Envelope> envelope = open(bytes);

  ASSERT_TRUE(envelope) << to_string(envelope.error());
  expect_sample(envelope->manifest.environment);
  EXPECT_TRUE(verify(*envelope));
}

}  // namespace
}  // namespace waybill
