#pragma once

// What an envelope has besides its payload, while the payload is written.

#include <Python.h>

#include "python/discovery/code_info.h"
#include "python/discovery/import_collector.h"
#include "python/encode/code/code_encoder.h"
#include "python/runtime/state.h"
#include "waybill/envelope.h"
#include "wire/writer.h"

namespace waybill::py {

struct OtherSections {
  CodeInfos& infos;
  CodeSection code;
  ImportCollector imports;

  // `code_infos` outlives this. `by_value`: see ImportCollector.
  OtherSections(const State& state, CodeInfos& code_infos, PyObject* by_value)
      : infos(code_infos), code(infos), imports(state, by_value) {}
  OtherSections(const OtherSections&) = delete;
  OtherSections& operator=(const OtherSections&) = delete;

  // Begins with what `first` has, which outlives this. Nothing is here yet.
  void go_on_after(const OtherSections& first) {
    code.go_on_after(first.code);
    imports.go_on_after(first.imports);
  }

  // Puts the sections into `parts`, which point into this and into what was written.
  // The imports are finished. Throws PyError.
  struct Written {
    wire::Writer manifest, source_locations, sources;
  };
  void write(const State& state, Written& written, Parts& parts) const {
    imports.encode(written.manifest);
    code.write_source_locations(written.source_locations, imports.first_file(),
                                state.known_codes);
    code.write_sources(written.sources);
    parts.encoded_manifest = written.manifest.view();
    parts.code = code.bodies();
    parts.source_locations = written.source_locations.view();
    parts.sources = written.sources.view();
  }
};

}  // namespace waybill::py
