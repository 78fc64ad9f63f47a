#pragma once

// The state of waybill in one interpreter. It belongs to the extension module, or to a
// value of the embedding program. There is no other state per interpreter.

#include <Python.h>

#include <memory>

#include "python/runtime/code_cache.h"
#include "python/runtime/ref.h"
#include "python/runtime/text.h"
#include "python/runtime/version_caches.h"
#include "waybill/envelope.h"

namespace waybill::py {

class DecodeCache;
class CachedHeads;
class ClassCache;

// Interned strings for look-ups.
struct Names {
  Ref dict, name, package, path, spec, builtins, module, qualname;
  Ref class_, new_, reduce, reduce_ex, getstate, setstate, getnewargs, getnewargs_ex,
      slotnames, copyreg, newobj;
  Ref first_line;  // The name `__firstlineno__`.
  Ref doc, slots, init_subclass, abc_impl, annotate_func, annotations_cache;
  Ref enum_module, member_map, member_type, member_value;
  Ref context_data, class_manager, file, typing;
  Ref classdict, main, getattr, getattr_hook, getattribute, extend;
  Ref initializing, name_plain, builtins_plain, types, modules, lazy_modules, empty,
      loader, cached;
  Ref flags, forc, copy, dtype, names;  // Attributes of arrays.
  Ref fget, fset, fdel, func;           // Attributes of wrappers.
  Ref id_of, source_id_of, record_sent, claim, close,
      forget;                            // Methods of the tracker.
  Ref find_by_source_id, set_source_id;  // Methods of the tracker.
  // Methods of the merge.
  Ref add, add_members, add_module, add_imports, settle, apply, abandon;
  Ref waybill_state, wrapped;
};

// Helpers in Python that lazy_helper() imports on first use, because their modules
// import slow modules, such as pickle, or this extension itself.
struct LazyHelpers {
  // Exception classes of the Python face.
  Ref error, encode_error, decode_error, python_mismatch_error, missing_module_error,
      policy_error, signature_error;
  Ref make_encode_error;
  Ref remedy;                  // The remedy for an object that cannot be sent.
  Ref shape_of;                // The size of an array or a data frame, as text.
  Ref complete_error;          // Adds the result of an explanation to an EncodeError.
  Ref dumps_with, loads_with;  // dumps() and loads() with options.
  // waybill._source.extension: source of code, and classes from another Python version.
  Ref prove_source, compile_source, set_annotations;
  Ref keep_source, is_from_source;  // Null while no code was received with source.
  Ref make_foreign_class, class_attribute, set_foreign_state;
  Ref parts_by_source;
  Ref opaque;                // The stand-in for an object that cannot be built.
  Ref default_renames;       // Renames that apply without an argument.
  Ref advice, explain_name;  // Remedies for missing modules and names.
};

struct State {
  Names names;
  // waybill._api.lazy.load, and the helpers from the modules that it returned.
  Ref load_lazily;
  mutable LazyHelpers lazy_helpers;
  // The dict of `sys`, in which sys.modules is looked up each time.
  Ref sys_dict;
  // The module `builtins`, used if sys.modules has none.
  Ref builtins;
  // {name: spec} of the modules for which is_findable() was true, and false.
  Ref findable_modules, unfindable_modules;
  Ref empty_dict;  // The argument that makes empty frozendicts; never changed.
  // types.LazyImportType; null before 3.15.
  Ref lazy_import_type;
  // {type: name in `types`} for builtin types that `builtins` does not hold.
  Ref named_types;
  // copyreg's dispatch_table, __newobj__, __newobj_ex__ and _reconstructor.
  Ref dispatch_table, newobj, newobj_ex, reconstructor;
  // The codecs in Python: waybill._reducers, waybill._classes.parts and
  // waybill._classes.making.
  Ref reducers, named_reducers, class_parts;
  Ref call_types;  // Types whose own reducers return a call, by name and module.
  Ref abc_meta, registry_of;  // abc.ABCMeta; the registry of one of its classes.
  // Names of attributes that enum.EnumType adds to classes, and to members.
  Ref derived_by_enum, member_attributes;
  Ref implicit_attributes;  // Names of class attributes that Python sets.
  Ref make_class, set_class_attribute, finish_class, make_lazy_import;
  // Reducers for special cases.
  Ref reduce_global;         // For a global of a module by value.
  Ref reduce_to_fresh;       // For a lock or thread-local of a module by value.
  Ref reduce_to_name;        // For an object that is a global of its class's module.
  Ref reduce_by_type;        // For an object whose __class__ is not its type.
  Ref reduce_to_stand_in;    // For an object of an extension in a package by value.
  Ref reduce_without_class;  // For an instance that is needed before its class exists.
  Ref reduce_by_members;     // For an instance whose class has replaced its __slots__.
  // Further helpers of waybill._reducers.
  Ref with_globals;    // Returns its first argument; see DeferredGlobals.
  Ref plan_of_arrays;  // Decides how arrays that share memory travel.
  Ref copy_in_order;   // Makes a contiguous copy of an array.
  Ref stand_in_for;    // Makes the stand-in for a missing module.
  // waybill._classes.annotations: {text: code} of annotations, and the function that
  // compiles them.
  Ref annotation_codes, code_of_annotation;
  Ref self_named;  // Names of types whose instances have __module__ and a name.
  Ref identified;  // Callables of reducers whose results have an id.
  // parts_to_relay() and has_replaced_methods() of waybill._state.baselines;
  // waybill._state.merge.Merge; and two dicts of baselines by the id of the class: a
  // number that changes with each baseline, and the recently used ones.
  Ref parts_to_relay, has_replaced_methods, make_merge, class_serials, class_uses;
  // waybill._classes.identity.Tracker, and its dicts: {address: entry}, {id: weak
  // reference}, incomplete objects, and {address: entry} for source ids of classes.
  Ref tracker, known_ids, known_objects, open_objects, source_ids;
  // The module waybill._modules.by_value, its is_local() and is_found(), and the set of
  // modules that are registered to travel by value.
  Ref modules, is_local, is_found, registered;
  // waybill._api.configuration.OPTIONS: the dict of options for the whole process.
  Ref options;
  // The running Python, which is written into envelopes and checked on loading.
  PythonVersion python;
  // Marks a cell as empty while a payload is read.
  Ref empty_cell_marker;
  // The index of CodeInfo in the extras of code objects; -1 if there is none.
  Py_ssize_t code_extra_index = -1;
  // Whether the JIT is on. Frames of compiled code may not own their functions (3.14).
  bool has_jit = false;
  bool uses_caches = true;
  // Functions and classes whose cached definitions were used, or were outdated.
  std::uint64_t encode_hits = 0, encode_misses = 0;
  std::uint64_t definition_count = 0;  // The last CachedDefinition::number.
  // Payloads for which the decode cache was used, or searched in vain.
  std::uint64_t decode_hits = 0, decode_misses = 0;
  // Incremented when the caches are cleared, which invalidates those on code objects.
  std::uint64_t cache_generation = 0;
  // Caches. They never change results.
  std::shared_ptr<ClassCache> class_cache;
  std::shared_ptr<CachedHeads> head_cache;
  std::shared_ptr<DecodeCache> decode_cache;
  mutable DictLookupCache dict_lookup_cache;
  mutable InternTable intern_table;
  mutable CodeCache code_cache;
  mutable OrdinaryTypes ordinary_types;
  // Types of which only copyreg's table can change how instances are reduced.
  mutable TypeCache plain_types;
};

// Sets all members but `lazy_helpers` and those of higher layers, which start() of the
// serializer sets. Throws PyError.
void init_state(State& state);

// Returns a lazy helper, borrowed from the state. It may import modules, so no error
// may be set, and other threads may run meanwhile.
PyObject* lazy_helper(const State& state, Ref LazyHelpers::* helper);

// Whether an exception, which must not be the current error, is an instance of a class.
bool is_instance_of(const State& state, PyObject* exception, Ref LazyHelpers::* type);

// For the module's garbage collector slots.
int traverse_state(State& state, visitproc visit, void* arg);
void clear_state(State& state);

}  // namespace waybill::py
