// Writes code objects. The body, which is hashed, has all that decides what the code
// does. File and lines are written as source locations, so equal code has equal
// content. The source of code is found and compiled by waybill._source, in Python.
// Tested by tests/python/functions/test_foreign_code.py and
// tests/python/source/test_travelling_source.py.

#include "python/encode/code/code_encoder.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "base/hash.h"
#include "bytecode/compact_code.h"
#include "format/source_units.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/text.h"
#include "wire/format.h"
#include "wire/writer.h"

namespace waybill::py {

namespace {

using wire::Writer;

void write_constants(PyObject* constants, CodeInfos& infos, Writer& out) {
  const Py_ssize_t count = PyTuple_GET_SIZE(constants);
  out.array(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* constant = PyTuple_GET_ITEM(constants, i);
    if (write_plain(constant, out, &infos)) continue;
    raise(PyExc_TypeError, "co_consts[%zd] is a %s, which no compiler writes", i,
          Py_TYPE(constant)->tp_name);
  }
}

std::vector<std::uint8_t> body_of(PyCodeObject* code, CodeInfos& infos) {
  Writer out;
  Ref instructions = Ref::steal(PyCode_GetCode(code));
  out.array(wire::kCodeFieldCount);
  out.integer(code->co_argcount);
  out.integer(code->co_posonlyargcount);
  out.integer(code->co_kwonlyargcount);
  out.integer(code->co_stacksize);
  out.integer(code->co_flags);
  write_text(code->co_name, out);
  write_text(code->co_qualname, out);
  out.binary(bytecode::compact_code(kPythonVersion, bytes_of(instructions.get())));
  write_constants(code->co_consts, infos, out);
  write_texts(code->co_names, out);
  write_texts(code->co_localsplusnames, out);
  out.binary(bytes_of(code->co_localspluskinds));
  out.binary(bytes_of(code->co_exceptiontable));
  return out.take();
}

std::vector<std::uint8_t> location_of(const CodeInfo& info) {
  Writer out;
  out.integer(info.code->co_firstlineno);
  out.binary(bytes_of(info.code->co_linetable));
  out.array(info.nested.size());
  for (const CodeInfo* nested : info.nested) {
    out.array(4);
    PyObject* file = nested->code->co_filename;
    if (PyUnicode_Compare(file, info.code->co_filename) == 0) {
      out.nil();
    } else {
      write_text(file, out);
    }
    out.append(nested->location);
  }
  return out.take();
}

std::uint64_t location_key(const CodeInfo& info) {
  std::uint64_t body = 0;
  std::memcpy(&body, info.hash.data(), sizeof body);
  return body ^ base::hash_of(info.location);
}

// Whether two code objects have equal bodies and equal source locations.
bool is_equal_code(const CodeInfo& a, const CodeInfo& b) {
  return &a == &b || (a.hash == b.hash && a.location == b.location &&
                      PyUnicode_Compare(a.code->co_filename, b.code->co_filename) == 0);
}

// `info` and all code nested in it, inner ones first, each once.
std::vector<CodeInfo*> code_inner_first(CodeInfo& info) {
  std::vector<CodeInfo*> order;
  std::vector<std::pair<CodeInfo*, std::size_t>> stack{{&info, 0}};
  std::unordered_map<CodeInfo*, bool> visited{{&info, true}};
  while (!stack.empty()) {
    auto& [top, next] = stack.back();
    if (next == top->nested.size()) {
      order.push_back(top);
      stack.pop_back();
      continue;
    }
    CodeInfo* nested = top->nested[next++];
    if (visited.emplace(nested, true).second) stack.emplace_back(nested, 0);
  }
  return order;
}

// Indices of kind and text in a waybill._source.Unit, and its number of fields. The
// fields after the text follow the kind in the format.
constexpr Py_ssize_t kKind = 0;
constexpr Py_ssize_t kText = 1;
constexpr Py_ssize_t kUnitParts = 12;

void write_field(PyObject* field, wire::Writer& out) {
  if (write_leaf(field, out)) return;
  check(PyTuple_Size(field) < 0 ? -1 : 0);
  write_texts(field, out);
}

CodeSource source_from(PyObject* unit) {
  CodeSource source;
  Ref storage;
  source.text = utf8_of(PyTuple_GET_ITEM(unit, kText), storage);
  wire::Writer fields;
  write_field(PyTuple_GET_ITEM(unit, kKind), fields);
  for (PyObject* field : items_of(unit).subspan(kText + 1)) write_field(field, fields);
  source.encoded_fields = fields.take();
  return source;
}

// The source unit of a code object, or a str with the reason why there is none.
Ref proof_of(const State& state, PyObject* code, PyObject* owner) {
  try {
    return call(lazy_helper(state, &LazyHelpers::prove_source), code,
                owner == nullptr ? Py_None : owner);
  } catch (const PyError&) {
    // The finder of sources cannot be imported or called this deep in the stack. The
    // code can be sent without source.
    ignore_error(PyExc_RecursionError);
    return Ref::steal(PyUnicode_FromString("the stack is too deep to look for it"));
  }
}

}  // namespace

void encode_code(CodeInfos& infos, CodeInfo& info) {
  if (info.is_encoded) return;
  for (CodeInfo* part : code_inner_first(info)) {
    if (part->is_encoded) continue;
    part->body = body_of(part->code, infos);
    part->hash = base::content_hash_of(part->body);
    part->location = location_of(*part);
    part->is_encoded = true;
  }
}

const CodeSource* source_of(const State& state, CodeInfo& info, PyObject* owner,
                            std::string& reason) {
  if (info.source) return info.source.get();
  auto* code = as_object(info.code);
  const Ref proof = proof_of(state, code, owner);
  if (!PyTuple_Check(proof.get())) {
    reason = text_of(proof.get());
    return nullptr;
  }
  if (PyTuple_GET_SIZE(proof.get()) != kUnitParts) {
    raise(PyExc_SystemError, "a source unit should have twelve parts");
  }
  auto source = std::make_unique<const CodeSource>(source_from(proof.get()));
  // Python code that ran meanwhile may have set the source already.
  if (!info.source) info.source = std::move(source);
  return info.source.get();
}

std::uint32_t CodeSection::add(const CodeInfo& info) {
  std::uintptr_t key;
  std::memcpy(&key, info.hash.data(), sizeof(key));
  key |= 1;  // Zero means an empty slot.
  const auto index = static_cast<std::uint32_t>(bodies_.size());
  if (const MemoEntry* entry = index_of_.find(key)) {
    if (*hashes_[entry->offset] == info.hash) {
      return static_cast<std::uint32_t>(entry->offset);
    }
    // Two hashes begin alike.
    for (std::uint32_t i = 0; i < index; ++i) {
      if (*hashes_[i] == info.hash) return i;
    }
  } else {
    index_of_.insert(key, index);
  }
  bodies_.push_back(info.body);
  size_ += info.body.size();
  hashes_.push_back(&info.hash);
  return index;
}

std::uint32_t CodeSection::add_use(PyObject* code, bool is_in_definition) {
  CodeInfo& info = infos_.get(code);
  encode_code(infos_, info);
  if (is_in_definition) {
    uses_.insert(uses_.begin() + definition_use_count_++, &info);
  } else {
    uses_.push_back(&info);
  }
  if (info.nested.empty()) return add(info);
  std::uint32_t index = 0;
  for (const CodeInfo* part : code_inner_first(info)) index = add(*part);
  return index;
}

void CodeSection::write_source_locations(Writer& out, std::string_view file,
                                         CodeCache& cache) const {
  if (uses_.empty()) return;
  out.array(uses_.size());
  Memo first_use;
  Ref storage[2];  // For this file name and the last, if not ASCII.
  std::size_t written = 0;
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    CodeInfo& info = *uses_[i];
    // By content, because a receiver may have one code object for two equal ones.
    const auto key = static_cast<std::uintptr_t>(location_key(info)) | 1;
    const MemoEntry* first = uses_.size() > 1 ? first_use.find(key) : nullptr;
    if (first != nullptr && is_equal_code(info, *uses_[first->offset])) {
      out.unsigned_integer(first->offset);
      continue;
    }
    if (uses_.size() > 1 && first == nullptr) first_use.insert(key, i);
    out.array(4);
    const std::string_view own =
        utf8_of(info.code->co_filename, storage[written++ % 2]);
    if (file.data() != nullptr && own == file) {
      out.unsigned_integer(wire::kSameFile);
    } else {
      write_text(info.code->co_filename, out);
    }
    file = own;
    out.append(info.location);
    if (info.is_in_code_cache) continue;
    cache.add(code_key(info.hash, own, info.location), as_object(info.code));
    info.is_in_code_cache = true;
  }
}

