// Policy rules and their text.
// Tested by tests/trust/policy_test.cpp.

#include "waybill/policy.h"

#include <algorithm>
#include <array>

namespace waybill {
namespace {

constexpr std::string_view kAll = "*";
constexpr std::string_view kBelow = ".*";
constexpr std::string_view kSpace = " \t\r";

constexpr std::array kRequests = {Request::kImport, Request::kLookup, Request::kCall,
                                  Request::kCode};

// Removes the next token from a line and returns it; empty at the end.
std::string_view take_token(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
  const std::string_view token = line.substr(0, line.find_first_of(kSpace));
  line.remove_prefix(token.size());
  return token;
}

std::optional<Request> request_of(std::string_view token) {
  const auto found = std::ranges::find_if(
      kRequests, [token](Request request) { return name_of(request) == token; });
  return found == kRequests.end() ? std::nullopt : std::optional(*found);
}

// MODULE[:NAME]
bool read_patterns(std::string_view text, Rule& rule) {
  const std::size_t colon = text.find(':');
  const auto module = NamePattern::from_text(text.substr(0, colon));
  if (!module) return false;
  rule.module = *module;
  if (colon == std::string_view::npos) return true;
  const auto name = NamePattern::from_text(text.substr(colon + 1));
  if (!name || rule.request == Request::kImport) return false;
  rule.name = *name;
  return true;
}

bool read_rule(std::string_view line, Rule& rule) {
  const std::string_view verb = take_token(line);
  if (verb != "allow" && verb != "deny") return false;
  rule.allows = verb == "allow";
  const auto request = request_of(take_token(line));
  if (!request) return false;
  rule.request = *request;
  const std::string_view patterns = take_token(line);
  if (!take_token(line).empty()) return false;
  if (rule.request == Request::kCode) return patterns.empty();
  return read_patterns(patterns, rule);
}

// Whether a part of the name is a special attribute such as __globals__, which leads
// out of the module to any object.
bool has_special_part(std::string_view name) {
  constexpr std::string_view kMark = "__";
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('.'));
    if (part.size() > 2 * kMark.size() && part.starts_with(kMark) &&
        part.ends_with(kMark)) {
      return true;
    }
    name.remove_prefix(std::min(part.size() + 1, name.size()));
  }
  return false;
}

// Whether a rule allows all names of several modules, among them those of a denied
// pattern.
bool is_wildcard_allowance(const Rule& rule, const NamePattern& denied) {
  if (!rule.allows || rule.request < Request::kLookup ||
      rule.request > Request::kCall) {
    return false;
  }
  const std::string modules = rule.module.text(), names = denied.text();
  const bool is_wildcard = modules.ends_with('*') && rule.name == NamePattern();
  return is_wildcard && denied != NamePattern() &&
         rule.module.matches(std::string_view(names).substr(0, names.find(".*")));
}

// A line for an error message. The file may have been given by mistake, and may hold a
// secret key: long words are cut, and keys are left out.
std::string quoted(std::string_view line) {
  constexpr std::size_t kMaxTokenSize = 16;
  std::string text(take_token(line));
  if (text.starts_with("waybill-")) return ", but a key";
  if (text == "allow" || text == "deny")
    return ": \"" + text + std::string(line) + "\"";
  std::string_view token = text;
  std::string cut;
  do {
    if (!cut.empty()) cut += ' ';
    cut += token.substr(0, kMaxTokenSize);
    if (token.size() > kMaxTokenSize) cut += "...";
    token = take_token(line);
  } while (!token.empty());
  return ": \"" + cut + "\"";
}

}  // namespace

std::string_view name_of(Request request) {
  constexpr std::string_view kNames[] = {"import", "lookup", "call", "code"};
  static_assert(std::size(kNames) == kRequests.size());
  return kNames[static_cast<std::size_t>(request)];
}

std::optional<NamePattern> NamePattern::from_text(std::string_view text) {
  NamePattern pattern;
  if (text == kAll) return pattern;
  pattern.is_subtree_ = text.ends_with(kBelow);
  if (pattern.is_subtree_) text.remove_suffix(kBelow.size());
  if (text.empty() || text.find_first_of("*:") != std::string_view::npos) return {};
  pattern.name_ = text;
  return pattern;
}

