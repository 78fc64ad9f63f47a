// Tested by tests/cli/test_sign.py.

#include "cli/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace waybill::cli {
namespace {

using std::filesystem::path;

constexpr int kMostLinks = 40;  // As the kernel has it.

// What the name means when symbolic links are followed; it need not be there. False for
// links in a circle.
bool follow_links(path& file) {
  std::error_code error;
  for (int i = 0; std::filesystem::is_symlink(file, error); ++i) {
    if (i == kMostLinks) {
      errno = ELOOP;
      return false;
    }
    const path target = std::filesystem::read_symlink(file, error);
    if (error) {
      errno = error.value();
      return false;
    }
    file = file.parent_path() / target;
  }
  return true;
}

// Those of the file that is there, or of any new one.
mode_t permissions_of(const path& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) == 0) return status.st_mode & 0777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

bool write_all(int descriptor, const std::vector<std::uint8_t>& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t size = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (size < 0 && errno != EINTR) return false;
    if (size > 0) done += static_cast<std::size_t>(size);
  }
  return fsync(descriptor) == 0;
}

// Makes sure that the new name is on the disk, where the system can do that.
void sync_folder(const path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return;  // One may write to it, but not read it.
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

bool is_replaceable(const std::string& file) {
  if (file.starts_with("/dev/") || file.starts_with("/proc/")) return false;
  struct stat status{};
  return stat(file.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

bool replace_file(const std::string& file, const std::vector<std::uint8_t>& bytes) {
  path target = file;
  if (!follow_links(target)) return false;
  const path folder = target.has_parent_path() ? target.parent_path() : ".";
  std::string name = folder / ".waybill-XXXXXX";
  // Beyond the size that files may have, write() tells instead of ending the program.
  std::signal(SIGXFSZ, SIG_IGN);
  // Nobody else may read it before it has the permissions of the old one.
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) return false;
  const bool is_written =
      fchmod(descriptor, permissions_of(target)) == 0 && write_all(descriptor, bytes);
  const int error = errno;
  const bool is_closed = close(descriptor) == 0;
  if (is_written && is_closed && std::rename(name.c_str(), target.c_str()) == 0) {
    sync_folder(folder);
    return true;
  }
  const int reason = is_written ? errno : error;
  unlink(name.c_str());
  errno = reason;
  return false;
}

}  // namespace waybill::cli
