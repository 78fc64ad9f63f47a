#pragma once

// Lists of the parts of an envelope, for the commands that show them.

#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "waybill/parts.h"

namespace waybill::cli {

struct ListedPart {
  std::string path;
  Part part;
  std::uint64_t hidden = 0;  // The number of its parts that are not listed.
};

// PATH, --depth and --items.
void declare_listing(Options& options, Arguments& arguments);

// The part at PATH and the parts in it, each before its own parts. Errors: those of
// find_part().
Result<std::vector<ListedPart>> list_parts(const VerifiedEnvelope& envelope,
                                           const Arguments& arguments);

// Prints a line for each part. `states`: a further column with a text for each; or
// empty.
void print_parts(const std::vector<ListedPart>& parts,
                 const std::vector<std::string>& states = {});

// {"ok": …, "parts": […]} with these numbers, on one line. `states`: see print_parts().
std::string parts_json(
    bool ok, std::initializer_list<std::pair<const char*, std::size_t>> numbers,
    const std::vector<ListedPart>& parts, const std::vector<std::string>& states = {});

}  // namespace waybill::cli
