// Runs a fuzz harness over files, and over all files in folders, given as arguments:
// a regression test with any compiler. Each file is tried with some of its bytes
// changed too, the same way each time.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kChanges = 200;  // Of each file.

std::vector<std::uint8_t> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void replay(const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes = bytes_of(path);
  std::printf("%s: %zu bytes\n", path.string().c_str(), bytes.size());
  std::fflush(stdout);  // The name should be there if the harness aborts.
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  std::mt19937 random(static_cast<unsigned>(bytes.size()));
  for (int round = 0; round < kChanges && !bytes.empty(); ++round) {
    std::vector<std::uint8_t> changed = bytes;
    for (unsigned i = 0; i <= random() % 4; ++i) {
      changed[random() % changed.size()] = static_cast<std::uint8_t>(random());
    }
    if (random() % 8 == 0) changed.resize(random() % (changed.size() + 1));
    LLVMFuzzerTestOneInput(changed.data(), changed.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int replayed = 0;
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path path(argv[i]);
    if (!std::filesystem::is_directory(path)) {
      replay(path);
      ++replayed;
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (!entry.is_regular_file()) continue;
      replay(entry.path());
      ++replayed;
    }
  }
  std::printf("%d inputs replayed\n", replayed);
  return replayed == 0 ? 1 : 0;
}
