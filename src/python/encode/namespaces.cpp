// Tested by tests/python/functions/test_namespaces_of_functions.py.

#include "python/encode/namespaces.h"

#include <algorithm>
#include <utility>

#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

// The value of a global if it is an exact str, else null.
PyObject* text_in(const State& state, PyObject* globals, const Ref& name) {
  PyObject* text = look_up(state, globals, name.get());
  return text != nullptr && PyUnicode_CheckExact(text) ? text : nullptr;
}

bool is_same(const Ref& a, const Ref& b) {
  if (!a || !b) return !a && !b;
  return PyUnicode_Compare(a.get(), b.get()) == 0;
}

void write_text_or_nil(PyObject* text, wire::Writer& out) {
  if (text != nullptr && PyUnicode_CheckExact(text)) {
    write_text(text, out);
  } else {
    out.nil();
  }
}

}  // namespace

PyObject* namespace_name(const State& state, PyObject* globals) {
  return text_in(state, globals, state.names.name);
}

std::uint64_t Namespaces::number_of(const State& state, PyObject* globals) {
  const Names& names = state.names;
  const auto found = std::ranges::find(first_, globals, &Namespace::globals);
  if (found != first_.end()) return found->number;
  if (const auto other = numbers_.find(globals); other != numbers_.end()) {
    return other->second;
  }
  Ref name = Ref::share(namespace_name(state, globals));
  if (!name) return 0;
  Ref package = Ref::share(text_in(state, globals, names.package));
  Namespace own{globals, std::move(name), std::move(package),
                look_up(state, globals, names.path.get()) != nullptr, 0};
  if (first_.size() == kFew) return number_among_many(own);
  for (const Namespace& other : first_) {
    if (is_same(other.name, own.name) && is_same(other.package, own.package) &&
        other.is_package == own.is_package) {
      ++own.number;
    }
  }
  has_twins_ = has_twins_ || own.number != 0;
  first_.push_back(std::move(own));
  return first_.back().number;
}

std::uint64_t Namespaces::number_among_many(const Namespace& own) {
  const auto count_of = [&](const Namespace& one) -> std::uint64_t& {
    const std::string name = text_of(one.name.get());
    std::string key = std::to_string(name.size()) + (one.is_package ? "p" : "m");
    key += name;
    if (one.package) key += "." + text_of(one.package.get());
    return counts_[key];
  };
  if (counts_.empty()) {
    for (const Namespace& one : first_) ++count_of(one);
  }
  const std::uint64_t number = count_of(own)++;
  has_twins_ = has_twins_ || number != 0;
  numbers_[own.globals] = number;
  return number;
}

void write_namespace(EncodeContext& context, PyObject* globals) {
  if (context.refer_or_add(key_of_namespace(globals))) return;
  const Names& names = context.state.names;
  wire::Writer& out = context.out;
  const std::uint64_t number = context.namespaces.number_of(context.state, globals);
  out.node(wire::NodeTag::kNamespace, number == 0 ? 3 : 4);
  write_text_or_nil(raw_get(globals, names.name.get()), out);
  write_text_or_nil(raw_get(globals, names.package.get()), out);
  out.boolean(raw_get(globals, names.path.get()) != nullptr);
  if (number != 0) out.unsigned_integer(number);
}

}  // namespace waybill::py
