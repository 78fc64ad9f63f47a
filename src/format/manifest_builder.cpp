// The manifest's section, built as the needs turn up.
// Tested by tests/format/manifest_test.cpp.

#include "format/manifest_builder.h"

namespace waybill::envelope {

void ManifestBuilder::go_on_after(const ManifestBuilder& first) {
  records_.append(first.records_.view());
  count_ = first.count_;
  files_ = first.files_;
  substitutions_.append(first.substitutions_.view());
  substitution_count_ = first.substitution_count_;
}

std::size_t ManifestBuilder::number_of(std::string_view file) {
  // The last one first: needs of one file come together, and there are few files.
  for (std::size_t i = files_.size(); i > 0; --i) {
    if (files_[i - 1] == file) return i - 1;
  }
  files_.emplace_back(file);
  return files_.size() - 1;
}

std::uint32_t ManifestBuilder::add(const Record& record) {
  records_.array(6);
  records_.text(record.module);
  records_.unsigned_integer(static_cast<std::uint64_t>(record.time));
  if (record.chain.empty() || record.chain == record.module) {
    records_.nil();
  } else {
    records_.text(record.chain);
  }
  if (record.function.empty()) {
    records_.nil();
  } else {
    records_.text(record.function);
  }
  if (record.file.empty()) {
    records_.nil();
  } else {
    records_.unsigned_integer(number_of(record.file));
  }
  records_.unsigned_integer(record.line);
  return count_++;
}

void ManifestBuilder::add(const Substitution& substitution) {
  substitutions_.array(3);
  substitutions_.text(substitution.policy);
  substitutions_.text(substitution.type);
  substitutions_.text(substitution.path);
  ++substitution_count_;
}

void ManifestBuilder::encode(wire::Writer& out) const {
  out.map((count_ != 0) + (!files_.empty()) + (substitution_count_ != 0));
  if (count_ != 0) {
    out.unsigned_integer(static_cast<std::uint64_t>(wire::ManifestKey::kImports));
    out.array(count_);
    out.append(records_.view());
  }
  if (!files_.empty()) {
    out.unsigned_integer(static_cast<std::uint64_t>(wire::ManifestKey::kFiles));
    out.array(files_.size());
    for (const std::string& file : files_) out.text(file);
  }
  if (substitution_count_ == 0) return;
  out.unsigned_integer(static_cast<std::uint64_t>(wire::ManifestKey::kSubstitutions));
  out.array(substitution_count_);
  out.append(substitutions_.view());
}

}  // namespace waybill::envelope
