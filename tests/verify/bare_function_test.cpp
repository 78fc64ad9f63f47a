// Bare functions are told apart from all else, and only sound ones count.

#include "verify/bare_function.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "format/samples.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using envelope::BareFunction;
using samples::BodyDraft;
using samples::Bytes;
using samples::Draft;
using samples::fit_digest;
using wire::ExtType;
using wire::NodeTag;
using wire::Writer;

constexpr PythonVersion kPython{3, 11, 3495};

void write_bare_function(Writer& out,
                         const std::function<void(Writer&)>& write_fields) {
  out.node(NodeTag::kFunction, 4);
  out.unsigned_integer(0);
  samples::write_namespace(out);
  out.array(0);
  write_fields(out);
}

void write_bare_location(Writer& out, const char* file = "/home/ada/task.py",
                         const Bytes& line_table = {0x80, 0}) {
  out.array(1);
  out.array(4);
  if (file != nullptr) {
    out.text(file);
  } else {
    out.unsigned_integer(wire::kSameFile);
  }
  out.integer(12);
  out.binary(line_table);
  out.array(0);
}

void write_globals(Writer& out) {
  out.map(1);
  out.unsigned_integer(0);
  out.map(1);
  out.text("alias");
  out.index(ExtType::kModule, 0);
}

// def f(x): names json, which is imported at load, and os in an import statement.
struct BareDraft : Draft {
  explicit BareDraft(const BodyDraft& body = {},
                     const std::function<void(Writer&)>& write_fields = write_globals) {
    manifest.imports = {{"json", ImportTime::kLoad, "json.dumps", "f", "task.py", 3},
                        {"os", ImportTime::kCall, "os", "f", "task.py", 4}};
    code.push_back(body.body());
    write_bare_function(payload, write_fields);
    write_bare_location(source_locations);
  }
};

bool is_bare(const Bytes& bytes, const PythonVersion& python = kPython) {
  BareFunction function;
  return envelope::read_bare_function(bytes, python, function);
}

bool is_sound(const Bytes& bytes) {
  const Result<Envelope> envelope = open_whole(bytes);
  return envelope && check_python(*envelope, kPython) && verify(*envelope);
}

TEST(BareFunction, IsReadWhole) {
  const Bytes bytes = BareDraft().sealed();
  BareFunction function;

  ASSERT_TRUE(envelope::read_bare_function(bytes, kPython, function));

  ASSERT_EQ(function.manifest.imports.size(), 2u);
  EXPECT_EQ(function.manifest.imports[0].module, "json");
  EXPECT_EQ(function.manifest.imports[1].time, ImportTime::kCall);
  EXPECT_EQ(function.module_name, "__main__");
  EXPECT_EQ(function.package.data(), nullptr);
  EXPECT_FALSE(function.is_package);
  ASSERT_EQ(function.globals.size(), 1u);
  EXPECT_EQ(function.globals[0].name, "alias");
  EXPECT_EQ(function.globals[0].import, 0u);
  EXPECT_EQ(function.code.name, "f");
  EXPECT_FALSE(function.has_simple_constants);  // There is a tuple.
  EXPECT_EQ(function.file, "/home/ada/task.py");
  EXPECT_EQ(function.line, 12u);
  EXPECT_EQ(function.line_table.size(), 2u);
  const Result<Envelope> envelope = open_whole(bytes);
  ASSERT_TRUE(envelope);
  EXPECT_EQ(function.body.offset, envelope->code[0].offset);
  EXPECT_EQ(function.body.bytes.data(), envelope->code[0].bytes.data());
  EXPECT_EQ(function.body.bytes.size(), envelope->code[0].bytes.size());
}

TEST(BareFunction, MayNameNothing) {
  Draft draft;
  draft.code.push_back(BodyDraft().body());
  write_bare_function(draft.payload, [](Writer& out) { out.map(0); });
  write_bare_location(draft.source_locations);

  EXPECT_TRUE(is_bare(draft.sealed()));
}

TEST(BareFunction, MayStandInTheFileThatTheManifestNames) {
  for (const bool has_file : {true, false}) {
    BareFunction function;
    Draft draft;
    draft.manifest.imports = {{"json", ImportTime::kLoad, "json", "f", "", 0}};
    if (has_file) draft.manifest.imports[0].file = "task.py";
    draft.code.push_back(BodyDraft().body());
    write_bare_function(draft.payload, write_globals);
    write_bare_location(draft.source_locations, nullptr);
    const Bytes bytes = draft.sealed();

    EXPECT_EQ(envelope::read_bare_function(bytes, kPython, function), has_file);
    EXPECT_EQ(is_sound(bytes), has_file);
    EXPECT_EQ(function.file, has_file ? "task.py" : "");
  }
}

