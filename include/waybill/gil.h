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
// others have it.
//
// Where no Python runs, or Interpreter::finish() has begun and this thread is not one
// of Python's, it has nothing and converts to false. Functions of waybill answer with
// an error then; those of Python must not be called.
class [[nodiscard]] GilScope {
 public:
  GilScope();
  ~GilScope();
  explicit operator bool() const { return is_open_; }
  GilScope(const GilScope&) = delete;
  GilScope& operator=(const GilScope&) = delete;

 private:
  int state_ = 0;
  bool is_open_ = false;
};

// Lets others have the GIL from here to the end of the scope, for work that touches
// nothing of Python. Does nothing in a thread that has not got it.
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
