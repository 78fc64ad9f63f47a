#pragma once

// The right to use Python, in this thread and for a while.
//
//   {
//     const waybill::GilScope gil;            // Good: gone at the end of the block.
//     auto object = waybill::decode(bytes);
//   }
//   // Bad: `object` may not live here, where nothing of Python may be touched.

namespace waybill {

// Has the GIL from here to the end of the scope. May be inside another one of the same
// thread; any thread may have one, also those that Python did not start. Waits while
// others have it. There must be an interpreter.
class [[nodiscard]] GilScope {
 public:
  GilScope();
  ~GilScope();
  GilScope(const GilScope&) = delete;
  GilScope& operator=(const GilScope&) = delete;

 private:
  int state_;
};

// Lets others have the GIL from here to the end of the scope, for work that touches
// nothing of Python. This thread must have it.
class [[nodiscard]] GilRelease {
 public:
  GilRelease();
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  void* thread_;
};

}  // namespace waybill
