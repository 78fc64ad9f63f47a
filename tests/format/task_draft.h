#pragma once

// An envelope of a task: a function, a class, and values around them.

#include <gtest/gtest.h>

#include "format/samples.h"

namespace waybill::samples {

// Numbers of the references in the value of a TaskDraft.
constexpr std::uint64_t kTaskFunction = 0;
constexpr std::uint64_t kTaskType = 1;

inline Tokens task_location() { return location("/home/ada/task.py", 12, {0x80, 0}); }

// A class up to the value of its only attribute, which follows.
inline Tokens class_head(const char* attribute) {
  return {node(NodeTag::kClass, 6),
          binary(Bytes(16, 0xab)),
          global("type"),
          "C",
          array(0),
          map(0),
          map(1),
          attribute};
}

// A tuple of something, a function, a class whose method has the globals of the
// function, and something else. Function and class are definitions.
struct TaskDraft : Draft {
  explicit TaskDraft(const Tokens& first = {1}, const Tokens& last = {array(0)},
                     const Tokens& second_location = task_location()) {
    manifest.imports = {{"json", ImportTime::kLoad, "json.dumps", "f", "task.py", 3}};
    code.push_back(BodyDraft().body());
    BodyDraft method;
    method.name = "method";
    code.push_back(method.body());
    put(payload, {node(NodeTag::kDefinitions, 3), 1, array(2)});
    write_function();
    write_class();
    shared.insert(shared.end(), {starts[0], starts[1]});
    put(payload, {node(NodeTag::kTuple, 4), first, reference(kTaskFunction),
                  reference(kTaskType), last});
    put(source_locations, {array(2), task_location(), second_location});
  }

  void write_function() {
    starts[0] = payload.size();
    put(payload, {node(NodeTag::kFunction, 4), 0, here(), main_namespace(), array(0),
                  map(1), 0, map(1), "alias", module_of(0)});
  }

  void write_class() {
    starts[1] = payload.size();
    put(payload,
        {node(NodeTag::kClass, 6), binary(Bytes(16, 0xab)), global("type"), "C",
         array(1), global("object"), map(1), "__module__", "__main__", map(1), "method",
         node(NodeTag::kFunction, 4), 1, reference(0),  // The namespace.
         array(0), map(0)});
  }

  std::size_t starts[2] = {};
};

// Its views point into `bytes`.
inline VerifiedEnvelope sound_envelope(const Bytes& bytes) {
  return verify(open_whole(bytes).value()).value();
}

}  // namespace waybill::samples
