#include "pools.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace example {
namespace {

std::ifstream opened(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + " cannot be read");
  return in;
}

// a, a.b, a.b.c for a.b.c.
bool has(const Pool& pool, std::string_view module) {
  for (std::size_t end = module.find('.');; end = module.find('.', end + 1)) {
    if (pool.modules.contains(module.substr(0, end))) return true;
    if (end == std::string::npos) return false;
  }
}

}  // namespace

std::vector<Pool> read_pools(const std::string& file) {
  std::ifstream in = opened(file);
  std::vector<Pool> pools;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Pool pool;
    if (!(words >> pool.name) || pool.name.starts_with('#')) continue;
    if (!(words >> pool.socket)) {
      throw std::runtime_error(file + ": the pool " + pool.name + " has no socket");
    }
    for (std::string word; words >> word;) {
      if (!word.starts_with('@')) {
        pool.modules.insert(word);
        continue;
      }
      std::ifstream list = opened(word.substr(1));
      for (std::string module; list >> module;) pool.modules.insert(module);
    }
    pools.push_back(std::move(pool));
  }
  if (pools.empty()) throw std::runtime_error(file + " lists no pools");
  return pools;
}

std::vector<std::string> missing_in(const Pool& pool,
                                    const waybill::Manifest& manifest) {
  std::vector<std::string> missing;
  for (const waybill::ImportRecord& record : manifest.imports) {
    // Relative imports are of a package that is listed too, and a pool without waybill
    // loads nothing.
    const bool is_there = record.is_own() || record.module.starts_with('.');
    if (is_there || has(pool, record.module)) continue;
    missing.push_back(record.module);
  }
  return missing;
}

}  // namespace example
