#pragma once

// All differences between the supported versions of CPython, and all accesses to
// structs outside the stable ABI. No other file tests the version.

#include <Python.h>
#include <structmember.h>  // Part of Python.h from 3.12 on.

#include <cstdint>
#include <cstring>
#include <string_view>

#include "python/runtime/objects.h"
#include "python/runtime/ref.h"

#if PY_VERSION_HEX < 0x030B0000
#error "waybill needs CPython 3.11 or newer"
#endif

namespace waybill::py {

// The version of this Python, in the form of CodeView::version.
inline constexpr int kPythonVersion = PY_MAJOR_VERSION * 100 + PY_MINOR_VERSION;
// Whether classes have a __firstlineno__.
inline constexpr bool kHasClassLines = PY_VERSION_HEX >= 0x030D0000;
inline constexpr bool kHasLazyImports = PY_VERSION_HEX >= 0x030F0000;
inline constexpr bool kHasFrozenDict = PY_VERSION_HEX >= 0x030F0000;

// The thread state that holds the GIL; null if none does. From 3.12 on, the state of
// this thread only.
inline PyThreadState* current_thread_state() {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked();
#else
  return _PyThreadState_UncheckedGet();
#endif
}

// ---- Extra data on code objects --------------------------------------------------

inline Py_ssize_t request_code_extra_index(freefunc free) {
#if PY_VERSION_HEX >= 0x030C0000
  return PyUnstable_Eval_RequestCodeExtraIndex(free);
#else
  return _PyEval_RequestCodeExtraIndex(free);
#endif
}

inline int code_get_extra(PyObject* code, Py_ssize_t index, void** extra) {
#if PY_VERSION_HEX >= 0x030C0000
  return PyUnstable_Code_GetExtra(code, index, extra);
#else
  return _PyCode_GetExtra(code, index, extra);
#endif
}

inline int code_set_extra(PyObject* code, Py_ssize_t index, void* extra) {
#if PY_VERSION_HEX >= 0x030C0000
  const int result = PyUnstable_Code_SetExtra(code, index, extra);
#else
  const int result = _PyCode_SetExtra(code, index, extra);
#endif
  // CPython sets no error when memory is short.
  if (result < 0 && !PyErr_Occurred()) PyErr_NoMemory();
  return result;
}

// Whether extras may be stored on code objects. In 3.11 the frozen code objects of the
// standard library are static and shared between interpreters, extras included, so only
// the main interpreter may store extras. In a free-threaded build two threads may store
// extras on one code object at once.
inline bool can_store_code_extras() {
#ifdef Py_GIL_DISABLED
  return false;
#elif PY_VERSION_HEX >= 0x030C0000
  return true;
#else
  return PyInterpreterState_Get() == PyInterpreterState_Main();
#endif
}

// ---- Code objects ----------------------------------------------------------------

// Arguments of the constructor, all borrowed.
struct CodeParts {
  int argument_count, positional_only_count, keyword_only_count;
  int local_count, stack_size, flags;
  PyObject *instructions, *constants, *names;
  PyObject *variable_names, *free_names, *cell_names;
  PyObject *file, *name, *qualified_name;
  int first_line;
  PyObject *line_table, *exception_table;
  std::string_view local_kinds;
};

// Bits of co_localspluskinds, in CPython's pycore_code.h since 3.11.
inline constexpr std::uint8_t kLocalHidden = 0x10;
inline constexpr std::uint8_t kLocalPlain = 0x20;
inline constexpr std::uint8_t kLocalCell = 0x40;
inline constexpr std::uint8_t kLocalFree = 0x80;
// Which locals are arguments, and how they are passed (3.14).
inline constexpr std::uint8_t kLocalArgument = 0x0e;

// A new code object; null without an error if `local_kinds` do not fit the other parts.
// From 3.14 on the constructor drops the bits for arguments, so they are set afterwards
// in the kinds of the new object.
inline Ref new_code(const CodeParts& p) {
#if PY_VERSION_HEX >= 0x030C0000
  PyCodeObject* code = PyUnstable_Code_NewWithPosOnlyArgs(
#else
  PyCodeObject* code = PyCode_NewWithPosOnlyArgs(
#endif
      p.argument_count, p.positional_only_count, p.keyword_only_count, p.local_count,
      p.stack_size, p.flags, p.instructions, p.constants, p.names, p.variable_names,
      p.free_names, p.cell_names, p.file, p.name, p.qualified_name, p.first_line,
      p.line_table, p.exception_table);
  Ref result = Ref::steal(as_object(code));
  PyObject* kinds = code->co_localspluskinds;
  if (static_cast<std::size_t>(PyBytes_GET_SIZE(kinds)) != p.local_kinds.size()) {
    return {};
  }
  char* made = PyBytes_AS_STRING(kinds);
  for (std::size_t i = 0; i < p.local_kinds.size(); ++i) {
    if (((made[i] ^ p.local_kinds[i]) & ~kLocalArgument) != 0) return {};
    made[i] = p.local_kinds[i];
  }
  return result;
}

// The __doc__ that a new function takes from its code. Borrowed; None if it has none.
inline PyObject* default_doc(PyCodeObject* code) {
  PyObject* constants = code->co_consts;
  if (PyTuple_GET_SIZE(constants) == 0) return Py_None;
#if PY_VERSION_HEX >= 0x030E0000
  if (!(code->co_flags & CO_HAS_DOCSTRING)) return Py_None;
#endif
  PyObject* first = PyTuple_GET_ITEM(constants, 0);
  return PyUnicode_CheckExact(first) ? first : Py_None;
}

// ---- Functions -------------------------------------------------------------------

// The function's evaluated annotations, without evaluating any. Null if there are
// none, or if they are still deferred (see deferred_annotate). 3.11 to 3.13 may keep
// them as a flat tuple, which is turned into the dict that __annotations__ gives.
inline Ref evaluated_annotations(PyObject* function) {
  auto* f = as_function(function);
  if (f->func_annotations == nullptr) return {};
#if PY_VERSION_HEX >= 0x030E0000
  return Ref::share(f->func_annotations);
#else
  PyObject* annotations = PyFunction_GetAnnotations(function);
  if (annotations == nullptr && PyErr_Occurred()) throw PyError();
  return Ref::share(annotations);
#endif
}

// Whether functions store annotations, and not an __annotate__ function (PEP 649).
inline constexpr bool kKeepsAnnotations = PY_VERSION_HEX < 0x030E0000;

// The __annotate__ function of PEP 649; borrowed, null if there is none.
inline PyObject* deferred_annotate([[maybe_unused]] PyObject* function) {
#if PY_VERSION_HEX >= 0x030E0000
  PyObject* annotate = as_function(function)->func_annotate;
  return annotate == Py_None ? nullptr : annotate;
#else
  return nullptr;
#endif
}

// __type_params__ as a tuple; borrowed, null if there are none.
inline PyObject* type_parameters([[maybe_unused]] PyObject* function) {
#if PY_VERSION_HEX >= 0x030C0000
  PyObject* parameters = as_function(function)->func_typeparams;
  if (parameters == nullptr || !PyTuple_CheckExact(parameters)) return nullptr;
  return PyTuple_GET_SIZE(parameters) == 0 ? nullptr : parameters;
#else
  return nullptr;
#endif
}

// An object that changes whenever the annotations of a function are replaced; borrowed,
// null if there are none.
inline PyObject* identity_of_annotations(PyObject* function) {
  auto* own = as_function(function);
#if PY_VERSION_HEX >= 0x030E0000
  if (own->func_annotate != nullptr) return own->func_annotate;
#endif
  PyObject* found = own->func_annotations;
  return found == nullptr || PyObject_Size(found) == 0 ? nullptr : found;
}

// Replaces the globals of a function by others with the same builtins, and returns the
// old ones. No frame of the function may be alive, because frames do not own their
// globals.
inline Ref exchange_globals(PyObject* function, PyObject* globals) {
  auto* own = as_function(function);
  Ref old = Ref::steal(std::exchange(own->func_globals, Ref::share(globals).release()));
  PyObject* defaults = own->func_defaults == nullptr ? Py_None : own->func_defaults;
  check(PyFunction_SetDefaults(function, defaults));  // Resets specialization.
  return old;
}

// ---- Text ------------------------------------------------------------------------

// Whether str objects that are interned are never freed.
inline constexpr bool kInternedIsImmortal = PY_VERSION_HEX >> 16 == 0x030C;

// ---- Dicts -----------------------------------------------------------------------

// The version of a dict (PEP 509): unique among all dicts, and different after each
// change. 0 if there is none: from 3.14 on, and for dicts whose values are stored in an
// instance.
inline std::uint64_t dict_version([[maybe_unused]] PyObject* dict) {
#if PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const auto* d = reinterpret_cast<PyDictObject*>(dict);
  return d->ma_values == nullptr ? d->ma_version_tag : 0;
#pragma GCC diagnostic pop
#else
  return 0;
#endif
}

// ---- Types -----------------------------------------------------------------------

// A type's own dict. Calls nothing.
inline Ref type_dict(PyTypeObject* type) {
#if PY_VERSION_HEX >= 0x030C0000
  return Ref::steal_or_null(PyType_GetDict(type));
#else
  return Ref::share(type->tp_dict);
#endif
}

// The version of a type, which is different after each change of the type or of a base;
// 0 if it has none.
inline std::uint32_t type_version(PyTypeObject* type) {
#if PY_VERSION_HEX < 0x030C0000
  if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG)) return 0;
#endif
  return type->tp_version_tag;
}

