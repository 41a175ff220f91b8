// The module clcook._clcook. The package beside it, lib/python/clcook, is what users import.
#include <nanobind/stl/pair.h>

#include <clcook/core/source.hpp>
#include <clcook/version.hpp>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "memory.hpp"
#include "plan.hpp"

namespace clcook::python {

// The functions bind_<operation> of all files in operations/, written by cmake/python.cmake.
void bind_operations(nb::module_& m);
void bind_ndimage(nb::module_& m);

const Runtime& standard_runtime() {
  refuse_fork();
  static const Runtime* runtime = [] {
    uses_devices();
    return new Runtime(Runtime::pick());  // the interpreter may end before the device does
  }();
  return *runtime;
}

const std::vector<Runtime>& all_runtimes() {
  refuse_fork();
  static const auto* runtimes = new std::vector<Runtime>(standard_runtime().with_others());
  return *runtimes;
}

namespace {

// Two, so that rows of one call go up while those of another come down; more would only share the
// cores that copy.
struct Stagings {
  static constexpr std::size_t kMost = 2;
  std::mutex mutex;
  std::condition_variable given_back;
  std::vector<std::unique_ptr<Staging>> idle;
  std::size_t count = 0;  // with those in use
};
Stagings& stagings() {
  static auto* all = new Stagings;  // a child of a fork does not release them
  return *all;
}

}  // namespace

StagingOfCall::StagingOfCall() {
  Stagings& all = stagings();
  std::unique_lock<std::mutex> lock(all.mutex);
  all.given_back.wait(lock, [&] { return !all.idle.empty() || all.count < Stagings::kMost; });
  if (all.idle.empty()) {
    staging_ = std::make_unique<Staging>(standard_runtime());
    ++all.count;
  } else {
    staging_ = std::move(all.idle.back());
    all.idle.pop_back();
  }
}

StagingOfCall::~StagingOfCall() {
  Stagings& all = stagings();
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.idle.push_back(std::move(staging_));
  }
  all.given_back.notify_one();
}

namespace {

// Releases the idle ones.
void clear_stagings() {
  if (is_forked()) return;
  const Unlocked unlocked;
  std::vector<std::unique_ptr<Staging>> idle;
  {
    const std::lock_guard<std::mutex> lock(stagings().mutex);
    idle.swap(stagings().idle);
    stagings().count -= idle.size();
  }
  stagings().given_back.notify_all();
}

// The bytes of the standard runtime's device, and whether they are the host's.
std::pair<std::uint64_t, bool> device_memory() {
  const Runtime& rt = standard_runtime();
  cl_bool is_host = CL_FALSE;
  // What a device does not say is no.
  clGetDeviceInfo(rt.device()(), CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof is_host, &is_host, nullptr);
  return {rt.info().global_mem, is_host == CL_TRUE || rt.info().cpu};
}

// Where an array lies; its ctypes.data takes ten times as long.
std::uintptr_t address(nb::handle array) {
  Py_buffer view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_STRIDES) != 0) throw nb::python_error();
  const auto begin = reinterpret_cast<std::uintptr_t>(view.buf);
  PyBuffer_Release(&view);
  return begin;
}

// Gives memory that was freed back to the system. glibc keeps blocks below 32 MiB otherwise, such as
// the buffers of a device that is the host.
void trim() {
#ifdef __GLIBC__
  const Unlocked unlocked;
  malloc_trim(0);
#endif
}

// Gives the pages of memory that nobody reads back to the system, which makes new ones where it is
// written to. Says whether it did.
bool drop_pages(std::uintptr_t begin, std::size_t bytes) {
#ifdef __linux__
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + bytes) / page * page;
  return last <= first || madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED) == 0;
#else
  (void)begin;
  return bytes == 0;
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
  clcook::python::bind_ndimage(m);
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
  m.def("_devices", [] {
    std::vector<std::string> names;
    {
      const clcook::python::Unlocked unlocked;
      for (const clcook::Runtime& rt : clcook::python::all_runtimes())
        names.push_back(rt.info().name);
    }
    nb::list out;
    for (const std::string& name : names) out.append(name.c_str());
    return out;
  });
  m.def("_runtime", [] {
    const clcook::python::Unlocked unlocked;
    using Held = clcook::python::Held<clcook::Runtime>;
    return new Held(std::in_place, clcook::python::standard_runtime());
  });
  m.def("_queue", [] { return clcook::python::queue_of(clcook::python::standard_runtime()); });
  m.def("_device_memory", &clcook::python::device_memory);
  m.def("_address", &clcook::python::address);
  m.def("_trim", &clcook::python::trim);
  m.def("_drop_pages", &clcook::python::drop_pages);
  m.def("_clear_stagings", &clcook::python::clear_stagings);
  m.def("_refuse_fork", &clcook::python::refuse_fork);
}
