// Tested by tests/python/classes/test_class_identity.py.

#include <algorithm>

#include "format/source_locations.h"
#include "format/source_units.h"
#include "python/decode/arrivals.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"
#include "wire/reader.h"

namespace waybill::py {

using wire::ExtType;
using wire::NodeTag;

namespace {

std::string_view as_text(BytesView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Whether a class that is here already may stand in the payload, from `start` on: only
// such a one can have another object in an attribute's place. `is_here`: of an id.
template <typename IsHere>
bool meets_known_class(const VerifiedEnvelope& envelope, std::size_t start,
                       IsHere is_here) {
  constexpr char kTag[] = {static_cast<char>(wire::kFixedExtension),
                           static_cast<char>(ExtType::kNode),
                           static_cast<char>(NodeTag::kClass)};
  const BytesView bytes = envelope->payload.bytes;
  const std::string_view payload(reinterpret_cast<const char*>(bytes.data()),
                                 bytes.size());
  const std::string_view tag(kTag, sizeof kTag);
  std::size_t at = payload.find(tag, start);
  for (; at != std::string_view::npos; at = payload.find(tag, at + 1)) {
    wire::Reader reader(bytes.subspan(at + tag.size()));
    BytesView id;
    if (reader.read_binary(id, "an id") && is_here(id)) return true;
  }
  return false;
}

}  // namespace

Arrivals::~Arrivals() {
  const bool is_abandoned = merge_ && !is_merged_;
  if (open_claims_.empty() && !is_abandoned) return;
  const CollectorPause::Break others(collector_);
  const PendingError pending;
  if (is_abandoned && !Ref::steal_or_null(PyObject_CallMethodNoArgs(
                          merge_.get(), state_.names.abandon.get()))) {
    PyErr_Clear();
  }
  for (const Ref& id : open_claims_) {
    if (!Ref::steal_or_null(PyObject_CallMethodOneArg(
            state_.tracker.get(), state_.names.forget.get(), id.get()))) {
      PyErr_Clear();
    }
  }
  pending.restore();
}

// Few payloads have classes that are new here.
void Arrivals::read_sources() {
  if (envelope_ == nullptr) return;
  const Envelope& envelope = *std::exchange(envelope_, nullptr);
  constexpr std::uint8_t kOnePart = 0x81;  // A map of one pair: the locations.
  if (envelope.debug_info.bytes.empty() || envelope.debug_info.bytes[0] <= kOnePart) {
    return;
  }
  const envelope::Sources sources =
      envelope::sources_of(envelope, envelope::sources_section(envelope));
  for (const envelope::ClassSource& source : sources.classes) {
    class_sources_.emplace(as_text(source.id), source);
  }
}

Ref Arrivals::id_here(PyObject* id) {
  if (raw_get(state_.known_objects.get(), id) != nullptr) return {};
  read_sources();
  const auto found = class_sources_.find(as_text(bytes_of(id)));
  if (found == class_sources_.end()) return {};
  Ref other = Ref::steal(
      PyObject_CallMethodOneArg(state_.tracker.get(), state_.names.find_by_text.get(),
                                new_bytes(found->second.text_id).get()));
  return other.get() == Py_None ? Ref() : other;
}

void Arrivals::note_source(PyObject* id, PyObject* type) {
  if (has_source_id(state_, type)) return;
  read_sources();
  const auto found = class_sources_.find(as_text(bytes_of(id)));
  if (found == class_sources_.end()) return;
  Ref::steal(PyObject_CallMethodObjArgs(
      state_.tracker.get(), state_.names.note_text_id.get(), type,
      new_bytes(found->second.text_id).get(), nullptr));
}

void Arrivals::tell_line(PyObject* id, PyObject* type) {
  read_sources();
  const auto found = class_sources_.find(as_text(bytes_of(id)));
  if (found == class_sources_.end() || found->second.first_line == 0) return;
  const std::uint32_t line = found->second.first_line;
  PyObject* name = state_.names.first_line.get();
  const Ref dict = type_dict(reinterpret_cast<PyTypeObject*>(type));
  if (raw_get(dict.get(), name) != nullptr) return;
  const Ref number = Ref::steal(PyLong_FromUnsignedLong(line));
  // As the class statement does it: no metaclass is asked.
  check(PyType_Type.tp_setattro(type, name, number.get()));
}

bool Arrivals::is_here(BytesView id) {
  const Ref key = new_bytes(id);
  return raw_get(state_.known_objects.get(), key.get()) != nullptr ||
         id_here(key.get());
}

PyObject* Arrivals::module_with(PyObject* globals) const {
  for (const Ref& module : own_modules_) {
    if (PyModule_GetDict(module.get()) == globals) return module.get();
  }
  return nullptr;
}

Ref Arrivals::module_of(PyObject* globals) {
  if (PyObject* module = module_with(globals)) return Ref::share(module);
  const Names& names = state_.names;
  const Ref nothing = Ref::steal(PyTuple_New(0));
  Ref module = Ref::steal(PyModule_Type.tp_new(&PyModule_Type, nothing.get(), nullptr));
  check(PyObject_GenericSetDict(module.get(), globals, nullptr));
  // What every new module has, and payloads do not say.
  for (const Ref* name : {&names.name, &names.doc, &names.loader, &names.spec}) {
    if (raw_get(globals, name->get()) == nullptr) {
      check(PyDict_SetItem(globals, name->get(),
                           name == &names.name ? names.empty.get() : Py_None));
    }
  }
  own_modules_.push_back(module);
  return module;
}

Ref Arrivals::claim(PyObject* id, PyObject* object, bool& is_known) {
  Ref answer = Ref::steal(PyObject_CallMethodObjArgs(
      state_.tracker.get(), state_.names.claim.get(), id, object, nullptr));
  PyObject* winner = PyTuple_GET_ITEM(answer.get(), 0);
  is_known = PyTuple_GET_ITEM(answer.get(), 1) == Py_True;
  if (!is_known) open_claims_.push_back(Ref::share(id));
  return Ref::share(winner);
}

void Arrivals::close_claim(PyObject* id, PyObject* object) {
  const auto found = std::find_if(open_claims_.begin(), open_claims_.end(),
                                  [&](const Ref& open) { return open.get() == id; });
  if (found == open_claims_.end()) return;
  Ref::steal(PyObject_CallMethodObjArgs(state_.tracker.get(), state_.names.close.get(),
                                        id, object, nullptr));
  open_claims_.erase(found);
}

bool Arrivals::has_open_base(PyObject* bases) const {
  for (PyObject* open : open_types_) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(bases); ++i) {
      PyObject* base = PyList_GET_ITEM(bases, i);
      if (PyType_Check(base) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(base),
                                                 reinterpret_cast<PyTypeObject*>(open)))
        return true;
    }
  }
  return false;
}

