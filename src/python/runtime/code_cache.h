#pragma once

// A cache of code objects by content.

#include <Python.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "python/runtime/ref.h"
#include "waybill/envelope.h"

namespace waybill::py {

// Identifies code objects with equal bodies, including nested code, and equal source
// locations (file and lines).
struct CodeKey {
  ContentHash body{};
  std::uint64_t location_hash = 0;

  friend bool operator==(const CodeKey&, const CodeKey&) = default;
};

// `file`: in UTF-8; `lines`: the rest of the source location.
CodeKey code_key(const ContentHash& body, std::string_view file, BytesView lines);

// Code objects that were sent or received recently. Code that is received again need
// not be built again, and code that returns to its sender is the original object.
// Received code is kept alive, because a worker drops each task when it is done. Sent
// code is only weakly referenced. Code objects refer to constants only, to no module
// and no globals. Bounded by entries and by bytes of code bodies. Needs the GIL.
class CodeCache {
 public:
  static constexpr std::size_t kMaxEntries = 1024;
  static constexpr std::size_t kMaxHeldBytes = 16 << 20;
  static constexpr std::size_t kMaxBytesPerEntry = kMaxHeldBytes / 16;

  // Null if there is none.
  Ref find(const CodeKey& key) const;
  // Whether the code that find() returns was received.
  bool was_received(const CodeKey& key) const;
  // Adds code of this program, by a weak reference.
  void add(const CodeKey& key, PyObject* code);
  // Adds received code and holds it. `size`: bytes of the bodies it was built from.
  void hold(const CodeKey& key, PyObject* code, std::size_t size);
  void clear();
  // Number of code objects that are held, and the bytes of their bodies.
  std::size_t held_count() const;
  std::size_t held_bytes() const { return held_bytes_; }
  // Turns the cache on or off. While it is off, it finds and adds nothing.
  void set_enabled(bool is_enabled) { is_enabled_ = is_enabled; }

 private:
  struct Entry {
    CodeKey key;
    Ref code;  // A weak reference.
    Ref held;  // The same code; null if it is not held.
    std::size_t held_bytes = 0;
    bool was_received = false;
  };
  using Entries = std::array<Entry, kMaxEntries>;

  static std::size_t slot_of(const CodeKey& key);
  void put(Entry entry);

  Entries entries_;
  std::size_t held_bytes_ = 0;
  std::size_t next_to_drop_ = 0;
  bool is_enabled_ = true;
};

}  // namespace waybill::py
