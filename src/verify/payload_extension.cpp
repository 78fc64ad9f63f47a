// What extensions may stand for, and where: the part of PayloadCheck that knows each
// extension type; what stands for a stored buffer; and short calls, which are mostly
// references, and what was checked before.
// Tested by tests/verify/verify_test.cpp.

#include <algorithm>
#include <string>

#include "verify/payload_check.h"
#include "verify/short_call.h"
#include "wire/number.h"
#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using wire::ExtType;
using wire::NodeTag;
using wire::Reader;
using wire::Token;

// Of a leaf that is no extension and is all there.
bool is_sound_leaf(BytesView bytes) {
  const wire::Lead& lead = wire::kLeads[bytes[0]];
  if (lead.counts != wire::Counts::kBytes ||
      wire::bytes_type(bytes[0]) != wire::TokenType::kText) {
    return true;
  }
  const BytesView text = bytes.subspan(lead.head);
  return wire::is_utf8({reinterpret_cast<const char*>(text.data()), text.size()});
}

}  // namespace

bool PayloadCheck::extension(Reader& reader, const Token& token, Rule rule) {
  const auto expect = [&](bool is_sound, const char* detail) {
    return is_sound || reader.fail(ErrorCode::kMalformed, token.offset, detail);
  };
  const bool is_value = is_object(rule) || is_constant(rule);
  switch (static_cast<ExtType>(token.ext_type)) {
    case ExtType::kNode:
      return expect(false, "a node's tag stands outside the start of an array");
    case ExtType::kReference:
      return is_referable(rule) ? reference(reader, token, rule)
                                : wrong(reader, token, rule);
    case ExtType::kModule:
      return is_object(rule) || rule == Rule::kModuleOrNil ? module(reader, token)
                                                           : wrong(reader, token, rule);
    case ExtType::kInteger:
      if (!is_value) return wrong(reader, token, rule);
      return expect(wire::is_big_integer(token.bytes),
                    "an int extension that is not the shortest form of a number "
                    "beyond 64 bits");
    case ExtType::kComplex:
      if (!is_value) return wrong(reader, token, rule);
      return expect(token.bytes.size() == 16, "a complex number has 16 bytes");
    case ExtType::kText:
      if (!is_value && rule != Rule::kText && rule != Rule::kTextOrNil) {
        return wrong(reader, token, rule);
      }
      return expect(wire::is_utf8(token.text(), wire::Surrogates::kAllowed),
                    "text is not UTF-8");
    case ExtType::kSingleton: {
      if (!is_value) return wrong(reader, token, rule);
      if (!expect(token.bytes.size() == 1, "a singleton has one byte")) return false;
      constexpr auto kEmpty = static_cast<std::uint8_t>(wire::Singleton::kEmpty);
      if (token.bytes[0] > kEmpty) {
        return reader.fail(ErrorCode::kUnknownTag, token.offset,
                           "singleton " + std::to_string(token.bytes[0]) +
                               " is unknown; a newer waybill wrote it");
      }
      return expect(token.bytes[0] != kEmpty || rule == Rule::kObjectOrEmpty,
                    "only a cell's content can be empty");
    }
    case ExtType::kCode: {
      if (rule != Rule::kConstantOrCode) return wrong(reader, token, rule);
      ContentHash hash;
      if (!expect(token.bytes.size() == hash.size(), "a code hash has 16 bytes")) {
        return false;
      }
      std::copy(token.bytes.begin(), token.bytes.end(), hash.begin());
      nested_.push_back(hash);
      return true;
    }
  }
  return reader.fail(ErrorCode::kUnknownTag, token.offset,
                     "extension type " + std::to_string(token.ext_type) +
                         " is unknown; a newer waybill wrote it");
}