// An instance that is among the attributes of its class was there before them, as far
// as anybody can tell: a __new__ that gives out the only instance would look for it.
Ref Arrivals::new_without_attributes(PyTypeObject* type) const {
  if (open_types_.empty() || type->tp_mro == nullptr) return {};
  bool is_skipped = false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(type->tp_mro); ++i) {
    PyObject* base = PyTuple_GET_ITEM(type->tp_mro, i);
    const Ref dict = type_dict(reinterpret_cast<PyTypeObject*>(base));
    if (raw_get(dict.get(), state_.names.new_.get()) == nullptr) continue;
    const bool is_open = std::ranges::find(open_types_, base) != open_types_.end();
    if (!is_open) {
      return is_skipped ? Ref::steal(PyObject_GetAttr(base, state_.names.new_.get()))
                        : Ref();
    }
    is_skipped = true;
  }
  return {};
}

void Arrivals::add_members(const Frame& frame, PyObject* type) {
  // With a word of home's own, the namespace is that of another process.
  const bool has_word = frame.left > 1;
  if (has_word || Py_IS_TYPE(type, &PyType_Type)) return;
  Ref::steal(PyObject_CallMethodObjArgs(
      merge(), state_.names.add_members.get(), frame.part<NodeTag::kClass>("id"), type,
      frame.part<NodeTag::kClass>("namespace"), nullptr));
}

