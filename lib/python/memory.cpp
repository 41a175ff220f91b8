#include "memory.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <mutex>

namespace clcook::python {

namespace {

// ---- forks ----

std::atomic<bool> used{false};
std::atomic<bool> child{false};
pid_t parent = 0;

// ---- the end of the interpreter ----

// All but is_ending and calling_back are touched under the interpreter's lock only.
std::atomic<bool> is_ending{false};  // other threads than `ending` may not come in
std::atomic<bool> is_ended{false};   // nor go back to Python
std::atomic<int> calling_back{0};    // threads of drivers in when_done()
pthread_t ending;
int calls = 0;

bool is_left_behind() { return pthread_equal(pthread_self(), ending) == 0; }

// Without the interpreter's lock.
[[noreturn]] void sleep_for_ever() {
  for (;;) pause();
}

// Waits for all calls of other threads, and lets in no more. With the interpreter's lock.
void end_calls() {
  ending = pthread_self();
  is_ending = true;
  const auto wait_for = [](const auto& is_over) {
    while (!is_over()) {
      PyThreadState* state = PyEval_SaveThread();
      usleep(1000);
      PyEval_RestoreThread(state);
      if (PyErr_CheckSignals() != 0) break;  // such as Ctrl-C: those that are left are left behind
    }
  };
  wait_for([] { return calls <= 0; });
  wait_for([] { return calling_back == 0; });
  is_ended = true;
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
}

// ---- what is kept until the device is done ----

// Python objects behind a command that may be running. Touched under the interpreter's lock only,
// but for `done`, which OpenCL sets from a thread of its own.
struct Kept {
  std::vector<nb::object> objects;
  std::atomic<bool> done{false};
};

std::deque<Kept*>& kept_list() {
  static auto* list = new std::deque<Kept*>;  // the interpreter may end before the device does
  return *list;
}
std::atomic<bool> is_called{false};

// Drops what the device is done with. With the interpreter's lock.
void drop_done() {
  std::deque<Kept*> gone;
  std::deque<Kept*>& list = kept_list();
  for (std::size_t i = 0; i < list.size();) {
    if (list[i]->done) {
      gone.push_back(list[i]);
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  for (Kept* one : gone) delete one;
}

int drop_later(void*) {
  is_called = false;
  drop_done();
  return 0;
}

// A thread of the driver: it must not wait for the interpreter's lock, which somebody may hold who
// waits for the device. So the interpreter's main thread is asked to drop what is done.
void CL_CALLBACK when_done(cl_event, cl_int, void* data) {
  static_cast<Kept*>(data)->done = true;
  ++calling_back;
  if (!is_ending && !is_called.exchange(true)) {
    if (Py_AddPendingCall(&drop_later, nullptr) != 0) is_called = false;  // the next call does it
  }
  --calling_back;
}

void keep(std::vector<nb::object> objects, const cl::Event& event) {
  drop_done();
  auto* kept = new Kept{std::move(objects), {}};
  kept_list().push_back(kept);
  const cl_int status = clSetEventCallback(event(), CL_COMPLETE, &when_done, kept);
  if (status == CL_SUCCESS) return;
  {
    const Unlocked unlocked;
    const cl_event handle = event();
    clWaitForEvents(1, &handle);
  }
  kept->done = true;
  drop_done();
}

// ---- pyopencl ----

struct PyOpenCl {
  PyObject* queue;
  PyObject* memory;  // buffers, images and memory of pools
  PyObject* buffer;
  PyObject* image;
  PyObject* svm_pointer;  // SVM of any kind; null: a pyopencl without it
  PyObject* svm;          // a numpy array's
  PyObject* event;
  PyObject* event_from;
  PyObject* int_ptr;  // the name
};

const PyOpenCl& pyopencl() {
  static const PyOpenCl* known = nullptr;
  if (known != nullptr) return *known;
  nb::object module;
  try {
    module = nb::module_::import_("pyopencl");
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    fail(Errc::unsupported, "clcook",
         "plans on buffers need pyopencl, which cannot be imported (pip install pyopencl); "
         "functions on numpy arrays work without it");
  }
  const auto get = [&](const char* name) { return nb::object(module.attr(name)).release().ptr(); };
  auto* found = new PyOpenCl{};
  found->queue = get("CommandQueue");
  found->memory = get("MemoryObjectHolder");
  found->buffer = get("Buffer");
  found->image = get("Image");
  if (nb::hasattr(module, "SVMPointer")) {
    found->svm_pointer = get("SVMPointer");
    found->svm = get("SVM");
  }
  found->event = get("Event");
  found->event_from = PyObject_GetAttrString(found->event, "from_int_ptr");
  found->int_ptr = PyUnicode_InternFromString("int_ptr");
  if (found->event_from == nullptr || found->int_ptr == nullptr) throw nb::python_error();
  known = found;
  return *known;
}

bool is_a(nb::handle object, PyObject* type) {
  if (reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == type) return true;
  const int is = PyObject_IsInstance(object.ptr(), type);
  if (is < 0) throw nb::python_error();
  return is != 0;
}

void* handle_of(nb::handle object) {
  const nb::object value = nb::steal(PyObject_GetAttr(object.ptr(), pyopencl().int_ptr));
  if (!value.is_valid()) throw nb::python_error();
  void* handle = PyLong_AsVoidPtr(value.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return handle;
}

// Whether it is an array of pyopencl. Who has one has imported its module.
bool is_array(nb::handle object) {
  static PyObject* type = nullptr;
  if (type == nullptr) {
    PyObject* modules = PyImport_GetModuleDict();
    PyObject* module = PyDict_GetItemString(modules, "pyopencl.array");
    if (module == nullptr) return false;
    type = PyObject_GetAttrString(module, "Array");
    if (type == nullptr) {
      PyErr_Clear();  // half imported
      return false;
    }
  }
  return is_a(object, type);
}

bool is_svm(nb::handle object) {
  PyObject* type = pyopencl().svm_pointer;
  return type != nullptr && is_a(object, type);
}

std::vector<std::size_t> sizes_of(nb::handle tuple) {
  std::vector<std::size_t> out;
  for (const nb::handle one : tuple) out.push_back(nb::cast<std::size_t>(one));
  return out;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    out += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return out + (shape.size() == 1 ? ",)" : ")");
}

// What numpy calls a type such as "uint16" in little-endian order: "<u2".
std::string code_of(const std::string& dtype) {
  const int bytes = std::stoi(dtype.substr(dtype.find_first_of("0123456789"))) / 8;
  return text(bytes == 1 ? "|" : "<", dtype[0], bytes);
}

}  // namespace

Entered::Entered() {
  if (is_ending && is_left_behind()) {
    PyEval_SaveThread();
    sleep_for_ever();
  }
  ++calls;
}

Entered::~Entered() { --calls; }

Unlocked::~Unlocked() {
  if (is_ended && is_left_behind()) sleep_for_ever();
  PyEval_RestoreThread(state_);
}

void uses_devices() {
  if (used.exchange(true)) return;
  parent = getpid();
  pthread_atfork(nullptr, nullptr, [] { child = true; });
}

bool is_forked() { return child.load(std::memory_order_relaxed); }

void refuse_fork() {
  if (!is_forked()) return;
  throw Forked(text("this process (", static_cast<long>(getpid()), ") was forked from ",
                    static_cast<long>(parent),
                    " after clcook had used a device there, and OpenCL does not survive that: fork "
                    "before the first use, or start processes with multiprocessing's 'spawn'"));
}

Runtime runtime_of(nb::handle queue) {
  if (nb::isinstance<Held<Runtime>>(queue)) return nb::cast<Held<Runtime>&>(queue).get();
  const PyOpenCl& cl = pyopencl();
  if (!is_a(queue, cl.queue)) {
    throw WrongType("Runtime", "queue must be a pyopencl.CommandQueue or a clcook.Runtime, got " +
                                   name_of_type(queue));
  }
  refuse_fork();
  uses_devices();
  return Runtime(static_cast<cl_command_queue>(handle_of(queue)));
}

nb::object queue_of(const Runtime& runtime) {
  const nb::handle type = pyopencl().queue;
  return type.attr("from_int_ptr")(reinterpret_cast<std::uintptr_t>(runtime.queue()()));
}

Call::Call(const char* where, nb::handle wait_for) : where_(where) {
  if (!wait_for.is_none()) wait_for_events(wait_for, "wait_for");
}

void Call::wait_for_events(nb::handle events, const char* name) {
  const nb::object all = nb::steal(PySequence_Fast(events.ptr(), ""));  // a list or a tuple
  if (!all.is_valid()) {
    PyErr_Clear();
    refuse(events, name, "a list of pyopencl events");
  }
  const Py_ssize_t count = PySequence_Size(all.ptr());
  for (Py_ssize_t i = 0; i < count; ++i) {
    const nb::object one = nb::steal(PySequence_GetItem(all.ptr(), i));
    if (!one.is_valid()) throw nb::python_error();
    if (!is_a(one, pyopencl().event))
      refuse(one, name, "a list of pyopencl events, without others");
    wait_.emplace_back(static_cast<cl_event>(handle_of(one)), true);
  }
}

void Call::refuse(nb::handle object, const char* name, const char* expected) const {
  throw WrongType(where_, text(name, " must be ", expected, ", got ", name_of_type(object)));
}

bool Call::is_image(nb::handle object) const {
  return nb::isinstance<Texels>(object) || is_a(object, pyopencl().image);
}

cl_mem Call::memory(nb::handle object, const char* name) {
  const PyOpenCl& cl = pyopencl();
  const auto handle = static_cast<cl_mem>(handle_of(object));
  if (handle == nullptr) fail(Errc::invalid_argument, where_, text(name, " holds no memory"));
  const PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()));
  bool own = type == cl.buffer || type == cl.image;  // and not a pool's
  if (own) {
    cl_mem_flags flags = 0;
    check(clGetMemObjectInfo(handle, CL_MEM_FLAGS, sizeof flags, &flags, nullptr),
          "clGetMemObjectInfo");
    own = (flags & CL_MEM_USE_HOST_PTR) == 0;
  }
  if (!own) kept_.push_back(nb::borrow(object));
  return handle;
}

std::optional<BufferView> Call::plain_buffer(nb::handle object, const char* name) {
  constexpr const char* kExpected = "a pyopencl.Buffer, pyopencl.array.Array or clcook.BufferView";
  const PyOpenCl& cl = pyopencl();
  if (is_a(object, cl.memory)) {
    if (is_a(object, cl.image)) refuse(object, name, kExpected);
    return BufferView(memory(object, name));
  }
  if (nb::isinstance<Rows>(object)) {
    const auto& rows = nb::cast<const Rows&>(object);
    return BufferView(memory(rows.buffer, name), rows.offset, rows.pitch);
  }
  if (is_svm(object)) {
    fail(Errc::unsupported, where_,
         text(name,
              " is SVM, of which pyopencl does not tell the context: pass it as "
              "pyopencl.array.Array(queue, shape, dtype, data=...)"));
  }
  if (!is_array(object)) refuse(object, name, kExpected);
  return std::nullopt;
}

BufferView Call::array(nb::handle object, const char* name, Access access, const ArrayOf& as) {
  const std::string dtype = nb::cast<std::string>(object.attr("dtype").attr("str"));
  if (!as.dtype.empty() && dtype != code_of(as.dtype)) {
    fail(Errc::invalid_argument, where_,
         text(name, " must be an array of ", as.dtype, " in little-endian order, got the type '",
              dtype, "'"));
  }
  const std::vector<std::size_t> shape = sizes_of(object.attr("shape"));
  std::vector<std::size_t> expected = as.shape;
  while (expected.size() > shape.size() && expected.back() == 1) expected.pop_back();
  if (!as.dtype.empty() && shape != expected) {
    fail(Errc::invalid_argument, where_,
         text(name, " must be an array of the shape ", shape_text(as.shape), ", got ",
              shape_text(shape)));
  }
  // Rows may lie apart; within a row there are no gaps.
  const auto strides = nb::cast<nb::tuple>(object.attr("strides"));
  auto step = nb::cast<std::int64_t>(object.attr("dtype").attr("itemsize"));
  std::size_t pitch = 0;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const auto stride = nb::cast<std::int64_t>(strides[i]);
    const bool row = i == 0 && shape.size() > 1;
    if (shape[i] > 1 && (row ? stride < step : stride != step)) {
      fail(
          Errc::invalid_argument, where_,
          text(name, " must have rows without gaps, one behind the other: the stride of dimension ",
               i, " must be ", row ? "at least " : "", step, " bytes, got ", stride));
    }
    if (row && shape[i] > 1 && stride > step) pitch = static_cast<std::size_t>(stride);
    step *= static_cast<std::int64_t>(shape[i]);
  }
  wait_for_events(object.attr("events"), name);
  if (access == Access::write) written_.push_back(nb::borrow(object));
  const nb::object base = object.attr("base_data");
  const auto offset = nb::cast<std::size_t>(object.attr("offset"));
  if (is_svm(base)) return svm(base, object.attr("context"), offset, pitch, name);
  if (!is_a(base, pyopencl().memory)) refuse(base, name, "an array in a pyopencl.Buffer");
  return BufferView(memory(base, name), offset, pitch);
}

// A buffer whose host's pointer is one of clSVMAlloc has that SVM as its storage, says OpenCL.
BufferView Call::svm(nb::handle pointer, nb::handle context, std::size_t offset, std::size_t pitch,
                     const char* name) {
  const auto begin_of = [](nb::handle one) {
    return nb::cast<std::uintptr_t>(one.attr("svm_ptr"));
  };
  nb::object all = nb::borrow(pointer);
  if (is_a(pointer, pyopencl().svm)) {  // of an array of svm_empty(), or of a view of one
    all = pointer.attr("mem");
    while (!all.is_none() && !is_svm(all)) all = nb::getattr(all, "base", nb::none());
    if (all.is_none()) {
      fail(Errc::unsupported, where_,
           text(name,
                " is SVM of memory that is numpy's own, which few devices share: allocate it by "
                "pyopencl.csvm_empty() or an SVMAllocator"));
    }
    offset += begin_of(pointer) - begin_of(all);
  }
  const std::uintptr_t begin = begin_of(all);
  if (begin == 0) fail(Errc::invalid_argument, where_, text(name, " holds no memory"));
  kept_.push_back(all);
  for (const auto& [known, buffer] : svm_) {  // so that a plan sees that src and dst are one
    if (known == begin) return BufferView(buffer, offset, pitch);
  }
  cl_int status = CL_SUCCESS;
  const cl::Buffer buffer(clCreateBuffer(
      static_cast<cl_context>(handle_of(context)), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
      nb::cast<std::size_t>(all.attr("size")), reinterpret_cast<void*>(begin), &status));
  check(status, "clCreateBuffer");
  svm_.emplace_back(begin, buffer);
  return BufferView(buffer, offset, pitch);
}

ImageView Call::image(nb::handle object, const char* name) {
  if (nb::isinstance<Texels>(object)) {
    const auto& texels = nb::cast<const Texels&>(object);
    return ImageView(memory(texels.image, name), texels.x, texels.y);
  }
  if (!is_a(object, pyopencl().image)) refuse(object, name, "a pyopencl.Image or clcook.ImageView");
  return ImageView(memory(object, name));
}

nb::object Call::finish(cl::Event event) {
  if (!kept_.empty()) keep(std::move(kept_), event);
  PyObject* arguments[] = {PyLong_FromVoidPtr(event()), Py_False};
  const nb::object pointer = nb::steal(arguments[0]);
  nb::object out = nb::steal(PyObject_Vectorcall(pyopencl().event_from, arguments, 2, nullptr));
  if (!out.is_valid()) throw nb::python_error();
  event() = nullptr;  // the reference is the new object's
  for (const nb::object& array : written_) array.attr("add_event")(out);
  return out;
}

void bind_memory(nb::module_& m) {
  nb::class_<Held<Runtime>>(
      m, "Runtime",
      "A command queue of pyopencl with the programs that were built for its "
      "context. Plans that are made from one Runtime share them. Thread-safe.")
      .def(
          "__init__",
          [](Held<Runtime>* self, nb::handle queue) {
            new (self) Held<Runtime>(std::in_place, runtime_of(queue));
          },
          "queue"_a.none(), nb::sig("def __init__(self, queue: object) -> None"))
      .def_prop_ro(
          "device", [](const Held<Runtime>& self) { return self.get().info().name; },
          "The name of the device.");

  // A view of memory of pyopencl.
  const auto checked = [](nb::handle object, bool image, const char* where) {
    const PyOpenCl& cl = pyopencl();
    if (!is_a(object, cl.memory) || is_a(object, cl.image) != image) {
      throw WrongType(where, text(image ? "image must be a pyopencl.Image, got "
                                        : "buffer must be a pyopencl.Buffer, got ",
                                  name_of_type(object)));
    }
    return nb::borrow(object);
  };
  const auto natural = [](std::int64_t value, const char* where, const char* name) {
    if (value < 0)
      fail(Errc::invalid_argument, where, text(name, " must be at least 0, got ", value));
    return static_cast<std::size_t>(value);
  };
  nb::class_<Rows>(m, "BufferView",
                   "Rows in a buffer: row y begins at byte offset + y * pitch. A pitch of 0 means "
                   "rows without gaps.")
      .def(
          "__init__",
          [checked, natural](Rows* self, nb::handle buffer, std::int64_t offset,
                             std::int64_t pitch) {
            new (self)
                Rows{checked(buffer, false, "BufferView"), natural(offset, "BufferView", "offset"),
                     natural(pitch, "BufferView", "pitch")};
          },
          "buffer"_a.none(), "offset"_a = 0, "pitch"_a = 0,
          nb::sig("def __init__(self, buffer: object, offset: typing.SupportsIndex = 0, "
                  "pitch: typing.SupportsIndex = 0) -> None"))
      .def_ro("buffer", &Rows::buffer)
      .def_ro("offset", &Rows::offset)
      .def_ro("pitch", &Rows::pitch);
  nb::class_<Texels>(m, "ImageView", "A rectangle in an image that begins at texel (x, y).")
      .def(
          "__init__",
          [checked, natural](Texels* self, nb::handle image, std::int64_t x, std::int64_t y) {
            new (self) Texels{checked(image, true, "ImageView"), natural(x, "ImageView", "x"),
                              natural(y, "ImageView", "y")};
          },
          "image"_a.none(), "x"_a = 0, "y"_a = 0,
          nb::sig("def __init__(self, image: object, x: typing.SupportsIndex = 0, "
                  "y: typing.SupportsIndex = 0) -> None"))
      .def_ro("image", &Texels::image)
      .def_ro("x", &Texels::x)
      .def_ro("y", &Texels::y);

  // The threads of a parent are not in its child.
  pthread_atfork(nullptr, nullptr, [] { calls = 0; });
  m.def("_end_calls", &end_calls);
  m.def("_drop_done", &drop_done);
  m.def("_kept", [] {
    drop_done();
    return kept_list().size();
  });
}

}  // namespace clcook::python
