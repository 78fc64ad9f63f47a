// The rows bound the time of each type's code, on any Python: they accept numbers of
// 128 bits, text that is parsed in microseconds, and containers that are read once.
// Tested by tests/python/untrusted/test_standard_types.py.

#include "python/decode/standard_types.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/state.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

enum class Accepted : std::uint8_t {
  kNothing,
  kSmall,       // Up to 64 bytes of text or binary, an int of up to 128 bits, None.
  kText,        // Up to 4096 characters, or kSmall.
  kPart,        // Parts of a path: together up to 32768 characters.
  kObject,      // An object that is not plain data, or kSmall.
  kEmpty,       // An empty list or tuple.
  kOwnDict,     // A dict that nothing else refers to.
  kAttributes,  // Of state: None or a dict whose values replace no methods.
  kUuid,        // Of state: None or a dict with the fields of a UUID, all small.
};

constexpr Py_ssize_t kMaxSmallBytes = 64;
constexpr std::size_t kMaxIntegerBytes = 17;
constexpr Py_ssize_t kMaxText = 4096;
constexpr Py_ssize_t kMaxParts = 1024;
constexpr Py_ssize_t kMaxPartsText = 32768;
constexpr Py_ssize_t kMany = PY_SSIZE_T_MAX;

// Bytes of memory per item, pair and character that the type makes of its arguments.
constexpr std::uint64_t kItemBytes = 16;
constexpr std::uint64_t kPairBytes = 192;
constexpr std::uint64_t kCharacterBytes = 8;

}  // namespace

struct StandardType {
  std::string_view module, name;
  Py_ssize_t max_arguments;
  std::array<Accepted, 2> accepts;  // The first argument; all others.
  Accepted state = Accepted::kNothing;
  bool has_items = false;
  bool has_pairs = false;
};

namespace {

using enum Accepted;

// `module`: the type's __module__, or the package of that.
constexpr StandardType kTypes[] = {
    {"collections", "Counter", 1, {kOwnDict}},
    {"collections", "OrderedDict", 0, {}, kAttributes, false, true},
    {"collections", "defaultdict", 1, {kObject}, kNothing, false, true},
    {"collections", "deque", 2, {kEmpty, kSmall}, kNothing, true, false},
    {"datetime", "date", 3, {kSmall, kSmall}},
    {"datetime", "datetime", 8, {kSmall, kObject}},
    {"datetime", "time", 5, {kSmall, kObject}},
    {"datetime", "timedelta", 7, {kSmall, kSmall}},
    {"datetime", "timezone", 2, {kObject, kText}},
    {"decimal", "Decimal", 1, {kText}},
    {"ipaddress", "IPv4Address", 1, {kSmall}},
    {"ipaddress", "IPv6Address", 1, {kSmall}},
    {"pathlib", "PosixPath", kMany, {kPart, kPart}},
    {"pathlib", "PurePosixPath", kMany, {kPart, kPart}},
    {"pathlib", "PureWindowsPath", kMany, {kPart, kPart}},
    {"pathlib", "WindowsPath", kMany, {kPart, kPart}},
    {"uuid", "UUID", 1, {kSmall}, kUuid},
};

bool is_text_up_to(PyObject* value, Py_ssize_t max_length) {
  return PyUnicode_CheckExact(value) && PyUnicode_GET_LENGTH(value) <= max_length;
}

bool is_small(PyObject* value) {
  if (value == Py_None || PyBool_Check(value)) return true;
  if (PyLong_CheckExact(value)) return integer_size(value) <= kMaxIntegerBytes;
  if (PyBytes_CheckExact(value)) return PyBytes_GET_SIZE(value) <= kMaxSmallBytes;
  return is_text_up_to(value, kMaxSmallBytes);
}

bool is_plain_data(PyObject* value) {
  return PyUnicode_Check(value) || PyBytes_Check(value) || PyByteArray_Check(value) ||
         PyLong_Check(value) || PyTuple_Check(value) || PyList_Check(value) ||
         PyDict_Check(value) || PyAnySet_Check(value) || PyRange_Check(value) ||
         PySlice_Check(value);
}

bool is_uuid_state(PyObject* state) {
  if (state == Py_None) return true;
  if (!PyDict_CheckExact(state)) return false;
  for (const auto& [name, value] : DictItems(state)) {
    const bool is_uuid_field = PyUnicode_CheckExact(name) &&
                               (PyUnicode_CompareWithASCIIString(name, "int") == 0 ||
                                PyUnicode_CompareWithASCIIString(name, "is_safe") == 0);
    if (!is_uuid_field || !is_small(value) || PyUnicode_Check(value)) return false;
  }
  return true;
}

bool accepts(const GraphDecoder& decoder, Accepted what, PyObject* value) {
  switch (what) {
    case kNothing:
      return false;
    case kSmall:
      return is_small(value);
    case kText:
      return is_small(value) || is_text_up_to(value, kMaxText);
    case kPart:
      return is_small(value) || is_text_up_to(value, kMaxPartsText);
    case kObject:
      return is_small(value) || !is_plain_data(value);
    case kEmpty:
      return (PyTuple_CheckExact(value) || PyList_CheckExact(value)) &&
             Py_SIZE(value) == 0;
    case kOwnDict: {
      // The list of arguments refers to the dict, and so does the history of a stream.
      const Py_ssize_t holders = decoder.hooks().history == nullptr ? 1 : 2;
      return PyDict_CheckExact(value) && Py_REFCNT(value) <= holders;
    }
    case kAttributes:
      return value == Py_None || PyDict_CheckExact(value);
    case kUuid:
      return is_uuid_state(value);
  }
  return false;
}

std::uint64_t memory_of(PyObject* argument) {
  if (PyDict_Check(argument)) {
    return static_cast<std::uint64_t>(PyDict_GET_SIZE(argument)) * kPairBytes;
  }
  if (!PyUnicode_Check(argument)) return 0;
  return static_cast<std::uint64_t>(PyUnicode_GET_LENGTH(argument)) * kCharacterBytes;
}

[[noreturn]] void refuse(GraphDecoder& decoder, const StandardType& type,
                         const std::string& what) {
  decoder.fail(ErrorCode::kLimitExceeded,
               what + " that pickling " + std::string(type.module) + "." +
                   std::string(type.name) +
                   " does not produce, so that max_key_steps cannot limit the "
                   "cost; give limits=waybill.security.Limits() if the sender is "
                   "trusted");
}

bool is_in(std::string_view module, std::string_view package) {
  return module.starts_with(package) &&
         (module.size() == package.size() || module[package.size()] == '.');
}

}  // namespace

