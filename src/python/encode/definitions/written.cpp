// How definitions are written into a payload: with the numbers that modules, code and
// references have there; and the heads of payloads, which begin with them.
//
// Tested by tests/python/definitions.

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "python/encode/definitions/definitions.h"
#include "python/encode/encode_context.h"
#include "wire/writer.h"

namespace waybill::py {

namespace {

using wire::ExtType;
using wire::NodeTag;

// Writes the definitions of a payload one behind the other.
class PayloadWriter {
 public:
  explicit PayloadWriter(std::span<const TakenDefinition> taken) : taken_(taken) {}

  WrittenDefinitions write() {
    for (const TakenDefinition& taken : taken_) add(taken);
    wire::Writer head;
    head.node(NodeTag::kDefinitions, 3);
    head.unsigned_integer(targets_.size());
    head.array(taken_.size());
    const BytesView start = head.view(), body = out_.view();
    written_.bytes.assign(start.begin(), start.end());
    written_.bytes.insert(written_.bytes.end(), body.begin(), body.end());
    for (auto& one : written_.starts) one.position += start.size();
    for (const Place& target : targets_) {
      written_.shared.push_back(written_.position_of(target));
    }
    return std::move(written_);
  }

 private:
  void add(const TakenDefinition& taken) {
    const Definition& definition = *taken.definition;
    const auto own = static_cast<std::uint32_t>(written_.starts.size());
    WrittenDefinitions::Start start{out_.size(), {}};
    std::size_t done = 0;
    auto code = taken.code.begin();
    const BytesView bytes(definition.bytes);
    for (const Definition::Number& number : definition.numbers) {
      out_.append(bytes.subspan(done, number.position - done));
      done = number.position + number.size;
      const std::size_t before = out_.size();
      switch (number.of) {
        case Definition::Number::Of::kReference:
          out_.index(ExtType::kReference,
                     number_of(target_of(taken, own, number.number)));
          break;
        case Definition::Number::Of::kModule:
          out_.index(ExtType::kModule, taken.modules[number.number]);
          break;
        case Definition::Number::Of::kCode:
          out_.unsigned_integer(*code++);
          break;
      }
      const auto by = static_cast<std::int64_t>(out_.size() - before) - number.size;
      if (by != 0) start.shifts.push_back({done, by});
    }
    out_.append(bytes.subspan(done));
    written_.starts.push_back(std::move(start));
  }

  static Place target_of(const TakenDefinition& taken, std::uint32_t own,
                         std::uint32_t number) {
    const Definition::Target& target = taken.definition->targets[number];
    if (target.need == Definition::Target::kInside) return {own, target.offset};
    return taken.needs[target.need];
  }

  std::uint64_t number_of(const Place& target) {
    const auto [found, is_new] = numbers_.try_emplace(target.number(), targets_.size());
    if (is_new) targets_.push_back(target);
    return found->second;
  }

  std::span<const TakenDefinition> taken_;
  wire::Writer out_;
  WrittenDefinitions written_;
  std::vector<Place> targets_;
  std::unordered_map<std::uint64_t, std::uint64_t> numbers_;  // Of these.
};

}  // namespace

WrittenDefinitions PayloadDefinitions::write() const {
  return PayloadWriter(taken_).write();
}

std::shared_ptr<const KeptHead> PayloadDefinitions::find_head() const {
  if (!context_.state.uses_caches) return nullptr;
  return context_.state.kept_heads->find(context_.state, [&](const auto& head) {
    return std::ranges::equal(head->definitions, taken_, {}, {},
                              &TakenDefinition::definition) &&
           std::ranges::equal(head->needs, taken_, std::ranges::equal, {},
                              &TakenDefinition::needs);
  });
}

void PayloadDefinitions::keep_head(const Parts& parts,
                                   const WrittenDefinitions& written) {
  ImportCollector& imports = context_.imports();
  const auto is_stored = [](const TakenDefinition& taken) { return taken.is_kept; };
  const bool is_kept = context_.state.uses_caches && imports.can_be_repeated() &&
                       !context_.code().lacks_source() &&
                       std::ranges::all_of(taken_, is_stored);
  if (!is_kept) return;
  const std::vector<std::uintptr_t> containers = imports.let_go_of_containers();
  if (!std::ranges::all_of(containers, [&](auto key) { return is_visited(key); })) {
    return;
  }
  KeptHead head;
  for (const TakenDefinition& taken : taken_) {
    head.definitions.push_back(taken.definition);
    head.needs.emplace_back(taken.needs.begin(), taken.needs.end());
  }
  head.written = written;
  head.sections = KeptSections(parts);
  head.seen = imports.seen();
  context_.state.kept_heads->keep(std::move(head));
}

}  // namespace waybill::py
