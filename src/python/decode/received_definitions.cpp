// Tested by tests/python/classes/test_class_identity.py.

#include <algorithm>

#include "format/source_locations.h"
#include "format/source_units.h"
#include "python/decode/received_definitions.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"
#include "wire/reader.h"
#include "wire/utf8.h"

namespace waybill::py {

using wire::ExtType;
using wire::NodeTag;

namespace {

// Whether the payload may define a class, from `start` on, whose id this process has.
// Only such a class can keep another object in place of an attribute's value.
template <typename IsPresent>
bool can_hold_existing_class(const VerifiedEnvelope& envelope, std::size_t start,
                             IsPresent is_present) {
  constexpr char kTag[] = {static_cast<char>(wire::kFixedExtension),
                           static_cast<char>(ExtType::kNode),
                           static_cast<char>(NodeTag::kClass)};
  const BytesView bytes = envelope->payload.bytes;
  const std::string_view payload = wire::as_text(bytes);
  const std::string_view tag(kTag, sizeof kTag);
  std::size_t at = payload.find(tag, start);
  for (; at != std::string_view::npos; at = payload.find(tag, at + 1)) {
    wire::Reader reader(bytes.subspan(at + tag.size()));
    BytesView id;
    if (reader.read_binary(id, "an id") && is_present(id)) return true;
  }
  return false;
}

}  // namespace

ReceivedDefinitions::~ReceivedDefinitions() {
  const bool is_abandoned = merge_ && !is_merged_;
  if (open_claims_.empty() && !is_abandoned) return;
  const CollectorPause::Break collector_break(collector_);
  const Ref error = take_error();
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
  restore_error(error);
}

// Called on demand: few payloads define classes that are new to this process.
void ReceivedDefinitions::read_sources() {
  if (envelope_ == nullptr) return;
  const Envelope& envelope = *std::exchange(envelope_, nullptr);
  constexpr std::uint8_t kOnePart = 0x81;  // A map of one pair: the locations.
  if (envelope.debug_info.bytes.empty() || envelope.debug_info.bytes[0] <= kOnePart) {
    return;
  }
  const envelope::Sources sources =
      envelope::sources_of(envelope, envelope::sources_section(envelope));
  for (const envelope::ClassSource& source : sources.classes) {
    class_sources_.emplace(wire::as_text(source.id), source);
  }
}

const envelope::ClassSource* ReceivedDefinitions::source_of(PyObject* id) {
  read_sources();
  const auto found = class_sources_.find(wire::as_text(bytes_of(id)));
  return found == class_sources_.end() ? nullptr : &found->second;
}

Ref ReceivedDefinitions::local_id(PyObject* id) {
  if (raw_get(state_.known_objects.get(), id) != nullptr) return {};
  const envelope::ClassSource* source = source_of(id);
  if (source == nullptr) return {};
  return null_if_none(call_method(state_.tracker.get(), state_.names.find_by_source_id,
                                  new_bytes(source->source_id).get()));
}

void ReceivedDefinitions::record_source_id(PyObject* id, PyObject* type) {
  if (has_source_id(state_, type)) return;
  const envelope::ClassSource* source = source_of(id);
  if (source == nullptr) return;
  call_method(state_.tracker.get(), state_.names.set_source_id, type,
              new_bytes(source->source_id).get());
}

void ReceivedDefinitions::set_first_line(PyObject* id, PyObject* type) {
  const envelope::ClassSource* source = source_of(id);
  if (source == nullptr || source->first_line == 0) return;
  PyObject* name = state_.names.first_line.get();
  if (raw_get(as_type(type), name) != nullptr) return;
  const Ref number = Ref::steal(PyLong_FromUnsignedLong(source->first_line));
  // Sets the line as the class statement does, without calling the metaclass.
  check(PyType_Type.tp_setattro(type, name, number.get()));
}

bool ReceivedDefinitions::is_present(BytesView id) {
  const Ref key = new_bytes(id);
  return raw_get(state_.known_objects.get(), key.get()) != nullptr ||
         local_id(key.get());
}

PyObject* ReceivedDefinitions::find_own_module(PyObject* globals) const {
  for (const Ref& module : own_modules_) {
    if (PyModule_GetDict(module.get()) == globals) return module.get();
  }
  return nullptr;
}

Ref ReceivedDefinitions::module_for(PyObject* globals) {
  if (PyObject* module = find_own_module(globals)) return Ref::share(module);
  const Names& names = state_.names;
  const Ref no_arguments = Ref::steal(PyTuple_New(0));
  Ref module =
      Ref::steal(PyModule_Type.tp_new(&PyModule_Type, no_arguments.get(), nullptr));
  check(PyObject_GenericSetDict(module.get(), globals, nullptr));
  // Payloads omit these attributes, which every new module has.
  for (const Ref* name : {&names.name, &names.doc, &names.loader, &names.spec}) {
    if (raw_get(globals, name->get()) == nullptr) {
      check(PyDict_SetItem(globals, name->get(),
                           name == &names.name ? names.empty.get() : Py_None));
    }
  }
  own_modules_.push_back(module);
  return module;
}

Ref ReceivedDefinitions::claim(PyObject* id, PyObject* object, bool& is_existing) {
  Ref answer = call_method(state_.tracker.get(), state_.names.claim, id, object);
  is_existing = PyTuple_GET_ITEM(answer.get(), 1) == Py_True;
  if (!is_existing) open_claims_.push_back(Ref::share(id));
  return Ref::share(PyTuple_GET_ITEM(answer.get(), 0));
}

void ReceivedDefinitions::close_claim(PyObject* id, PyObject* object) {
  const auto found = std::ranges::find(open_claims_, id, &Ref::get);
  if (found == open_claims_.end()) return;
  call_method(state_.tracker.get(), state_.names.close, id, object);
  open_claims_.erase(found);
}

bool ReceivedDefinitions::has_open_base(PyObject* bases) const {
  return std::ranges::any_of(items_of(bases), [&](PyObject* base) {
    return PyType_Check(base) && std::ranges::any_of(open_types_, [&](PyObject* open) {
             return PyType_IsSubtype(as_type(base), as_type(open));
           });
  });
}

// An instance among the attributes of its class must be made without the class's own
// __new__: that of a singleton, for instance, would look for the instance.
Ref ReceivedDefinitions::inherited_new(PyTypeObject* type) const {
  if (open_types_.empty()) return {};
  bool is_skipped = false;
  for (PyObject* base : items_of(type->tp_mro)) {
    const Ref dict = type_dict(as_type(base));
    if (raw_get(dict.get(), state_.names.new_.get()) == nullptr) continue;
    const bool is_open = std::ranges::find(open_types_, base) != open_types_.end();
    if (!is_open) {
      return is_skipped ? get_attribute(base, state_.names.new_) : Ref();
    }
    is_skipped = true;
  }
  return {};
}

void ReceivedDefinitions::add_members(const Frame& frame, PyObject* type) {
  // With a home state, the namespace is that of another process.
  const bool has_home_state = frame.remaining > 1;
  if (has_home_state || Py_IS_TYPE(type, &PyType_Type)) return;
  const auto part = frame.parts<NodeTag::kClass>();
  call_method(merge(), state_.names.add_members, part("id"), type, part("namespace"));
}

void ReceivedDefinitions::add_class(const Frame& frame, std::size_t size_in_payload) {
  const Ref size = Ref::steal(PyLong_FromSize_t(size_in_payload));
  const auto part = frame.parts<NodeTag::kClass>();
  constexpr PartOf<NodeTag::kClass> kHomeState = "home_state";
  const bool has_home_state = frame.node->children.size() > kHomeState.position;
  call_method(merge(), state_.names.add, part("id"), frame.object.get(),
              frame.is_existing ? Py_True : Py_False, part("metaclass"), part("name"),
              part("bases"), part("namespace"), part("attributes"),
              has_home_state ? frame.part(kHomeState) : Py_Ellipsis, size.get());
  if (kHasClassLines) {
    lines_pending_.push_back({Ref::share(part("id")), Ref::share(frame.object.get())});
  }
}

void ReceivedDefinitions::add_module(PyObject* module, PyObject* is_part) {
  call_method(merge(), state_.names.add_module, module, is_part);
}

bool ReceivedDefinitions::add_imports(PyObject* modules) {
  for (const auto& [_, module] : DictItems(modules)) {
    if (!PyModule_Check(module) ||
        find_own_module(PyModule_GetDict(module)) != module) {
      return false;
    }
  }
  const CollectorPause::Break collector_break(collector_);
  call_method(merge(), state_.names.add_imports, modules);
  return true;
}

PyObject* ReceivedDefinitions::merge() {
  if (!merge_) {
    merge_ = call(state_.make_merge.get(), hooks_.resets_classes ? Py_True : Py_False,
                  hooks_.class_state != nullptr ? hooks_.class_state : Py_None);
  }
  return merge_.get();
}

void ReceivedDefinitions::find_targets(const VerifiedEnvelope& envelope,
                                       std::size_t start) {
  if (envelope->shared.empty() ||
      !can_hold_existing_class(envelope, start,
                               [&](BytesView id) { return is_present(id); }))
    return;
  targets_ = envelope::find_attribute_targets(envelope);
}

std::size_t ReceivedDefinitions::targets_end() const {
  std::size_t end = 0;
  for (const envelope::AttributeTarget& target : targets_) {
    end = std::max(end, target.end);
  }
  return end;
}

Ref ReceivedDefinitions::resolve_early(std::size_t number, PyObject* value) {
  auto target = std::ranges::lower_bound(targets_, number, {},
                                         &envelope::AttributeTarget::number);
  const auto has_number = [&] {
    return target != targets_.end() && target->number == number;
  };
  if (!has_number()) return {};
  const CollectorPause::Break collector_break(collector_);
  const Ref places = Ref::steal(PyList_New(0));
  for (; has_number(); ++target) {
    const Ref id = new_bytes(target->class_id);
    const Ref name = new_text(target->name);
    const Ref key = target->is_entry ? new_text(target->key) : Ref::share(Py_None);
    const Ref place = Ref::steal(PyTuple_Pack(3, id.get(), name.get(), key.get()));
    check(PyList_Append(places.get(), place.get()));
  }
  return call_method(merge(), state_.names.settle, places.get(), value);
}

void ReceivedDefinitions::report_node(std::size_t start, PyObject* object,
                                      bool did_exist) {
  if (observer_ == nullptr) return;
  const std::vector<std::size_t>& starts = observer_->node_starts();
  const auto found = std::ranges::lower_bound(starts, start);
  if (found == starts.end() || *found != start) return;
  const auto number = static_cast<std::size_t>(found - starts.begin());
  if (PyType_Check(object)) {
    built_classes_.push_back({number, Ref::share(object), did_exist});
    return;
  }
  const CollectorPause::Break collector_break(collector_);
  observer_->on_node_built(number, object, did_exist, nullptr);
}

void ReceivedDefinitions::apply() {
  const CollectorPause::Break collector_break(collector_);
  // Another payload may be merged from here on.
  Ref serials = state_.class_serials;
  if (merge_) {
    serials = call_method(merge_.get(), state_.names.apply);
    is_merged_ = true;
  }
  for (const auto& [id, type] : std::exchange(lines_pending_, {})) {
    set_first_line(id.get(), type.get());
  }
  for (const BuiltClass& built : std::exchange(built_classes_, {})) {
    observer_->on_node_built(built.number, built.type.get(), built.did_exist,
                             serials.get());
  }
}

}  // namespace waybill::py
