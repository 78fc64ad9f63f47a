#pragma once

// Which pool of workers has which modules.

#include <set>
#include <string>
#include <vector>

#include "waybill/manifest.h"

namespace example {

struct Pool {
  std::string name;
  std::string socket;  // Path of the socket of its host.
  std::set<std::string, std::less<>> modules;
};

// Lines of "name socket module…", the better pools first. A module stands for all that
// is below it. "@FILE" among the modules stands for those in that file, one in each
// line. Throws std::runtime_error with what is wrong.
std::vector<Pool> read_pools(const std::string& file);

// Modules that loading a payload imports, or calling what is in it, and that the pool
// does not have.
std::vector<std::string> missing_in(const Pool& pool,
                                    const waybill::Manifest& manifest);

}  // namespace example