void Arrivals::add_class(const Frame& frame, std::size_t node_size) {
  const Ref size = Ref::steal(PyLong_FromSize_t(node_size));
  constexpr PartOf<NodeTag::kClass> kWord = "word";
  const bool has_word = frame.node->children.size() > kWord.position;
  Ref::steal(PyObject_CallMethodObjArgs(
      merge(), state_.names.add.get(), frame.part<NodeTag::kClass>("id"),
      frame.object.get(), frame.is_known ? Py_True : Py_False,
      frame.part<NodeTag::kClass>("name"), frame.part<NodeTag::kClass>("bases"),
      frame.part<NodeTag::kClass>("namespace"),
      frame.part<NodeTag::kClass>("attributes"),
      has_word ? frame.part(kWord) : Py_Ellipsis, size.get(), nullptr));
  if (kHasClassLines) {
    with_lines_.push_back({Ref::share(frame.part<NodeTag::kClass>("id")),
                           Ref::share(frame.object.get())});
  }
}

void Arrivals::add_module(PyObject* module, PyObject* is_part) {
  Ref::steal(PyObject_CallMethodObjArgs(merge(), state_.names.add_module.get(), module,
                                        is_part, nullptr));
}

bool Arrivals::add_imports(PyObject* modules) {
  Py_ssize_t position = 0;
  PyObject *name, *module;
  while (PyDict_Next(modules, &position, &name, &module)) {
    if (!PyModule_Check(module) || module_with(PyModule_GetDict(module)) != module) {
      return false;
    }
  }
  const CollectorPause::Break others(collector_);
  Ref::steal(
      PyObject_CallMethodOneArg(merge(), state_.names.add_imports.get(), modules));
  return true;
}

PyObject* Arrivals::merge() {
  if (!merge_) {
    merge_ = Ref::steal(PyObject_CallFunctionObjArgs(
        state_.make_merge.get(), hooks_.resets_classes ? Py_True : Py_False,
        hooks_.class_state != nullptr ? hooks_.class_state : Py_None, nullptr));
  }
  return merge_.get();
}

void Arrivals::find_targets(const VerifiedEnvelope& envelope, std::size_t start) {
  if (envelope->shared.empty() ||
      !meets_known_class(envelope, start, [&](BytesView id) { return is_here(id); }))
    return;
  targets_ = envelope::find_attribute_targets(envelope);
}

std::size_t Arrivals::end_of_targets() const {
  std::size_t end = 0;
  for (const envelope::AttributeTarget& target : targets_) {
    end = std::max(end, target.end);
  }
  return end;
}

Ref Arrivals::settle(std::size_t number, PyObject* value) {
  const auto target = std::ranges::lower_bound(targets_, number, {},
                                               &envelope::AttributeTarget::number);
  if (target == targets_.end() || target->number != number) return {};
  const CollectorPause::Break others(collector_);
  const auto text = [](std::string_view view) {
    return Ref::steal(
        PyUnicode_FromStringAndSize(view.data(), static_cast<Py_ssize_t>(view.size())));
  };
  const BytesView id = target->class_id;
  const Ref its_id = Ref::steal(PyBytes_FromStringAndSize(
      reinterpret_cast<const char*>(id.data()), static_cast<Py_ssize_t>(id.size())));
  const Ref name = text(target->name);
  const Ref key = target->is_entry ? text(target->key) : Ref::share(Py_None);
  return Ref::steal(PyObject_CallMethodObjArgs(merge(), state_.names.settle.get(),
                                               its_id.get(), name.get(), key.get(),
                                               value, nullptr));
}

void Arrivals::show(std::size_t start, PyObject* object, bool was_there) {
  if (watcher_ == nullptr) return;
  const std::vector<std::size_t>& starts = watcher_->starts();
  const auto found = std::ranges::lower_bound(starts, start);
  if (found == starts.end() || *found != start) return;
  const auto number = static_cast<std::size_t>(found - starts.begin());
  if (PyType_Check(object)) {
    shown_.push_back({number, Ref::share(object), was_there});
    return;
  }
  const CollectorPause::Break others(collector_);
  watcher_->built(number, object, was_there);
}

void Arrivals::apply() {
  const CollectorPause::Break others(collector_);
  if (merge_) {
    Ref::steal(PyObject_CallMethodNoArgs(merge_.get(), state_.names.apply.get()));
    is_merged_ = true;
  }
  for (const auto& [id, type] : std::exchange(with_lines_, {})) {
    tell_line(id.get(), type.get());
  }
  for (const Shown& shown : std::exchange(shown_, {})) {
    watcher_->built(shown.number, shown.type.get(), shown.was_there);
  }
}

}  // namespace waybill::py
