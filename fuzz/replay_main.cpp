// Runs a fuzz harness on the files, and on all files in the folders, that are given as
// arguments: a regression test with any compiler. Each file is also tried with changed
// bytes, the same in each run, and with mutations of the harness itself.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" {
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// Null if the harness has no mutator.
[[gnu::weak]] std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                  std::size_t max_size, unsigned seed);
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                             std::size_t max_size);
}

namespace {

// Bound the time of a test: changed inputs in all, and per file.
constexpr int kMaxChanges = 20'000;
constexpr int kMaxChangesPerFile = 200;
constexpr std::size_t kMaxGrowth = 4096;  // Bytes that a mutation may add.

std::vector<std::uint8_t> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void change(std::vector<std::uint8_t>& bytes, std::mt19937& random) {
  for (unsigned i = 0; i <= random() % 4; ++i) {
    bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
  }
  if (random() % 8 == 0) bytes.resize(random() % (bytes.size() + 1));
}

void mutate(std::vector<std::uint8_t>& bytes, std::mt19937& random) {
  const std::size_t size = bytes.size();
  bytes.resize(size + kMaxGrowth);
  bytes.resize(LLVMFuzzerCustomMutator(bytes.data(), size, bytes.size(),
                                       static_cast<unsigned>(random())));
}

void replay(const std::filesystem::path& path, int changes) {
  const std::vector<std::uint8_t> bytes = bytes_of(path);
  std::printf("%s: %zu bytes\n", path.string().c_str(), bytes.size());
  std::fflush(stdout);  // Shows the name even if the harness aborts.
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  std::mt19937 random(static_cast<unsigned>(bytes.size()));
  for (int round = 0; round < changes && !bytes.empty(); ++round) {
    std::vector<std::uint8_t> changed = bytes;
    const bool by_harness = LLVMFuzzerCustomMutator != nullptr && round % 2 == 0;
    by_harness ? mutate(changed, random) : change(changed, random);
    LLVMFuzzerTestOneInput(changed.data(), changed.size());
  }
}

// The given files, and all files in the given folders; sorted, so that each run is the
// same. The paths are absolute, since a harness may change its folder.
std::vector<std::filesystem::path> inputs_in(int argc, char** argv) {
  std::vector<std::filesystem::path> inputs;
  for (int i = 1; i < argc; ++i) {
    const auto path = std::filesystem::absolute(argv[i]);
    if (!std::filesystem::is_directory(path)) {
      inputs.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) inputs.push_back(entry.path());
    }
  }
  std::ranges::sort(inputs);
  return inputs;
}

}  // namespace

// The default mutation that the mutator of a harness may call: changes one byte.
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                             std::size_t max_size) {
  static std::mt19937 random(1);
  if (size == 0 && max_size == 0) return 0;
  if (size == 0) data[size++] = 0;
  data[random() % size] = static_cast<std::uint8_t>(random());
  return size;
}

int main(int argc, char** argv) {
  const auto inputs = inputs_in(argc, argv);
  for (const auto& path : inputs) {
    if (std::filesystem::is_regular_file(path)) continue;
    std::printf("%s: no such file or folder\n", path.string().c_str());
    return 1;
  }
  const int count = static_cast<int>(inputs.size());
  for (const auto& path : inputs) {
    replay(path, std::min(kMaxChangesPerFile, kMaxChanges / count));
  }
  std::printf("%d inputs replayed\n", count);
  return count == 0 ? 1 : 0;
}
