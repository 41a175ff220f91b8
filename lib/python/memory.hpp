// Objects of pyopencl as views, wait lists and events of clcook. pyopencl is looked for at the first
// use; its objects carry handles of the C API as their int_ptr.
#pragma once

#include <clcook/core/runtime.hpp>
#include <clcook/core/view.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"

namespace clcook::python {

// A buffer with where its rows begin, and an image with where its rectangle begins.
struct Rows {
  nb::object buffer;
  std::size_t offset = 0;
  std::size_t pitch = 0;
};
struct Texels {
  nb::object image;
  std::size_t x = 0;
  std::size_t y = 0;
};

// A queue of pyopencl as a runtime, or the runtime itself. Throws WrongType.
Runtime runtime_of(nb::handle queue);
// A runtime's queue, as an object of pyopencl.
nb::object queue_of(const Runtime& runtime);

// What an array must be where it stands for a buffer: "float32" and the lengths of its dimensions.
// Those of 1 at the end may be left out. Without a type any will do, whose rows are long enough.
struct ArrayOf {
  std::string dtype;  // such as "uint16"; empty: any array
  std::vector<std::size_t> shape;
};

// One call of a plan: turns its arguments into views, and keeps the Python objects behind them
// alive until the device is done with them.
//
// OpenCL keeps memory of its own until the commands that use it are done. Memory of the host that a
// buffer stands on (USE_HOST_PTR), memory of a pool and SVM go when the Python object goes: of those
// the call keeps the objects, see keep().
class Call {
 public:
  // `where` names the operation. Takes the events of `wait_for`: None or pyopencl events.
  Call(const char* where, nb::handle wait_for);

  bool is_image(nb::handle object) const;
  // Throws WrongType for what is no buffer, array or Rows, Error for an array of another type,
  // shape or stride. Events of an array are waited for; a written array gets the event of the call.
  // `array_of()` says what an array must be.
  template <class AskArrayOf>
  BufferView buffer(nb::handle object, const char* name, Access access,
                    const AskArrayOf& array_of) {
    if (std::optional<BufferView> view = plain_buffer(object, name)) return *std::move(view);
    return array(object, name, access, array_of());
  }
  ImageView image(nb::handle object, const char* name);

  // Calls `enqueue` with the wait list, without the interpreter's lock; returns a pyopencl.Event.
  template <class Enqueue>
  nb::object run(const Enqueue& enqueue) {
    cl::Event event;
    {
      const Unlocked unlocked;
      event = enqueue(static_cast<const std::vector<cl::Event>&>(wait_));
    }
    return finish(std::move(event));
  }

 private:
  // Nothing of an array.
  std::optional<BufferView> plain_buffer(nb::handle object, const char* name);
  BufferView array(nb::handle object, const char* name, Access access, const ArrayOf& as);
  cl_mem memory(nb::handle object, const char* name);
  BufferView svm(nb::handle pointer, nb::handle context, std::size_t offset, std::size_t pitch,
                 const char* name);
  void wait_for_events(nb::handle events, const char* name);
  nb::object finish(cl::Event event);
  [[noreturn]] void refuse(nb::handle object, const char* name, const char* expected) const;

  Entered entered_;
  const char* where_;
  std::vector<cl::Event> wait_;
  std::vector<nb::object> kept_;
  std::vector<nb::object> written_;                         // arrays
  std::vector<std::pair<std::uintptr_t, cl::Buffer>> svm_;  // where it begins, and a buffer there
};

// Adds the classes of this file.
void bind_memory(nb::module_& m);

}  // namespace clcook::python
