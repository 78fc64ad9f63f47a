// What a code object does with the values it loads: abstract interpretation of its
// bytecode. This page says what is followed; the work is done in
//
//   instruction.cpp       bytes -> steps without versions or encodings
//   control_flow.cpp      steps -> blocks, their order, which locals are needed where
//   flow_state.cpp        states at block starts, and how they merge
//   evaluator.cpp         one step on abstract locals and stack
//   function_calls.cpp    which values calls pass to nested functions, which escape
//
// CoarseCollector, below, is the fallback when this would exceed the budget.
//
// How. Locals and stack hold ValueIds instead of objects. Each block runs once per
// pass, after the blocks that lead to it. Where two predecessors bring different
// values, the slot becomes a kUnion. When a loop brings a new value to a block that has
// run, the slot is marked, and the next pass starts with a union there. A union only
// gains operands, so nothing computed from it has to be revised; what depends on all of
// its operands (is it only functions that are called here?) is decided at the end.
//
// Followed, each with what the summary says of it:
//   xml.etree.X                 global xml -> .etree -> .X
//   m = xml; m.dom; m = os; m.path   xml.dom and os.path: control flow separates them
//   (xml if c else os).path     {xml, os}.path; so are `x or y` and (m := xml).dom
//   a, b = xml, os; a.dom       xml.dom only: tuples are unpacked by position
//   (xml, os)[0].dom            xml.dom
//   for m in (xml, os): m.dom   any item of (xml, os), .dom; in comprehensions too:
//                               inlined ones as loops, others by the binding of `.0`
//   getattr(xml, "dom")         kGetattr; when the name is not a constant, xml escapes
//   import a.b as m; m.c        kImport, kImportFrom, .c
//   def f(m): ...; f(xml)       binding: parameter 0 of f is xml
//   def f(m=xml, *, n=os): ...  defaults
//   def outer(): m = xml; return lambda: m.dom   a store to the cell m, and there a
//                               kVariable. Cells have no flow: any store may be seen.
//   global m; m = xml           a store to the global
//   try: ... except xml.E: ...  handlers run, with every value that a local had in the
//                               covered range
//   class K: z = xml; z.dom     LOAD_NAME: the global z or what the body stored
//
// A chain ends at these, because the value escapes the analysis:
//   helper(xml)                 an argument, except of nested functions, getattr
//   self.m = xml; d["k"] = xml  a store into something
//   [*x, xml]; d.update(...)    extending a container: also all it had before
//   mods = [xml]; mods.pop()    an attribute of a list of this code: the list escapes
//   return xml; yield, raise, await, with xml, class K: z = xml
// A chain ends without an escape at arithmetic, comparison, formatting, tests, bases of
// a class, the receiver of a method call. Their result is kUnknown.
//
// Left to src/python/walker/function_steps.cpp, which knows the functions:
//   operator.attrgetter("dom")(xml), sys.modules["xml"]
// Knowingly missed, since modules are seldom used that way:
//   {"k": xml}["k"].dom         any value of the dict; keys are not compared
//   mods = [xml, os]; mods[0]   any item: a list may have been changed meanwhile
//   d[xml], xml + 1, f"{xml}"   __getitem__, __add__, __format__ could do anything
//   super().m                   kUnknown
//   vars()["xml"], exec(...)
// Tested by tests/bytecode/summarize_test.cpp.

#include <span>

#include "bytecode/evaluator.h"
#include "bytecode/value_graph.h"

namespace waybill {
namespace bytecode {
namespace {

// The fallback when blocks times locals exceed the budget: an over-approximation
// without states. A consumer that handles escapes correctly (any attribute name may be
// applied to them) finds everything it would have found, and more.
class CoarseCollector {
 public:
  CoarseCollector(const CodeView& code, CodeSummary& summary)
      : code_(code), summary_(summary) {}

