#pragma once

// What a payload is made of: how many bytes each object contributes, the path that
// reaches it, and what cannot travel. waybill.explain() explains live objects,
// explain_payload() explains a payload without Python.
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

// A place in code that names an object.
struct CodePlace {
  std::string expression;  // "model.w"; empty if unknown.
  std::string function;    // "Job.run": the qualified name of the code.
  std::string file;        // Empty if unknown.
  std::uint32_t line = 0;  // 0 if unknown.
};

// One object of the tree. Objects are in the order of the payload: the root first, and
// each part after its parent.
struct ExplainedPart {
  enum class Kind : std::uint8_t {
    kValue,      // Sent by value.
    kReference,  // Sent by name: a function or class that the receiver imports.
    kModule,     // A module, sent by name.
    kOutOfBand,  // A buffer that the caller takes; its bytes are not counted.
  };
  std::size_t parent = 0;  // The index of its container; 0 for the root.
  // The step from its parent, in Python: ".weights", "['prod']", "[0]",
  // ".__globals__['svc']", ".__closure__[0].cell_contents". The root: its name.
  std::string step;
  // The name of the variable, if the step leads from a function to one of its
  // variables. Short paths begin there.
  std::string variable;
  // Whether Python can evaluate the step; see docs/paths.md.
  bool evaluates = true;
  std::string type;    // "sqlite3.Connection", "dict".
  std::string detail;  // "300000x20" of a frame, "of 100000" of a dict; may be empty.
  Kind kind = Kind::kValue;
  bool is_shared = false;      // Referenced more than once; its bytes are counted here.
  std::uint64_t bytes = 0;     // With everything in it.
  std::uint64_t own = 0;       // Without its parts.
  std::uint64_t own_hash = 0;  // Hash of its own bytes, for comparisons; 0: unknown.
  CodePlace place;             // The code that captured it.
};

// "value", "reference", "module" or "out of band". Static storage, ended by a null.
std::string_view name_of(ExplainedPart::Kind kind);

// An object that cannot travel.
struct Blocker {
  std::string path;        // The first path that reached it.
  std::string short_path;  // The same from the last variable on.
  bool evaluates = true;
  // A path from each object that refers to it, at most kMaxPaths; and their total
  // number.
  std::vector<std::string> paths;
  std::uint64_t path_count = 0;
  std::string type;
  CodePlace place;
  // The error of the object: "cannot pickle '_thread.lock' object".
  std::string reason;
  std::string remedy;  // Code that solves the problem, to be pasted.

  static constexpr std::size_t kMaxPaths = 100;
};

// A required module, and whether an environment lacks it.
struct ExplainedImport {
  ImportRecord record;
  bool is_missing = false;
};

// The source that travels with code, for other versions of Python.
struct ExplainedSource {
  std::uint64_t bytes = 0;      // The sent bytes, which belong to no part.
  std::uint64_t functions = 0;  // The number of functions with source.
  // Functions without source: other versions refuse the payload. Their `expression` is
  // empty.
  std::vector<CodePlace> without;
};

struct Explanation {
  std::uint64_t total = 0;  // Bytes of the payload, buffers included.
  // parts[0].bytes is less than the total: header, manifest, source, tables and the
  // padding between buffers belong to no part.
  std::vector<ExplainedPart> parts;
  // The number of parts too small to list: their bytes count as their parent's own.
  std::uint64_t omitted_parts = 0;
  std::vector<Blocker> blockers;
  std::vector<ExplainedImport> imports;
  // Nothing if no source was sent or requested.
  std::optional<ExplainedSource> source;
};

// The path to a part: "task.__globals__['svc'].clients['prod'][0]". Where not all steps
// evaluate, `evaluates` is false.
struct PartPath {
  std::string full;
  std::string short_path;
  bool evaluates = true;

  // Appends a step; see ExplainedPart.
  void add(const std::string& step, const std::string& variable, bool step_evaluates);
};
PartPath path_of(const Explanation& explanation, std::size_t part);

struct SignificantPart {
  std::size_t part = 0;
  std::uint64_t bytes = 0;  // Only its own bytes if parts of it are listed too.
};

// The parts that account for the size: at most `max_count`, the largest first, without
// overlap.
//
// The search starts with the root, and replaces a part by its parts. A part with code,
// or a module, is replaced by each part of at least a hundredth of the whole; it stays
// listed if its own bytes are a tenth of the whole. Any other part is replaced by its
// parts of at least a tenth of its bytes, if these have nine tenths of it together: a
// dict of a thousand rows stays a dict, and a model with one large array becomes that
// array. A part is not replaced by one that has no expression, such as an element of a
// set or the memory of an array; nor an object of an imported class by its private
// attributes, unless a variable has nine tenths of it: an engine's task becomes the
// table that its function names. Objects sent by name have no bytes to list.
std::vector<SignificantPart> significant_parts(const Explanation& explanation,
                                               std::size_t max_count);

// "65.1 MB": decimal units with one decimal place, as in pages and warnings.
std::string size_text(std::uint64_t bytes);

// Explains a payload: sizes, names, imports and, if present, source locations. Builds
// nothing. There are no blockers. Cost: linear in the size of the head; buffers are not
// read. `progress` is called from time to time with the number of bytes of the payload
// section that are done.
Explanation explain_payload(
    const VerifiedEnvelope& envelope,
    const std::function<void(std::uint64_t)>& progress = nullptr);

struct ExplanationTextOptions {
  std::size_t top = 10;      // Parts and imports shown.
  std::size_t columns = 80;  // Line width; longer paths are shortened in the middle.
  bool colours = false;      // For terminals.
};

// A page for a terminal: the total, the largest parts with the code that captured them,
// what cannot travel and what to do. Control characters are escaped.
std::string explanation_text(const Explanation& explanation,
                             const ExplanationTextOptions& options = {});

// The explanation as one JSON object, with a line for each part; docs/explain.md
// describes the keys.
std::string explanation_json(const Explanation& explanation);

// A self-contained HTML page: an icicle chart and a table. `title` is the page's
// title. Names are escaped, so a hostile payload cannot run code.
std::string explanation_html(const Explanation& explanation, std::string_view title);

}  // namespace waybill
