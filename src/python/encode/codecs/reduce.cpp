// Everything else: what copyreg or the object's own __reduce_ex__ says, as pickle asks
// for it. How the answer is written is in reduced_parts.cpp.
// Tested by tests/python/kinds/test_reduce.py.

#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"
#include "python/walker/class_attributes.h"

namespace waybill::py {

namespace {

constexpr int kProtocol = 5;  // The newest: buffers are handed out as PickleBuffer.

// The name by which an object that knows it can be found again; null if it cannot, or
// travels by value.
Ref own_name(EncodeContext& context, PyObject* object) {
  const State& state = context.state;
  const Ref type_name = name_of_type(state, Py_TYPE(object));
  const int knows_name = PySet_Contains(state.self_named.get(), type_name.get());
  check(knows_name);
  if (knows_name == 0) return {};
  const Ref module = attribute_or_null(object, state.names.module);
  for (const Ref* attribute : {&state.names.qualname, &state.names.name}) {
    Ref path = attribute_or_null(object, *attribute);
    if (!module || !path || !PyUnicode_Check(path.get())) continue;
    const GlobalName found = find_global(state, object, module.get(), path.get());
    if (found.module && !context.by_value.has(found.module.get()) &&
        is_findable(state, found.module.get())) {
      return path;
    }
  }
  return {};
}

// Whether an instance of a subclass of set or frozenset is taken apart by the builtin's
// own __reduce__, which lists the elements in the order that hashes give them.
bool lists_elements(const State& state, PyObject* object) {
  if (!PyAnySet_Check(object)) return false;
  PyTypeObject* base = PySet_Check(object) ? &PySet_Type : &PyFrozenSet_Type;
  // A subclass that iterates in an order of its own means it.
  if (Py_TYPE(object)->tp_iter != base->tp_iter) return false;
  for (const Ref& name : {state.names.reduce, state.names.reduce_ex}) {
    auto* own = type_of(object);
    const Ref found = Ref::steal(PyObject_GetAttr(own, name.get()));
    const Ref builtin = Ref::steal(PyObject_GetAttr(as_object(base), name.get()));
    if (found.get() != builtin.get()) return false;
  }
  return true;
}

// The answer of such a __reduce__, with the elements in canonical order.
Ref with_sorted_elements(EncodeContext& context, PyObject* object, const Ref& answer) {
  const Ref sorted =
      sorted_elements(context.state, context.infos(), elements_of(object));
  const Ref list = Ref::steal(PySequence_List(sorted.get()));
  const Ref arguments = Ref::steal(PyTuple_Pack(1, list.get()));
  return Ref::steal(PyTuple_Pack(3, PyTuple_GET_ITEM(answer.get(), 0), arguments.get(),
                                 PyTuple_GET_ITEM(answer.get(), 2)));
}

// The name of the package that something says it is of; empty if it says nothing.
std::string package_of(const State& state, PyObject* object) {
  const Ref module = attribute_or_null(object, state.names.module);
  if (!module || !PyUnicode_Check(module.get())) return {};
  std::string name(text_of(module.get()));
  return name.substr(0, name.find('.'));
}

// Whether no user has registered a reducer, but a library. Ours are more faithful: to
// types in C of that library, such as ufuncs of NumPy, and to exceptions and
// tracebacks, which tblib registers so that they travel with their causes.
bool is_of_library(const State& state, PyObject* object, PyObject* reducer) {
  const Ref partial = Ref::steal(PyUnicode_FromString("func"));
  const Ref wrapped = attribute_or_null(reducer, partial);
  const std::string package = package_of(state, wrapped ? wrapped.get() : reducer);
  if (PyExceptionInstance_Check(object) || PyTraceBack_Check(object)) {
    return package == "tblib";
  }
  auto* type = type_of(object);
  return !package.empty() && package == package_of(state, type);
}

// What object.__reduce_ex__ would answer if a class's __slots__ still named its slots:
// anything may have been set there since. Throws the error that is set where that is
// not what it failed of.
Ref answer_by_members(const State& state, PyObject* object) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PyError();
  const PendingError failed;
  PyObject* helper = state.reduce_by_members.get();
  Ref answer = Ref::steal_or_null(PyObject_CallOneArg(helper, object));
  if (!answer) forgive(PyExc_TypeError);
  if (answer && answer.get() != Py_None) return answer;
  failed.restore();
  throw PyError();
}

// Whether what holds the object is pandas' own, which would write to memory that it
// does not know to be shared.
bool is_of_pandas(EncodeContext& context) {
  constexpr int kMostContainers = 4;
  int containers = 0;
  for (auto frame = context.stack.end(); frame != context.stack.begin();) {
    PyObject* holder = (--frame)->object.get();
    if (frame->plan) {
      auto* type = type_of(holder);
      return package_of(context.state, PyType_Check(holder) ? holder : type) ==
             "pandas";
    }
    if (++containers == kMostContainers) break;
  }
  return false;
}

// What the plan of a payload says of an array that shares its memory with others; null
// for all else. Without a plan it is noted, for one.
Ref array_answer(EncodeContext& context, PyObject* object) {
  if (!is_array(object) || is_of_pandas(context)) return {};
  if (PyObject* plan = context.options.array_plan) {
    return ArrayViews::answer(plan, object);
  }
  if (context.hooks().calls_nobody()) context.arrays.meet(object);
  return {};
}

Ref reduce(EncodeContext& context, PyObject* object) {
  const State& state = context.state;
  if (context.hooks().replace != nullptr) {
    // (policy, answer) for what must not travel as it is; None for all else.
    const Ref choice = call(context.hooks().replace, object);
    if (choice.get() != Py_None) {
      context.note_substitution(object, text_of(PyTuple_GET_ITEM(choice.get(), 0)));
      return Ref::share(PyTuple_GET_ITEM(choice.get(), 1));
    }
  }
  const Ref registered = user_reducer(context, Py_TYPE(object));
  const bool is_method = is_wrapper(object) && !is_put_by_typing(state, object);
  Ref reducer = is_method ? Ref() : context.types.reducer_of(state, object);
  const bool has_own = is_method || reducer;
  if (registered && !(has_own && is_of_library(state, object, registered.get()))) {
    reducer = registered;  // What a user means, even where we have a reducer.
  } else if (is_method) {
    return Ref::steal(
        PyTuple_Pack(2, type_of(object), parts_of_wrapper(state, object).get()));
  } else if (Ref name = reducer ? own_name(context, object) : Ref()) {
    return name;
  }
  if (reducer) return call(reducer.get(), object);
  if (Ref answer = array_answer(context, object)) return answer;
  const Ref copy = copy_in_order(state, object);
  Ref protocol = Ref::steal(PyLong_FromLong(kProtocol));
  Ref answer = Ref::steal_or_null(PyObject_CallMethodOneArg(
      copy ? copy.get() : object, state.names.reduce_ex.get(), protocol.get()));
  if (!answer) answer = answer_by_members(state, object);
  return lists_elements(state, object) ? with_sorted_elements(context, object, answer)
                                       : answer;
}

}  // namespace

void describe_reduced(EncodeContext& context, PyObject* object, Plan& plan) {
  const Ref answer = reduce(context, object);
  describe_answer(context, object, answer.get(), plan);
}

}  // namespace waybill::py