  // Fills in the summary except `globals` and `nested`, in one pass over the
  // instructions. Every value that the code can reach escapes, and every attribute name
  // in it is an attribute of kUnknown.
  //
  // Errors: kMalformed, for indices out of range.
  Result<void> collect(std::span<const Instruction> instructions) {
    summary_ = CodeSummary{};
    for (std::uint32_t i = 0; i < code_.argument_count; ++i) {
      add_escape(Value::Kind::kParameter, i, kUnknownValue);
    }
    for (std::uint32_t i = 0; i < code_.constants.size(); ++i) {
      if (code_.constants[i].kind == ConstantView::Kind::kCode) {
        add_escape(Value::Kind::kFunction, i, kUnknownValue);
      }
      // The constant may be the name in a getattr().
      if (code_.constants[i].kind == ConstantView::Kind::kText) {
        const ValueId text = graph_.make(Value::Kind::kConstant, i, 0, 0);
        graph_.make(Value::Kind::kGetattr, 0, 0, 0, std::span(&text, 1));
      }
    }
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      offset_ = instructions[i].offset;
      if (!add(instructions, i)) {
        return tl::unexpected(
            Error{ErrorCode::kMalformed, offset_,
                  "an instruction refers to a missing name, local or constant"});
      }
    }
    graph_.move_into(summary_);
    return {};
  }

 private:
  void add_escape(Value::Kind kind, std::uint32_t index, ValueId parent) {
    const std::size_t before = graph_.size();
    const ValueId value = graph_.make(kind, index, parent, offset_);
    if (value >= before) summary_.escapes.push_back(value);
  }

  // False: an index is out of range.
  bool add(std::span<const Instruction> instructions, std::size_t i) {
    const std::uint32_t index = instructions[i].argument;
    switch (instructions[i].operation) {
      case Operation::kLoadGlobal:
      case Operation::kLoadName:
      case Operation::kLoadDictOrGlobal:
        if (index >= code_.names.size()) return false;
        add_escape(Value::Kind::kGlobal, index, kUnknownValue);
        return true;
      case Operation::kLoadCell:
      case Operation::kLoadDictOrCell:
        if (index >= code_.local_names.size()) return false;
        add_escape(Value::Kind::kVariable, index, kUnknownValue);
        return true;
      case Operation::kLoadAttribute:
        if (index >= code_.names.size()) return false;
        graph_.make(Value::Kind::kAttribute, index, kUnknownValue, offset_);
        return true;
      case Operation::kImportFrom:
        if (index >= code_.names.size()) return false;
        add_escape(Value::Kind::kImportFrom, index, last_import_);
        last_import_ = static_cast<ValueId>(graph_.size() - 1);
        return true;
      case Operation::kImportName:
        return index < code_.names.size() && add_import(instructions, i);
      default:
        return true;
    }
  }

  // Compilers load level and names right before an import.
  bool add_import(std::span<const Instruction> instructions, std::size_t i) {
    BodyImport import;
    import.name = instructions[i].argument;
    import.from_names = kNoIndex;
    import.offset = offset_;
    if (i >= 2) {
      const Instruction& level = instructions[i - 2];
      const Instruction& names = instructions[i - 1];
      if (level.operation == Operation::kLoadInteger) import.level = level.argument;
      if (const ConstantView* constant = constant_of(level)) {
        import.level = static_cast<std::uint32_t>(constant->integer);
      }
      const ConstantView* constant = constant_of(names);
      if (constant != nullptr && constant->kind == ConstantView::Kind::kTuple) {
        import.from_names = names.argument;
      }
    }
    summary_.imports.push_back(import);
    last_import_ = static_cast<ValueId>(graph_.size());
    add_escape(Value::Kind::kImport,
               static_cast<std::uint32_t>(summary_.imports.size() - 1), kUnknownValue);
    return true;
  }

  const ConstantView* constant_of(const Instruction& instruction) const {
    if (instruction.operation != Operation::kLoadConstant) return nullptr;
    if (instruction.argument >= code_.constants.size()) return nullptr;
    return &code_.constants[instruction.argument];
  }

