// Writes the recipe of the definitions of a payload. Parts that never change are folded
// into one constant. A namespace is a copy of a prototype: a dict that has all names
// from the start, with None where a later step stores the value. No step reads a name
// before its value is stored. Tested by tests/python/cache/test_recipes.py.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "format/shapes.h"
#include "python/cache/methods.h"
#include "python/cache/recipe.h"
#include "python/decode/code/code_builder.h"
#include "python/decode/nodes/node_codecs.h"
#include "python/decode/scalars.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"
#include "wire/reader.h"

namespace waybill::py {

namespace {

using wire::FunctionField;
using wire::NodeTag;

// Collects the steps of a recipe, and tracks the values that references refer to.
class RecipeBuilder {
 public:
  using Action = Recipe::Action;

  static constexpr std::uint64_t kNone = static_cast<std::uint64_t>(-1);

  // A complete value to which references refer.
  struct Value {
    bool is_saved;         // Else `object` is a constant.
    std::uint32_t number;  // The number of the saved value.
    Ref object;            // The constant, or the prototype of a namespace.
    bool is_made = false;  // Each run makes a new one; false for namespaces.
  };

  // The nodes are the first saved values.
  RecipeBuilder(const Envelope& envelope, std::span<const Recipe::Node> nodes)
      : saved_count_(nodes.size()) {
    for (std::size_t i = 0; i < envelope.definitions.shared; ++i) {
      references_.emplace(envelope.shared[i], i);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      numbers_.emplace_back(nodes[i].position, static_cast<std::uint32_t>(i));
    }
  }

  std::size_t size() const { return steps_.size(); }

  Recipe take() {
    for (const auto& [position, reference] : references_) {
      const Value* value = find_value(reference);
      if (value == nullptr || !value->is_saved || value->object) continue;
      numbers_.emplace_back(position, value->number);
    }
    std::ranges::sort(numbers_);
    return {std::move(steps_), saved_count_, std::move(numbers_)};
  }

  // ---- Steps. Functions return true unless documented otherwise -------------------

  bool add(Action action, std::uint64_t number = 0, Ref object = {}) {
    steps_.push_back({action, static_cast<std::uint32_t>(number), std::move(object)});
    return true;
  }
  // Pushes the constant at this position of the payload.
  bool add_constant(Ref object, std::size_t position) {
    const std::uint64_t reference = reference_to(position);
    if (reference != kNone) values_[reference] = {false, 0, object};
    return add(Action::kConstant, 0, std::move(object));
  }
  // Pushes the value of a reference; false if the value is not complete yet.
  bool add_reference(std::uint64_t reference) {
    const Value* value = find_value(reference);
    if (value == nullptr) return false;
    return value->is_saved ? add(Action::kLoad, value->number)
                           : add(Action::kConstant, 0, value->object);
  }

  // Whether the steps from `start` on push `count` constants and do nothing else.
  bool are_constants(std::size_t start, std::uint64_t count) const {
    return steps_.size() - start == count &&
           std::ranges::all_of(steps_from(start), [](const auto& step) {
             return step.action == Action::kConstant;
           });
  }
  // Removes the last step, which pushes a constant, and returns the constant.
  Ref pop_constant() {
    Ref object = std::move(steps_.back().object);
    steps_.pop_back();
    return object;
  }
  // Removes the steps from `start` on. False if one of them saves a value, which other
  // steps may load.
  bool drop_from(std::size_t start) {
    const auto saves = [](const auto& step) { return step.action == Action::kSave; };
    if (std::ranges::any_of(steps_from(start), saves)) return false;
    steps_.resize(start);
    return true;
  }

  // ---- Referenced values ----------------------------------------------------------

  // Saves the value on top of the stack, and returns its number.
  std::uint32_t save() {
    const auto number = static_cast<std::uint32_t>(saved_count_++);
    add(Action::kSave, number);
    return number;
  }
  // Saves the value on top, which was made or looked up, if references refer to it.
  bool save_made(std::size_t position) {
    if (reference_to(position) != kNone) record_made(position, save());
    return true;
  }
  bool save_found(std::size_t position) {
    if (reference_to(position) != kNone) record_found(position, save());
    return true;
  }
  // Records a saved value that was made or looked up, if references refer to it.
  void record_made(std::size_t position, std::uint32_t number) {
    record(position, {true, number, {}, true});
  }
  void record_found(std::size_t position, std::uint32_t number) {
    record(position, {true, number, {}});
  }
  // record_found() for a namespace, which is a copy of the dict `prototype`.
  void record_namespace(std::size_t position, std::uint32_t number,
                        const Ref& prototype) {
    record(position, {true, number, prototype});
  }

