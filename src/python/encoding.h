#pragma once

// One object on its way out: the parts of an envelope while they grow.

#include <Python.h>

#include "python/discovery/code_info.h"
#include "python/discovery/import_collector.h"
#include "python/encode/code_encoder.h"
#include "python/encode/graph_encoder.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/envelope.h"
#include "wire/writer.h"

namespace waybill::py {

struct Encoding {
  CodeInfos infos;
  CodeSection code;
  ImportCollector imports;
  GraphEncoder graph;

  Encoding(State& state, const EncodeOptions& options);
  Encoding(const Encoding&) = delete;
  Encoding& operator=(const Encoding&) = delete;

  // Throws PyError. Call once.
  void encode(PyObject* object);

  // The sections besides the payload, in `parts`, which point into this and into what
  // was written. The imports are finished. Throws PyError.
  struct Written {
    wire::Writer manifest, places;
  };
  void write_sections(const State& state, Written& written, Parts& parts) const;

  // The envelope. The sections that a kept or prepared function has are taken as they
  // are. Throws PyError.
  Ref seal(const State& state, const EncodeHooks& hooks);
};

}  // namespace waybill::py
