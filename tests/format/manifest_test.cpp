#include "waybill/manifest.h"

#include <gtest/gtest.h>

#include "format/manifest_bytes.h"

namespace waybill {
namespace {

using namespace samples;

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

  const Result<Manifest> read = decode_manifest(bytes);

  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kMalformed);
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
                         Row{.module = "", .words = "an import of no module"}}) {
    const Bytes bytes = one_record(
        6, {row.module, row.time, kNil, kNil, row.has_file ? Token(0) : kNil, 1});

    const Result<Manifest> read = decode_manifest(bytes);

    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kMalformed);
    EXPECT_NE(read.error().detail.find(row.words), std::string::npos);
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

}  // namespace
}  // namespace waybill