  // The number of the references to the value at a position; kNone if there are none.
  std::uint64_t reference_to(std::size_t position) const {
    const auto found = references_.find(position);
    return found == references_.end() ? kNone : found->second;
  }
  // Null if the value is not complete yet.
  const Value* find_value(std::uint64_t reference) const {
    const auto found = values_.find(reference);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  std::span<const Recipe::Step> steps_from(std::size_t start) const {
    return std::span(steps_).subspan(start);
  }
  void record(std::size_t position, Value value) {
    const std::uint64_t reference = reference_to(position);
    if (reference != kNone) values_[reference] = std::move(value);
  }

  std::map<std::size_t, std::uint64_t> references_;  // By position.
  std::map<std::uint64_t, Value> values_;            // By reference.
  std::vector<Recipe::Step> steps_;
  std::size_t saved_count_;
  Recipe::Numbers numbers_;
};

// Reads definitions in the order in which the decoder builds them. Member functions
// return false for a value that steps cannot build; then there is no recipe. State,
// envelope and nodes must outlive the writer.
class RecipeWriter {
 public:
  using Nodes = std::span<const Recipe::Node>;

  RecipeWriter(const State& state, const VerifiedEnvelope& envelope, Nodes nodes)
      : state_(state),
        envelope_(*envelope),
        nodes_(nodes),
        code_(state, envelope, limits_),
        steps_(envelope_, nodes) {}

  std::optional<Recipe> write() {
    const auto is_class = [](const Recipe::Node& node) { return node.is_class; };
    if (std::ranges::all_of(nodes_, is_class)) return steps_.take();
    has_classes_ = std::ranges::any_of(nodes_, is_class);
    const Definitions& definitions = envelope_.definitions;
    reader_ = wire::Reader(envelope_.payload.bytes.first(definitions.value));
    for (const std::uint64_t start : definitions.starts) {
      if (!reader_.skip_to(start) || !write_definition()) return std::nullopt;
    }
    return steps_.take();
  }

 private:
  using Action = Recipe::Action;

  // The deepest nesting of values. Deeper payloads are not worth a recipe.
  static constexpr int kMaxDepth = 32;
  static constexpr std::uint64_t kNone = RecipeBuilder::kNone;

  // Each of these writes the steps for one value, or for the parts of one.

  bool write_definition() {
    const std::size_t position = reader_.offset();
    const std::uint32_t number = node_at(position);
    if (number != nodes_.size() && nodes_[number].is_class) return skip_value(0);
    return write_value(0) && steps_.add(Action::kPop);
  }

  // The number of the class or function at a position; nodes_.size() if there is none.
  std::uint32_t node_at(std::size_t position) const {
    const auto found =
        std::ranges::lower_bound(nodes_, position, {}, &Recipe::Node::position);
    const bool is_there = found != nodes_.end() && found->position == position;
    return static_cast<std::uint32_t>(is_there ? found - nodes_.begin()
                                               : std::ssize(nodes_));
  }

  bool write_value(int depth) {
    if (depth > kMaxDepth) return false;
    const std::size_t offset = reader_.offset();
    wire::Token token;
    if (!reader_.next(token)) return false;
    if (Ref scalar = scalar_of(token))
      return steps_.add_constant(std::move(scalar), offset);
    switch (token.type) {
      case wire::TokenType::kText:
        return steps_.add_constant(new_text(token.text()), offset);
      case wire::TokenType::kBinary:
        return steps_.add_constant(new_bytes(token.bytes), offset);
      case wire::TokenType::kExtension:
        return write_extension(token);
      case wire::TokenType::kMap:
        return write_dict(token.count, depth) && steps_.save_made(offset);
      case wire::TokenType::kArray: {
        std::uint8_t tag = 0;
        if (token.count != 0 && reader_.read_node_tag(tag)) {
          return write_node(static_cast<NodeTag>(tag), token.count - 1, offset, depth);
        }
        return write_items(token.count, depth) &&
               steps_.add(Action::kList, token.count) && steps_.save_made(offset);
      }
      default:
        return false;
    }
  }

  bool write_items(std::uint64_t count, int depth) {
    for (; count != 0; --count) {
      if (!write_value(depth + 1)) return false;
    }
    return true;
  }

  bool write_extension(const wire::Token& token) {
    std::uint64_t number = 0;
    if (!wire::index_of(token.bytes, number)) return false;
    switch (static_cast<wire::ExtType>(token.ext_type)) {
      case wire::ExtType::kModule:
        return steps_.add(Action::kModule, number);
      case wire::ExtType::kReference:
        return steps_.add_reference(number);
      default:
        return false;
    }
  }

