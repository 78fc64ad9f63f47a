// A shared library that contains waybill and libsodium.

#include "waybill/envelope.h"
#include "waybill/signature.h"

extern "C" std::size_t plugin() {
  waybill::KeyRing ring;
  ring.add(waybill::SigningKey::generate(waybill::SignatureAlgorithm::kEd25519));
  return waybill::open_whole(waybill::BytesView()) ? 1 : 0;
}