TEST(BareFunction, IsNoOtherPythons) {
  const Bytes bytes = BareDraft().sealed();

  EXPECT_TRUE(is_bare(bytes, kPython));
  EXPECT_FALSE(is_bare(bytes, {3, 12, 3531}));
  EXPECT_FALSE(is_bare(bytes, {3, 11, 3494}));
}

TEST(BareFunction, IsNothingElse) {
  EXPECT_FALSE(is_bare(samples::data_envelope()));
  EXPECT_FALSE(is_bare(samples::function_envelope()));
  EXPECT_FALSE(is_bare({}));
}

TEST(BareFunction, HasNoCodeInside) {
  BareDraft draft;
  BodyDraft outer;
  outer.nested_hash = samples::hash_of(draft.code[0]);
  draft.code = {outer.body()};

  EXPECT_FALSE(is_bare(draft.sealed()));
}

TEST(BareFunction, HasNoOtherFieldsThanModules) {
  const BareDraft draft({}, [](Writer& out) {
    out.map(1);
    out.unsigned_integer(static_cast<std::uint64_t>(wire::FunctionField::kDefaults));
    out.node(NodeTag::kTuple, 1);
    out.integer(1);
  });

  EXPECT_TRUE(is_sound(draft.sealed()));
  EXPECT_FALSE(is_bare(draft.sealed()));
}

TEST(BareFunction, NamesOnlyModulesThatAreImportedAtLoad) {
  BareDraft draft;
  draft.manifest.imports[0].time = ImportTime::kCall;

  EXPECT_FALSE(is_bare(draft.sealed()));
}

TEST(BareFunction, TellsSimpleConstants) {
  const auto constants = [](const std::function<void(Writer&)>& write) {
    BodyDraft body;
    body.write_constants = write;
    const Bytes bytes = BareDraft(body).sealed();
    BareFunction function;
    if (!envelope::read_bare_function(bytes, kPython, function)) return "refused";
    return function.has_simple_constants ? "simple" : "sound";
  };

  EXPECT_STREQ(constants([](Writer& out) {
                 out.array(5);
                 out.nil();
                 out.integer(-1);
                 out.real(0.5);
                 out.text("text");
                 out.binary(Bytes{0xff});
               }),
               "simple");
  EXPECT_STREQ(constants([](Writer& out) { out.array(0); }), "simple");
  EXPECT_STREQ(constants([](Writer& out) {
                 out.array(1);
                 out.node(NodeTag::kFrozenSet, 0);
               }),
               "sound");
  EXPECT_STREQ(constants([](Writer& out) {
                 out.array(1);
                 out.text("\xff");
               }),
               "refused");
  EXPECT_STREQ(constants([](Writer& out) {
                 out.array(1);
                 out.map(0);
               }),
               "refused");
}

TEST(BareFunction, HasSoundCodeAndLines) {
  BodyDraft index, handler;
  index.instructions = {0x97, 0, 0x64, 7, 0x53, 0};  // LOAD_CONST 7
  handler.exception_table = {0x80, 1, 9, 0};
  Draft longer;  // Its lines are of three units, and there are two.
  longer.code.push_back(BodyDraft().body());
  write_bare_function(longer.payload, [](Writer& out) { out.map(0); });
  write_bare_location(longer.source_locations, "task.py", {0xfa});

  for (const Bytes& bytes :
       {BareDraft(index).sealed(), BareDraft(handler).sealed(), longer.sealed()}) {
    EXPECT_FALSE(is_bare(bytes));
    EXPECT_FALSE(is_sound(bytes));
  }
}

TEST(BareFunction, IsSoundAlsoForThoseWhoReadAllEnvelopes) {
  ASSERT_TRUE(is_sound(BareDraft().sealed()));
  const Bytes whole = BareDraft().sealed();
  std::size_t accepted = 0;

  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      Bytes bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(value);
      fit_digest(bytes);
      if (!is_bare(bytes)) continue;
      ++accepted;
      ASSERT_TRUE(is_sound(bytes)) << "byte " << at << " is " << value;
    }
  }

  EXPECT_GT(accepted, whole.size());
}

TEST(BareFunction, IsRefusedWithAnyByteAlteredOrCutOff) {
  const Bytes whole = BareDraft().sealed();

  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes bytes = whole;
    bytes[at] ^= 0x11;
    EXPECT_FALSE(is_bare(bytes)) << at;
    EXPECT_FALSE(is_bare({whole.begin(), whole.begin() + static_cast<long>(at)})) << at;
  }
  Bytes longer = whole;
  longer.push_back(0xc0);
  EXPECT_FALSE(is_bare(longer));
}

}  // namespace
}  // namespace waybill