  const CodeView& code_;
  CodeSummary& summary_;
  ValueGraph graph_;
  ValueId last_import_ = kUnknownValue;
  std::uint32_t offset_ = 0;
};

}  // namespace
}  // namespace bytecode

namespace {

using bytecode::Operation;

// The number of instructions that run in a straight line from the start: a name stored
// there is bound from then on.
std::size_t straight_length(const bytecode::ControlFlow& flow) {
  if (flow.blocks.empty() || flow.blocks[0].entry != kNoIndex) return 0;
  return flow.blocks[0].end;
}

std::uint8_t use_of(Operation operation) {
  switch (operation) {
    case Operation::kLoadName:
      return bytecode::kNameLoaded | bytecode::kNameSeen;
    case Operation::kLoadGlobal:
    case Operation::kLoadDictOrGlobal:
    case Operation::kStoreGlobal:
    case Operation::kDeleteGlobal:
      return bytecode::kNameSeen;
    case Operation::kStoreName:
      return bytecode::kNameStored;
    case Operation::kDeleteName:
      return bytecode::kNameDeleted;
    default:
      return 0;
  }
}

// Lists the global names in all of the code, unreachable parts included: they decide
// which globals travel. Returns the bytecode::NameUse flags of each name.
Result<std::vector<std::uint8_t>> list_names(const CodeView& code,
                                             const bytecode::ControlFlow& flow,
                                             CodeSummary& summary) {
  std::vector<std::uint8_t> uses(code.names.size(), 0);
  const std::size_t straight = straight_length(flow);
  for (const bytecode::Instruction& instruction : flow.instructions) {
    if (use_of(instruction.operation) == 0) continue;
    if (instruction.argument >= uses.size()) {
      return tl::unexpected(Error{ErrorCode::kMalformed, instruction.offset,
                                  "an instruction refers to a missing name"});
    }
    if (instruction.operation == Operation::kDeleteName) {
      uses[instruction.argument] |= bytecode::kNameDeleted;
    }
  }
  for (std::size_t i = 0; i < flow.instructions.size(); ++i) {
    const bytecode::Instruction& instruction = flow.instructions[i];
    std::uint8_t use = use_of(instruction.operation);
    if (use == 0) continue;
    std::uint8_t& previous = uses[instruction.argument];
    const std::uint8_t exposed = bytecode::kNameSeen | bytecode::kNameDeleted;
    if (use == bytecode::kNameStored && i < straight && (previous & exposed) == 0) {
      use |= bytecode::kNameBound;
    }
    if ((use & bytecode::kNameLoaded) != 0 && (previous & bytecode::kNameBound) != 0) {
      use = bytecode::kNameLoaded;
    }
    if ((use & ~previous & bytecode::kNameSeen) != 0) {
      summary.globals.push_back(instruction.argument);
    }
    previous |= use;
  }
  return uses;
}

}  // namespace

Result<CodeSummary> summarize(const CodeView& code) {
  auto flow = bytecode::read_control_flow(code);
  if (!flow) return tl::unexpected(std::move(flow.error()));
  CodeSummary names;
  auto uses = list_names(code, *flow, names);
  if (!uses) return tl::unexpected(std::move(uses.error()));

  CodeSummary summary;
  auto followed = bytecode::Evaluator(code, *flow, *uses, summary).run();
  if (!followed) return tl::unexpected(std::move(followed.error()));
  if (!*followed) {
    auto done = bytecode::CoarseCollector(code, summary).collect(flow->instructions);
    if (!done) return tl::unexpected(std::move(done.error()));
  }

  summary.globals = std::move(names.globals);
  for (std::uint32_t i = 0; i < code.constants.size(); ++i) {
    if (code.constants[i].kind == ConstantView::Kind::kCode) {
      summary.nested.push_back(i);
    }
  }
  return summary;
}

}  // namespace waybill
