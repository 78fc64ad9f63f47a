// Prints the page of a made-up explanation, for tests/browser/test_explanation_page.py
// and for people who change the page.
//
//   explanation_page [parts [blockers]] > page.html

#include <cstdio>
#include <cstdlib>
#include <string>

#include "waybill/explanation.h"

namespace {

using waybill::Blocker;
using waybill::ExplainedImport;
using waybill::ExplainedPart;
using waybill::Explanation;

class Sample {
 public:
  Explanation run(std::size_t parts, std::size_t blockers) {
    add(0, "forecast", "function", "", 4200);
    const std::size_t service = global("svc", "shop.Service", 1800, 41);
    const std::size_t model = global("model", "sklearn.linear_model.Ridge", 900, 44);
    const std::size_t frame =
        add(service, ".history", "pandas.DataFrame", "300000x20", 24'000'312);
    made_.parts[frame].is_shared = true;
    const std::size_t clients = add(service, ".clients", "dict", "of 3", 480);
    add(add(clients, "['prod']", "list", "of 1", 320), "[0]", "shop.Client", "", 6100);
    add(clients, "['test']", "list", "of 1", 2'300'000);
    add(model, ".coef_", "numpy.ndarray", "2000x400 float64", 6'400'000);
    add(model, ".intercept_", "numpy.ndarray", "400 float64", 3'200);
    add(model, ".<b>R\u00e9sum\u00e9</b>", "str", "</script><script>alert(1)</script>",
        21'000);
    const std::size_t name = global("mean", "function", 12'000, 45);
    made_.parts[name].kind = ExplainedPart::Kind::kReference;
    const std::size_t held = global("numpy", "module", 9'000, 46);
    made_.parts[held].kind = ExplainedPart::Kind::kModule;
    const std::size_t cache = global("cache", "dict", 14'000, 47);
    made_.parts[cache].detail = "of " + std::to_string(parts);
    add_small(cache, parts);
    sum();
    add_blockers(blockers);
    add_imports();
    return std::move(made_);
  }

 private:
  std::size_t add(std::size_t parent, std::string step, std::string type,
                  std::string detail, std::uint64_t own) {
    ExplainedPart part;
    part.parent = parent;
    part.step = std::move(step);
    part.type = std::move(type);
    part.detail = std::move(detail);
    part.own = own;
    made_.parts.push_back(std::move(part));
    return made_.parts.size() - 1;
  }

  std::size_t global(const std::string& name, std::string type, std::uint64_t own,
                     std::uint32_t line) {
    const std::size_t part =
        add(0, ".__globals__['" + name + "']", std::move(type), "", own);
    made_.parts[part].variable = name;
    made_.parts[part].place = {name, "forecast", "jobs/forecast.py", line};
    return part;
  }

  // Most of them in one wide dict, some of them deep.
  void add_small(std::size_t cache, std::size_t parts) {
    std::size_t deep = cache;
    for (std::size_t i = 0; i < parts; ++i) {
      const std::string key = "['k" + std::to_string(i) + "']";
      if (i % 100 == 99) {
        deep = add(deep, ".next", "cache.Node", "", 2000);
      } else {
        add(cache, key, i % 3 == 0 ? "bytes" : "cache.Entry", "", 100 + i * 37 % 900);
      }
    }
  }

  void sum() {
    std::vector<ExplainedPart>& parts = made_.parts;
    for (std::size_t i = parts.size(); i-- > 0;) {
      parts[i].bytes += parts[i].own;
      if (i != 0) parts[parts[i].parent].bytes += parts[i].bytes;
    }
    made_.total = parts[0].bytes + 812;
  }

  void block(std::string path, std::string short_path, std::string type,
             std::string remedy) {
    Blocker blocker;
    blocker.path = std::move(path);
    blocker.short_path = std::move(short_path);
    blocker.reason = "cannot pickle '" + type + "' object";
    blocker.type = std::move(type);
    blocker.remedy = std::move(remedy);
    blocker.place = {"svc.clients", "forecast", "jobs/forecast.py", 41};
    blocker.paths = {blocker.path};
    blocker.path_count = 3;
    made_.blockers.push_back(std::move(blocker));
  }

  void add_blockers(std::size_t count) {
    const std::string service = "forecast.__globals__['svc']";
    for (std::size_t i = 0; i < count; ++i) {
      switch (i) {
        case 0:
          block(service + ".clients['prod'][0]._lock", "svc.clients['prod'][0]._lock",
                "_thread.lock",
                "def __getstate__(self):\n    state = self.__dict__.copy()\n"
                "    del state['_lock']\n    return state");
          break;
        case 1:
          block(service + ".database", "svc.database", "sqlite3.Connection",
                "waybill.dumps(forecast, fresh=[sqlite3.Connection])");
          break;
        default:
          block("forecast.__globals__['cache'].files[" + std::to_string(i) + "]",
                "cache.files[" + std::to_string(i) + "]", "_io.TextIOWrapper",
                "with open(path) as file: ...");
      }
    }
  }

  void add_imports() {
    for (const char* module : {"pandas", "sklearn.linear_model", "shop"}) {
      ExplainedImport import;
      import.record.module = module;
      import.record.chain = std::string(module) + ".fit";
      import.record.function = "forecast";
      import.record.file = "jobs/forecast.py";
      import.record.line = 52;
      import.is_missing = import.record.module == "shop";
      made_.imports.push_back(std::move(import));
    }
  }

  Explanation made_;
};

std::size_t number(int count, char** words, int at, std::size_t otherwise) {
  return at < count ? std::strtoull(words[at], nullptr, 10) : otherwise;
}

}  // namespace

int main(int count, char** words) {
  const Explanation explanation =
      Sample().run(number(count, words, 1, 300), number(count, words, 2, 2));
  const std::string page =
      waybill::explanation_html(explanation, "forecast() <script>alert(2)</script>");
  return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() ? 0 : 1;
}