bool PayloadCheck::reference(Reader& reader, const Token& token, Rule rule) {
  const auto fail = [&](const std::string& detail) {
    return reader.fail(ErrorCode::kBadReference, token.offset, detail);
  };
  std::uint64_t number = 0;
  if (!wire::index_of(token.bytes, number)) {
    return reader.fail(ErrorCode::kMalformed, token.offset,
                       "a reference has 1, 2, 4 or 8 bytes");
  }
  if (number >= scope_.size()) {
    return fail("reference " + std::to_string(number) + " of " +
                std::to_string(scope_.size()));
  }
  const std::size_t place = scope_.place_of(number);
  if (envelope_.shared[place] >= token.offset - start_) {
    return fail("reference " + std::to_string(number) +
                " means an object that has not come yet");
  }
  if (number > references_seen_) {
    return fail("references are numbered in order of first use, and " +
                std::to_string(number) + " is used before " +
                std::to_string(references_seen_));
  }
  if (number == references_seen_) ++references_seen_;
  if (meter_ != nullptr && !meter_->reference(reader, token.offset, place))
    return false;
  const std::uint8_t tag = target_tags_[place];
  const bool fits =
      is_object(rule) ||
      (rule == Rule::kNamespace &&
       tag == static_cast<std::uint8_t>(NodeTag::kNamespace)) ||
      (rule == Rule::kCell && tag == static_cast<std::uint8_t>(NodeTag::kCell));
  return fits || fail("reference " + std::to_string(number) + " should mean " +
                      std::string(describe(rule)));
}

// Passes over the part that was checked, if it is what stands there.
bool PayloadCheck::pass_part(Reader& reader, Rule rule) {
  if (meter_ != nullptr || !is_object(rule)) return false;
  targets_passed_ = skipped_.targets;
  references_seen_ = skipped_.references;
  return reader.skip_to(skipped_.end);
}

// Passes over a call of `count` values, of which head and tag were read, if it is short
// and nothing in it is new: no object that references mean, no reference that is the
// first to its object.
bool PayloadCheck::pass_call(Reader& reader, std::uint64_t count) {
  if (meter_ != nullptr || count != shape_of(NodeTag::kObject).least ||
      stack_.size() >= limits_.max_depth) {
    return false;
  }
  const std::uint64_t position = reader.offset() - start_;
  const auto is_known = [&](std::uint64_t number) {
    return number < references_seen_ &&
           envelope_.shared[scope_.place_of(number)] < position;
  };
  const ShortCall call = short_call_at(reader.rest(), is_known, is_sound_leaf);
  const bool has_target = targets_passed_ != targets_.size() &&
                          targets_[targets_passed_].position < position + call.size;
  return call.size != 0 && !has_target && reader.pass(call.size, call.values());
}

// `token`: of the node, at whose number the reader stands. What is no number is refused
// as other parts of nodes are.
bool PayloadCheck::stored(Reader& reader, const Token& token) {
  Reader ahead = reader;
  std::uint64_t number = 0;
  if (!ahead.read_unsigned(number, INT64_MAX, {})) return true;
  const std::vector<StoredBuffer>& buffers = envelope_.buffers;
  if (number >= buffers.size()) {
    return reader.fail(ErrorCode::kUndeclared, token.offset,
                       "stored buffer " + std::to_string(number) + " of " +
                           std::to_string(buffers.size()) + " in the table of buffers");
  }
  if (number > stored_seen_) {
    return reader.fail(ErrorCode::kBadReference, token.offset,
                       "stored buffers are numbered in order of first use, and " +
                           std::to_string(number) + " is used before " +
                           std::to_string(stored_seen_));
  }
  if (number == stored_seen_) ++stored_seen_;
  return meter_ == nullptr || meter_->stored(reader, token.offset, buffers[number]);
}

bool PayloadCheck::module(Reader& reader, const Token& token) {
  std::uint64_t index = 0;
  if (!wire::index_of(token.bytes, index)) {
    return reader.fail(ErrorCode::kMalformed, token.offset,
                       "a module has an index of 1, 2, 4 or 8 bytes");
  }
  const std::vector<ImportRecord>& imports = envelope_.manifest.imports;
  if (index >= imports.size()) {
    return reader.fail(ErrorCode::kUndeclared, token.offset,
                       "module " + std::to_string(index) + " of " +
                           std::to_string(imports.size()) + " in the manifest");
  }
  return imports[index].time == ImportTime::kLoad ||
         reader.fail(ErrorCode::kUndeclared, token.offset,
                     "the manifest does not list " + imports[index].module +
                         " as needed when the payload is loaded");
}

}  // namespace waybill::envelope