// The offset, in instances, of the slot that a descriptor accesses; 0 if it accesses
// none.
inline Py_ssize_t offset_of_member(PyObject* descriptor) {
  if (!Py_IS_TYPE(descriptor, &PyMemberDescr_Type)) return 0;
  const auto* member = reinterpret_cast<PyMemberDescrObject*>(descriptor)->d_member;
  return member->type == T_OBJECT_EX ? member->offset : 0;
}

// ---- Integers --------------------------------------------------------------------

// Whether an exact int has at most two digits (60 bits), as nearly all have; sets
// `value` if so.
inline bool is_short_integer(PyObject* integer, std::int64_t& value) {
  static_assert(2 * PyLong_SHIFT < 64);
  auto* number = reinterpret_cast<PyLongObject*>(integer);
  const auto two_digits = [](const digit* digits, std::int64_t sign) {
    return sign * (static_cast<std::int64_t>(digits[1]) << PyLong_SHIFT | digits[0]);
  };
#if PY_VERSION_HEX >= 0x030C0000
  if (PyUnstable_Long_IsCompact(number)) {
    value = PyUnstable_Long_CompactValue(number);
    return true;
  }
  const std::uintptr_t tag = number->long_value.lv_tag;
  if (tag >> _PyLong_NON_SIZE_BITS != 2) return false;
  value = two_digits(number->long_value.ob_digit,
                     1 - static_cast<std::int64_t>(tag & _PyLong_SIGN_MASK));
#else
  const Py_ssize_t size = Py_SIZE(integer);
  if (size >= -1 && size <= 1) {
    value = size * static_cast<std::int64_t>(number->ob_digit[0]);
    return true;
  }
  if (size < -2 || size > 2) return false;
  value = two_digits(number->ob_digit, size < 0 ? -1 : 1);
#endif
  return true;
}

