// Reading of code_text.py's form, and the listing that golden files hold.

#include "code_file.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace waybill::test {
namespace {

std::string decode_word(const std::string& word) {
  if (word == "%") return "";
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      text += word[i];
    } else {
      text += static_cast<char>(std::stoi(word.substr(i + 1, 2), nullptr, 16));
      i += 2;
    }
  }
  return text;
}

std::vector<std::uint8_t> decode_hex(const std::string& hex) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(
        static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::string_view keep(CodeText& code, const std::string& word) {
  return code.texts.emplace_back(decode_word(word));
}

std::vector<ConstantView> read_constants(CodeText& code, std::istream& in, bool top) {
  std::vector<ConstantView> constants;
  std::string token;
  while (in >> token && token != ")") {
    ConstantView constant;
    std::string code_name;
    if (token == "none") {
      constant.kind = ConstantView::Kind::kNone;
    } else if (token == "(") {
      constant.kind = ConstantView::Kind::kTuple;
      code.tuples.push_back(read_constants(code, in, false));
      constant.items = code.tuples.back();
    } else if (token.starts_with("int:")) {
      constant.kind = ConstantView::Kind::kInteger;
      constant.integer = std::stoll(token.substr(4));
    } else if (token.starts_with("text:")) {
      constant.kind = ConstantView::Kind::kText;
      constant.text = keep(code, token.substr(5));
    } else if (token.starts_with("code:")) {
      constant.kind = ConstantView::Kind::kCode;
      code_name = decode_word(token.substr(5));
    }
    constants.push_back(constant);
    if (top) code.code_names.push_back(code_name);
  }
  return constants;
}

void read_line(CodeText& code, const std::string& key, std::istream& rest) {
  std::string word;
  if (key == "version") {
    rest >> code.view.version;
  } else if (key == "instructions" || key == "exceptions") {
    rest >> word;
    (key == "instructions" ? code.instructions : code.exceptions) = decode_hex(word);
  } else if (key == "names") {
    while (rest >> word) code.names.push_back(keep(code, word));
  } else if (key == "locals") {
    while (rest >> word) {
      const std::size_t colon = word.rfind(':');
      code.locals.push_back(keep(code, word.substr(0, colon)));
      code.kinds.push_back(decode_hex(word.substr(colon + 1))[0]);
    }
  } else if (key == "stack") {
    rest >> code.stack_size;
  } else if (key == "lines") {
    rest >> word;
    code.line_table = decode_hex(word);
  } else if (key == "arguments") {
    rest >> code.view.argument_count;
  } else if (key == "constants") {
    code.constants = read_constants(code, rest, true);
  }
}

void finish(CodeText& code) {
  code.view.instructions = code.instructions;
  code.view.exception_table = code.exceptions;
  code.view.names = code.names;
  code.view.local_names = code.locals;
  code.view.local_kinds = code.kinds;
  code.view.constants = code.constants;
}

class Writer {
 public:
  Writer(const CodeText& code, const CodeSummary& summary)
      : code_(code), summary_(summary) {}

  std::string value(ValueId id) {
    const Value& v = summary_.values[id];
    switch (v.kind) {
      case Value::Kind::kUnknown:
        return "?";
      case Value::Kind::kConstant:
        return constant(code_.constants[v.index]);
      case Value::Kind::kInteger:
        return std::to_string(static_cast<std::int32_t>(v.index));
      case Value::Kind::kGlobal:
        return std::string(code_.names[v.index]);
      case Value::Kind::kParameter:
        return "$" + std::string(code_.locals[v.index]);
      case Value::Kind::kVariable:
        return "&" + std::string(code_.locals[v.index]);
      case Value::Kind::kImport:
        return "import(" + std::string(code_.names[summary_.imports[v.index].name]) +
               ")";
      case Value::Kind::kImportFrom:
        return value(v.parent) + " : " + std::string(code_.names[v.index]);
      case Value::Kind::kAttribute:
        return value(v.parent) + "." + std::string(code_.names[v.index]);
      case Value::Kind::kGetattr:
        return "getattr(" + value(v.parent) + ", " + operands(v, ", ") + ")";
      case Value::Kind::kItem:
        return value(v.parent) + "[" + operands(v, ", ") + "]";
      case Value::Kind::kElement:
        return value(v.parent) + "[*]";
      case Value::Kind::kPack:
        return v.index == 0   ? "(" + operands(v, ", ") + ")"
               : v.index == 1 ? "[" + operands(v, ", ") + "]"
                              : "{" + operands(v, ", ") + "}";
      case Value::Kind::kUnion: {
        if (!open_.insert(id).second) return "...";
        std::string text = "{" + operands(v, " | ") + "}";
        open_.erase(id);
        return text;
      }
      case Value::Kind::kFunction:
        return "def " + code_.code_names[v.index];
    }
    return "";
  }

 private:
  static std::string constant(const ConstantView& constant) {
    switch (constant.kind) {
      case ConstantView::Kind::kText:
        return "'" + std::string(constant.text) + "'";
      case ConstantView::Kind::kTuple: {
        std::string text = "(";
        for (const ConstantView& item : constant.items) {
          text += (text.size() > 1 ? ", " : "") + Writer::constant(item);
        }
        return text + ")";
      }
      case ConstantView::Kind::kInteger:
        return std::to_string(constant.integer);
      default:
        return "constant";
    }
  }

  std::string operands(const Value& v, const char* separator) {
    std::vector<std::string> parts;
    for (std::uint32_t i = 0; i < v.operand_count; ++i) {
      parts.push_back(value(summary_.operands[v.first_operand + i]));
    }
    if (v.kind == Value::Kind::kUnion) std::sort(parts.begin(), parts.end());
    std::string text;
    for (const std::string& part : parts) {
      text += (text.empty() ? "" : separator) + part;
    }
    return text;
  }

  const CodeText& code_;
  const CodeSummary& summary_;
  std::set<ValueId> open_;
};

// The kinds that a consumer follows; the others show as parts of these.
bool is_step(Value::Kind kind) {
  return kind == Value::Kind::kAttribute || kind == Value::Kind::kGetattr ||
         kind == Value::Kind::kItem || kind == Value::Kind::kImportFrom;
}

std::string default_name(const CodeText& code, const Default& entry) {
  if (entry.keyword_names == kNoIndex) return "-" + std::to_string(entry.position + 1);
  const ConstantView& names = code.constants[entry.keyword_names];
  return std::string(names.kind == ConstantView::Kind::kTuple
                         ? names.items[entry.position].text
                         : names.text);
}

}  // namespace

