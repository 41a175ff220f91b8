// The module clcook._clcook. The package beside it, lib/python/clcook, is what users import.
#include <nanobind/stl/pair.h>

#include <clcook/core/source.hpp>
#include <clcook/version.hpp>
#include <cstdint>
#include <utility>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "memory.hpp"
#include "plan.hpp"

namespace clcook::python {

// The functions bind_<operation> of all files in operations/, written by cmake/python.cmake.
void bind_operations(nb::module_& m);

const Runtime& standard_runtime() {
  refuse_fork();
  static const Runtime* runtime = [] {
    uses_devices();
    return new Runtime(Runtime::pick());  // the interpreter may end before the device does
  }();
  return *runtime;
}

void write_rows(const Runtime& rt, const cl::Buffer& to, const HostArray& from, std::size_t row,
                std::size_t rows) {
  const cl_command_queue queue = rt.queue()();
  if (from.pitch == row || rows == 1) {
    check(
        clEnqueueWriteBuffer(queue, to(), CL_FALSE, 0, row * rows, from.begin, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
    return;
  }
  const std::size_t none[3] = {0, 0, 0};
  const std::size_t all[3] = {row, rows, 1};
  check(clEnqueueWriteBufferRect(queue, to(), CL_FALSE, none, none, all, row, 0, from.pitch, 0,
                                 from.begin, 0, nullptr, nullptr),
        "clEnqueueWriteBufferRect");
}

void read_rows(const Runtime& rt, const cl::Buffer& from, const HostArray& to, std::size_t row,
               std::size_t rows, const StripProgress& progress) {
  constexpr std::size_t kPiece = std::size_t{4} << 20;  // bytes
  const cl_command_queue queue = rt.queue()();
  const std::size_t piece = progress ? std::max<std::size_t>(kPiece / row, 1) : rows;
  try {
    std::vector<cl::Event> read;
    for (std::size_t first = 0; first < rows; first += piece) {
      const std::size_t count = std::min(piece, rows - first);
      cl_event event = nullptr;
      if (to.pitch == row || rows == 1) {
        check(clEnqueueReadBuffer(queue, from(), CL_FALSE, first * row, count * row,
                                  static_cast<unsigned char*>(to.begin) + first * row, 0, nullptr,
                                  &event),
              "clEnqueueReadBuffer");
      } else {
        const std::size_t begin[3] = {0, first, 0};
        const std::size_t all[3] = {row, count, 1};
        check(clEnqueueReadBufferRect(queue, from(), CL_FALSE, begin, begin, all, row, 0, to.pitch,
                                      0, to.begin, 0, nullptr, &event),
              "clEnqueueReadBufferRect");
      }
      read.emplace_back(event);
    }
    check(clFlush(queue), "clFlush");
    for (std::size_t i = 0; i < read.size(); ++i) {
      const cl_event event = read[i]();
      cl_int status = clWaitForEvents(1, &event);
      if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
        // What a read that waits would say, such as that there is no memory.
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
      }
      check(status, "clWaitForEvents");
      if (progress) progress(std::min((i + 1) * piece, rows));
    }
  } catch (...) {
    clFinish(queue);  // what is under way writes to the memory of the caller
    throw;
  }
  rt.cache().store_ended();  // the standard runtime has no end
}

namespace {

// The bytes of the standard runtime's device, and whether they are the host's.
std::pair<std::uint64_t, bool> device_memory() {
  const Runtime& rt = standard_runtime();
  cl_bool is_host = CL_FALSE;
  // What a device does not say is no.
  clGetDeviceInfo(rt.device()(), CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof is_host, &is_host, nullptr);
  return {rt.info().global_mem, is_host == CL_TRUE || rt.info().cpu};
}

// Gives memory that was freed back to the system. glibc keeps blocks below 32 MiB otherwise, such as
// the buffers of a device that is the host.
void trim() {
#ifdef __GLIBC__
  const Unlocked unlocked;
  malloc_trim(0);
#endif
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    const Entered entered;
    const auto raise = [](const Error& error, const char* kind) {
      const nb::object made =
          nb::module_::import_("clcook.errors")
              .attr("_made")(kind, error.what(), to_string(error.code), to_string(error.lacks),
                             error.status, error.where, error.build_log);
      PyErr_SetObject(made.type().ptr(), made.ptr());
    };
    try {
      std::rethrow_exception(thrown);
    } catch (const WrongType& error) {
      raise(error, "wrong_type");
    } catch (const Forked& error) {
      raise(error, "forked");
    } catch (const Error& error) {
      raise(error, to_string(error.code));
    }
  });
}

}  // namespace clcook::python

NB_MODULE(_clcook, m) {
  namespace nb = clcook::python::nb;
  using namespace nb::literals;  // NOLINT(google-build-using-namespace)
  m.doc() = "What the package clcook is made of.";
  nb::set_leak_warnings(false);  // plans in the globals of a program live as long as it does
  clcook::python::translate_errors();
  clcook::python::bind_memory(m);
  clcook::python::bind_operations(m);
  m.attr("__version__") =
      clcook::text(CLCOOK_VERSION_MAJOR, ".", CLCOOK_VERSION_MINOR, ".", CLCOOK_VERSION_PATCH);
  m.def("_flatten_file",
        [](const std::string& path) { return clcook::Source::load(path).flatten(); });
  m.def("_flatten_text", [](const std::string& text, const std::string& name) {
    return clcook::Source(name, text).flatten();
  });
  m.def("_device", [] {
    const clcook::python::Unlocked unlocked;
    return clcook::python::standard_runtime().info().name;
  });
  m.def("_device_memory", &clcook::python::device_memory);
  m.def("_trim", &clcook::python::trim);
  m.def("_refuse_fork", &clcook::python::refuse_fork);
}
