#pragma once

// Ids of classes by value, and of other objects that exist once in each process. The
// ids are stored by waybill._classes.identity; this file looks them up.

#include <Python.h>

#include <map>
#include <string>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The object with this id; null if there is none.
Ref object_with_id(const State& state, PyObject* id);

// The object with this id if it is complete, else null.
Ref identified_object(const State& state, PyObject* id);

// The tracker's entry for an object: weak reference, id, whether this process is its
// home, and how far the id was incremented from the hash of its content to be unique.
// Borrowed; null if there is none.
PyObject* tracked_entry(const State& state, PyObject* object);

// Whether an object was sent or received with an id.
bool has_id(const State& state, PyObject* object);

// Whether the tracker has a source id of a class.
bool has_source_id(const State& state, PyObject* type);

// Whether a class, or null, was received with a source id. Its code is then sent with
// source, so that other versions of Python can use it.
bool is_from_source(const State& state, PyObject* type);

// Whether this process is the home of a class: the program made it, not a payload.
bool is_home(const State& state, PyObject* type);

// The id of an object. Does not mark it as sent.
Ref own_id(const State& state, PyObject* object);

// The source id of a class: the one with which it was received or, if `can_compute`,
// the one computed from its source. Null if there is none. May run Python code.
Ref source_id_of(const State& state, PyObject* type, bool can_compute);

// The ids in one payload.
class ObjectIds {
 public:
  // The id of an object, which is marked as sent.
  Ref id_of(const State& state, PyObject* object);

 private:
  Ref distinguish(Ref id, PyObject* object);

  std::map<std::string, PyObject*> written_;  // Ids of objects other than classes.
};

}  // namespace waybill::py