std::vector<std::unique_ptr<CodeText>> read_codes(std::istream& in) {
  static const std::set<std::string> kKeys = {
      "version",   "instructions", "exceptions", "names", "locals",
      "arguments", "constants",    "code",       "stack", "lines"};
  std::vector<std::unique_ptr<CodeText>> codes;
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream rest(line);
    std::string key;
    rest >> key;
    if (!kKeys.contains(key)) break;
    if (key == "code") {
      codes.push_back(std::make_unique<CodeText>());
      std::string word;
      rest >> word;
      codes.back()->name = decode_word(word);
    } else {
      read_line(*codes.back(), key, rest);
    }
  }
  for (const auto& code : codes) finish(*code);
  return codes;
}

std::string expression(const CodeText& code, const CodeSummary& summary, ValueId id) {
  return Writer(code, summary).value(id);
}

std::vector<std::string> listing(const CodeText& code, const CodeSummary& summary) {
  std::set<std::string> values, escapes, stores, bindings, imports;
  const auto text = [&](ValueId id) { return expression(code, summary, id); };
  for (ValueId id = 0; id < summary.values.size(); ++id) {
    if (is_step(summary.values[id].kind)) values.insert("value " + text(id));
  }
  for (const ValueId id : summary.escapes) escapes.insert("escape " + text(id));
  for (const Store& store : summary.cell_stores) {
    stores.insert("cell " + std::string(code.locals[store.index]) + " = " +
                  text(store.value));
  }
  for (const Store& store : summary.global_stores) {
    stores.insert("global " + std::string(code.names[store.index]) + " = " +
                  text(store.value));
  }
  for (const Binding& binding : summary.bindings) {
    bindings.insert("bind " + code.code_names[binding.code] + " " +
                    std::to_string(binding.parameter) + " = " + text(binding.value));
  }
  for (const Default& entry : summary.defaults) {
    bindings.insert("default " + code.code_names[entry.code] + " " +
                    default_name(code, entry) + " = " + text(entry.value));
  }
  for (const BodyImport& import : summary.imports) {
    std::string line = "import '" + std::string(code.names[import.name]) + "' level " +
                       std::to_string(import.level);
    if (import.from_names != kNoIndex) {
      for (const ConstantView& item : code.constants[import.from_names].items) {
        line += " " + std::string(item.text);
      }
    }
    imports.insert(line);
  }
  std::vector<std::string> lines{"code " + code.name};
  std::string globals = "globals";
  for (const std::uint32_t name : summary.globals) {
    globals += " " + std::string(code.names[name]);
  }
  if (!summary.globals.empty()) lines.push_back(globals);
  for (const auto* group : {&imports, &values, &escapes, &stores, &bindings}) {
    lines.insert(lines.end(), group->begin(), group->end());
  }
  return lines;
}

}  // namespace waybill::test
