#pragma once

// Keys for tests. The Ed25519 keys are those of RFC 8032, section 7.1.

#include <string>

#include "format/samples.h"
#include "waybill/signature.h"

namespace waybill::samples {

inline Bytes bytes_of(std::string_view digits) {
  Bytes bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(
        std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// Base64 by hand: the tested code uses that of libsodium.
inline std::string base64_of(const Bytes& bytes) {
  constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const std::uint8_t byte : bytes) {
    bits = bits << 8 | byte;
    for (count += 8; count >= 6; count -= 6) text += kDigits[bits >> (count - 6) & 63];
  }
  if (count != 0) text += kDigits[bits << (6 - count) & 63];
  return text;
}

inline SigningKey ed25519_key(std::string_view seed) {
  return *SigningKey::from_text("waybill-ed25519-private:" + base64_of(bytes_of(seed)));
}

inline SigningKey sender_key() {
  return ed25519_key(
      "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
}

inline SigningKey stranger_key() {
  return ed25519_key(
      "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
}

inline std::string mac_text(std::uint8_t first) {
  Bytes key(32, 7);
  key[0] = first;
  return "waybill-mac:" + base64_of(key);
}

inline SigningKey mac_key(std::uint8_t first = 1) {
  return *SigningKey::from_text(mac_text(first));
}

inline KeyRing ring_of(const SigningKey& key) {
  KeyRing ring;
  ring.add(key);
  return ring;
}

}  // namespace waybill::samples
