// Explanations as capsules, and functions that read them.
// Tested by tests/python/explain.

#include <algorithm>
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
  return tuple_of(place.file, place.line, place.expression, place.function);
}

Ref total(PyObject*, PyObject* capsule) {
  const Explanation& explanation = explanation_of(capsule);
  return tuple_of(explanation.total, explanation.omitted_parts);
}

Ref parts(PyObject*, PyObject* capsule) {
  return new_list(explanation_of(capsule).parts, [](const ExplainedPart& part) {
    return tuple_of(part.parent, part.step, part.variable, part.evaluates, part.type,
                    part.detail, name_of(part.kind), part.is_shared, part.bytes,
                    part.own, part.own_hash, row_of(part.place));
  });
}

Ref blockers(PyObject*, PyObject* capsule) {
  return new_list(explanation_of(capsule).blockers, [](const Blocker& blocker) {
    const Ref paths = new_list(blocker.paths, new_text);
    return tuple_of(blocker.path, blocker.short_path, blocker.evaluates, paths,
                    blocker.path_count, blocker.type, blocker.reason, blocker.remedy,
                    row_of(blocker.place));
  });
}

Ref imports(PyObject*, PyObject* capsule) {
  return new_list(explanation_of(capsule).imports, [](const ExplainedImport& import) {
    return tuple_of(extension::row_of(import.record), import.is_missing);
  });
}

Ref source(PyObject*, PyObject* capsule) {
  const auto& source = explanation_of(capsule).source;
  if (!source) return Ref::share(Py_None);
  const Ref without = new_list(source->without, [](const CodePlace& place) {
    return tuple_of(place.function, place.file, place.line);
  });
  return tuple_of(source->bytes, source->functions, without);
}

void mark_missing(PyObject*, PyObject* const* arguments) {
  for (ExplainedImport& import : explanation_of(arguments[0]).imports) {
    const Ref name = new_text(import.record.module);
    const int has = PySet_Contains(arguments[1], name.get());
    import.is_missing = check(has) != 0;
  }
}

// A negative number counts as 0.
std::size_t count_of(PyObject* number) {
  return static_cast<std::size_t>(std::max(signed_number_of(number), 0L));
}

Ref as_text(PyObject*, PyObject* const* arguments) {
  ExplanationTextOptions options;
  options.top = count_of(arguments[1]);
  options.columns = count_of(arguments[2]);
  options.colours = is_true(arguments[3]);
  return new_text(explanation_text(explanation_of(arguments[0]), options));
}

Ref largest_parts(PyObject*, PyObject* const* arguments) {
  return new_list(
      significant_parts(explanation_of(arguments[0]), count_of(arguments[1])),
      [](const SignificantPart& part) { return tuple_of(part.part, part.bytes); });
}

Ref size_as_text(PyObject*, PyObject* size) {
  return new_text(size_text(number_of(size)));
}

Ref as_json(PyObject*, PyObject* capsule) {
  return new_text(explanation_json(explanation_of(capsule)));
}

Ref as_html(PyObject*, PyObject* const* arguments) {
  const char* title = PyUnicode_AsUTF8(arguments[1]);
  if (title == nullptr) throw PyError();
  return new_text(explanation_html(explanation_of(arguments[0]), title));
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
    method<as_text, 4>("explanation_text"),
    method<largest_parts, 2>("explanation_largest"),
    method<size_as_text>("size_text"),
    method<as_json>("explanation_json"),
    method<as_html, 2>("explanation_html"),
    {},  // Ends the table.
};

void complete_error(State& state, PyObject* object, const py::EncodeHooks& hooks) {
  if (PyErr_ExceptionMatches(PyExc_MemoryError)) return;
  Ref raised;
  try {
    raised = py::take_error();
    const bool is_encode_error =
        py::is_instance_of(state, raised.get(), &py::LazyHelpers::encode_error);
    // A reducer that calls dumps() passes on an error that is complete already. Walking
    // the object again would call the reducer again, and double the work per level.
    if (is_encode_error && hooks.is_rewalkable() &&
        py::get_attribute(raised.get(), "_explanation").get() == Py_None) {
      const Ref explanation = new_explanation(py::explain(state, object, hooks));
      py::call(py::lazy_helper(state, &py::LazyHelpers::complete_error), raised.get(),
               explanation.get());
    }
  } catch (const PyError&) {
    // An error of the explanation must not replace the error of dumps().
  } catch (const std::exception&) {
    // No memory for an explanation.
  }
  py::restore_error(raised);
}

}  // namespace waybill::extension
