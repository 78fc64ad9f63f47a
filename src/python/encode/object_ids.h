#pragma once

// The 16 bytes by which classes and the like are known to whoever gets them.

#include <Python.h>

#include <map>
#include <string>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

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
