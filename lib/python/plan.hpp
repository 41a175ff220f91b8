// Plans as Python classes: the members of a Problem by name, and what every plan has.
#pragma once

#include <array>
#include <clcook/core/border.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/pixel.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/staging.hpp>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "memory.hpp"

namespace clcook::python {

// ---- values ----

[[noreturn]] inline void wrong_type(const char* where, const char* name, const char* expected,
                                    nb::handle got) {
  throw WrongType(where, text(name, " must be ", expected, ", got ", name_of_type(got)));
}

template <class T>
T number_of(nb::handle value, const char* where, const char* name) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!PyBool_Check(value.ptr())) wrong_type(where, name, "True or False", value);
    return value.ptr() == Py_True;
  } else if constexpr (std::is_integral_v<T>) {
    const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
    if (!index.is_valid()) {
      PyErr_Clear();
      wrong_type(where, name, "a whole number", value);
    }
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    const auto most = static_cast<long long>(std::min<unsigned long long>(
        std::numeric_limits<T>::max(), std::numeric_limits<long long>::max()));
    const auto least = static_cast<long long>(std::numeric_limits<T>::min());
    if (overflow != 0 || number < least || number > most) {
      fail(Errc::invalid_argument, where,
           text(name, " must be ", least, " to ", most, ", got ", nb::str(index).c_str()));
    }
    return static_cast<T>(number);
  } else {
    const double number = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      wrong_type(where, name, "a number", value);
    }
    return static_cast<T>(number);
  }
}

inline std::string word_of(nb::handle value, const char* where, const char* name) {
  std::string out;
  if (!nb::try_cast(value, out)) wrong_type(where, name, "a str", value);
  return out;
}

// The members of a sequence; `expected` says what it should be.
inline std::vector<nb::object> objects_of(nb::handle value, const char* where, const char* name,
                                          const char* expected = "a sequence") {
  const nb::object all = nb::steal(PySequence_Fast(value.ptr(), ""));
  if (!all.is_valid()) {
    PyErr_Clear();
    wrong_type(where, name, expected, value);
  }
  std::vector<nb::object> out;
  const Py_ssize_t count = PySequence_Size(all.ptr());
  for (Py_ssize_t i = 0; i < count; ++i) {
    nb::object one = nb::steal(PySequence_GetItem(all.ptr(), i));
    if (!one.is_valid()) throw nb::python_error();
    out.push_back(std::move(one));
  }
  return out;
}

template <class T>
std::vector<T> numbers_of(nb::handle value, const char* where, const char* name) {
  std::vector<T> out;
  for (const nb::object& one : objects_of(value, where, name, "a sequence of numbers"))
    out.push_back(number_of<T>(one, where, name));
  return out;
}

// ---- members of a problem ----

// What the stubs call a number, so that numpy's are some too, and a sequence of them, as arrays are.
inline constexpr const char* kWhole = "typing.SupportsIndex";
inline constexpr const char* kReal = "typing.SupportsFloat";
inline std::string many(const std::string& type) {
  return "collections.abc.Iterable[" + type + "]";
}

template <class Problem>
struct Field {
  const char* name;
  std::string type;  // in Python
  std::function<void(Problem&, nb::handle, const char* where)> set;
  std::function<nb::object(const Problem&)> get;
};

// A number, or an array or vector of them.
template <class Problem, class T>
Field<Problem> field(const char* name, T Problem::*member) {
  if constexpr (std::is_arithmetic_v<T>) {
    return {name,
            std::is_same_v<T, bool> ? "bool"
            : std::is_integral_v<T> ? kWhole
                                    : kReal,
            [=](Problem& p, nb::handle value, const char* where) {
              p.*member = number_of<T>(value, where, name);
            },
            [=](const Problem& p) { return nb::cast(p.*member); }};
  } else {
    using Value = std::decay_t<decltype(*std::begin(std::declval<T&>()))>;
    return {name, many(std::is_integral_v<Value> ? kWhole : kReal),
            [=](Problem& p, nb::handle value, const char* where) {
              const std::vector<Value> all = numbers_of<Value>(value, where, name);
              if constexpr (std::is_same_v<T, std::vector<Value>>) {
                p.*member = all;
              } else {
                const std::size_t count = std::size(p.*member);
                if (all.size() != count) {
                  fail(Errc::invalid_argument, where,
                       text(name, " must be ", count, " numbers, got ", all.size()));
                }
                std::copy(all.begin(), all.end(), std::begin(p.*member));
              }
            },
            [=](const Problem& p) {
              nb::list out;
              for (const Value& one : p.*member) out.append(nb::cast(one));
              return nb::object(nb::tuple(out));
            }};
  }
}

