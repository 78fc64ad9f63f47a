#pragma once

// What a reader allows payloads to do. A policy answers requests of three kinds with a
// name (import this module, look up this name, call this name) and one without: build
// code by value.
//
//   auto policy = waybill::Policy::from_text("allow call collections:OrderedDict\n"
//                                            "allow lookup numpy.*\n");
//   if (auto allowed = waybill::check_policy(*envelope, *policy); !allowed) ...
//
// A policy is a seat belt, not a sandbox: whatever is allowed may do anything, and so
// may code by value once it runs. Only the policy that allows nothing makes loading
// safe; docs/security.md says more.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/envelope.h"
#include "waybill/error.h"

namespace waybill {

// A request of a payload. Each one includes those before it, except that code stands
// alone: a call needs a lookup, and a lookup an import.
enum class Request : std::uint8_t {
  kImport,  // A module, at load or when code runs.
  kLookup,  // An object of a module, by its qualified name.
  kCall,    // A call of an object of a module, while the payload is built.
  kCode,    // Functions, classes, modules and code objects by value.
};

// "import", "lookup", "call", "code". Static storage.
std::string_view name_of(Request request);

// A dotted name, or "*" for all names. With ".*" at its end: that name and all names
// below it.
class NamePattern {
 public:
  // Nothing for an invalid pattern: empty, or with a star elsewhere.
  [[nodiscard]] static std::optional<NamePattern> from_text(std::string_view text);

  bool matches(std::string_view name) const;
  std::string text() const;

  friend bool operator==(const NamePattern&, const NamePattern&) = default;

 private:
  std::string name_;  // Empty: all.
  bool is_subtree_ = true;
};

// One line of a policy. A rule that allows a request allows those that it includes; one
// that denies a request denies those that include it. Names with a part like
// __globals__, which lead to any object, are allowed only by a rule that spells them
// out.
struct Rule {
  bool allows = false;
  Request request = Request::kImport;
  NamePattern module;
  NamePattern name;

  // Whether the rule applies to the request.
  bool applies_to(Request asked, std::string_view asked_module,
                  std::string_view asked_name) const;
  // The rule's text: "allow call collections:OrderedDict".
  std::string text() const;
};

struct Verdict {
  bool allows = false;
  // The rule that decided; null if none applies, which denies. Points into the policy.
  const Rule* rule = nullptr;
};

// Rules in order; the first one that applies decides. Thread-safe when const.
class Policy {
 public:
  // Allows only plain data.
  Policy() = default;

  // One rule on each line:
  //
  //   allow|deny import MODULE
  //   allow|deny lookup|call MODULE[:NAME]
  //   allow|deny code
  //
  // with patterns (see NamePattern) for MODULE and NAME; without NAME, all of the
  // module. Blank lines and comments from # on are ignored.
  //
  // Errors: kMalformed, with the offset of the invalid line.
  [[nodiscard]] static Result<Policy> from_text(std::string_view text);

  // kImport and kCode ignore `name`; kCode also ignores `module`. An unknown name, such
  // as that of a call of a call's result, is empty, and only a star matches it. Cost:
  // linear in the number of rules; no allocation.
  [[nodiscard]] Verdict ask(Request request, std::string_view module,
                            std::string_view name) const&;
  Verdict ask(Request, std::string_view, std::string_view) && = delete;

  // Whether it allows no request: only plain data passes.
  bool is_data_only() const;

  const std::vector<Rule>& rules() const& { return rules_; }
  const std::vector<Rule>& rules() && = delete;

  // Warnings about the policy, a sentence each: rules that deny by name what a later
  // one allows by a wildcard. Most objects have several names.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  std::vector<Rule> rules_;
};

// A policy for dates, numbers and containers of the standard library, whose
// constructors build them from data alone. It is as safe as these constructors, which
// waybill does not control.
std::string_view standard_types_policy();

// Checks all requests of an envelope with a policy: each import of its manifest, each
// name that its payload looks up, each call, and code if there is any. Names are those
// in the payload; the objects found by them are checked again while it is built (see
// waybill::py).
//
// Errors: kRefused, with the offset of the request (of an import: that of the first
// section), its names and the deciding rule.
// Cost: one pass over the payload, up to the first refusal.
[[nodiscard]] Result<void> check_policy(const VerifiedEnvelope& envelope,
                                        const Policy& policy);

// The detail of kRefused: "call of os:system, which the policy denies: deny call os".
std::string refusal(Request request, std::string_view module, std::string_view name,
                    const Verdict& verdict);

}  // namespace waybill
