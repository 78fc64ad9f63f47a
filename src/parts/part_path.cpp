// Steps as text, and paths that are rows of them.
// Tested by tests/parts/parts_test.cpp and tests/python/api/test_open.py.

#include <algorithm>
#include <string>
#include <string_view>

#include "format/value_view.h"
#include "report/value_text.h"
#include "waybill/parts.h"

namespace waybill {
namespace {

using Steps = std::vector<Step>;

// Before the place of a pair whose key has no text that tells it from others.
constexpr std::string_view kValues = ".values()";

// The pieces of a path, one by one.
class PathReader {
 public:
  explicit PathReader(std::string_view path) : path_(path) {}

  bool at_end() const { return at_ == path_.size(); }
  std::size_t at() const { return at_; }

  // What a step says.
  struct Word {
    std::string_view text;
    bool is_attribute = false;  // ".text" or ".['text']"; else "[text]".
    bool is_quoted = false;     // "['text']"
    bool is_position = false;   // ".values()[text]"
  };

  // False if no step is next.
  bool next(Word& word) {
    word = {};
    auto& [text, is_attribute, is_quoted, is_position] = word;
    is_position = path_.substr(at_).starts_with(kValues) &&
                  path_.substr(at_ + kValues.size()).starts_with("[");
    if (is_position) at_ += kValues.size();
    is_attribute = !is_position && path_[at_] == '.';
    if (is_attribute && path_.substr(at_ + 1).starts_with("['")) {
      ++at_;  // A name that would not be read as one.
    } else if (is_attribute) {
      const std::size_t end =
          std::min(path_.find_first_of(".[", at_ + 1), path_.size());
      text = path_.substr(at_ + 1, end - at_ - 1);
      at_ = end;
      return !text.empty();
    }
    if (path_[at_] != '[') return false;
    const char quote = at_ + 1 < path_.size() ? path_[at_ + 1] : '\0';
    is_quoted = quote == '\'' || quote == '"';
    const std::size_t start = at_ + (is_quoted ? 2 : 1);
    const std::size_t end =
        is_quoted ? end_of_quoted(start, quote) : end_of_bare(start);
    const std::size_t close = is_quoted ? end + 1 : end;
    if (close >= path_.size() || path_[close] != ']') return false;
    text = path_.substr(start, end - start);
    at_ = close + 1;
    return is_quoted || !text.empty();
  }

 private:
  std::size_t end_of_quoted(std::size_t at, char quote) const {
    for (; at < path_.size() && path_[at] != quote; ++at) {
      if (path_[at] == '\\') ++at;
    }
    return at;
  }
  // Of a key that may hold brackets of its own, such as b'[' and ([1], 2).
  std::size_t end_of_bare(std::size_t at) const {
    for (std::size_t depth = 0; at < path_.size(); ++at) {
      const char byte = path_[at];
      if (byte == '\'' || byte == '"') {
        at = end_of_quoted(at + 1, byte);
      } else if (byte == '[') {
        ++depth;
      } else if (byte == ']' && depth-- == 0) {
        break;
      }
    }
    return at;
  }

  std::string_view path_;
  std::size_t at_ = 0;
};

std::string key_text(const Envelope& envelope, std::size_t offset) {
  return value_text(envelope::ValueView::at(envelope, offset), envelope.bytes.size());
}

// Whether an attribute of this name can stand behind a point as it is.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name != kValues.substr(1) &&
         name.find_first_of(".[]'\"\\") == std::string_view::npos &&
         envelope::escaped(name, false) == name;
}

// Whether the text of a key tells it from others.
bool is_clear(std::string_view text) {
  return text != "nan" && text.find("…") == std::string_view::npos;
}

// Whether text in quotes is this name: as it is, or, with a backslash, as it is
// written.
bool is_name(std::string_view name, std::string_view text) {
  return text.find('\\') == text.npos ? name == text
                                      : envelope::escaped(name, false) == text;
}

bool is_step(const Envelope& envelope, const Step& step, const PathReader::Word& word) {
  const auto& [text, is_attribute, is_quoted, is_position] = word;
  const bool is_key = step.kind == Step::Kind::kKey;
  if (is_position) return is_key && std::to_string(step.index) == text;
  switch (step.kind) {
    case Step::Kind::kAttribute:
      return is_attribute && (is_quoted ? is_name(step.name, text) : step.name == text);
    case Step::Kind::kIndex:
      return !is_attribute && !is_quoted && std::to_string(step.index) == text;
    case Step::Kind::kKey:
      break;
  }
  if (is_attribute) return false;
  if (!is_quoted) return key_text(envelope, step.key_offset) == text;
  if (step.name.data() == nullptr) {  // It may be a text with lone surrogates.
    return key_text(envelope, step.key_offset) == "'" + std::string(text) + "'";
  }
  return is_name(step.name, text);
}

}  // namespace

std::string step_text(const VerifiedEnvelope& envelope, const Step& step) {
  const auto quoted = [&] { return "['" + envelope::escaped(step.name, false) + "']"; };
  switch (step.kind) {
    case Step::Kind::kAttribute:
      return is_plain_name(step.name) ? "." + std::string(step.name) : "." + quoted();
    case Step::Kind::kIndex:
      return "[" + std::to_string(step.index) + "]";
    case Step::Kind::kKey:
      break;
  }
  if (step.name.data() != nullptr) return quoted();
  const std::string text = key_text(*envelope, step.key_offset);
  return is_clear(text) ? "[" + text + "]"
                        : std::string(kValues) + "[" + std::to_string(step.index) + "]";
}

Result<std::size_t> find_part(const VerifiedEnvelope& envelope, std::string_view path) {
  std::size_t offset = root_of(envelope);
  PathReader reader(path);
  while (!reader.at_end()) {
    const std::size_t start = reader.at();
    PathReader::Word word;
    if (!reader.next(word)) {
      return tl::unexpected(
          Error{ErrorCode::kRefused, offset,
                "this is no path: " + std::string(path.substr(start)) +
                    "; a step is ['key'], [number] or .name"});
    }
    const Steps steps = steps_from(envelope, offset);
    // Of pairs with one key, the last is what loading gives.
    const auto step = std::find_if(steps.rbegin(), steps.rend(), [&](const Step& each) {
      return is_step(*envelope, each, word);
    });
    if (step == steps.rend()) {
      return tl::unexpected(
          Error{ErrorCode::kRefused, offset,
                "nothing is at " + std::string(path.substr(0, reader.at())) + "; " +
                    (start == 0 ? "the payload" : std::string(path.substr(0, start))) +
                    " is a " + describe_part(envelope, offset).type + " of " +
                    std::to_string(steps.size()) + " parts"});
    }
    offset = step->offset;
  }
  return offset;
}

}  // namespace waybill
