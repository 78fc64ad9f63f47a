// Parts that never change are folded into one constant. A namespace is a copy of a dict
// that has all its names from the start, with None where a step puts the value: nothing
// looks at it before. Tested by tests/python/cache/test_recipes.py.

#include "python/cache/recipe_writer.h"

#include <algorithm>
#include <utility>

#include "python/cache/methods.h"
#include "python/decode/nodes/function_fields.h"
#include "python/decode/scalars.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"

namespace waybill::py {

using wire::FunctionField;
using wire::NodeTag;

std::optional<Recipe> RecipeWriter::write() {
  const auto is_class = [](const Recipe::Place& place) { return place.is_class; };
  if (std::ranges::all_of(places_, is_class)) return steps_.take();
  has_classes_ = std::ranges::any_of(places_, is_class);
  const Definitions& definitions = envelope_.definitions;
  const BytesView bytes = envelope_.payload.bytes;
  reader_ = wire::Reader(
      bytes.subspan(definitions.start, definitions.value - definitions.start), {},
      definitions.start);
  for (std::size_t i = 0; i < definitions.count; ++i) {
    if (!definition()) return std::nullopt;
  }
  return steps_.take();
}

bool RecipeWriter::definition() {
  const std::size_t position = reader_.offset();
  const std::uint32_t number = place_at(position);
  if (number != places_.size() && places_[number].is_class) return pass(0);
  return value(0) && steps_.step(Action::kPop);
}

std::uint32_t RecipeWriter::place_at(std::size_t position) const {
  const auto found =
      std::ranges::lower_bound(places_, position, {}, &Recipe::Place::position);
  const bool is_there = found != places_.end() && found->position == position;
  return static_cast<std::uint32_t>(is_there ? found - places_.begin()
                                             : std::ssize(places_));
}

// One value, whatever it is. False if no step makes it.
bool RecipeWriter::value(int depth) {
  if (depth > kDeepest) return false;
  const std::size_t offset = reader_.offset();
  wire::Token token;
  if (!reader_.next(token)) return false;
  if (Ref scalar = scalar_of(token)) return steps_.constant(std::move(scalar), offset);
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
      return dict(token.count, depth) && steps_.save_made(offset);
    case wire::TokenType::kArray: {
      std::uint8_t tag = 0;
      if (token.count != 0 && reader_.read_node_tag(tag)) {
        return node(static_cast<NodeTag>(tag), token.count - 1, offset, depth);
      }
      return items(token.count, depth) && steps_.step(Action::kList, token.count) &&
             steps_.save_made(offset);
    }
    default:
      return false;
  }
}

bool RecipeWriter::items(std::uint64_t count, int depth) {
  for (; count != 0; --count) {
    if (!value(depth + 1)) return false;
  }
  return true;
}

bool RecipeWriter::extension(const wire::Token& token) {
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

bool RecipeWriter::tuple(std::uint64_t count, std::size_t offset, int depth) {
  const std::size_t since = steps_.size();
  if (!items(count, depth)) return false;
  if (!steps_.are_constants(since, count)) {
    return steps_.step(Action::kTuple, count) && steps_.save_made(offset);
  }
  Ref made = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (auto place = static_cast<Py_ssize_t>(count); place-- != 0;) {
    PyTuple_SET_ITEM(made.get(), place, steps_.unstep().release());
  }
  return steps_.constant(std::move(made), offset);
}

// A dict with names as keys.
bool RecipeWriter::dict(std::uint64_t count, int depth) {
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
  if (!steps_.are_constants(since, 2 * count)) return steps_.step(Action::kDict, count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Ref last_value = steps_.unstep();
    const Ref key = steps_.unstep();
    check(PyDict_SetItem(names.get(), key.get(), last_value.get()));
  }
  return steps_.step(Action::kCopy, 0, names);
}

bool RecipeWriter::node(NodeTag tag, std::uint64_t count, std::size_t offset,
                        int depth) {
  switch (tag) {
    case NodeTag::kTuple:
      return tuple(count, offset, depth);
    case NodeTag::kGlobal:
      return global() && steps_.save_found(offset);
    case NodeTag::kNamespace:
      return count == 3 && name_space(offset);
    case NodeTag::kFunction:
      return function(offset, depth);
    case NodeTag::kClass:
      return type(count, offset, depth);
    default:
      return false;
  }
}

bool RecipeWriter::global() {
  wire::Token module;
  std::string_view name;
  std::uint64_t import = 0;
  if (!reader_.next(module) || !reader_.read_text(name, {})) return false;
  const std::size_t dot = name.find('.');
  const bool is_builtin = module.type == wire::TokenType::kNil;
  // Special names are looked for in the type of modules first.
  if ((dot != name.npos && !is_builtin) || name.starts_with("__")) return false;
  Ref text = state_.intern_table.get(name.substr(0, dot));
  if (!is_builtin) {
    return wire::index_of(module.bytes, import) &&
           steps_.step(Action::kGlobal, import, std::move(text));
  }
  steps_.step(Action::kBuiltin, 0, std::move(text));
  if (dot == name.npos) return true;
  return steps_.step(Action::kOfType, 0, state_.intern_table.get(name.substr(dot + 1)));
}

bool RecipeWriter::text_or_none(Ref& text) {
  if (reader_.read_nil()) return true;
  std::string_view view;
  if (!reader_.read_text(view, {})) return false;
  text = state_.intern_table.get(view);
  return true;
}

bool RecipeWriter::name_space(std::size_t offset) {
  Ref name, package;
  wire::Token is_package;
  if (!text_or_none(name) || !text_or_none(package) || !reader_.next(is_package)) {
    return false;
  }
  const bool is_new_package = is_package.integer != 0;
  const auto known = std::ranges::find_if(namespaces_, [&](const auto& one) {
    return name && one.name.get() == name.get() && one.package.get() == package.get() &&
           one.is_package == is_new_package;  // Names are interned.
  });
  if (known != namespaces_.end()) {
    namespace_ = known->plain;
    steps_.step(Action::kLoad, known->number);
    steps_.note_namespace(offset, known->number, namespace_);
    return true;
  }
  const Ref plain = Ref::steal(PyDict_New());
  describe_namespace(state_, plain.get(), name.get(), package.get(), is_new_package);
  steps_.step(Action::kCopy, 0, plain);
  if (is_new_package) steps_.step(Action::kPackage);
  namespace_ = plain;
  const std::uint32_t number = steps_.save();
  steps_.note_namespace(offset, number, plain);
  namespaces_.push_back({name, package, is_new_package, plain, number});
  return true;
}

// A namespace, new or known, of which namespace_ is the plain dict from then on.
bool RecipeWriter::any_namespace(int depth) {
  if (const RecipeBuilder::Known* known = steps_.find_known(reference_ahead()))
    namespace_ = known->object;
  return value(depth + 1) && namespace_;
}

// [cell…], each a new cell or one that was saved. `fresh` gets where the new ones
// are.
bool RecipeWriter::cells(std::uint64_t& count, std::vector<std::uint32_t>& fresh,
                         int depth) {
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
    if (values != 1 || !ahead.read_node_tag(tag) ||
        static_cast<NodeTag>(tag) != NodeTag::kCell) {
      return false;
    }
    reader_ = ahead;
    steps_.step(Action::kCell);
    fresh.push_back(steps_.save());
    steps_.note_made(offset, fresh.back());
  }
  return true;
}

