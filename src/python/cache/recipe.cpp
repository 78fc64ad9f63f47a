// Writes the steps in the order in which the decoder builds the nodes. Parts that never
// change are folded into one constant. A namespace is a copy of a dict that has all its
// names from the start, with None where a step puts the value: nothing looks at it
// before. Tested by tests/python/cache/test_recipes.py.

#include <algorithm>
#include <utility>

#include "python/cache/recipe.h"
#include "python/cache/recipe_builder.h"
#include "python/decode/nodes/function_fields.h"
#include "python/decode/scalars.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/namespaces.h"
#include "python/runtime/text.h"
#include "wire/reader.h"

namespace waybill::py {

using wire::FunctionField;

// Reads the nodes.
class RecipeWriter {
 public:
  using Nodes = std::span<const envelope::ReusableNode>;

  RecipeWriter(const State& state, Nodes nodes, Recipe::CodeUses& code)
      : state_(state), nodes_(nodes), code_(code), steps_(nodes) {}

  std::optional<Recipe> write() {
    const auto is_function = [](const envelope::ReusableNode& node) {
      return node.tag == wire::NodeTag::kFunction;
    };
    if (std::ranges::none_of(nodes_, is_function)) return steps_.take();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      reader_ = wire::Reader(nodes_[i].bytes, {}, nodes_[i].start);
      code_.go_to(nodes_[i].uses_before);
      makes_functions_ = is_function(nodes_[i]);
      if (!(makes_functions_ ? function_node(i) : class_node(i))) return std::nullopt;
    }
    return steps_.take();
  }

 private:
  using Action = Recipe::Action;

  // Values inside each other. Who nests deeper is not worth a recipe.
  static constexpr int kDeepest = 32;
  static constexpr std::uint64_t kNone = RecipeBuilder::kNone;

  bool function_node(std::size_t number) {
    if (!value(0)) return false;
    return steps_.step(Action::kSave, number) && steps_.step(Action::kPop);
  }

  // The class is there. Its methods may add globals to namespaces of functions.
  bool class_node(std::size_t number) {
    steps_.note(nodes_[number].start, static_cast<std::uint32_t>(number));
    return pass(0);
  }

  // Passes over one value of a class, but for what functions of other nodes share.
  bool pass(int depth) {
    if (depth > kDeepest) return false;
    const std::size_t offset = reader_.offset();
    wire::Token token;
    if (!reader_.next(token)) return false;
    std::uint64_t count = 0;
    std::uint8_t tag = 0;
    if (token.type == wire::TokenType::kMap) count = 2 * token.count;
    if (token.type == wire::TokenType::kArray) count = token.count;
    if (token.type == wire::TokenType::kArray && count != 0 &&
        reader_.take_node_tag(tag)) {
      --count;
      if (tag == static_cast<std::uint8_t>(wire::NodeTag::kNamespace)) {
        return name_space(offset) && steps_.step(Action::kPop);
      }
      if (tag == static_cast<std::uint8_t>(wire::NodeTag::kFunction)) {
        return pass_method(depth);
      }
    }
    for (; count != 0; --count) {
      if (!pass(depth + 1)) return false;
    }
    return true;
  }

  bool pass_method(int depth) {
    std::uint64_t body = 0;
    std::uint64_t fields = 0;
    if (!reader_.read_unsigned(body, UINT64_MAX, {})) return false;
    std::uint64_t reference = steps_.reference_to(reader_.offset());
    if (reference == kNone) reference = reference_ahead();
    // Its cells are new, or came before.
    if (!pass(depth + 1) || !reader_.skip() || !reader_.read_map(fields, {})) {
      return false;
    }
    const RecipeBuilder::Known* known = steps_.find_known(reference);
    const bool is_shared = known != nullptr && known->object;
    if (is_shared) steps_.step(Action::kLoad, known->number);
    const Ref globals = is_shared ? known->object : Ref();
    for (; fields != 0; --fields) {
      std::uint64_t field = 0;
      if (!reader_.read_unsigned(field, UINT64_MAX, {})) return false;
      const bool adds =
          is_shared && field == static_cast<std::uint64_t>(FunctionField::kGlobals);
      if (!(adds ? store_globals(globals, depth) : pass(depth + 1))) return false;
    }
    return !is_shared || steps_.step(Action::kPop);
  }

  // The number of the reference that is next; kNone if none is.
  std::uint64_t reference_ahead() const {
    wire::Reader ahead = reader_;
    wire::Token token;
    std::uint64_t number = 0;
    const bool is_reference =
        ahead.next(token) && token.type == wire::TokenType::kExtension &&
        token.ext_type == static_cast<std::int8_t>(wire::ExtType::kReference) &&
        wire::index_of(token.bytes, number);
    return is_reference ? number : kNone;
  }

