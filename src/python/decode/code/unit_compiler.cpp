// Tested by tests/python/source/test_travelling_source.py.

#include "python/decode/code/unit_compiler.h"

#include <utility>
#include <vector>

#include "base/hash.h"
#include "format/source_locations.h"
#include "python/runtime/objects.h"
#include "python/runtime/py_error.h"
#include "python/runtime/text.h"
#include "python/walker/code_info.h"
#include "wire/utf8.h"

namespace waybill::py {

namespace {

Ref new_int(std::uint64_t value) {
  return Ref::steal(PyLong_FromUnsignedLongLong(value));
}

Ref new_names(const std::vector<std::string_view>& views) {
  return new_tuple(views, new_text);
}

// Marks the code and all nested code, so that functions made of these are sent with
// source too.
void mark_received_as_source(CodeInfo& info) {
  std::vector<CodeInfo*> remaining{&info};
  while (!remaining.empty()) {
    CodeInfo* next = remaining.back();
    remaining.pop_back();
    next->was_received_as_source = true;
    remaining.insert(remaining.end(), next->nested.begin(), next->nested.end());
  }
}

}  // namespace

Ref signature_of(const envelope::CodeFields& fields) {
  const auto first = fields.local_names.begin();
  const std::vector<std::string_view> arguments(
      first, first + static_cast<std::ptrdiff_t>(envelope::parameter_count_of(fields)));
  return new_tuple({new_int(fields.argument_count),
                    new_int(fields.positional_only_count),
                    new_int(fields.keyword_only_count), new_int(fields.flags),
                    new_names(arguments), new_names(envelope::free_names_of(fields))});
}

UnitCompiler::UnitCompiler(const State& state, const Envelope& envelope)
    : state_(state),
      envelope_(envelope),
      sources_(envelope::sources_of(envelope, envelope::sources_section(envelope))),
      texts_(require(state, envelope::texts_of(sources_))) {}

const envelope::SourceUnit& UnitCompiler::unit_at(std::size_t body) const {
  const auto* unit = sources_.unit_of(static_cast<std::uint32_t>(body));
  if (unit != nullptr) return *unit;
  raise_decode(state_, ErrorCode::kPythonMismatch, envelope_.code[body].offset,
               "code of another Python version, which was sent without source");
}

std::string_view UnitCompiler::text_of(const envelope::SourceUnit& unit) const {
  return std::string_view(texts_).substr(unit.start, unit.length);
}

ContentHash UnitCompiler::key_of(std::size_t body) const {
  const envelope::SourceUnit& unit = unit_at(body);
  const BytesView text = bytes_of(text_of(unit));
  std::vector<std::uint8_t> whole(envelope_.code[body].hash.begin(),
                                  envelope_.code[body].hash.end());
  whole.insert(whole.end(), unit.encoded_fields.begin(), unit.encoded_fields.end());
  whole.insert(whole.end(), text.begin(), text.end());
  return base::content_hash_of(whole);
}

std::size_t UnitCompiler::size_of(std::size_t body) const {
  return unit_at(body).length + envelope_.code[body].bytes.size();
}

Ref UnitCompiler::unit_or_none(std::size_t body) const {
  const auto* unit = sources_.unit_of(static_cast<std::uint32_t>(body));
  return unit == nullptr ? Ref::share(Py_None) : tuple_of(*unit);
}

Ref UnitCompiler::tuple_of(const envelope::SourceUnit& unit) const {
  const std::string_view text = text_of(unit);
  if (!wire::is_utf8(text)) {
    raise_decode(state_, ErrorCode::kMalformed, sources_.offset,
                 "a source text that starts or ends within a character");
  }
  return new_tuple({new_int(static_cast<std::uint64_t>(unit.kind)), new_text(text),
                    new_text(unit.name), new_text(unit.qualified_name),
                    unit.class_name.data() == nullptr ? Ref::share(Py_None)
                                                      : new_text(unit.class_name),
                    new_int(unit.flags), new_int(unit.optimization),
                    new_int(unit.lines), new_int(unit.column), new_names(unit.futures),
                    new_names(unit.free_names), new_names(unit.imports)});
}

Ref UnitCompiler::compile(std::size_t body, const envelope::CodeFields& fields,
                          const CodeLocation& location) const {
  const Ref unit = tuple_of(unit_at(body));
  const Ref file = location.file ? location.file : state_.intern_table.get("<waybill>");
  const Ref line = new_int(location.line);
  Ref code = call(lazy_helper(state_, &LazyHelpers::compile_source), unit.get(),
                  signature_of(fields).get(), file.get(), line.get());
  if (!PyCode_Check(code.get())) {
    raise(PyExc_SystemError, "compiling a source unit must give code");
  }
  // The next receiver may need the source too.
  CodeInfos infos(state_);
  record_source(body, infos.get(code.get()));
  return code;
}

bool UnitCompiler::adds_source(std::size_t body, PyObject* code) const {
  if (sources_.unit_of(static_cast<std::uint32_t>(body)) == nullptr) return false;
  const CodeInfo* info = cached_info(state_, code);
  return info == nullptr || !info->was_received_as_source || !info->source;
}

void UnitCompiler::attach_source(std::size_t body, PyObject* code) const {
  if (sources_.unit_of(static_cast<std::uint32_t>(body)) == nullptr) return;
  CodeInfos infos(state_);
  CodeInfo& info = infos.get(code);
  const Ref unit = tuple_of(unit_at(body));
  record_source(body, info);
  const Ref line = new_int(static_cast<std::uint64_t>(info.code->co_firstlineno));
  call(lazy_helper(state_, &LazyHelpers::keep_source), unit.get(), code, line.get());
}

void UnitCompiler::record_source(std::size_t body, CodeInfo& info) const {
  const envelope::SourceUnit& source = unit_at(body);
  if (!info.source) {
    info.source = std::make_unique<const CodeSource>(
        CodeSource{std::string(text_of(source)),
                   {source.encoded_fields.begin(), source.encoded_fields.end()}});
  }
  mark_received_as_source(info);
  // Imports the helper: code that was received with source exists from now on.
  lazy_helper(state_, &LazyHelpers::is_from_source);
}

}  // namespace waybill::py
