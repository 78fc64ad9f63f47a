#pragma once

// Keeps what is loaded by mistake away from the machine.

namespace waybill::fuzz {

// From now on the process writes no large files and stands in a folder that does not
// exist any more, in which nothing can be made. For after Python was started.
void fence_in();

// While one lives, Python refuses whatever reaches out of the process, and all events
// of auditing that are not known to be harmless; modules that are not loaded are
// missing.
class Guard {
 public:
  Guard();
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
};

}  // namespace waybill::fuzz
