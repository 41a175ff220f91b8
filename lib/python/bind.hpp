// What all files of the Python module share: nanobind, what a fork leaves, Python's errors.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <clcook/core/error.hpp>

#include <new>
#include <string>
#include <utility>

namespace clcook::python {

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

// Becomes clcook.WrongType, which is a TypeError too.
struct WrongType : Error {
  WrongType(const std::string& error_where, const std::string& message)
      : Error(Errc::invalid_argument, error_where, message) {}
};

// Becomes clcook.Forked.
struct Forked : Error {
  explicit Forked(const std::string& message) : Error(Errc::unsupported, "clcook", message) {}
};

// From here on a child of this process has what it cannot use. Called before a device is touched.
void uses_devices();
// Whether this process is such a child.
bool is_forked();
// Throws Forked there.
void refuse_fork();

// ---- the end of the interpreter ----
//
// A thread that Python does not wait for, a daemon, may be anywhere in this module when the program
// ends. Once the interpreter is gone, Python ends a thread that asks for its lock, by unwinding it, and
// C++ ends the process where it is unwound through a destructor. So the module counts the calls that
// are in it. Before the interpreter goes, the thread that ends the program waits for them
// (end_calls()); calls that come later, in other threads, sleep until the process is gone.

// Counts a call for as long as it lives. Made and destroyed with the interpreter's lock.
class Entered {
 public:
  Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  ~Entered();
};

// Counts a call and gives the interpreter's lock away for as long as it lives: in this module in the
// place of nb::gil_scoped_release.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked();

 private:
  Entered entered_;
  PyThreadState* state_;
};

// In a long call without the interpreter's lock: throws what a signal raises, such as Ctrl-C.
inline void check_signals() {
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// What clcook throws, as exceptions of clcook.errors.
void translate_errors();

// The name of an object's type, for messages.
inline std::string name_of_type(nb::handle object) { return nb::type_name(object.type()).c_str(); }

// Holds what has handles of OpenCL. A child of a fork does not release them: threads that the
// release would wait for are not there.
template <class T>
class Held {
 public:
  template <class... Arguments>
  explicit Held(std::in_place_t, Arguments&&... arguments) {
    refuse_fork();
    uses_devices();
    new (&value_) T(std::forward<Arguments>(arguments)...);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (is_forked()) return;
    // The release may wait for the device, and callbacks for the interpreter.
    const Unlocked unlocked;
    value_.~T();
  }

  // Throws Forked in a child.
  T& get() {
    refuse_fork();
    return value_;
  }
  const T& get() const {
    refuse_fork();
    return value_;
  }

  // How a plan was asked for, beside its problem: what pickle makes it anew from.
  std::string variant;
  std::string tune;

 private:
  union {
    T value_;
  };
};

}  // namespace clcook::python
