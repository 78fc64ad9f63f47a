// What the receiver has already: classes and the like that came before under the same
// id, and the modules of this payload.
// Tested by tests/python/classes/test_class_identity.py.

#include <algorithm>

#include "python/decode/graph_decoder.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

using envelope::ReusableNode;
using wire::ExtType;
using wire::NodeTag;

GraphDecoder::~GraphDecoder() {
  built_.abandon();  // Before code of others runs.
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

void GraphDecoder::put_instead(PyObject* object) {
  // The frame of kReplacement itself is on top.
  Frame* around =
      built_.stack.size() < 2 ? nullptr : &built_.stack[built_.stack.size() - 2];
  const bool is_state =
      around != nullptr && (around->awaits<NodeTag::kObject>("state") ||
                            around->awaits<NodeTag::kNewObject>("state"));
  if (!is_state) {
    fail(ErrorCode::kMalformed, "an object that stands in for nothing");
  }
  around->node->instead = Ref::share(object);
}

PyObject* GraphDecoder::module_with(PyObject* dict) const {
  for (const Ref& module : own_modules_) {
    if (PyModule_GetDict(module.get()) == dict) return module.get();
  }
  return nullptr;
}

Ref GraphDecoder::claim(PyObject* id, PyObject* object, bool& is_known) {
  Ref answer = Ref::steal(PyObject_CallMethodObjArgs(
      state_.tracker.get(), state_.names.claim.get(), id, object, nullptr));
  PyObject* winner = PyTuple_GET_ITEM(answer.get(), 0);
  is_known = PyTuple_GET_ITEM(answer.get(), 1) == Py_True;
  if (!is_known) open_claims_.push_back(Ref::share(id));
  return Ref::share(winner);
}

void GraphDecoder::close_claim(PyObject* id, PyObject* object) {
  const auto found = std::find_if(open_claims_.begin(), open_claims_.end(),
                                  [&](const Ref& open) { return open.get() == id; });
  if (found == open_claims_.end()) return;
  Ref::steal(PyObject_CallMethodObjArgs(state_.tracker.get(), state_.names.close.get(),
                                        id, object, nullptr));
  open_claims_.erase(found);
}

bool GraphDecoder::has_open_base(PyObject* bases) const {
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
Ref GraphDecoder::new_without_attributes(PyTypeObject* type) const {
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

// Whether a class that is here already may stand in the payload, beside what is passed
// over: only such a one can have another object in an attribute's place.
bool GraphDecoder::meets_known_class() const {
  constexpr char kTag[] = {static_cast<char>(0xd4), static_cast<char>(ExtType::kNode),
                           static_cast<char>(NodeTag::kClass)};
  constexpr std::size_t kIdHead = 2, kIdSize = 16;
  const BytesView bytes = (*envelope_)->payload.bytes;
  const std::string_view payload(reinterpret_cast<const char*>(bytes.data()),
                                 bytes.size());
  const std::string_view tag(kTag, sizeof kTag);
  std::size_t at = payload.find(tag);
  for (; at != std::string_view::npos; at = payload.find(tag, at + 1)) {
    const auto made = std::ranges::upper_bound(made_, at, {}, &ReusableNode::start);
    if (made != made_.begin() && at < std::prev(made)->end()) continue;
    const std::size_t id = at + tag.size() + kIdHead;
    if (id + kIdSize > payload.size()) break;
    const Ref key = Ref::steal(PyBytes_FromStringAndSize(&payload[id], kIdSize));
    if (raw_get(state_.known_objects.get(), key.get()) != nullptr) return true;
  }
  return false;
}

void GraphDecoder::add_class(const Frame& frame) {
  const Ref size = Ref::steal(PyLong_FromSize_t(reader_.offset() - frame.offset));
  constexpr PartOf<NodeTag::kClass> kWord = "word";
  const bool has_word = frame.node->children.size() > kWord.position;
  Ref::steal(PyObject_CallMethodObjArgs(
      merge(), state_.names.add.get(), frame.part<NodeTag::kClass>("id"),
      frame.object.get(), frame.is_known ? Py_True : Py_False,
      frame.part<NodeTag::kClass>("name"), frame.part<NodeTag::kClass>("bases"),
      frame.part<NodeTag::kClass>("namespace"),
      frame.part<NodeTag::kClass>("attributes"),
      has_word ? frame.part(kWord) : Py_Ellipsis, size.get(), nullptr));
}

void GraphDecoder::add_module(PyObject* module, PyObject* is_part) {
  Ref::steal(PyObject_CallMethodObjArgs(merge(), state_.names.add_module.get(), module,
                                        is_part, nullptr));
}

void GraphDecoder::add_imports(PyObject* modules) {
  Py_ssize_t position = 0;
  PyObject *name, *module;
  while (PyDict_Next(modules, &position, &name, &module)) {
    if (PyModule_Check(module) && module_with(PyModule_GetDict(module)) == module) {
      continue;
    }
    fail(ErrorCode::kMalformed, "an import of what is no module of the payload");
  }
  outside([&] {
    return Ref::steal(
        PyObject_CallMethodOneArg(merge(), state_.names.add_imports.get(), modules));
  });
}

PyObject* GraphDecoder::merge() {
  if (!merge_) {
    merge_ = Ref::steal(PyObject_CallFunctionObjArgs(
        state_.make_merge.get(), hooks_.resets_classes ? Py_True : Py_False,
        hooks_.class_state != nullptr ? hooks_.class_state : Py_None, nullptr));
  }
  return merge_.get();
}

Ref GraphDecoder::settle(Ref value) {
  if (!value || attribute_targets_.empty() || last_slot_ == kNoSlot) return value;
  const auto target = std::ranges::lower_bound(attribute_targets_, last_slot_, {},
                                               &envelope::AttributeTarget::number);
  if (target == attribute_targets_.end() || target->number != last_slot_) return value;
  return outside([&] {
    const auto text = [](std::string_view view) {
      return Ref::steal(PyUnicode_FromStringAndSize(
          view.data(), static_cast<Py_ssize_t>(view.size())));
    };
    const BytesView id = target->class_id;
    const Ref its_id = Ref::steal(PyBytes_FromStringAndSize(
        reinterpret_cast<const char*>(id.data()), static_cast<Py_ssize_t>(id.size())));
    const Ref name = text(target->name);
    const Ref key = target->is_entry ? text(target->key) : Ref::share(Py_None);
    Ref own = Ref::steal(PyObject_CallMethodObjArgs(merge(), state_.names.settle.get(),
                                                    its_id.get(), name.get(), key.get(),
                                                    value.get(), nullptr));
    if (own.get() != value.get()) set_slot(target->number, own.get());
    return own;
  });
}

void GraphDecoder::merge_classes() {
  if (merge_) {
    const CollectorPause::Break others(collector_);
    Ref::steal(PyObject_CallMethodNoArgs(merge_.get(), state_.names.apply.get()));
    is_merged_ = true;
  }
  for (const Shown& shown : std::exchange(shown_, {})) {
    outside([&] { watcher_->built(shown.number, shown.type.get(), shown.was_there); });
  }
}

const ReusableNode* GraphDecoder::made_at(std::size_t offset) const {
  const auto node =
      std::ranges::lower_bound(made_, offset - start_, {}, &ReusableNode::start);
  return node != made_.end() && node->start == offset - start_ ? &*node : nullptr;
}

Ref GraphDecoder::take(const ReusableNode& node, std::size_t slot) {
  offset_ = start_ + node.start;
  if (!reader_.skip_to(start_ + node.end())) raise(state_, reader_.error());
  built_.positions.pass_to(node.end(), [&](std::uint64_t position, std::size_t inner) {
    const ReusableNode::Class* type = node.class_at(position - node.start);
    if (type != nullptr) set_slot(inner, made_objects_[type->object].get());
    return true;
  });
  code_->skip_uses(node.code_uses.size());
  Ref object = made_objects_[static_cast<std::size_t>(&node - made_.data())];
  set_slot(slot, object.get());
  last_slot_ = slot;
  built_.cost = {};
  return object;
}

void GraphDecoder::show(const Frame& frame, PyObject* object) {
  const std::vector<std::size_t>& starts = watcher_->starts();
  const auto found = std::ranges::lower_bound(starts, frame.offset - start_);
  if (found == starts.end() || *found != frame.offset - start_) return;
  const auto number = static_cast<std::size_t>(found - starts.begin());
  if (PyType_Check(object)) {
    shown_.push_back({number, Ref::share(object), frame.is_known});
    return;
  }
  outside([&] { watcher_->built(number, object, frame.is_known); });
}

}  // namespace waybill::py
