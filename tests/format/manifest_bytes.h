#pragma once

#include "format/manifest_codec.h"
#include "format/samples.h"
#include "waybill/manifest.h"

namespace waybill {

// The manifest's section as the writer makes it.
inline samples::Bytes encode_to_bytes(const Manifest& manifest) {
  samples::Bytes bytes;
  encode_manifest(manifest, bytes);
  return bytes;
}

// The manifest that the section `bytes` holds, or the reader's error.
inline Result<Manifest> decode_manifest(BytesView bytes) {
  wire::Reader reader(bytes);
  Manifest manifest;
  if (!envelope::read_manifest(reader, manifest)) return tl::unexpected(reader.error());
  return manifest;
}

}  // namespace waybill