// A value of a table of names.
template <class Problem, class Row, std::size_t count>
Field<Problem> field(const char* name, typename Row::Value Problem::*member,
                     const Row (&table)[count]) {
  const Row* all = table;
  const auto named = [all]() -> const Row(&)[count] {
    return *reinterpret_cast<const Row(*)[count]>(all);
  };
  return {
      name, "str",
      [=](Problem& p, nb::handle value, const char* where) {
        p.*member = value_of(named(), word_of(value, where, name), where, name);
      },
      [=](const Problem& p) { return nb::object(nb::str(name_of(named(), p.*member, "", name))); }};
}

// A problem of keyword arguments. Unknown names throw Error(invalid_argument) that lists the known.
template <class Problem>
Problem problem_of(const std::vector<Field<Problem>>& fields, const nb::kwargs& values,
                   const char* where) {
  Problem out{};
  for (const auto& [key, value] : values) {
    const std::string wanted = nb::cast<std::string>(key);
    bool found = false;
    std::string known;
    for (const Field<Problem>& one : fields) {
      known += std::string(known.empty() ? "" : ", ") + one.name;
      if (wanted != one.name) continue;
      one.set(out, value, where);
      found = true;
    }
    if (!found) {
      fail(Errc::invalid_argument, where,
           text("a problem has no '", wanted, "'; it has ", known,
                ", and variant and tune beside it"));
    }
  }
  return out;
}

// ---- the class ----

// The class of an operation without its __call__: made from a queue and the members of its problem.
// Thread-safe as the C++ plan is.
template <class Op>
nb::class_<Held<Op>> plan_class(nb::module_& m, const char* doc,
                                const std::vector<Field<typename Op::Problem>>& fields) {
  using Problem = typename Op::Problem;
  constexpr const char* kName = Op::Spec::kName;
  std::string members;
  for (const Field<Problem>& one : fields) members += text(one.name, ": ", one.type, " = ..., ");
  const std::string signature = "def __init__(self, queue: object, *, " + members +
                                "variant: str = 'automatic', tune: str = '') -> None";
  nb::class_<Held<Op>> out(m, kName, doc, nb::is_weak_referenceable());
  out.def(
      "__init__",
      [fields](Held<Op>* self, nb::handle queue, const nb::kwargs& values) {
        const Entered entered;
        std::string variant = "automatic";
        std::string how;
        nb::kwargs members_given;
        for (const auto& [key, value] : values) {
          if (nb::cast<std::string>(key) == "variant") {
            variant = word_of(value, kName, "variant");
          } else if (nb::cast<std::string>(key) == "tune") {
            how = word_of(value, kName, "tune");
          } else {
            members_given[key] = value;
          }
        }
        const Problem problem = problem_of(fields, members_given, kName);
        const Runtime runtime = runtime_of(queue);
        const typename Op::Variant which(variant);
        const typename Op::Tune tune = Op::Posed::parse_tune(Params::parse(how));
        const Unlocked unlocked;
        if constexpr (std::is_constructible_v<Op, const Runtime&, const Problem&,
                                              typename Op::Variant, const typename Op::Tune&>) {
          new (self) Held<Op>(std::in_place, runtime, problem, which, tune);
        } else {
          new (self) Held<Op>(std::in_place, runtime, problem, which);
        }
        self->variant = std::move(variant);
        self->tune = std::move(how);
      },
      "queue"_a.none(), "values"_a, nb::sig(signature.c_str()));
  const auto problem = [fields](const Held<Op>& self) {
    nb::dict values;
    for (const Field<Problem>& one : fields) values[one.name] = one.get(self.get().problem());
    return values;
  };
  out.def(
      "__reduce__",
      [problem](const nb::handle_t<Held<Op>>& self) {
        const auto& held = nb::cast<const Held<Op>&>(self);
        nb::dict values = problem(held);
        values["variant"] = held.variant;
        values["tune"] = held.tune;
        return nb::make_tuple(nb::module_::import_("clcook").attr("_plan_again"),
                              nb::make_tuple(self.type(), values));
      },
      nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"),
      "A pickled plan is its problem, and made anew on clcook.queue() of the process that loads "
      "it.");
  // On the same queue.
  const auto copy = [](const Held<Op>& self) {
    auto made = std::make_unique<Held<Op>>(std::in_place, self.get());
    made->variant = self.variant;
    made->tune = self.tune;
    return made.release();
  };
  const std::string copies = text("def __copy__(self) -> ", kName);
  const std::string copies_deep = text("def __deepcopy__(self, memo: object) -> ", kName);
  out.def("__copy__", copy, nb::sig(copies.c_str()));
  out.def(
      "__deepcopy__", [copy](const Held<Op>& self, nb::handle) { return copy(self); }, "memo"_a,
      nb::sig(copies_deep.c_str()));
  out.def_prop_ro("problem", problem,
                  nb::for_getter(nb::sig("def problem(self) -> dict[str, typing.Any]")),
                  "The members of the problem.");
  out.def_prop_ro(
      "variant", [](const Held<Op>& self) { return self.get().variant().name(); },
      "The variant that runs.");
  out.def_prop_ro(
      "tune", [](const Held<Op>& self) { return Op::Posed::format_tune(self.get().tune()).str(); },
      "The tune that runs, such as \"group=128\".");
  out.def(
      "describe", [](const Held<Op>& self) { return self.get().describe(); },
      "What runs and why, and what was passed over; a line each.");
  return out;
}

