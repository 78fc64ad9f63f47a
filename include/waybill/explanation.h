#pragma once

// What a payload is made of: which object brought how many bytes, by which path it is
// reached, and what cannot travel. Made of live objects by waybill.explain(), or of a
// payload by explain_payload(), which needs no Python.
//
//   auto envelope = waybill::verify(*waybill::open(bytes));
//   auto explanation = waybill::explain_payload(*envelope);
//   std::cout << waybill::explanation_text(explanation);

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/envelope.h"
#include "waybill/manifest.h"

namespace waybill {

// Where code names something.
struct CodePlace {
  std::string expression;  // "model.w"; empty if no code is known to name it.
  std::string function;    // "Job.run": the qualified name of the code.
  std::string file;        // Empty if it is unknown.
  std::uint32_t line = 0;  // Likewise 0.
};

// One object of the tree, in the order of the payload; the root stands first, and a
// part after the one that holds it.
struct ExplainedPart {
  enum class Kind : std::uint8_t {
    kValue,      // Its content travels.
    kReference,  // Its name travels: a function or class that is imported there.
    kModule,     // Likewise of a module.
    kOutOfBand,  // The caller takes it; its bytes are not counted.
  };
  std::size_t parent = 0;  // The index of what holds it; of the root: 0.
  // How it is reached from there, as Python writes it: ".weights", "['prod']", "[0]",
  // ".__globals__['svc']", ".__closure__[0].cell_contents". The root: its name.
  std::string step;
  // If the step leads from a function to a variable of it, that variable's name. Short
  // paths begin there.
  std::string variable;
  // Whether Python can evaluate the step; see docs/paths.md.
  bool evaluates = true;
  std::string type;    // "sqlite3.Connection", "dict".
  std::string detail;  // "300000x20" of a frame, "of 100000" of a dict; may be empty.
  Kind kind = Kind::kValue;
  bool is_shared = false;      // Referred to more than once; counted here.
  std::uint64_t bytes = 0;     // With all that it holds.
  std::uint64_t own = 0;       // Without the parts that it holds.
  std::uint64_t own_hash = 0;  // Of its own bytes, for comparisons; 0: not known.
  CodePlace place;             // The code that captured it.
};

// "value", "reference", "module" or "out of band". Static storage, ended by a null.
std::string_view name_of(ExplainedPart::Kind kind);

// An object that cannot travel.
struct Blocker {
  std::string path;        // The first on which it was met.
  std::string short_path;  // The same from the last variable on.
  bool evaluates = true;
  // One for each object that refers to it, at most kMostPaths; and how many there are.
  std::vector<std::string> paths;
  std::uint64_t path_count = 0;
  std::string type;
  CodePlace place;
  std::string reason;  // What it says itself: "cannot pickle '_thread.lock' object".
  std::string remedy;  // What to do, as it can be pasted.

  static constexpr std::size_t kMostPaths = 100;
};

// A module that is needed, and whether an environment lacks it.
struct ExplainedImport {
  ImportRecord record;
  bool is_missing = false;
};

// The source that travels beside code, for other versions of Python.
struct ExplainedSource {
  std::uint64_t bytes = 0;      // As it is sent; no part has these.
  std::uint64_t functions = 0;  // How many have source.
  // Those that have none: other versions refuse the payload. Without expressions.
  std::vector<CodePlace> without;
};

struct Explanation {
  std::uint64_t total = 0;  // Bytes of the payload, buffers included.
  // parts[0].bytes; what is missing of the total are the header, the manifest, source,
  // the tables and the padding between buffers.
  std::vector<ExplainedPart> parts;
  // Parts too small to be told apart: their bytes count as their holder's own.
  std::uint64_t summed_up = 0;
  std::vector<Blocker> blockers;
  std::vector<ExplainedImport> imports;
  // Nothing if no source travels and none was asked for.
  std::optional<ExplainedSource> source;
};

// The path to a part: "task.__globals__['svc'].clients['prod'][0]". Where not all steps
// evaluate, `evaluates` is false.
struct PartPath {
  std::string full;
  std::string short_path;
  bool evaluates = true;

  // Goes one step on; see ExplainedPart.
  void add(const std::string& step, const std::string& variable, bool step_evaluates);
};
PartPath path_of(const Explanation& explanation, std::size_t part);

struct TellingPart {
  std::size_t part = 0;
  std::uint64_t bytes = 0;  // Those of its own where what it holds is shown beside it.
};

// At most `most` parts, the largest first; no byte is in two of them.
//
// The root gives way to what it holds, and so on. A part that has code, or a module,
// gives way to all that it holds which is a hundredth of the whole or more; it stays
// beside them where its own bytes are a tenth of the whole. Any other part gives way to
// those that have a tenth of its bytes or more, if these together have nine tenths of
// it: a dict of a thousand rows stays a dict, and a model with one large array becomes
// that array. Nothing gives way to what has no expression, such as an element of a set
// and the memory of an array, nor an object of an imported class to its private
// attributes, unless nine tenths of that are a variable's: a task of an engine becomes
// the table that its function names. What travels by its name has no bytes to tell of.
std::vector<TellingPart> telling_parts(const Explanation& explanation,
                                       std::size_t most);

// "65.1 MB", as pages and warnings tell sizes: decimal, with one decimal place.
std::string size_text(std::uint64_t bytes);

// What a payload tells: sizes, names, imports and, where it has them, source
// locations. Nothing of it is built. There are no blockers. Cost: by its bytes in the
// head, buffers are not touched. `progress` is called now and then with how many bytes
// of the payload section are walked.
Explanation explain_payload(
    const VerifiedEnvelope& envelope,
    const std::function<void(std::uint64_t)>& progress = nullptr);

struct ExplanationTextOptions {
  std::size_t top = 10;      // Parts and imports that are shown.
  std::size_t columns = 80;  // Where lines end; longer paths are cut in their middle.
  bool colours = false;      // For terminals.
};

// A page for a terminal: the total, the largest parts with the code that captured them,
// what cannot travel and what to do. Control characters are escaped.
std::string explanation_text(const Explanation& explanation,
                             const ExplanationTextOptions& options = {});

// The same as one JSON object, with a line for each part; docs/explain.md describes the
// keys.
std::string explanation_json(const Explanation& explanation);

// A page for a browser that needs nothing from outside: an icicle chart and a table.
// `title`: of the page. Names are escaped, so a hostile payload cannot run code.
std::string explanation_html(const Explanation& explanation, std::string_view title);

}  // namespace waybill
