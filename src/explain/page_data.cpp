// Tested by tests/explain/explanation_html_test.cpp.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "explain/page_text.h"
#include "explain/part_queries.h"

namespace waybill {
namespace {

// Texts that many parts share stand once, and are known by their number.
class Texts {
 public:
  std::size_t number_of(std::string_view text) {
    const auto [found, is_new] = numbers_.try_emplace(text, numbers_.size());
    if (is_new) {
      json_ += json_.empty() ? "" : ",";
      json_ += json_text(text);
    }
    return found->second;
  }

  const std::string& json() const { return json_; }

 private:
  std::map<std::string_view, std::size_t> numbers_;
  std::string json_;
};

class PageData {
 public:
  explicit PageData(const Explanation& explanation)
      : explanation_(explanation), holders_(explanation) {}

  std::string run() {
    using Part = ExplainedPart;
    out_ = "{\"total\":" + std::to_string(explanation_.total);
    column("parent", [](const Part& part) { return std::to_string(part.parent); });
    column("step", [](const Part& part) { return json_text(part.step); });
    column("bytes", [](const Part& part) { return std::to_string(part.bytes); });
    column("own", [](const Part& part) { return std::to_string(part.own); });
    column("kind", [](const Part& part) {
      return std::to_string(static_cast<unsigned>(part.kind));
    });
    column("flags", [](const Part& part) {
      return std::to_string((part.is_shared ? 1 : 0) | (part.evaluates ? 0 : 2));
    });
    column("line", [](const Part& part) { return std::to_string(part.place.line); });
    texts("variable",
          [](const Part& part) -> const std::string& { return part.variable; });
    texts("type", [](const Part& part) -> const std::string& { return part.type; });
    texts("detail", [](const Part& part) -> const std::string& { return part.detail; });
    texts("file",
          [](const Part& part) -> const std::string& { return part.place.file; });
    texts("function",
          [](const Part& part) -> const std::string& { return part.place.function; });
    texts("expression",
          [](const Part& part) -> const std::string& { return part.place.expression; });
    add_blockers();
    out_ += ",\"texts\":[" + texts_.json() + "]}";
    return std::move(out_);
  }

 private:
  template <typename Field>
  void column(const char* name, Field field) {
    begin(name);
    out_ += '[';
    const char* separator = "";
    for (const ExplainedPart& part : explanation_.parts) {
      out_ += separator;
      out_ += field(part);
      separator = ",";
    }
    out_ += ']';
  }

  template <typename Field>
  void texts(const char* name, Field field) {
    column(name, [&](const ExplainedPart& part) {
      return std::to_string(texts_.number_of(field(part)));
    });
  }

  void add_blockers() {
    out_ += ",\"blockers\":[";
    const char* separator = "";
    for (const Blocker& blocker : explanation_.blockers) {
      const Holders::Found found = holders_.find(blocker.path);
      out_ += separator;
      out_ += "{\"part\":";
      out_ += std::to_string(found.part);
      out_ += ",\"isPart\":";
      out_ += found.is_part ? "true" : "false";
      field("path", blocker.path);
      field("short", blocker.short_path);
      field("type", blocker.type);
      field("reason", blocker.reason);
      field("remedy", blocker.remedy);
      field("file", blocker.place.file);
      field("function", blocker.place.function);
      field("expression", blocker.place.expression);
      begin("line");
      out_ += std::to_string(blocker.place.line);
      out_ += '}';
      separator = ",";
    }
    out_ += ']';
  }

  void field(const char* name, const std::string& text) {
    begin(name);
    out_ += json_text(text);
  }

  void begin(const char* name) {
    out_ += ",\"";
    out_ += name;
    out_ += "\":";
  }

  const Explanation& explanation_;
  const Holders holders_;
  Texts texts_;
  std::string out_;
};

}  // namespace

std::string page_data(const Explanation& explanation) {
  return PageData(explanation).run();
}

}  // namespace waybill