// Its __call__(src, dst, wait_for) for operations from picture to picture, in buffers or in images.
// `array_of(problem)` says what arrays must be.
template <class Op, class ArrayOfProblem>
void picture_call(nb::class_<Held<Op>> plan, ArrayOfProblem array_of) {
  plan.def(
      "__call__",
      [array_of](const Held<Op>& self, nb::handle src, nb::handle dst, nb::handle wait_for) {
        const Op& op = self.get();
        Call call(Op::Spec::kName, wait_for);
        if (call.is_image(src) || call.is_image(dst)) {
          const ImageView from = call.image(src, "src");
          const ImageView to = call.image(dst, "dst");
          return call.run([&](const auto& wait) { return op(from, to, wait); });
        }
        const BufferView from =
            call.buffer(src, "src", Access::read, [&] { return array_of(op.problem()); });
        const BufferView to =
            call.buffer(dst, "dst", Access::write, [&] { return array_of(op.problem()); });
        return call.run([&](const auto& wait) { return op(from, to, wait); });
      },
      "src"_a.none(), "dst"_a.none(), "wait_for"_a.none() = nb::none(),
      nb::sig("def __call__(self, src: object, dst: object, wait_for: "
              "collections.abc.Sequence[pyopencl.Event] | None = None) -> pyopencl.Event"),
      "Enqueues the operation from src to dst, two buffers, arrays or images, behind the events of "
      "wait_for, and returns its pyopencl.Event.");
}

