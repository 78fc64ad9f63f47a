// Envelopes in files that are mapped.

#include "waybill/mapped_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "format/samples.h"
#include "waybill/parts.h"

namespace waybill {
namespace {

class MappedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        (std::filesystem::temp_directory_path() / "waybillXXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const samples::Bytes& bytes) const {
    const std::string path = (folder_ / "file").string();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  std::filesystem::path folder_;
};

TEST_F(MappedFileTest, HasTheBytesOfTheFile) {
  const samples::Bytes bytes = samples::buffers_envelope();

  auto file = MappedFile::open(write(bytes));

  ASSERT_TRUE(file) << file.error().message();
  EXPECT_TRUE(std::ranges::equal(file->bytes(), bytes));
  const MappedFile moved = *std::move(file);
  EXPECT_TRUE(file->bytes().empty());
  EXPECT_EQ(moved.bytes().size(), bytes.size());
}

TEST_F(MappedFileTest, TellsWhyThereIsNone) {
  EXPECT_EQ(MappedFile::open((folder_ / "nothing").string()).error(),
            std::errc::no_such_file_or_directory);
  EXPECT_TRUE(MappedFile::open(folder_.string()).error());
  const auto empty = MappedFile::open(write({}));
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->bytes().empty());
}

TEST_F(MappedFileTest, OpensWithoutALookAtTheBuffers) {
  samples::Bytes bytes = samples::buffers_envelope();
  const std::size_t last = open(bytes)->size - 9;
  bytes[last] ^= 1;
  const auto file = MappedFile::open(write(bytes));

  const Result<VerifiedEnvelope> envelope = open_mapped(file->bytes());

  ASSERT_TRUE(envelope) << to_string(envelope.error());
  const StoredBuffer& row = (*envelope)->buffers.back();
  EXPECT_FALSE(check_buffer(row, row.bytes, (*envelope)->buffers_offset + row.offset));
  EXPECT_EQ(open_whole(file->bytes()).error().code, ErrorCode::kDigestMismatch);
}

TEST_F(MappedFileTest, RefusesWhatIsNotAllThereAndWhatIsMore) {
  const samples::Bytes bytes = samples::buffers_envelope();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(open_mapped(BytesView(bytes).first(size)));
  }
  samples::Bytes more = bytes;
  more.push_back(0);
  EXPECT_EQ(open_mapped(more).error().code, ErrorCode::kTrailingBytes);
}

}  // namespace
}  // namespace waybill