void CodeSection::add_source(std::uint32_t body, const CodeSource& source) {
  sources_.emplace(body, &source);
}

const CodeSource* CodeSection::source_of(std::uint32_t body) const {
  const auto found = sources_.find(body);
  return found == sources_.end() ? nullptr : found->second;
}

std::uint32_t CodeSection::number_of(const CodeSource& source) {
  const auto is_equal = [&](const CodeSource* other) {
    return other->text == source.text && other->encoded_fields == source.encoded_fields;
  };
  const auto found = std::ranges::find_if(numbered_, is_equal);
  const auto number = static_cast<std::uint32_t>(found - numbered_.begin());
  if (found == numbered_.end()) numbered_.push_back(&source);
  return number;
}

void CodeSection::write_numbered(Writer& out) const {
  for (const CodeSource* source : numbered_) {
    out.append(source->encoded_fields);
    out.text(source->text);
  }
}

void CodeSection::add_class(BytesView id, BytesView source_id,
                            std::uint32_t first_line) {
  classes_.emplace(std::string(id.begin(), id.end()),
                   ClassSource{{source_id.begin(), source_id.end()}, first_line});
}

void CodeSection::write_sources(Writer& out) const {
  if (sources_.empty() && classes_.empty()) return;
  std::string texts;
  std::unordered_map<std::string_view, std::size_t> start_of;
  for (const auto& [body, source] : sources_) {
    if (start_of.emplace(source->text, texts.size()).second) texts += source->text;
  }
  out.array(3);
  envelope::write_texts(out, texts);
  out.array(sources_.size());
  for (const auto& [body, source] : sources_) {
    out.array(wire::kUnitFieldCount);
    out.unsigned_integer(body);
    out.unsigned_integer(start_of.at(source->text));
    out.unsigned_integer(source->text.size());
    out.append(source->encoded_fields);
  }
  out.array(classes_.size());
  for (const auto& [id, source] : classes_) {
    out.array(source.first_line == 0 ? 2 : 3);
    out.binary(bytes_of(id));
    out.binary(source.source_id);
    if (source.first_line != 0) out.unsigned_integer(source.first_line);
  }
}

}  // namespace waybill::py
