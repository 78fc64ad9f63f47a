#pragma once

// An envelope of a task: a function, a class, and values around them.

#include <gtest/gtest.h>

#include <functional>

#include "format/samples.h"

namespace waybill::samples {

// Numbers of the references in the value of a TaskDraft.
constexpr std::uint64_t kTaskFunction = 0;
constexpr std::uint64_t kTaskType = 1;

inline void write_task_location(Writer& out) {
  write_location(out, "/home/ada/task.py", 12, Bytes{0x80, 0});
}

// A class up to the value of its only attribute, which is to be written next.
inline void start_class(Writer& out, const char* attribute) {
  out.node(wire::NodeTag::kClass, 6);
  out.binary(Bytes(16, 0xab));
  write_global(out, "type");
  out.text("C");
  out.array(0);
  out.map(0);
  out.map(1);
  out.text(attribute);
}

// A tuple of something, a function, a class whose method has the globals of the
// function, and something else. Function and class are definitions.
struct TaskDraft : Draft {
  using Write = std::function<void(Writer&)>;

  explicit TaskDraft(
      const Write& write_first = [](Writer& out) { out.integer(1); },
      const Write& write_last = [](Writer& out) { out.array(0); },
      const Write& write_second_location = write_task_location) {
    manifest.imports = {{"json", ImportTime::kLoad, "json.dumps", "f", "task.py", 3}};
    code.push_back(BodyDraft().body());
    BodyDraft method;
    method.name = "method";
    code.push_back(method.body());
    payload.node(NodeTag::kDefinitions, 3);
    payload.unsigned_integer(1);
    payload.array(2);
    write_function();
    write_class();
    shared.insert(shared.end(), {starts[0], starts[1]});
    payload.node(NodeTag::kTuple, 4);
    write_first(payload);
    payload.index(ExtType::kReference, kTaskFunction);
    payload.index(ExtType::kReference, kTaskType);
    write_last(payload);
    source_locations.array(2);
    write_task_location(source_locations);
    write_second_location(source_locations);
  }

  void write_function() {
    starts[0] = payload.size();
    payload.node(NodeTag::kFunction, 4);
    payload.unsigned_integer(0);
    shared.push_back(payload.size());
    write_namespace(payload);
    payload.array(0);
    payload.map(1);
    payload.unsigned_integer(0);
    payload.map(1);
    payload.text("alias");
    payload.index(ExtType::kModule, 0);
  }

  void write_class() {
    starts[1] = payload.size();
    payload.node(NodeTag::kClass, 6);
    payload.binary(Bytes(16, 0xab));
    write_global(payload, "type");
    payload.text("C");
    payload.array(1);
    write_global(payload, "object");
    payload.map(1);
    payload.text("__module__");
    payload.text("__main__");
    payload.map(1);
    payload.text("method");
    payload.node(NodeTag::kFunction, 4);
    payload.unsigned_integer(1);
    payload.index(ExtType::kReference, 0);  // The namespace.
    payload.array(0);
    payload.map(0);
  }

  std::size_t starts[2] = {};
};

// Of which the views point into `bytes`.
inline VerifiedEnvelope sound_envelope(const Bytes& bytes) {
  return verify(open_whole(bytes).value()).value();
}

}  // namespace waybill::samples