  bool write_tuple(std::uint64_t count, std::size_t offset, int depth) {
    const std::size_t start = steps_.size();
    if (!write_items(count, depth)) return false;
    if (!steps_.are_constants(start, count)) {
      return steps_.add(Action::kTuple, count) && steps_.save_made(offset);
    }
    Ref made = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (auto place = static_cast<Py_ssize_t>(count); place-- != 0;) {
      PyTuple_SET_ITEM(made.get(), place, steps_.pop_constant().release());
    }
    return steps_.add_constant(std::move(made), offset);
  }

  // Accepts only text as keys.
  bool write_dict(std::uint64_t count, int depth) {
    const std::size_t start = steps_.size();
    const Ref names = Ref::steal(PyDict_New());
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string_view name;
      if (!reader_.read_text(name, {})) return false;
      Ref key = state_.intern_table.get(name);
      check(PyDict_SetItem(names.get(), key.get(), Py_None));
      steps_.add(Action::kConstant, 0, std::move(key));
      if (!write_value(depth + 1)) return false;
    }
    if (static_cast<std::uint64_t>(PyDict_GET_SIZE(names.get())) != count) return false;
    if (!steps_.are_constants(start, 2 * count))
      return steps_.add(Action::kDict, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const Ref last_value = steps_.pop_constant();
      const Ref key = steps_.pop_constant();
      check(PyDict_SetItem(names.get(), key.get(), last_value.get()));
    }
    return steps_.add(Action::kCopy, 0, names);
  }

  bool write_node(NodeTag tag, std::uint64_t count, std::size_t offset, int depth) {
    switch (tag) {
      case NodeTag::kTuple:
        return write_tuple(count, offset, depth);
      case NodeTag::kGlobal:
        return write_global() && steps_.save_found(offset);
      case NodeTag::kNamespace:
        return write_namespace(count, offset);
      case NodeTag::kFunction:
        return write_function(offset, depth);
      case NodeTag::kClass:
        return write_nested_class(count, offset, depth);
      default:
        return false;
    }
  }

  bool write_global() {
    wire::Token module;
    std::string_view name;
    std::uint64_t import = 0;
    if (!reader_.next(module) || !reader_.read_text(name, {})) return false;
    const std::size_t dot = name.find('.');
    const bool is_builtin = module.type == wire::TokenType::kNil;
    // getattr() looks for special names in the module type first.
    if ((dot != name.npos && !is_builtin) || name.starts_with("__")) return false;
    Ref text = state_.intern_table.get(name.substr(0, dot));
    if (!is_builtin) {
      return wire::index_of(module.bytes, import) &&
             steps_.add(Action::kGlobal, import, std::move(text));
    }
    steps_.add(Action::kBuiltin, 0, std::move(text));
    if (dot == name.npos) return true;
    return steps_.add(Action::kMethodOfType, 0,
                      state_.intern_table.get(name.substr(dot + 1)));
  }

  bool read_text_or_none(Ref& text) {
    if (reader_.read_nil()) return true;
    std::string_view view;
    if (!reader_.read_text(view, {})) return false;
    text = state_.intern_table.get(view);
    return true;
  }

  // `count`: the values of the node.
  bool write_namespace(std::uint64_t count, std::size_t offset) {
    constexpr std::uint64_t kMinCount =
        envelope::shape_of(NodeTag::kNamespace).min_count;
    Ref name, package;
    wire::Token is_package;
    std::uint64_t number_of_name = 0;
    if (!read_text_or_none(name) || !read_text_or_none(package) ||
        !reader_.next(is_package) ||
        (count > kMinCount && !reader_.read_unsigned(number_of_name, UINT64_MAX, {}))) {
      return false;
    }
    const bool has_path = is_package.integer != 0;
    const auto made = std::ranges::find_if(namespaces_, [&](const auto& one) {
      // Names are interned.
      return name && one.name.get() == name.get() &&
             one.package.get() == package.get() && one.is_package == has_path &&
             one.number_of_name == number_of_name;
    });
    if (made != namespaces_.end()) {
      prototype_ = made->prototype;
      steps_.add(Action::kLoad, made->number);
      steps_.record_namespace(offset, made->number, prototype_);
      return true;
    }
    const Ref prototype = Ref::steal(PyDict_New());
    describe_namespace(state_, prototype.get(), name.get(), package.get(), has_path);
    steps_.add(Action::kCopy, 0, prototype);
    if (has_path) steps_.add(Action::kAddPath);
    prototype_ = prototype;
    const std::uint32_t number = steps_.save();
    steps_.record_namespace(offset, number, prototype);
    namespaces_.push_back({name, package, has_path, number_of_name, prototype, number});
    return true;
  }

