#pragma once

// Explanations, parts and blockers that tests make by hand.

#include <string>
#include <utility>

#include "waybill/explanation.h"

namespace waybill::testing {

inline std::size_t add_part(Explanation& explanation, std::size_t parent,
                            std::string step, std::uint64_t bytes,
                            std::uint64_t own = 0) {
  ExplainedPart part;
  part.parent = parent;
  part.step = std::move(step);
  part.type = "dict";
  part.bytes = bytes;
  part.own = own;
  explanation.parts.push_back(std::move(part));
  return explanation.parts.size() - 1;
}

inline void add_blocker(Explanation& explanation, std::string path) {
  Blocker blocker;
  blocker.short_path = path;
  blocker.paths = {path};
  blocker.path = std::move(path);
  blocker.path_count = 1;
  blocker.type = "_thread.lock";
  blocker.reason = "cannot pickle '_thread.lock' object";
  explanation.blockers.push_back(std::move(blocker));
}

// task -> svc (1000 bytes) -> .clients (900) -> ['prod'] (600)
inline Explanation service() {
  Explanation explanation;
  add_part(explanation, 0, "task", 1100, 100);
  const std::size_t svc = add_part(explanation, 0, ".__globals__['svc']", 1000, 100);
  explanation.parts[svc].variable = "svc";
  const std::size_t clients = add_part(explanation, svc, ".clients", 900, 300);
  add_part(explanation, clients, "['prod']", 600, 600);
  explanation.total = 1200;
  return explanation;
}

// Each part holds the next.
inline Explanation chain(std::size_t length) {
  Explanation explanation;
  for (std::size_t i = 0; i < length; ++i) {
    add_part(explanation, i == 0 ? 0 : i - 1, i == 0 ? "task" : ".next", length - i, 1);
  }
  explanation.total = length;
  return explanation;
}

}  // namespace waybill::testing
