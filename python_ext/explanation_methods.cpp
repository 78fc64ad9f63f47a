// Explanations as capsules, and functions that read them.
// Tested by tests/python/explain.

#include <memory>
#include <string>

#include "conversions.h"
#include "methods.h"
#include "options.h"
#include "python/live_explanation.h"
#include "python/runtime/attribute.h"
#include "waybill/explanation.h"

namespace waybill::extension {
namespace {

constexpr char kCapsule[] = "waybill.explanation";

Ref new_explanation(Explanation explanation) {
  return to_capsule(std::make_unique<Explanation>(std::move(explanation)), kCapsule);
}

Explanation& explanation_of(PyObject* capsule) {
  return content_of<Explanation>(capsule, kCapsule);
}

Ref explain(PyObject* module, PyObject* const* arguments) {
  const EncodeOptions options(arguments[1]);
  return new_explanation(py::explain(state_of(module), arguments[0], options.hooks,
                                     none_to_null(arguments[2])));
}

Ref row_of(const CodePlace& place) {
  const Ref parts[] = {text(place.file), text(place.expression), text(place.function)};
  return Ref::steal(Py_BuildValue("(OIOO)", parts[0].get(), place.line, parts[1].get(),
                                  parts[2].get()));
}

Ref total(PyObject*, PyObject* capsule) {
  const Explanation& explanation = explanation_of(capsule);
  return Ref::steal(
      Py_BuildValue("(KK)", static_cast<unsigned long long>(explanation.total),
                    static_cast<unsigned long long>(explanation.summed_up)));
}

Ref parts(PyObject*, PyObject* capsule) {
  return list_of(explanation_of(capsule).parts, [](const ExplainedPart& part) {
    const Ref fields[] = {text(part.step), text(part.variable), text(part.type),
                          text(part.detail), row_of(part.place)};
    return Ref::steal(Py_BuildValue(
        "(nOOiOOsiKKKO)", static_cast<Py_ssize_t>(part.parent), fields[0].get(),
        fields[1].get(), part.evaluates ? 1 : 0, fields[2].get(), fields[3].get(),
        name_of(part.kind).data(), part.is_shared ? 1 : 0,
        static_cast<unsigned long long>(part.bytes),
        static_cast<unsigned long long>(part.own),
        static_cast<unsigned long long>(part.own_hash), fields[4].get()));
  });
}

Ref blockers(PyObject*, PyObject* capsule) {
  return list_of(explanation_of(capsule).blockers, [](const Blocker& blocker) {
    const Ref paths =
        list_of(blocker.paths, [](const std::string& path) { return text(path); });
    const Ref fields[] = {text(blocker.path),   text(blocker.short_path),
                          text(blocker.type),   text(blocker.reason),
                          text(blocker.remedy), row_of(blocker.place)};
    return Ref::steal(Py_BuildValue(
        "(OOiOKOOOO)", fields[0].get(), fields[1].get(), blocker.evaluates ? 1 : 0,
        paths.get(), static_cast<unsigned long long>(blocker.path_count),
        fields[2].get(), fields[3].get(), fields[4].get(), fields[5].get()));
  });
}

Ref imports(PyObject*, PyObject* capsule) {
  return list_of(explanation_of(capsule).imports, [](const ExplainedImport& import) {
    const Ref row = import_row(import.record);
    return Ref::steal(Py_BuildValue("(Oi)", row.get(), import.is_missing ? 1 : 0));
  });
}

Ref source(PyObject*, PyObject* capsule) {
  const auto& source = explanation_of(capsule).source;
  if (!source) return Ref::share(Py_None);
  const Ref without = list_of(source->without, [](const CodePlace& place) {
    const Ref fields[] = {text(place.function), text(place.file)};
    return Ref::steal(
        Py_BuildValue("(OOI)", fields[0].get(), fields[1].get(), place.line));
  });
  return Ref::steal(
      Py_BuildValue("(KKO)", static_cast<unsigned long long>(source->bytes),
                    static_cast<unsigned long long>(source->functions), without.get()));
}

void mark_missing(PyObject*, PyObject* const* arguments) {
  for (ExplainedImport& import : explanation_of(arguments[0]).imports) {
    const Ref name = text(import.record.module);
    const int has = PySet_Contains(arguments[1], name.get());
    import.is_missing = check(has) != 0;
  }
}

Ref as_text(PyObject*, PyObject* arguments) {
  PyObject* capsule;
  Py_ssize_t top, columns;
  int colours;
  if (!PyArg_ParseTuple(arguments, "Onnp", &capsule, &top, &columns, &colours)) {
    throw PyError();
  }
  ExplanationTextOptions options;
  options.top = static_cast<std::size_t>(top < 0 ? 0 : top);
  options.columns = static_cast<std::size_t>(columns < 0 ? 0 : columns);
  options.colours = colours != 0;
  return text(explanation_text(explanation_of(capsule), options));
}

Ref telling(PyObject*, PyObject* arguments) {
  PyObject* capsule;
  Py_ssize_t most;
  if (!PyArg_ParseTuple(arguments, "On", &capsule, &most)) throw PyError();
  const auto count = static_cast<std::size_t>(most < 0 ? 0 : most);
  return list_of(
      significant_parts(explanation_of(capsule), count),
      [](const SignificantPart& part) {
        return Ref::steal(Py_BuildValue("(nK)", static_cast<Py_ssize_t>(part.part),
                                        static_cast<unsigned long long>(part.bytes)));
      });
}

Ref size_as_text(PyObject*, PyObject* size) { return text(size_text(number_of(size))); }

Ref as_json(PyObject*, PyObject* capsule) {
  return text(explanation_json(explanation_of(capsule)));
}

Ref as_html(PyObject*, PyObject* arguments) {
  PyObject* capsule;
  const char* title;
  if (!PyArg_ParseTuple(arguments, "Os", &capsule, &title)) throw PyError();
  return text(explanation_html(explanation_of(capsule), title));
}

}  // namespace

PyMethodDef kExplanationMethods[] = {
    method<explain, 3>("explain"),
    method<total>("explanation_total"),
    method<parts>("explanation_parts"),
    method<blockers>("explanation_blockers"),
    method<imports>("explanation_imports"),
    method<source>("explanation_source"),
    method<mark_missing, 2>("mark_missing"),
    method<as_text>("explanation_text", METH_VARARGS),
    method<telling>("explanation_telling", METH_VARARGS),
    method<size_as_text>("size_text"),
    method<as_json>("explanation_json"),
    method<as_html>("explanation_html", METH_VARARGS),
    {},  // Ends the table.
};

void complete_error(State& state, PyObject* object, const py::EncodeHooks& hooks) {
  if (PyErr_ExceptionMatches(PyExc_MemoryError)) return;
  Ref raised;
  try {
    raised = py::take_error();
    const bool is_ours =
        py::is_instance_of(state, raised.get(), &py::LateHelpers::encode_error);
    // A reducer that calls dumps() passes on an error that is complete already. Walking
    // the object again would call the reducer again, and double the work per level.
    if (is_ours && hooks.is_rewalkable() &&
        py::get_attribute(raised.get(), "_explanation").get() == Py_None) {
      const Ref explanation = new_explanation(py::explain(state, object, hooks));
      Ref::steal(PyObject_CallFunctionObjArgs(
          py::late(state, &py::LateHelpers::complete_error), raised.get(),
          explanation.get(), nullptr));
    }
  } catch (const PyError&) {
    // The error of dumps() is the important one.
  } catch (const std::exception&) {
    // No memory for an explanation.
  }
  py::restore_error(raised);
}

}  // namespace waybill::extension