  // Writes a new or an earlier namespace, and sets prototype_ to its prototype.
  bool write_namespace_value(int depth) {
    if (const RecipeBuilder::Value* made = steps_.find_value(reference_ahead()))
      prototype_ = made->object;
    return write_value(depth + 1) && prototype_;
  }

  // [cell…], each a new cell or a saved one. `fresh` receives the numbers of the new
  // ones.
  bool write_cells(std::uint64_t& count, std::vector<std::uint32_t>& fresh, int depth) {
    if (!reader_.read_array(count, {})) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t offset = reader_.offset();
      wire::Reader ahead = reader_;
      std::uint64_t values = 0;
      std::uint8_t tag = 0;
      if (!ahead.read_array(values, {})) {
        if (!write_value(depth + 1)) return false;
        continue;
      }
      if (values != 1 || !ahead.read_node_tag(tag) ||
          static_cast<NodeTag>(tag) != NodeTag::kCell) {
        return false;
      }
      reader_ = ahead;
      steps_.add(Action::kCell);
      fresh.push_back(steps_.save());
      steps_.record_made(offset, fresh.back());
    }
    return true;
  }

  bool write_function(std::size_t offset, int depth) {
    std::uint64_t body = 0;
    std::uint64_t cell_count = 0;
    std::uint64_t field_count = 0;
    std::vector<std::uint32_t> fresh;
    prototype_ = Ref();
    if (!reader_.read_unsigned(body, UINT64_MAX, {}) || !write_namespace_value(depth)) {
      return false;
    }
    const Ref prototype = prototype_;
    if (!write_cells(cell_count, fresh, depth)) return false;
    Ref code = code_.next_use(body);
    // Methods of a reused class keep their globals. They would not see what the
    // function writes to its new globals.
    if (has_classes_ && can_write_globals(code.get())) return false;
    if (static_cast<std::uint64_t>(PyCode_GetNumFree(as_code(code.get()))) !=
        cell_count) {
      return false;
    }
    steps_.add(Action::kFunction, cell_count, std::move(code));
    const std::uint32_t number = node_at(offset);
    steps_.add(Action::kSave, number);
    steps_.record_made(offset, number);
    if (!reader_.read_map(field_count, {})) return false;
    for (; field_count != 0; --field_count) {
      std::uint64_t field = 0;
      if (!reader_.read_unsigned(field, UINT64_MAX, {}) ||
          !write_field(static_cast<FunctionField>(field), prototype, fresh, depth)) {
        return false;
      }
    }
    return true;
  }

  bool write_field(FunctionField field, const Ref& prototype,
                   const std::vector<std::uint32_t>& fresh, int depth) {
    if (field == FunctionField::kGlobals) return store_globals(prototype, depth);
    if (field == FunctionField::kCells) return write_cell_contents(fresh, depth);
    Ref attribute = attribute_of_function(state_, field);
    return attribute && write_value(depth + 1) &&
           steps_.add(Action::kStoreField, static_cast<std::uint64_t>(field),
                      std::move(attribute));
  }

  bool store_globals(const Ref& prototype, int depth) {
    std::uint64_t count = 0;
    if (!reader_.read_map(count, {})) return false;
    for (; count != 0; --count) {
      std::string_view text;
      if (!reader_.read_text(text, {})) return false;
      const Ref name = state_.intern_table.get(text);
      if (raw_get(prototype.get(), name.get()) != nullptr) {
        // An earlier function has defined this name.
        if (name.get() == state_.names.path.get() || !drop_value(depth)) return false;
        continue;
      }
      const std::size_t start = steps_.size();
      if (!write_value(depth + 1)) return false;
      check(PyDict_SetItem(prototype.get(), name.get(), Py_None));
      if (steps_.are_constants(start, 1)) {
        check(PyDict_SetItem(prototype.get(), name.get(), steps_.pop_constant().get()));
      } else {
        steps_.add(Action::kStoreGlobal, 0, name);
      }
    }
    return true;
  }

  bool drop_value(int depth) {
    const std::size_t start = steps_.size();
    return write_value(depth + 1) && steps_.drop_from(start);
  }

  bool write_cell_contents(const std::vector<std::uint32_t>& fresh, int depth) {
    std::uint64_t count = 0;
    if (!reader_.read_array(count, {}) || count != fresh.size()) return false;
    for (const std::uint32_t cell : fresh) {
      if (skip_empty_content()) continue;
      if (!write_value(depth + 1)) return false;
      steps_.add(Action::kStoreContent, cell);
    }
    return true;
  }

