#pragma once

// What has an id of its own: classes by value, and what else is one object in each
// process. waybill._identity keeps the ids; here they are looked up.

#include <Python.h>

#include <map>
#include <string>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// What has this id; null if nothing has.
Ref object_with_id(const State& state, PyObject* id);

// The same if it is complete, else null.
Ref identified_object(const State& state, PyObject* id);

// What the tracker notes of an object: reference, id, whether it is at home, and how
// far the id is from its content. Borrowed; null if it notes nothing.
PyObject* tracked_entry(const State& state, PyObject* object);

// Whether it was sent or received under an id of its own.
bool has_id(const State& state, PyObject* object);

// Whether an id by its source is noted of a class.
bool has_source_id(const State& state, PyObject* type);

// Whether a class, or null, has arrived with an id by its source: its code is to be
// understood by another Python, too.
bool came_with_source(const State& state, PyObject* type);

// Whether the program of this process made the class, or else a payload. What is at
// home has its methods from here.
bool is_home(const State& state, PyObject* type);

// The id of an object, without noting that it travels.
Ref own_id(const State& state, PyObject* object);

// The id that the source of a class gives; null if it has none. Found by what came with
// the class or, with `is_asked`, by its source. May run code of others.
Ref text_id_of(const State& state, PyObject* type, bool is_asked);

// Those in one payload.
class ObjectIds {
 public:
  // The same, for an object that travels.
  Ref id_of(const State& state, PyObject* object);

 private:
  Ref among_twins(Ref id, PyObject* object);

  std::map<std::string, PyObject*> written_;  // Of what is no class.
};

}  // namespace waybill::py