  // One value, whatever it is. False if no step makes it.
  bool value(int depth) {
    if (depth > kDeepest) return false;
    const std::size_t offset = reader_.offset();
    wire::Token token;
    if (!reader_.next(token)) return false;
    if (Ref scalar = scalar_of(token))
      return steps_.constant(std::move(scalar), offset);
    switch (token.type) {
      case wire::TokenType::kText:
        return steps_.constant(new_text(token.text()), offset);
      case wire::TokenType::kBinary:
        return steps_.constant(
            Ref::steal(PyBytes_FromStringAndSize(
                token.text().data(), static_cast<Py_ssize_t>(token.bytes.size()))),
            offset);
      case wire::TokenType::kExtension:
        return extension(token);
      case wire::TokenType::kMap:
        return dict(token.count, depth) && steps_.save_at(offset);
      case wire::TokenType::kArray: {
        std::uint8_t tag = 0;
        if (token.count != 0 && reader_.take_node_tag(tag)) {
          return node(static_cast<wire::NodeTag>(tag), token.count - 1, offset, depth);
        }
        return items(token.count, depth) && steps_.step(Action::kList, token.count) &&
               steps_.save_at(offset);
      }
      default:
        return false;
    }
  }

  bool items(std::uint64_t count, int depth) {
    for (; count != 0; --count) {
      if (!value(depth + 1)) return false;
    }
    return true;
  }

  bool extension(const wire::Token& token) {
    std::uint64_t number = 0;
    if (!wire::index_of(token.bytes, number)) return false;
    switch (static_cast<wire::ExtType>(token.ext_type)) {
      case wire::ExtType::kModule:
        return steps_.step(Action::kModule, number);
      case wire::ExtType::kReference:
        return steps_.reference(number);
      default:
        return false;
    }
  }

  bool tuple(std::uint64_t count, std::size_t offset, int depth) {
    const std::size_t since = steps_.size();
    if (!items(count, depth)) return false;
    if (!steps_.are_constants(since, count)) {
      return steps_.step(Action::kTuple, count) && steps_.save_at(offset);
    }
    Ref made = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (auto place = static_cast<Py_ssize_t>(count); place-- != 0;) {
      PyTuple_SET_ITEM(made.get(), place, steps_.unstep().release());
    }
    return steps_.constant(std::move(made), offset);
  }

