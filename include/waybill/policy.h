#pragma once

// What a reader lets payloads do. A policy answers questions of three kinds (import
// this module, look this name up, call what has this name) and one without a name:
// build code that comes along.
//
//   auto policy = waybill::Policy::from_text("allow call collections:OrderedDict\n"
//                                            "allow lookup numpy.*\n");
//   if (auto allowed = waybill::check_policy(*envelope, *policy); !allowed) ...
//
// A policy is a seat belt and no sandbox: what is allowed may do anything, and code by
// value can do what it likes once it runs. Only the policy that allows nothing makes
// loading safe; docs/security.md says more.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/envelope.h"
#include "waybill/error.h"

namespace waybill {

// What a payload asks for. Each takes all that stand before it, but for code: whoever
// calls a thing has to look it up, and to import its module.
enum class Request : std::uint8_t {
  kImport,  // A module, needed at load or by code when it runs.
  kLookup,  // What a module holds under a qualified name.
  kCall,    // A call of such a thing while the payload is built.
  kCode,    // Functions, classes, modules and code objects by value.
};

// "import", "lookup", "call", "code". Static storage.
std::string_view name_of(Request request);

// A dotted name, or a star: all. With ".*" at its end: that name and all below it.
class NamePattern {
 public:
  // Nothing for text that is no pattern: empty, or with a star elsewhere.
  [[nodiscard]] static std::optional<NamePattern> from_text(std::string_view text);

  bool matches(std::string_view name) const;
  std::string text() const;

  friend bool operator==(const NamePattern&, const NamePattern&) = default;

 private:
  std::string name_;  // Empty: all.
  bool is_subtree_ = true;
};

// One line of a policy. A rule that allows a request allows what that takes; one that
// denies it denies what it would lead to. Names with a part like __globals__, which
// lead to all there is, are allowed only where a rule spells them out.
struct Rule {
  bool allows = false;
  Request request = Request::kImport;
  NamePattern module;
  NamePattern name;

  // Whether the rule has an answer to this.
  bool decides(Request asked, std::string_view asked_module,
               std::string_view asked_name) const;
  // As it stands in a policy's text: "allow call collections:OrderedDict".
  std::string text() const;
};

struct Verdict {
  bool allows = false;
  // The rule that decided; null if none has an answer, which denies. Points into the
  // policy.
  const Rule* rule = nullptr;
};

// Rules in order; the first one with an answer decides. Thread-safe when const.
class Policy {
 public:
  // Allows nothing, and so nothing but data.
  Policy() = default;

  // One rule on each line:
  //
  //   allow|deny import MODULE
  //   allow|deny lookup|call MODULE[:NAME]
  //   allow|deny code
  //
  // with patterns (see NamePattern) for MODULE and NAME; without NAME, all of the
  // module. Blank lines, and what follows a #, do not count.
  //
  // Errors: kMalformed, with the byte of the line that is no rule.
  [[nodiscard]] static Result<Policy> from_text(std::string_view text);

  // For kImport and kCode `name` does not count, for kCode `module` neither. Names that
  // nobody knows (a call of what another call gave) are empty: only a star matches.
  // Cost: by the number of rules; no allocation.
  [[nodiscard]] Verdict ask(Request request, std::string_view module,
                            std::string_view name) const&;
  Verdict ask(Request, std::string_view, std::string_view) && = delete;

  // Whether it allows nothing at all, whatever is asked: then nothing but data passes.
  bool is_data_only() const;

  const std::vector<Rule>& rules() const& { return rules_; }
  const std::vector<Rule>& rules() && = delete;

  // What is wrong with it, in a sentence each: rules that deny by name what a later one
  // allows by a wildcard. Most things have more names than one.
  [[nodiscard]] std::vector<std::string> doubts() const;

 private:
  std::vector<Rule> rules_;
};

// The dates, numbers and containers of the standard library, which their callables
// build from data alone. As safe as these are; their code is not waybill's.
std::string_view standard_types_policy();

// Asks a policy about all that an envelope would do: each import of its manifest, each
// name its payload looks up, each call, and code if there is any. Names are those in
// the payload; what they turn out to be is asked again while it is built (see
// waybill::py).
//
// Errors: kRefused, with the byte where the payload asks (of an import: that of the
// first section) and words that name what was asked and the rule that decided.
// Cost: one pass over the payload, as far as that is allowed.
[[nodiscard]] Result<void> check_policy(const VerifiedEnvelope& envelope,
                                        const Policy& policy);

// What kRefused says: "call of os:system, which the policy denies: deny call os".
std::string refusal(Request request, std::string_view module, std::string_view name,
                    const Verdict& verdict);

}  // namespace waybill
