#pragma once

// The parts of an envelope in lines, for the commands that list them.

#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "waybill/parts.h"

namespace waybill::cli {

struct Listed {
  std::string path;
  Part part;
  std::uint64_t hidden = 0;  // Parts of it that are not shown.
};

// PATH, --depth and --items.
void declare_listing(Options& options, Arguments& arguments);

// The part at PATH and those below it, each before those in it. Errors: those of
// find_part().
Result<std::vector<Listed>> list_parts(const VerifiedEnvelope& envelope,
                                       const Arguments& arguments);

// Writes a line for each. `states`: a word for each, in a column of its own; or none.
void print_parts(const std::vector<Listed>& parts,
                 const std::vector<std::string>& states = {});

// {"ok": …, "parts": […]} with these numbers, on one line. `states`: as above.
std::string parts_json(
    bool ok, std::initializer_list<std::pair<const char*, std::size_t>> numbers,
    const std::vector<Listed>& parts, const std::vector<std::string>& states = {});

}  // namespace waybill::cli