bool RecipeWriter::function(std::size_t offset, int depth) {
  std::uint64_t body = 0;
  std::uint64_t cell_count = 0;
  std::uint64_t field_count = 0;
  std::vector<std::uint32_t> fresh;
  namespace_ = Ref();
  if (!reader_.read_unsigned(body, UINT64_MAX, {}) || !any_namespace(depth)) {
    return false;
  }
  const Ref its_namespace = namespace_;
  if (!cells(cell_count, fresh, depth)) return false;
  Ref code = code_.next(body);
  // Methods of a class that stays would have to see what is written into globals that
  // they came with, and that only the function gets anew.
  if (has_classes_ && may_write_globals(code.get())) return false;
  if (static_cast<std::uint64_t>(PyCode_GetNumFree(
          reinterpret_cast<PyCodeObject*>(code.get()))) != cell_count) {
    return false;
  }
  steps_.step(Action::kFunction, cell_count, std::move(code));
  const std::uint32_t number = place_at(offset);
  steps_.step(Action::kSave, number);
  steps_.note_made(offset, number);
  if (!reader_.read_map(field_count, {})) return false;
  for (; field_count != 0; --field_count) {
    std::uint64_t field = 0;
    if (!reader_.read_unsigned(field, UINT64_MAX, {}) ||
        !this->field(static_cast<FunctionField>(field), its_namespace, fresh, depth)) {
      return false;
    }
  }
  return true;
}

bool RecipeWriter::field(FunctionField field, const Ref& its_namespace,
                         const std::vector<std::uint32_t>& fresh, int depth) {
  if (field == FunctionField::kGlobals) return store_globals(its_namespace, depth);
  if (field == FunctionField::kCells) return contents(fresh, depth);
  const char* attribute = attribute_of_function(field);
  return attribute != nullptr && value(depth + 1) &&
         steps_.step(Action::kStoreField, static_cast<std::uint64_t>(field),
                     state_.intern_table.get(attribute));
}

bool RecipeWriter::store_globals(const Ref& its_namespace, int depth) {
  std::uint64_t count = 0;
  if (!reader_.read_map(count, {})) return false;
  for (; count != 0; --count) {
    std::string_view text;
    if (!reader_.read_text(text, {})) return false;
    const Ref name = state_.intern_table.get(text);
    if (raw_get(its_namespace.get(), name.get()) != nullptr) {
      // Another function has brought it.
      if (name.get() == state_.names.path.get() || !drop_value(depth)) return false;
      continue;
    }
    const std::size_t since = steps_.size();
    if (!value(depth + 1)) return false;
    check(PyDict_SetItem(its_namespace.get(), name.get(), Py_None));
    if (steps_.are_constants(since, 1)) {
      check(PyDict_SetItem(its_namespace.get(), name.get(), steps_.unstep().get()));
    } else {
      steps_.step(Action::kStoreGlobal, 0, name);
    }
  }
  return true;
}

bool RecipeWriter::drop_value(int depth) {
  const std::size_t since = steps_.size();
  return value(depth + 1) && steps_.drop_since(since);
}

bool RecipeWriter::contents(const std::vector<std::uint32_t>& fresh, int depth) {
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
bool RecipeWriter::skip_empty_content() {
  wire::Reader ahead = reader_;
  wire::Token token;
  const bool is_empty =
      ahead.next(token) && token.type == wire::TokenType::kExtension &&
      token.ext_type == static_cast<std::int8_t>(wire::ExtType::kSingleton) &&
      token.bytes[0] == static_cast<std::uint8_t>(wire::Singleton::kEmpty);
  if (is_empty) reader_ = ahead;
  return is_empty;
}

std::optional<Recipe> Recipe::of(const State& state, const Envelope& envelope,
                                 std::span<const Place> places, CodeUses& code) {
  return RecipeWriter(state, envelope, places, code).write();
}

}  // namespace waybill::py