// Bytes that the two's complement of an exact int needs; at least 1.
inline std::size_t integer_size(PyObject* integer) {
#if PY_VERSION_HEX >= 0x030D0000
  const Py_ssize_t size =
      PyLong_AsNativeBytes(integer, nullptr, 0, Py_ASNATIVEBYTES_BIG_ENDIAN);
  check(size < 0 ? -1 : 0);
  return static_cast<std::size_t>(size);
#else
  return _PyLong_NumBits(integer) / 8 + 1;
#endif
}

// Writes the two's complement, big-endian, into exactly `size` bytes.
inline void integer_to_bytes(PyObject* integer, std::uint8_t* bytes, std::size_t size) {
#if PY_VERSION_HEX >= 0x030D0000
  check(PyLong_AsNativeBytes(integer, bytes, static_cast<Py_ssize_t>(size),
                             Py_ASNATIVEBYTES_BIG_ENDIAN) < 0
            ? -1
            : 0);
#else
  check(_PyLong_AsByteArray(reinterpret_cast<PyLongObject*>(integer), bytes, size,
                            /*little_endian=*/0, /*is_signed=*/1));
#endif
}

inline Ref integer_from_bytes(const std::uint8_t* bytes, std::size_t size) {
#if PY_VERSION_HEX >= 0x030D0000
  return Ref::steal(PyLong_FromNativeBytes(bytes, size, Py_ASNATIVEBYTES_BIG_ENDIAN));
#else
  return Ref::steal(_PyLong_FromByteArray(bytes, size, /*little_endian=*/0,
                                          /*is_signed=*/1));
#endif
}

