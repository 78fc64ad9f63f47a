// Tested by tests/diff/diff_test.cpp and tests/cli/test_diff.py.

#include "diff/leaf_diff.h"

#include <algorithm>
#include <string_view>

#include "format/leaf_kind.h"
#include "report/value_text.h"
#include "text/format_text.h"
#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

enum class Kind : std::uint8_t { kOther, kText, kBytes, kByteArray };

// How a kind is written, and what it is counted in.
struct Spelling {
  const char* open;
  const char* close;
  const char* unit;
};
constexpr Spelling kSpellings[] = {
    {}, {"'", "'", "character"}, {"b'", "'", "byte"}, {"bytearray(b'", "')", "byte"}};

struct Leaf {
  Kind kind = Kind::kOther;
  std::string_view content;
};

Leaf leaf_of(const ValueView& value) {
  const LeafKind kind = leaf_kind(value.token());
  if (kind == LeafKind::kText) return {Kind::kText, value.token().text()};
  if (kind == LeafKind::kBytes) return {Kind::kBytes, value.token().text()};
  if (!value.is(wire::NodeTag::kByteArray)) return {};
  const ValueView bytes = value.part(0);
  if (leaf_kind(bytes.token()) != LeafKind::kBytes) return {};
  return {Kind::kByteArray, bytes.token().text()};
}

std::size_t size_of(const Leaf& leaf) {
  return leaf.kind == Kind::kText ? wire::count_characters(leaf.content)
                                  : leaf.content.size();
}

// The leaf from `start` on.
std::string around(const Leaf& leaf, std::size_t start, std::size_t max_text) {
  const bool is_binary = leaf.kind != Kind::kText;
  const std::string_view rest = leaf.content.substr(start);
  const std::size_t shown =
      is_binary ? std::min(rest.size(), max_text) : wire::size_of_start(rest, max_text);
  const Spelling& spelling = kSpellings[static_cast<std::size_t>(leaf.kind)];
  const std::size_t size = size_of(leaf);
  return format_text("{}{}{}{}{} ({} {}{})", spelling.open, start == 0 ? "" : "…",
                     escaped(rest.substr(0, shown), is_binary),
                     shown == rest.size() ? "" : "…", spelling.close, size,
                     spelling.unit, size == 1 ? "" : "s");
}

}  // namespace

std::optional<LeafDifference> leaf_difference(const ValueView& before,
                                              const ValueView& after,
                                              std::size_t max_text) {
  const Leaf one = leaf_of(before);
  const Leaf other = leaf_of(after);
  if (one.kind == Kind::kOther || one.kind != other.kind) return {};
  if (one.content == other.content) return {};
  const bool is_text = one.kind == Kind::kText;
  const auto whole = [&](std::size_t at) {
    const auto is_inside = [&](const Leaf& leaf) {
      return at < leaf.content.size() && wire::continues_character(leaf.content[at]);
    };
    while (is_text && at != 0 && (is_inside(one) || is_inside(other))) --at;
    return at;
  };
  const auto [end, _] = std::ranges::mismatch(one.content, other.content);
  const std::size_t first = whole(static_cast<std::size_t>(end - one.content.begin()));
  const std::size_t start = whole(first - std::min(first, max_text / 2));
  const std::string_view same = one.content.substr(0, first);
  return LeafDifference{is_text ? wire::count_characters(same) : first,
                        around(one, start, max_text), around(other, start, max_text)};
}

}  // namespace waybill::envelope