// Its __call__ of `count` buffers and wait_for, for operations whose data are bytes to Python: arrays
// may be of any type and shape. `names` are those of the C++ parameters, and `written` how many of
// the last ones are.
template <class Op, std::size_t count>
void buffers_call(nb::class_<Held<Op>> plan, const char* const (&names)[count],
                  std::size_t written = 1) {
  static_assert(2 <= count && count <= 4);
  std::array<const char*, count> all{};
  std::string parameters;
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = names[i];
    parameters += text(names[i], ": object, ");
  }
  const std::string signature = "def __call__(self, " + parameters +
                                "wait_for: collections.abc.Sequence[pyopencl.Event] | None = None)"
                                " -> pyopencl.Event";
  plan.def(
      "__call__",
      [all, written](const Held<Op>& self, const nb::args& given, const nb::kwargs& more) {
        const Op& op = self.get();
        nb::object wait_for = nb::none();
        std::size_t size = given.size();
        if (size == count + 1) wait_for = given[--size];
        for (const auto& [key, value] : more) {
          if (size != given.size() || nb::cast<std::string>(key) != "wait_for")
            throw nb::type_error(text("unexpected argument ", nb::str(key).c_str()).c_str());
          wait_for = nb::borrow(value);
        }
        if (size != count) {
          throw nb::type_error(
              text(Op::Spec::kName, " takes ", count, " buffers, got ", size).c_str());
        }
        Call call(Op::Spec::kName, wait_for);
        std::vector<BufferView> views;
        for (std::size_t i = 0; i < count; ++i) {
          const Access access = i + written < count ? Access::read : Access::write;
          views.push_back(call.buffer(given[i], all[i], access, [] { return ArrayOf{}; }));
        }
        return call.run([&](const auto& wait) {
          if constexpr (count == 2) return op(views[0], views[1], wait);
          if constexpr (count == 3) return op(views[0], views[1], views[2], wait);
          if constexpr (count == 4) return op(views[0], views[1], views[2], views[3], wait);
        });
      },
      nb::sig(signature.c_str()),
      "Enqueues the operation behind the events of wait_for and returns its pyopencl.Event. The "
      "arguments are buffers or arrays.");
}

// What numpy calls the type of the channels.
inline std::string dtype_of(Channel channel) {
  return text(is_integer(channel) ? "uint" : "float", 8 * channel_bytes(channel));
}
inline std::string dtype_of(PixelType pixel) { return dtype_of(channel_of(pixel)); }

// ---- numpy's way ----

// Memory of an array that Python has checked: address, bytes from row to row.
struct HostArray {
  void* begin;
  std::size_t pitch;
};
inline HostArray host_array(std::uintptr_t address, std::size_t pitch) {
  return {reinterpret_cast<void*>(address), pitch};
}

// The runtime of functions on numpy arrays: the device that CLCOOK_DEVICE names, or the best.
const Runtime& standard_runtime();
// It, and one of every other device of its platform and kind.
const std::vector<Runtime>& all_runtimes();

// A staging of the standard runtime, of those that are kept: for one way, up or down, since others may
// wait for it.
class StagingOfCall {
 public:
  StagingOfCall();
  StagingOfCall(const StagingOfCall&) = delete;
  StagingOfCall& operator=(const StagingOfCall&) = delete;
  ~StagingOfCall();
  Staging* operator->() const { return staging_.get(); }

 private:
  std::unique_ptr<Staging> staging_;
};

// Waits for what is enqueued when it is left by an exception: the device may be reading the
// caller's memory.
class FinishOnError {
 public:
  explicit FinishOnError(const Runtime& rt) : rt_(rt), before_(std::uncaught_exceptions()) {}
  FinishOnError(const FinishOnError&) = delete;
  FinishOnError& operator=(const FinishOnError&) = delete;
  ~FinishOnError() {
    if (std::uncaught_exceptions() > before_) clFinish(rt_.queue()());
  }

 private:
  const Runtime& rt_;
  int before_;
};

// What a plan reads and writes, where it does not work on the host's memory.
class KeptBuffers {
 public:
  KeptBuffers(std::size_t read, std::size_t written) : unused_(read + written) {
    const Runtime& rt = standard_runtime();
    if (rt.info().cpu) return;  // made if need be
    from = create_buffer(rt, read);
    to = create_buffer(rt, written);
  }
  // At most, before they are used.
  std::size_t bytes() const { return unused_ > 0 ? unused_ : size(from) + size(to); }
  void use() { unused_ = 0; }

  cl::Buffer from;
  cl::Buffer to;

 private:
  static std::size_t size(const cl::Buffer& one) {
    std::size_t bytes = 0;
    if (one() != nullptr)
      check(clGetMemObjectInfo(one(), CL_MEM_SIZE, sizeof bytes, &bytes, nullptr),
            "clGetMemObjectInfo");
    return bytes;
  }

  std::size_t unused_;
};

