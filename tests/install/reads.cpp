// Writes a payload, signs it, checks it and reads it, without Python.

#include <cstdio>
#include <memory>

#include "waybill/gate.h"
#include "waybill/report.h"
#include "waybill/signature.h"
#include "waybill/value.h"

int main() {
  using waybill::data::List;
  using waybill::data::Map;
  const waybill::SigningKey key =
      waybill::SigningKey::generate(waybill::SignatureAlgorithm::kEd25519);
  waybill::KeyRing ring;
  ring.add(key);
  waybill::LoadOptions load_options;
  load_options.keys = std::make_shared<waybill::KeyRing>(ring.clone());

  const Map sent = {{"numbers", List{1, 2.5, "three"}}};
  const auto bytes = waybill::write_value(sent, {.key = &key});
  if (!bytes) return 1;
  const auto received = waybill::read_value(*bytes, waybill::Gate(load_options));
  if (!received || !(*received == sent)) return 2;
  const auto envelope = waybill::open_whole(*bytes);
  if (!envelope || waybill::report_json(*envelope).empty()) return 3;
  if (waybill::read_value(waybill::BytesView(*bytes).first(10))) return 4;
  std::puts("read");
}