  // Skips the marker of an empty cell; false if something else is next.
  bool skip_empty_content() {
    wire::Reader ahead = reader_;
    wire::Token token;
    const bool is_empty =
        ahead.next(token) && token.is(wire::ExtType::kSingleton) &&
        token.bytes[0] == static_cast<std::uint8_t>(wire::Singleton::kEmpty);
    if (is_empty) reader_ = ahead;
    return is_empty;
  }

  // ---- Classes ---------------------------------------------------------------------
  //
  // The caller provides the classes: steps build only the globals that their methods
  // add to namespaces of functions.

  // Skips a class inside a function, and writes the step that loads the class.
  bool write_nested_class(std::uint64_t count, std::size_t offset, int depth) {
    return skip_class(count, offset, depth) &&
           steps_.add(Action::kLoad, node_at(offset));
  }

  bool skip_class(std::uint64_t count, std::size_t offset, int depth) {
    steps_.record_found(offset, node_at(offset));
    return skip_values(count, depth);
  }

  bool skip_values(std::uint64_t count, int depth) {
    for (; count != 0; --count) {
      if (!skip_value(depth + 1)) return false;
    }
    return true;
  }

  // Skips one value of a class, except for what functions share with the class.
  bool skip_value(int depth) {
    if (depth > kMaxDepth) return false;
    const std::size_t offset = reader_.offset();
    const std::uint64_t reference = reference_ahead();
    wire::Token token;
    if (!reader_.next(token)) return false;
    // The reused class keeps the old object, but each run gives the functions a new
    // one.
    if (const RecipeBuilder::Value* made = steps_.find_value(reference)) {
      return !made->is_made;
    }
    if (token.type == wire::TokenType::kMap) return skip_values(2 * token.count, depth);
    if (token.type != wire::TokenType::kArray) return true;
    std::uint8_t tag = 0;
    if (token.count == 0 || !reader_.read_node_tag(tag)) {
      return skip_values(token.count, depth);
    }
    if (envelope::uses_code(tag)) code_.skip_uses(1);
    switch (static_cast<NodeTag>(tag)) {
      case NodeTag::kNamespace:
        return write_namespace(token.count - 1, offset) && steps_.add(Action::kPop);
      case NodeTag::kGlobal:
        if (steps_.reference_to(offset) == kNone) break;
        return write_global() && steps_.save_found(offset) && steps_.add(Action::kPop);
      case NodeTag::kFunction:
        return skip_method(depth);
      case NodeTag::kClass:
        return skip_class(token.count - 1, offset, depth);
      default:
        break;
    }
    return skip_values(token.count - 1, depth);
  }

  bool skip_method(int depth) {
    std::uint64_t body = 0;
    std::uint64_t fields = 0;
    prototype_ = Ref();
    if (!reader_.read_unsigned(body, UINT64_MAX, {}) || !write_namespace_value(depth)) {
      return false;
    }
    // The namespace is on top of the stack until the fields are read.
    const Ref globals = prototype_;
    if (!skip_value(depth + 1) || !reader_.read_map(fields, {})) return false;
    for (; fields != 0; --fields) {
      std::uint64_t field = 0;
      if (!reader_.read_unsigned(field, UINT64_MAX, {})) return false;
      const bool adds = field == static_cast<std::uint64_t>(FunctionField::kGlobals);
      if (!(adds ? store_globals(globals, depth) : skip_value(depth + 1))) return false;
    }
    return steps_.add(Action::kPop);
  }

  // The number of the reference that is read next; kNone if the next value is no
  // reference.
  std::uint64_t reference_ahead() const {
    wire::Reader ahead = reader_;
    wire::Token token;
    std::uint64_t number = 0;
    return ahead.next(token) && wire::is_reference(token, number) ? number : kNone;
  }

  struct MadeNamespace {
    Ref name, package;
    bool is_package;
    std::uint64_t number_of_name;  // Among the namespaces of this name.
    Ref prototype;
    std::uint32_t number;  // The number of the saved value.
  };

  const State& state_;
  const Envelope& envelope_;
  Nodes nodes_;
  const Limits limits_;
  CodeBuilder code_;
  bool has_classes_ = false;  // The definitions contain a class, at any depth.
  wire::Reader reader_{{}};
  RecipeBuilder steps_;
  std::vector<MadeNamespace> namespaces_;
  Ref prototype_;  // The prototype of the current function's namespace.
};

}  // namespace

std::optional<Recipe> Recipe::create(const State& state,
                                     const VerifiedEnvelope& envelope,
                                     std::span<const Node> nodes) {
  return RecipeWriter(state, envelope, nodes).write();
}

}  // namespace waybill::py
