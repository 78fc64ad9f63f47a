#pragma once

// JSON as a tree, for what is written as it is or laid out as lines.

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "waybill/bytes.h"
#include "waybill/error.h"

namespace waybill::envelope {

using Json = nlohmann::ordered_json;

// Where a tree is made. The destructor of Json needs memory for what is nested, and
// must not fail; so no tree is made elsewhere and moved, nor by lists of initial
// values, which leak where memory is short.
struct Tree {
  Json root;

  Tree() = default;
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
};

// Makes `into` an object with room for its keys: one that grows copies all it holds,
// and may fail in the middle of that.
Json& begin_object(Json& into, std::size_t keys);

// {"code", "offset", "detail"}
void set_error(Json& into, const Error& error);

std::string hex(BytesView bytes);

}  // namespace waybill::envelope
