#pragma once

// The records of benchmarks/datasets.py as msgpack: what the benchmarks of the layers
// below Python write and read.

#include <cstdint>
#include <string>
#include <vector>

#include "waybill/envelope.h"
#include "wire/writer.h"

namespace waybill::bench {

// msgpack values in a record: the map, keys and values, the list and its items.
inline constexpr std::size_t kValuesOfRecord = 11;

inline std::vector<std::string> names(std::size_t count) {
  std::vector<std::string> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back("user " + std::to_string(i));
  return made;
}

inline void write_records(wire::Writer& out, const std::vector<std::string>& names) {
  out.array(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    out.map(4);
    out.text("id");
    out.integer(static_cast<std::int64_t>(i));
    out.text("name");
    out.text(names[i]);
    out.text("score");
    out.real(static_cast<double>(i) * 0.5);
    out.text("tags");
    out.array(2);
    out.text("new");
    out.text("paid");
  }
}

inline Parts parts_of(const wire::Writer& payload) {
  Parts parts;
  parts.python = {3, 11, 3495};
  parts.payload = payload.view();
  return parts;
}

}  // namespace waybill::bench