const StandardType* standard_type(const GraphDecoder& decoder, PyObject* callable) {
  if (!decoder.restricts_calls() || !PyType_Check(callable)) return nullptr;
  auto* type = as_type(callable);
  const std::string_view whole(type->tp_name);
  const std::string_view name = whole.substr(whole.rfind('.') + 1);
  const auto* found = std::ranges::find(kTypes, name, &StandardType::name);
  if (found == std::end(kTypes)) return nullptr;
  const Ref module = module_of_type(decoder.state(), type);
  return is_in(text_of(module.get()), found->module) ? found : nullptr;
}

void demand_arguments(GraphDecoder& decoder, const StandardType& type,
                      std::span<PyObject* const> arguments) {
  const auto count = static_cast<Py_ssize_t>(arguments.size());
  bool fits = count <= type.max_arguments && count <= kMaxParts;
  Py_ssize_t characters = 0;
  for (Py_ssize_t i = 0; fits && i < count; ++i) {
    PyObject* argument = arguments[static_cast<std::size_t>(i)];
    const Accepted what = type.accepts[i == 0 ? 0 : 1];
    fits = accepts(decoder, what, argument);
    if (PyUnicode_Check(argument)) characters += PyUnicode_GET_LENGTH(argument);
    if (fits) decoder.charge_memory(memory_of(argument));
  }
  if (!fits || characters > kMaxPartsText) refuse(decoder, type, "arguments");
}

void demand_contents(GraphDecoder& decoder, const StandardType& type, PyObject* state,
                     Py_ssize_t item_count, Py_ssize_t pair_count, bool has_setter) {
  if ((state != Py_None && !accepts(decoder, type.state, state)) || has_setter) {
    refuse(decoder, type, "state");
  }
  if ((item_count != 0 && !type.has_items) || (pair_count != 0 && !type.has_pairs)) {
    refuse(decoder, type, "contents");
  }
  decoder.charge_memory(static_cast<std::uint64_t>(item_count) * kItemBytes +
                        static_cast<std::uint64_t>(pair_count) * kPairBytes);
}

void demand_no_shadow(GraphDecoder& decoder, PyObject* object, PyObject* name,
                      PyObject* value, bool is_set) {
  if (!decoder.forbids_code() || !PyUnicode_Check(name)) return;
  for (PyTypeObject* base : mro_of(Py_TYPE(object))) {
    PyObject* found = raw_get(base, name);
    if (found == nullptr) continue;
    const PyTypeObject* kind = Py_TYPE(found);
    const bool is_data = kind->tp_descr_set != nullptr;
    const bool is_method = (kind->tp_descr_get != nullptr && !is_data) ||
                           PyCFunction_Check(found) ||
                           Py_IS_TYPE(found, &PyStaticMethod_Type);
    const bool replaces_all =
        is_set && is_data && Py_IS_TYPE(found, &PyGetSetDescr_Type);
    if (replaces_all || (is_method && PyCallable_Check(value) != 0)) {
      decoder.fail(ErrorCode::kRefused, "state that replaces " +
                                            std::string(Py_TYPE(object)->tp_name) +
                                            "." + text_of(name) +
                                            ", which needs a policy with `allow code`");
    }
    return;
  }
}

}  // namespace waybill::py