bool NamePattern::matches(std::string_view name) const {
  if (name_.empty()) return true;
  if (!name.starts_with(name_)) return false;
  return name.size() == name_.size() || (is_subtree_ && name[name_.size()] == '.');
}

std::string NamePattern::text() const {
  if (name_.empty()) return std::string(kAll);
  return is_subtree_ ? name_ + std::string(kBelow) : name_;
}

bool Rule::applies_to(Request asked, std::string_view asked_module,
                      std::string_view asked_name) const {
  if (asked == Request::kCode || request == Request::kCode) return asked == request;
  if (allows ? asked > request : asked < request) return false;
  const bool uses_name = asked != Request::kImport && request != Request::kImport;
  if (allows && uses_name && has_special_part(asked_name)) {
    return module.matches(asked_module) && name.text() == asked_name;
  }
  return module.matches(asked_module) && (!uses_name || name.matches(asked_name));
}

std::string Rule::text() const {
  std::string text = allows ? "allow " : "deny ";
  text += name_of(request);
  if (request == Request::kCode) return text;
  text += " " + module.text();
  if (name != NamePattern()) text += ":" + name.text();
  return text;
}

Result<Policy> Policy::from_text(std::string_view text) {
  Policy policy;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(kSpace) != std::string_view::npos &&
        !read_rule(line, policy.rules_.emplace_back())) {
      return tl::unexpected(Error{ErrorCode::kMalformed, at,
                                  "not a rule" + quoted(line) +
                                      "; a rule is `allow` or `deny`, then `code`, "
                                      "`import MODULE`, or `lookup` "
                                      "or `call` and MODULE or MODULE:NAME"});
    }
    at = end + 1;
  }
  return policy;
}

Verdict Policy::ask(Request request, std::string_view module,
                    std::string_view name) const& {
  for (const Rule& rule : rules_) {
    if (rule.applies_to(request, module, name)) return {rule.allows, &rule};
  }
  return {};
}

std::vector<std::string> Policy::warnings() const {
  std::vector<std::string> warnings;
  for (auto denial = rules_.begin(); denial != rules_.end(); ++denial) {
    if (denial->allows || denial->request == Request::kCode) continue;
    const auto allowance = std::find_if(denial, rules_.end(), [&](const Rule& rule) {
      return is_wildcard_allowance(rule, denial->module);
    });
    if (allowance == rules_.end()) continue;
    warnings.push_back("`" + denial->text() + "` denies by name what `" +
                       allowance->text() +
                       "` allows by a wildcard: the same object under another name, or "
                       "one with the same effect, is allowed; allow the needed names "
                       "instead");
  }
  return warnings;
}

bool Policy::is_data_only() const {
  return std::ranges::none_of(rules_, &Rule::allows);
}

// Not listed, because data alone can make them take long: fractions.Fraction and int,
// which parse "1e999999999"; re.compile. range needs no rule: it is data.
std::string_view standard_types_policy() {
  return R"(allow call collections:OrderedDict
allow call collections:deque
allow call collections:Counter
allow call collections:defaultdict
allow call datetime:date
allow call datetime:datetime
allow call datetime:time
allow call datetime:timedelta
allow call datetime:timezone
allow call decimal:Decimal
allow call ipaddress:IPv4Address
allow call ipaddress:IPv6Address
allow call pathlib.*:PurePosixPath
allow call pathlib.*:PureWindowsPath
allow call pathlib.*:PosixPath
allow call uuid:UUID
allow lookup builtins:bool  # For defaultdict, which calls it to make values.
allow lookup builtins:dict
allow lookup builtins:float
allow lookup builtins:int
allow lookup builtins:list
allow lookup builtins:set
allow lookup builtins:str
)";
}

std::string refusal(Request request, std::string_view module, std::string_view name,
                    const Verdict& verdict) {
  std::string text;
  if (request == Request::kCode) {
    text = "code by value";
  } else {
    text = std::string(name_of(request)) + " of ";
    text += module.empty() ? std::string_view("an unnamed object") : module;
    if (!name.empty()) text += ":" + std::string(name);
  }
  if (verdict.rule == nullptr) return text + ", which no rule of the policy allows";
  return text + ", which the policy denies: " + verdict.rule->text();
}

}  // namespace waybill