// ---- Attributes ------------------------------------------------------------------

// getattr(object, name, null), without creating an AttributeError.
inline Ref attribute_or_null(PyObject* object, const Ref& name) {
  PyObject* value = nullptr;
#if PY_VERSION_HEX >= 0x030D0000
  check(PyObject_GetOptionalAttr(object, name.get(), &value));
#else
  check(_PyObject_LookupAttr(object, name.get(), &value));
#endif
  return Ref::steal_or_null(value);
}

// The referent of a weak reference; null if it is dead.
inline Ref weakly_referenced(PyObject* reference) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* object = nullptr;
  check(PyWeakref_GetRef(reference, &object));
  return Ref::steal_or_null(object);
#else
  PyObject* object = PyWeakref_GetObject(reference);
  return object == Py_None ? Ref() : Ref::share(object);
#endif
}

// ---- Dicts -----------------------------------------------------------------------

#if PY_VERSION_HEX >= 0x030D0000
// CPython exports this function, but declares it in no header. Weak, so that the
// extension still loads if CPython removes it.
extern "C" PyObject* _PyDict_NewPresized(Py_ssize_t) __attribute__((weak));
#endif

// An empty dict with space for `count` entries.
inline Ref new_dict(Py_ssize_t count) {
#if PY_VERSION_HEX >= 0x030D0000
  if (_PyDict_NewPresized == nullptr) return Ref::steal(PyDict_New());
#endif
  return Ref::steal(count < 6 ? PyDict_New() : _PyDict_NewPresized(count));
}

// ---- The garbage collector -------------------------------------------------------

// Pauses the garbage collector while only new objects are made, none of which is
// garbage. From 3.12 on the collector does not run inside C code.
class CollectorPause {
 public:
  CollectorPause() { begin(); }
  ~CollectorPause() { end(); }
  CollectorPause(const CollectorPause&) = delete;
  CollectorPause& operator=(const CollectorPause&) = delete;

  // Ends the pause while Python code runs.
  class Break {
   public:
    explicit Break(CollectorPause& pause) : pause_(pause) { pause_.end(); }
    ~Break() { pause_.begin(); }
    Break(const Break&) = delete;
    Break& operator=(const Break&) = delete;

   private:
    CollectorPause& pause_;
  };

 private:
#if PY_VERSION_HEX < 0x030C0000
  void begin() { was_on_ = PyGC_Disable() != 0; }
  void end() {
    if (was_on_) PyGC_Enable();
  }

  bool was_on_ = false;
#else
  void begin() {}
  void end() {}
#endif
};

// ---- Frozen sets -----------------------------------------------------------------

// Fills a frozenset to which other objects refer already, as for a cycle through it.
// PySet_Add fills only frozensets with one reference. The initialiser of `set` works
// for both types, and is the same slot in all versions.
inline int fill_frozen_set(PyObject* frozen_set, PyObject* items) {
  Ref arguments = Ref::steal(PyTuple_Pack(1, items));
  return PySet_Type.tp_init(frozen_set, arguments.get(), nullptr);
}

}  // namespace waybill::py