// From host to host by enqueue(from, to, wait). `seen` is called for the bytes of src, counted without
// gaps, before dst is written, and `made` for those of dst that are there, both in several threads;
// `enqueue` between them.
template <class Enqueue>
void run_on_host(KeptBuffers& kept, const HostRows& src, const HostRowsToWrite& dst,
                 const Enqueue& enqueue, const StagedBytes& seen, const StagedBytes& made) {
  const Runtime& rt = standard_runtime();
  const FinishOnError guard(rt);
  kept.use();
  const Staged from = StagingOfCall()->up(src, kept.from, seen);
  const Staged to = StagingOfCall()->place(dst, kept.to, &src);
  const cl::Event done = enqueue(from.view, to.view, from.wait);
  StagingOfCall()->down(to, dst, done, made);
}

// A plan from picture to picture with its buffers. One thread at a time.
template <class Op>
class PictureOnHost {
 public:
  PictureOnHost(const typename Op::Problem& problem, std::size_t row_bytes, std::size_t rows)
      : plan_(standard_runtime(), problem),
        row_(row_bytes),
        rows_(rows),
        kept_(row_ * rows_, row_ * rows_) {}

  Op& plan() { return plan_; }
  const Op& plan() const { return plan_; }
  // What it holds on the device.
  std::size_t bytes() const { return kept_.bytes(); }

  void run(const HostArray& src, const HostArray& dst) { run(src, dst, plan_, {}, {}); }
  // By enqueue(from, to, wait) in place of the plan; the rest is as of run_on_host().
  template <class Enqueue>
  void run(const HostArray& src, const HostArray& dst, const Enqueue& enqueue,
           const StagedBytes& seen, const StagedBytes& made) {
    run_on_host(kept_, {src.begin, src.pitch, row_, rows_}, {dst.begin, dst.pitch, row_, rows_},
                enqueue, seen, made);
  }

 protected:
  bool share_memory(const HostArray& a, const HostArray& b) const {
    const auto begin = [](const HostArray& one) { return static_cast<const char*>(one.begin); };
    const auto end = [&](const HostArray& one) {
      return begin(one) + (rows_ - 1) * one.pitch + row_;
    };
    const std::less<> before;
    return before(begin(a), end(b)) && before(begin(b), end(a));
  }

 private:
  Op plan_;
  std::size_t row_;
  std::size_t rows_;
  KeptBuffers kept_;
};

// Its class, for an operation whose problem has a PixelType. Of an OnHost that takes them, a problem
// comes behind further numbers.
template <class Op, class OnHost = PictureOnHost<Op>>
void picture_on_host(nb::module_& m, const char* name,
                     const std::vector<Field<typename Op::Problem>>& fields) {
  nb::class_<Held<OnHost>>(m, name)
      .def("__init__",
           [fields](Held<OnHost>* self, const nb::args& more, const nb::kwargs& values) {
             const auto problem = problem_of(fields, values, Op::Spec::kName);
             const auto numbers = numbers_of<double>(more, Op::Spec::kName, "more");
             const std::size_t row =
                 pixel_bytes(problem.pixel) * static_cast<std::size_t>(problem.width);
             const auto rows = static_cast<std::size_t>(problem.height);
             const Unlocked unlocked;
             if constexpr (std::is_same_v<OnHost, PictureOnHost<Op>>) {
               new (self) Held<OnHost>(std::in_place, problem, row, rows);
             } else {
               new (self) Held<OnHost>(std::in_place, problem, row, rows, numbers);
             }
           })
      .def("run",
           [](Held<OnHost>& self, std::uintptr_t src, std::size_t src_pitch, std::uintptr_t dst,
              std::size_t dst_pitch) {
             OnHost& host = self.get();
             const Unlocked unlocked;
             host.run(host_array(src, src_pitch), host_array(dst, dst_pitch));
           })
      .def_prop_ro("bytes", [](const Held<OnHost>& self) { return self.get().bytes(); });
}

// What arrays must be for it.
template <class Problem>
ArrayOf picture_array(const Problem& p) {
  return {dtype_of(p.pixel),
          {static_cast<std::size_t>(p.height), static_cast<std::size_t>(p.width),
           static_cast<std::size_t>(channels_of(p.pixel))}};
}

}  // namespace clcook::python
