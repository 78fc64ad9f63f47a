#pragma once

// Protects the machine from payloads.

namespace waybill::fuzz {

// Forbids large files, and changes to a deleted folder, in which no file can be
// created. Call it after Python has started.
void fence_in();

// While a guard lives, Python refuses every audit event that is not listed as harmless,
// and so each access to the system; modules that are not imported do not exist.
class Guard {
 public:
  Guard();
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
};

}  // namespace waybill::fuzz
