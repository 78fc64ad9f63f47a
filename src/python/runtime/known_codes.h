#pragma once

// Code objects that are here already.

#include <Python.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "python/runtime/ref.h"
#include "waybill/envelope.h"

namespace waybill::py {

// What one code object is like, whoever made it: its body, with all that is nested in
// it, and where it stands.
struct CodeKey {
  ContentHash body{};
  std::uint64_t place = 0;  // Of the file, and of the lines in it.

  friend bool operator==(const CodeKey&, const CodeKey&) = default;
};

// `file`: in UTF-8; `lines`: the rest of its source location.
CodeKey code_key(const ContentHash& body, std::string_view file, BytesView lines);

// Code objects that were sent or received lately: what comes again need not be built
// again, and code that returns to its sender is the original object. Received code is
// held, since a worker drops each task when it is done; code of this program is found
// while it lives. Code holds constants alone: no module, no globals. Bounded by entries
// and by bytes of code bodies. Needs the GIL.
class KnownCodes {
 public:
  static constexpr std::size_t kMaxEntries = 1024;
  static constexpr std::size_t kMaxHeldBytes = 16 << 20;
  static constexpr std::size_t kMaxBytesOfOne = kMaxHeldBytes / 16;

  // Null if there is none.
  Ref find(const CodeKey& key) const;
  // Whether the code that find() gives was received.
  bool was_received(const CodeKey& key) const;
  // Code of this program, by a weak reference.
  void note(const CodeKey& key, PyObject* code);
  // Code that was received; `size`: the bytes of the bodies that it was built from.
  void hold(const CodeKey& key, PyObject* code, std::size_t size);
  void clear();
  // How many code objects are held, and the bytes of their bodies.
  std::size_t held_count() const;
  std::size_t held_bytes() const { return held_bytes_; }
  // If it is not used, it finds and notes nothing.
  void use(bool is_used) { is_used_ = is_used; }

 private:
  struct Entry {
    CodeKey key;
    Ref code;  // A weak reference.
    Ref held;  // The same code; null if it is only noted.
    std::size_t held_bytes = 0;
    bool was_received = false;
  };
  using Entries = std::array<Entry, kMaxEntries>;

  static std::size_t slot_of(const CodeKey& key);
  void put(Entry entry);

  Entries entries_;
  std::size_t held_bytes_ = 0;
  std::size_t next_to_drop_ = 0;
  bool is_used_ = true;
};

}  // namespace waybill::py
