#pragma once

// Protects the machine from payloads.

namespace waybill::fuzz {

// Forbids large files, and makes a deleted folder the current one, so that no file can
// be created there. Call it after Python has started.
void fence_in();

// While a guard lives, Python refuses every audit event that is not listed as harmless,
// and so each access to the system. Imports of modules that are not imported yet fail.
class Guard {
 public:
  Guard();
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
};

}  // namespace waybill::fuzz
