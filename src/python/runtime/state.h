#pragma once

// What waybill keeps per interpreter: on the extension module, or on the embedding
// program's value. There is no other state.

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

// Interned strings that are looked up on every call.
struct Names {
  Ref dict, name, package, path, spec, builtins, module, qualname;
  Ref class_, new_, reduce, reduce_ex, getstate, setstate, getnewargs, getnewargs_ex,
      slotnames, copyreg, newobj;
  Ref first_line;                                            // Of a class.
  Ref dataclass_fields, attrs_attrs, hash, pydantic_fields;  // What libraries write.
  Ref doc, slots, init_subclass, abc_impl, annotate_func, annotations_cache;
  Ref context_data, class_manager, file, typing;
  Ref classdict, main, getattr, getattr_hook, getattribute, extend;
  Ref initializing, name_plain, builtins_plain, types, modules, lazy_modules, empty,
      loader, cached;
  Ref flags, forc, copy, dtype, names;                // Of arrays.
  Ref fget, fset, fdel, func;                         // What methods wrap.
  Ref id_of, text_id_of, sent, claim, close, forget;  // Of the tracker.
  Ref find_by_text, note_text_id;                     // Likewise.
  Ref add, add_members, add_module, add_imports, settle, apply, abandon;  // Of a merge.
  Ref waybill_state, wrapped;
};

// What is fetched from Python's half when it is first needed, by late(): it needs what
// takes long to import, as exceptions need pickle, or needs this module itself.
struct LateHelpers {
  // Exception classes of the Python face.
  Ref error, encode_error, decode_error, python_mismatch_error, missing_module_error,
      policy_error, signature_error;
  Ref make_encode_error;
  Ref remedy;                  // What to do about an object that refused to travel.
  Ref shape_of;                // How much is in an array or a frame, as text.
  Ref complete_error;          // Tells an EncodeError what an explanation says.
  Ref dumps_with, loads_with;  // With options.
  // waybill._source.extension: source of code, and classes that another Python took
  // apart.
  Ref prove_source, compile_source, set_annotations;
  Ref keep_source, came_with_source;  // Null as long as no code came with source.
  Ref make_foreign_class, class_attribute, set_foreign_state;
  Ref parts_by_source;
  Ref opaque;                // What stands in for what cannot be built.
  Ref default_renames;       // Renames that no caller gave.
  Ref advice, explain_name;  // What errors say of names that are not here.
};

struct State {
  Names names;
  // waybill._late.load, and what was taken from the modules that it gave.
  Ref load_late;
  mutable LateHelpers late;
  // The dict of `sys`: where sys.modules is looked up anew each time.
  Ref sys_dict;
  // The module `builtins`, for when sys.modules has none.
  Ref builtins;
  // By name, the specs of modules that finders were asked about: is_findable().
  Ref found, lost;
  Ref empty_dict;  // What frozendicts without items are made of; stays empty.
  // types.LazyImportType; null before 3.15.
  Ref lazy_import_type;
  // {type: name in `types`} for builtin types that `builtins` does not hold.
  Ref named_types;
  // copyreg's dispatch_table, __newobj__, __newobj_ex__ and _reconstructor.
  Ref dispatch_table, newobj, newobj_ex, reconstructor;
  // Python's half of the codecs, from waybill._reducers, waybill._class_parts and
  // waybill._classes.
  Ref reducers, named_reducers, class_parts;
  Ref implicit_attributes;  // Attributes that classes do not have from their authors.
  Ref make_class, set_class_attribute, finish_class, make_lazy_import;
  Ref take_global_apart;  // What is found by name in a module that travels by value.
  Ref fresh_global;       // What makes anew what such a module has of a thread's own.
  Ref reduce_to_name;     // For what is found by name in the module of its class.
  Ref reduce_by_type;     // What tells another class than its own.
  Ref with_globals;       // Answers its first argument.
  Ref stand_in_answer;    // For what an extension of a package by value made.
  Ref reduce_without_class;  // Those that are met before their class is there.
  Ref plan_of_arrays;        // How arrays travel that share memory.
  Ref copy_in_order;         // Of an array that is not in order.
  Ref reduce_by_members;  // Instances whose class's __slots__ does not name the slots.
  Ref stand_in_for;       // What stands for a module that is not here.
  // waybill._annotations: code of annotations that are text, and what makes it.
  Ref annotation_codes, code_of_annotation;
  Ref self_named;  // Names of types whose instances know module and name.
  Ref identified;  // Callables of reducers: what they make has an id.
  // waybill._merge.Merge. Of waybill._baselines: home_state_of; by id of class, what
  // changes whenever a baseline does, and which baselines were used of late.
  Ref home_state_of, make_merge, class_serials, class_uses;
  // waybill._identity.Tracker, and its dicts: ids by address, each with a weak
  // reference to what stands there; objects by id, as weak references; those that are
  // not complete.
  // Ids by the source of classes, by address.
  Ref tracker, known_ids, known_objects, open_objects, text_ids;
  // The module waybill._modules, its is_local() and is_found(), and the set of modules
  // that are registered to travel by value.
  Ref modules, is_local, is_found, registered;
  // waybill._configuration.OPTIONS: a dict of the process's own options.
  Ref options;
  // The running Python: what payloads are stamped with and checked against.
  PythonVersion python;
  // Stands for the content of an empty cell while a payload is read.
  Ref empty;
  // Where CodeInfo hangs on code objects; -1 if there is no place (see code_info.h).
  Py_ssize_t code_extra_index = -1;
  // Whether code is compiled, whose frames need not own their functions (3.14).
  bool has_jit = false;
  // Whether what speeds up what comes again is in use.
  bool uses_caches = true;
  // Functions and classes that were sent as they were kept, and those that were kept
  // and had changed.
  std::uint64_t encode_hits = 0, encode_misses = 0;
  std::uint64_t definition_count = 0;  // So many were made.
  // Payloads whose known nodes were not read again, and all others that looked.
  std::uint64_t decode_hits = 0, decode_misses = 0;
  // Raised when the caches are emptied: what was kept on code objects is of one.
  std::uint64_t cache_generation = 0;
  // What speeds up what comes again; none of it changes what anything means.
  std::shared_ptr<ClassCache> class_cache;
  std::shared_ptr<CachedHeads> head_cache;
  std::shared_ptr<DecodeCache> received;
  mutable DictLookupCache dict_lookup_cache;
  mutable InternTable intern_table;
  mutable CodeCache code_cache;
  mutable OrdinaryTypes ordinary_types;
  // In how their instances are taken apart nothing but copyreg has a say.
  mutable TypeCache plain_types;
};

// Fills all but `late`, and but what rooms above keep here: start() of the serializer
// does that too. Throws PyError.
void init_state(State& state);

// One of the late helpers, borrowed from the state, which keeps it from then on. May
// import modules: no error may be set, and other threads may run.
PyObject* late(const State& state, Ref LateHelpers::* helper);

// Whether an exception, which must not be set, is of a class of these.
bool is_of(const State& state, PyObject* exception, Ref LateHelpers::* type);

// For the module's garbage collector slots.
int traverse_state(State& state, visitproc visit, void* arg);
void clear_state(State& state);

}  // namespace waybill::py
