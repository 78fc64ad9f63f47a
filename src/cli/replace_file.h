#pragma once

// Files that change as a whole or not at all, as those of waybill.save() do.

#include <cstdint>
#include <string>
#include <vector>

namespace waybill::cli {

// Whether the name is that of a regular file, or of nothing yet: not of a pipe, or of
// what is open already, such as /dev/stdout.
bool is_replaceable(const std::string& file);

// Puts `bytes` in the place of the file's content: what was there stays until all of
// the new is on the disk. Keeps permissions, and follows symbolic links: what they
// point to is replaced. Does not keep owner and extended attributes; other hard links
// keep the old content. The folder has to be writable. False if that cannot be done;
// errno tells why.
[[nodiscard]] bool replace_file(const std::string& file,
                                const std::vector<std::uint8_t>& bytes);

}  // namespace waybill::cli