  // A dict with names as keys.
  bool dict(std::uint64_t count, int depth) {
    const std::size_t since = steps_.size();
    const Ref names = Ref::steal(PyDict_New());
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string_view name;
      if (!reader_.read_text(name, {})) return false;
      Ref key = state_.intern_table.get(name);
      check(PyDict_SetItem(names.get(), key.get(), Py_None));
      steps_.step(Action::kConstant, 0, std::move(key));
      if (!value(depth + 1)) return false;
    }
    if (static_cast<std::uint64_t>(PyDict_GET_SIZE(names.get())) != count) return false;
    if (!steps_.are_constants(since, 2 * count))
      return steps_.step(Action::kDict, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const Ref last_value = steps_.unstep();
      const Ref key = steps_.unstep();
      check(PyDict_SetItem(names.get(), key.get(), last_value.get()));
    }
    return steps_.step(Action::kCopy, 0, names);
  }

  bool node(wire::NodeTag tag, std::uint64_t count, std::size_t offset, int depth) {
    switch (tag) {
      case wire::NodeTag::kTuple:
        return tuple(count, offset, depth);
      case wire::NodeTag::kGlobal:
        return global() && steps_.save_at(offset);
      case wire::NodeTag::kNamespace:
        return name_space(offset);
      case wire::NodeTag::kFunction:
        return function(offset, depth);
      default:
        return false;
    }
  }

  bool global() {
    wire::Token module;
    std::string_view name;
    std::uint64_t import = 0;
    if (!reader_.next(module) || !reader_.read_text(name, {})) return false;
    // Special names are looked for in the type of modules first.
    if (name.find('.') != name.npos || name.starts_with("__")) return false;
    Ref text = state_.intern_table.get(name);
    if (module.type == wire::TokenType::kNil) {
      return steps_.step(Action::kBuiltin, 0, std::move(text));
    }
    return wire::index_of(module.bytes, import) &&
           steps_.step(Action::kGlobal, import, std::move(text));
  }

  bool text_or_none(Ref& text) {
    if (reader_.read_nil()) return true;
    std::string_view view;
    if (!reader_.read_text(view, {})) return false;
    text = state_.intern_table.get(view);
    return true;
  }

  bool name_space(std::size_t offset) {
    Ref name, package;
    wire::Token is_package, is_module;
    if (!text_or_none(name) || !text_or_none(package) || !reader_.next(is_package) ||
        !reader_.next(is_module) || is_module.integer != 0) {
      return false;
    }
    const Ref plain = Ref::steal(PyDict_New());
    describe_namespace(state_, plain.get(), name.get(), package.get(),
                       is_package.integer != 0);
    steps_.step(Action::kCopy, 0, plain);
    if (is_package.integer != 0) steps_.step(Action::kPackage);
    namespace_ = plain;
    return steps_.save_at(offset, plain);
  }

  // A namespace, new or known, of which namespace_ is the plain dict from then on.
  bool any_namespace(int depth) {
    if (const RecipeBuilder::Known* known = steps_.find_known(reference_ahead()))
      namespace_ = known->object;
    return value(depth + 1) && namespace_;
  }

  // [cell…], each a new cell or one that was saved. `fresh` gets where the new ones
  // are.
  bool cells(std::uint64_t& count, std::vector<std::uint32_t>& fresh, int depth) {
    if (!reader_.read_array(count, {})) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t offset = reader_.offset();
      wire::Reader ahead = reader_;
      std::uint64_t values = 0;
      std::uint8_t tag = 0;
      if (!ahead.read_array(values, {})) {
        if (!value(depth + 1)) return false;
        continue;
      }
      if (values != 1 || !ahead.take_node_tag(tag) ||
          static_cast<wire::NodeTag>(tag) != wire::NodeTag::kCell) {
        return false;
      }
      reader_ = ahead;
      steps_.step(Action::kCell);
      fresh.push_back(steps_.save());
      steps_.note(offset, fresh.back());
    }
    return true;
  }

  bool function(std::size_t offset, int depth) {
    std::uint64_t body = 0;
    std::uint64_t cell_count = 0;
    std::uint64_t field_count = 0;
    std::vector<std::uint32_t> fresh;
    namespace_ = Ref();
    if (!makes_functions_ || !reader_.read_unsigned(body, UINT64_MAX, {}) ||
        !any_namespace(depth)) {
      return false;
    }
    const Ref its_namespace = namespace_;
    if (!cells(cell_count, fresh, depth)) return false;
    Ref code = code_.next(body);
    if (static_cast<std::uint64_t>(PyCode_GetNumFree(
            reinterpret_cast<PyCodeObject*>(code.get()))) != cell_count) {
      return false;
    }
    steps_.step(Action::kFunction, cell_count, std::move(code));
    steps_.save_at(offset);
    if (!reader_.read_map(field_count, {})) return false;
    for (; field_count != 0; --field_count) {
      std::uint64_t field = 0;
      if (!reader_.read_unsigned(field, UINT64_MAX, {}) ||
          !this->field(static_cast<FunctionField>(field), its_namespace, fresh,
                       depth)) {
        return false;
      }
    }
    return true;
  }

  bool field(FunctionField field, const Ref& its_namespace,
             const std::vector<std::uint32_t>& fresh, int depth) {
    if (field == FunctionField::kGlobals) return store_globals(its_namespace, depth);
    if (field == FunctionField::kCells) return contents(fresh, depth);
    const char* attribute = attribute_of_function(field);
    return attribute != nullptr && value(depth + 1) &&
           steps_.step(Action::kStoreField, static_cast<std::uint64_t>(field),
                       state_.intern_table.get(attribute));
  }

  bool store_globals(const Ref& its_namespace, int depth) {
    std::uint64_t count = 0;
    if (!reader_.read_map(count, {})) return false;
    for (; count != 0; --count) {
      std::string_view text;
      if (!reader_.read_text(text, {})) return false;
      const Ref name = state_.intern_table.get(text);
      const std::size_t since = steps_.size();
      if (!value(depth + 1)) return false;
      // What it has already a function may take up when it is made.
      if (raw_get(its_namespace.get(), name.get()) != nullptr) return false;
      check(PyDict_SetItem(its_namespace.get(), name.get(), Py_None));
      if (steps_.are_constants(since, 1)) {
        check(PyDict_SetItem(its_namespace.get(), name.get(), steps_.unstep().get()));
      } else {
        steps_.step(Action::kStoreGlobal, 0, name);
      }
    }
    return true;
  }

  bool contents(const std::vector<std::uint32_t>& fresh, int depth) {
    std::uint64_t count = 0;
    if (!reader_.read_array(count, {}) || count != fresh.size()) return false;
    for (const std::uint32_t cell : fresh) {
      if (skip_empty_content()) continue;
      if (!value(depth + 1)) return false;
      steps_.step(Action::kStoreContent, cell);
    }
    return true;
  }

  // Passes over what an empty cell has as its content.
  bool skip_empty_content() {
    wire::Reader ahead = reader_;
    wire::Token token;
    const bool is_empty =
        ahead.next(token) && token.type == wire::TokenType::kExtension &&
        token.ext_type == static_cast<std::int8_t>(wire::ExtType::kSingleton) &&
        token.bytes[0] == static_cast<std::uint8_t>(wire::Singleton::kEmpty);
    if (is_empty) reader_ = ahead;
    return is_empty;
  }

  const State& state_;
  Nodes nodes_;
  Recipe::CodeUses& code_;
  wire::Reader reader_{{}};
  bool makes_functions_ = true;  // The node at hand is a function.
  RecipeBuilder steps_;
  Ref namespace_;
};

std::optional<Recipe> Recipe::of(const State& state,
                                 std::span<const envelope::ReusableNode> nodes,
                                 CodeUses& code) {
  return RecipeWriter(state, nodes, code).write();
}

}  // namespace waybill::py
