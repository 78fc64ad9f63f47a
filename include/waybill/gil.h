#pragma once

// Scopes that acquire or release the GIL in this thread.
//
//   {
//     const waybill::GilScope gil;            // Released at the end of the block.
//     auto object = waybill::decode(bytes);
//   }
//   // Python objects must not be used here, without the GIL.

namespace waybill {

// Holds the GIL to the end of the scope. Scopes of one thread nest; any thread may open
// one, also a thread that Python did not start. Waits until the GIL is free.
//
// If no Python runs, or Interpreter::finish() has begun and this is not a thread of
// Python's, the scope holds nothing and converts to false. Functions of waybill then
// return an error; those of Python must not be called.
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

// Releases the GIL to the end of the scope, for work without Python. Does nothing in a
// thread that does not hold it.
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
