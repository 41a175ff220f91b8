#include "try/recipe.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <mutex>
#include <optional>
#include <ostream>
#include <utility>

#include <clcook/core/half.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/random.hpp>

#include "tool/process.hpp"
#include "try/reference.hpp"
#include "try/signature.hpp"

namespace clcook::tool::described {

namespace {

// Raw, unlike read_text_file(), which leaves out a byte order mark.
std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string out((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.is_open() || in.bad()) fail(Errc::io, path, "cannot be read");
  return out;
}

template <class T>
void put(unsigned char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <class T>
T get(const unsigned char* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Where the value fits, see the checks of the description.
void put_number(const Type& type, double value, unsigned char* to) {
  if (type.kind == Type::Kind::real) {
    if (type.bytes == 2) return put(to, to_half(value));
    if (type.bytes == 4) return put(to, static_cast<float>(value));
    return put(to, value);
  }
  // The low bytes, in the order of the machine, which OpenCL devices that share memory have.
  const std::uint64_t bits = value < 0
                                 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                                 : static_cast<std::uint64_t>(value);
  std::memcpy(to, &bits, type.bytes);
}

std::int64_t get_whole(const Type& type, const unsigned char* from) {
  const bool is_signed = type.kind == Type::Kind::integer;
  if (type.bytes == 1) return is_signed ? get<std::int8_t>(from) : get<std::uint8_t>(from);
  if (type.bytes == 2) return is_signed ? get<std::int16_t>(from) : get<std::uint16_t>(from);
  if (type.bytes == 8) return get<std::int64_t>(from);
  if (is_signed) return get<std::int32_t>(from);
  return get<std::uint32_t>(from);
}

double get_real(const Type& type, const unsigned char* from) {
  if (type.kind != Type::Kind::real) {
    if (type.kind == Type::Kind::natural && type.bytes == 8)
      return static_cast<double>(get<std::uint64_t>(from));
    return static_cast<double>(get_whole(type, from));
  }
  if (type.bytes == 8) return get<double>(from);
  if (type.bytes == 4) return static_cast<double>(get<float>(from));
  const auto bits = get<std::uint16_t>(from);
  if ((bits >> 10U & 31U) != 31U) return finite_half(bits);
  if ((bits & 1023U) != 0U) return std::nan("");
  return (bits & 0x8000U) != 0U ? -HUGE_VAL : HUGE_VAL;
}

// The contents of a buffer or an image before the kernel, without gaps.
Bytes contents_of(const Description& about, std::size_t index, const Names& names,
                  std::uint64_t seed) {
  const Argument& one = about.arguments[index];
  const Type& type = one.numbers();
  Bytes out(one.bytes(names));
  const std::size_t count = out.size() / type.bytes;
  const Fill& fill = one.fill;
  switch (fill.kind) {
    case Fill::Kind::none:
      break;
    case Fill::Kind::made:
      fill.make(out, names, seed);
      break;
    case Fill::Kind::file: {
      const std::string path = about.path({fill_in(fill.path, names), fill.path.place});
      const std::string whole = at_place(fill.path.place, [&] { return read_bytes(path); });
      if (whole.size() != out.size())
        wrong(fill.path.place, text(path, " has ", whole.size(), " bytes, must have ", out.size()));
      std::memcpy(out.data(), whole.data(), whole.size());
      break;
    }
    case Fill::Kind::constant:
      for (std::size_t i = 0; i < count; ++i) put_number(type, fill.value, &out[i * type.bytes]);
      break;
    case Fill::Kind::ramp: {
      // Whole numbers begin again where the type ends.
      const double bits = static_cast<double>(type.bytes) * 8;
      const double range =
          type.kind == Type::Kind::real
              ? HUGE_VAL
              : std::exp2(std::min(53.0, type.kind == Type::Kind::integer ? bits - 1 : bits));
      for (std::size_t i = 0; i < count; ++i) {
        double value = fill.low + fill.step * static_cast<double>(i / one.lanes());
        if (!(std::abs(value) < range)) value = std::fmod(value, range);
        if (type.kind == Type::Kind::natural && value < 0) value += range;
        put_number(type, value, &out[i * type.bytes]);
      }
      break;
    }
    case Fill::Kind::random: {
      Random random(seed * 0x9E3779B97F4A7C15ULL + fill.seed * 1000003 + index);
      for (std::size_t i = 0; i < count; ++i) {
        const double share = static_cast<double>(random.bits() >> 11) * 0x1p-53;
        double value = fill.low + (fill.high - fill.low) * share;
        if (type.kind != Type::Kind::real)
          value = std::min(fill.high, std::floor(fill.low + (fill.high - fill.low + 1) * share));
        put_number(type, value, &out[i * type.bytes]);
      }
      break;
    }
  }
  return out;
}

// The bytes of a scalar argument.
Bytes value_of(const Argument& one, const Names& names) {
  Bytes out(one.type.size());
  for (std::size_t i = 0; i < one.values.size(); ++i) {
    unsigned char* to = &out[i * one.type.bytes];
    if (one.values[i].empty()) {
      put_number(one.type, one.constants[i], to);
    } else {
      const std::int64_t whole = evaluate(one.values[i], names);
      if (one.type.kind == Type::Kind::real) {
        put_number(one.type, static_cast<double>(whole), to);
      } else {
        std::memcpy(to, &whole, one.type.bytes);
      }
    }
  }
  return out;
}

std::string launch_name(const Description& about, const KernelEntry& kernel, const Params& shape) {
  return about.name + "/" + kernel.name + " (" + shape.str() + ")";
}

CompileUnit unit_of(const Description& about, const KernelEntry& kernel, const Params& tune,
                    const Params& shape) {
  const Names names = names_of(shape, tune);
  CompileUnit out{kernel.function, "", kernel.source, {}, fill_in(kernel.options, names),
                  {0, 0, 0},       0};
  for (const Params::Entry& entry : tune.entries()) {
    if (const auto* whole = std::get_if<std::int64_t>(&entry.value)) {
      out.defines.set(entry.name, *whole);
    } else {
      out.defines.set(entry.name, Token{clcook::to_string(entry.value)});
    }
  }
  const Geometry geometry = geometry_of(kernel, names);
  if (!geometry.local.empty()) {
    out.group = {1, 1, 1};
    std::copy(geometry.local.begin(), geometry.local.end(), out.group.begin());
  }
  out.local_bytes = local_bytes(about, kernel, names);
  return out;
}

cl_image_format format_of(const Argument& image) {
  cl_image_format out{};
  out.image_channel_order = image.format.order;
  out.image_channel_data_type = image.format.type;
  return out;
}
cl_mem_object_type type_of(const Argument& image) {
  return !image.depth.empty()    ? CL_MEM_OBJECT_IMAGE3D
         : !image.height.empty() ? CL_MEM_OBJECT_IMAGE2D
                                 : CL_MEM_OBJECT_IMAGE1D;
}

Offer offer_of(const Runtime& runtime, const Description& about, const KernelEntry& kernel,
               const Params& tune, const Params& shape) {
  const DeviceInfo& info = runtime.info();
  const Names names = names_of(shape, tune);
  Offer out;
  out.work.launches = 1;
  for (const std::size_t index : kernel.arguments) {
    const Argument& one = about.arguments[index];
    if (!one.in_memory()) continue;
    if (one.kind == Argument::Kind::image && !info.images)
      return Offer::no(Lacks::feature, "the device has no images");
    if (one.kind == Argument::Kind::image &&
        !has_image_format(runtime, type_of(one), format_of(one), CL_MEM_READ_WRITE))
      return Offer::no(Lacks::feature, "the device has no such image as '" + one.name + "'");
    const auto bytes = one.bytes(names);
    if (bytes > info.max_allocation)
      return Offer::no(Lacks::memory,
                       text("'", one.name, "' has ", bytes,
                            " bytes, the device's largest allocation ", info.max_allocation));
    if (one.is_read()) out.work.bytes_read += static_cast<double>(bytes);
    if (one.is_written()) out.work.bytes_written += static_cast<double>(bytes);
  }
  if (!kernel.operations.empty())
    out.work.operations = static_cast<double>(evaluate(kernel.operations, names));
  std::size_t group = 1;
  const Geometry geometry = geometry_of(kernel, names);
  for (std::size_t d = 0; d < geometry.local.size(); ++d) {
    group *= geometry.local[d];
    if (geometry.local[d] > info.max_items[d] || group > info.max_group)
      return Offer::no(Lacks::work_group,
                       text("a work-group of ", group, " work-items exceeds the device's limit of ",
                            info.max_group));
  }
  const std::size_t local = local_bytes(about, kernel, names);
  if (local > info.local_mem)
    return Offer::no(Lacks::local_memory,
                     text(local, " bytes of local memory, the device has ", info.local_mem));
  return out;
}

// ---- What a kernel declares ---------------------------------------------------------------------

std::string names_in(const cl::Program& program) {
  std::string out;
  for (const std::string& one : kernels_of(program)) out += (out.empty() ? "" : ", ") + one;
  return out.empty() ? "none" : out;
}

std::string list_of(const Description& about, const KernelEntry& kernel) {
  std::string out;
  for (const std::size_t index : kernel.arguments)
    out += (out.empty() ? "" : ", ") + about.arguments[index].name;
  return out;
}

// The images that a description can give, without what stands behind their dimensions: _t.
const char* image_of(const Argument& one) {
  return !one.depth.empty() ? "image3d" : !one.height.empty() ? "image2d" : "image1d";
}

// Why the type in the description is none that a kernel can be given for its own; empty: it is.
std::string misfit(const Argument& one, const Declared& its, const Meaning& meaning) {
  const std::string as = meaning.number && meaning.number->name != its.type
                             ? ", " + its.type + " is " + meaning.number->name
                             : "";
  if (one.kind == Argument::Kind::scalar) {
    if (meaning.number && meaning.number->name == one.type.name) return {};
    if (meaning.number) return ": '" + one.name + "' is " + one.type.name + as;
    return meaning.bytes == 0 ? ": nothing is known of its type, so that '" + one.name +
                                    "' cannot be compared with it"
                              : text(": its ", meaning.bytes, " bytes are no number, '", one.name,
                                     "' is ", one.type.name);
  }
  // Every fourth number of these would not be compared.
  if (one.in_memory() && one.type.components == 3 && meaning.number &&
      meaning.number->components != 3)
    return ": '" + one.name + "' is " + one.type.name + as + ", without its unused fourth number";
  if (!meaning.number || meaning.number->bytes == 1 || one.type.bytes == 1) return {};
  if (meaning.number->bytes == one.type.bytes && meaning.number->kind == one.type.kind) return {};
  return ": '" + one.name + "' is of " + one.type.name + as +
         "; numbers of another type are neither filled nor compared rightly";
}

// The description has what the kernel declares.
void check_signature(const Runtime& runtime, const Description& about, const KernelEntry& entry,
                     const CompileUnit& unit, const cl::Kernel& kernel) {
  const cl_uint count = arguments_of(kernel);
  if (count != entry.arguments.size())
    wrong(entry.place,
          text("the kernel ", entry.function, "() takes ", count, " arguments, it is given ",
               entry.arguments.size(), ": ", list_of(about, entry)));
  const std::vector<Declared> declared = signature_of(runtime, unit, kernel);
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const Argument& one = about.arguments[entry.arguments[i]];
    const Declared& its = declared[i];
    const Declared::Kind kind = one.kind == Argument::Kind::image    ? Declared::Kind::image
                                : one.kind == Argument::Kind::buffer ? Declared::Kind::buffer
                                : one.kind == Argument::Kind::local  ? Declared::Kind::local
                                                                     : Declared::Kind::scalar;
    const std::string who =
        text("argument ", i, " of ", entry.function, "(), ", its.type, " ", its.name);
    if (its.kind != kind)
      wrong(one.place,
            who + ", is " + to_string(its.kind) + ", '" + one.name + "' is " + to_string(kind));
    if (kind == Declared::Kind::image) {
      if (its.type.rfind(std::string(image_of(one)) + "_t", 0) != 0)
        wrong(one.place, who + ": '" + one.name + "' is an " + image_of(one) + "_t");
    } else {
      // Bytes can be anything, of which the compiler need not be asked.
      const bool bytes = one.type.bytes == 1 && one.type.components != 3;
      const std::string why = kind != Declared::Kind::scalar && bytes
                                  ? std::string()
                                  : misfit(one, its, meaning_of(runtime, unit, its.type));
      if (!why.empty()) wrong(one.place, who + why);
    }
    if (one.in_memory() && one.is_written() && its.is_const)
      wrong(one.place, who + ", is const, '" + one.name + "' is written");
  }
}

// ---- Memory of an argument ----------------------------------------------------------------------

class Memory {
 public:
  Memory(const Runtime& runtime, const Argument& about, const Names& names, unsigned char fill)
      : runtime_(runtime), bytes_(about.bytes(names)), fill_(fill) {
    if (about.kind == Argument::Kind::buffer) {
      buffer_.emplace(runtime, bytes_, 1, 0, 0, fill);
      handle_ = buffer_->buffer()();
      return;
    }
    cl_image_desc shape{};
    region_[0] = shape.image_width = extent(about.width, names);
    if (!about.height.empty()) region_[1] = shape.image_height = extent(about.height, names);
    if (!about.depth.empty()) region_[2] = shape.image_depth = extent(about.depth, names);
    shape.image_type = type_of(about);
    image_ =
        cl::Image2D(create_image(runtime, format_of(about), shape, CL_MEM_READ_WRITE, about.place));
    handle_ = image_();
  }

  cl_mem handle() const { return handle_; }

  void poison() {
    if (buffer_) return buffer_->poison();
    const Bytes pattern(bytes_, fill_);
    clcook::check(write(pattern.data(), CL_TRUE, {}, nullptr), "clEnqueueWriteImage");
  }

  // `data` stays alive until the event is complete.
  cl::Event upload(const Bytes& data, const std::vector<cl::Event>& wait) const {
    if (buffer_) return buffer_->upload(data.data(), wait);
    cl_event done = nullptr;
    clcook::check(write(data.data(), CL_FALSE, wait, &done), "clEnqueueWriteImage");
    return cl::Event(done);
  }

  Bytes read(const std::vector<cl::Event>& wait, Diff& diff, const std::string& name) const {
    if (buffer_) return buffer_->read(wait, diff, name);
    Bytes out(bytes_);
    const WaitHandles waits(wait);
    const std::size_t origin[3] = {0, 0, 0};
    clcook::check(clEnqueueReadImage(runtime_.queue()(), handle_, CL_TRUE, origin, region_, 0, 0,
                                     out.data(), waits.count(), waits.data(), nullptr),
                  "clEnqueueReadImage");
    return out;
  }

 private:
  static std::size_t extent(const Located& size, const Names& names) {
    return static_cast<std::size_t>(evaluate(size, names));
  }

  cl_int write(const void* data, cl_bool blocking, const std::vector<cl::Event>& wait,
               cl_event* done) const {
    const WaitHandles waits(wait);
    const std::size_t origin[3] = {0, 0, 0};
    return clEnqueueWriteImage(runtime_.queue()(), handle_, blocking, origin, region_, 0, 0, data,
                               waits.count(), waits.data(), done);
  }

  Runtime runtime_;
  std::size_t bytes_;
  unsigned char fill_;
  std::size_t region_[3] = {1, 1, 1};
  std::optional<GuardedBuffer> buffer_;
  cl::Image2D image_;  // the handle of one of any dimension
  cl_mem handle_ = nullptr;
};

// Patterns around and in memory: 0xFF makes every real number a NaN. Where the expected values are
// computed they are others, so that what a kernel reads outside, or leaves unwritten, differs.
constexpr unsigned char kReadPattern = 0xFF;
constexpr unsigned char kWritePattern = 0xCD;
constexpr unsigned char kOtherPattern = 0x5A;

using Memories = std::vector<std::unique_ptr<Memory>>;  // null: no memory

Memories memories_of(const Runtime& runtime, const Description& about, const Names& names,
                     bool other) {
  Memories out;
  for (const Argument& one : about.arguments) {
    out.emplace_back();
    if (one.in_memory())
      out.back() = std::make_unique<Memory>(runtime, one, names,
                                            other           ? kOtherPattern
                                            : one.is_read() ? kReadPattern
                                                            : kWritePattern);
  }
  return out;
}

cl::Event upload_all(const Runtime& runtime, const Description& about, const Memories& memories,
                     const std::vector<Bytes>& contents, const std::vector<cl::Event>& wait) {
  std::vector<cl::Event> last = wait;
  for (std::size_t i = 0; i < memories.size(); ++i) {
    if (memories[i] && about.arguments[i].is_read())
      last = {memories[i]->upload(contents[i], last)};
  }
  if (last.size() == 1 && (wait.empty() || last.front()() != wait.front()())) return last.front();
  const WaitHandles waits(last);
  cl_event done = nullptr;
  clcook::check(clEnqueueMarkerWithWaitList(runtime.queue()(), waits.count(), waits.data(), &done),
                "clEnqueueMarkerWithWaitList");
  return cl::Event(done);
}

// A kernel with its arguments, ready to be enqueued often. Not thread-safe.
class Prepared {
 public:
  Prepared(const Runtime& runtime, std::shared_ptr<const Description> about,
           const KernelEntry& entry, const Params& tune, const Params& shape,
           const Memories& memories)
      : runtime_(runtime),
        about_(std::move(about)),
        entry_(entry),
        offer_(offer_of(runtime, *about_, entry, tune, shape)),
        what_(launch_name(*about_, entry, shape)) {
    if (!offer_.can()) unsupported(offer_.lacks, what_, offer_.why);
    const Names names = names_of(shape, tune);
    const CompileUnit unit = unit_of(*about_, entry, tune, shape);
    at_place(entry.place, [&] {
      const cl::Program program = build_to_look(runtime, unit, about_->name + "/" + entry.name);
      try {
        kernel_.emplace(runtime, program, unit.kernel);
      } catch (const Error& error) {
        if (error.status != CL_INVALID_KERNEL_NAME) throw;
        wrong(entry.place,
              "the program has no kernel '" + unit.kernel + "'; it has " + names_in(program));
      }
    });
    check_signature(runtime, *about_, entry, unit, kernel_->handle());
    geometry_ = geometry_of(entry, names);
    if (!geometry_.local.empty()) {
      at_place(entry.place, [&] { kernel_->check_launch(launch(), unit.local_bytes); });
    }
    if (memories.empty()) return;  // only looked at
    for (std::size_t i = 0; i < entry.arguments.size(); ++i)
      set(i, about_->arguments[entry.arguments[i]], memories[entry.arguments[i]].get(), names);
  }

  const Offer& offer() const { return offer_; }

  cl::Event run(const std::vector<cl::Event>& wait) {
    check_wait(runtime_, wait, what_);
    const WaitHandles waits(wait);
    LaunchHook* const hook = runtime_.hook();
    if (hook != nullptr) at_place(entry_.place, [&] { tell_before(*hook); });
    began(entry_.place, what_, about_->time_limit);
    cl_event handle = nullptr;
    const cl_int status = clEnqueueNDRangeKernel(
        runtime_.queue()(), kernel_->handle()(), static_cast<cl_uint>(geometry_.global.size()),
        nullptr, geometry_.global.data(),
        geometry_.local.empty() ? nullptr : geometry_.local.data(), waits.count(), waits.data(),
        &handle);
    if (status != CL_SUCCESS) {
      ended();
      if (status == CL_INVALID_WORK_GROUP_SIZE || status == CL_OUT_OF_RESOURCES)
        unsupported(Lacks::kernel_limit, entry_.place, what_ + ": " + status_name(status), status);
      at_place(entry_.place, [&] { clcook::check(status, "clEnqueueNDRangeKernel of " + what_); });
    }
    cl::Event done(handle);
    const auto tell = [](cl_event, cl_int, void*) { ended(); };
    if (clSetEventCallback(handle, CL_COMPLETE, tell, nullptr) != CL_SUCCESS) ended();
    if (hook != nullptr) hook->after(kernel_->name(), done);
    return done;
  }

 private:
  // With local sizes of 0 where the device chooses them.
  Launch launch() const {
    Launch out;
    if (geometry_.local.empty()) out.local = {0, 0, 0};
    out.dims = static_cast<cl_uint>(geometry_.global.size());
    std::copy(geometry_.global.begin(), geometry_.global.end(), out.global.begin());
    std::copy(geometry_.local.begin(), geometry_.local.end(), out.local.begin());
    return out;
  }

  void tell_before(LaunchHook& hook) const {
    std::vector<LaunchArgument> arguments;
    for (const Given& one : given_)
      arguments.push_back({one.kind, one.bytes, one.value.empty() ? nullptr : one.value.data()});
    hook.before(*kernel_, launch(), arguments.data(), arguments.size());
  }

  void set(std::size_t position, const Argument& one, const Memory* memory, const Names& names) {
    Bytes value;
    std::size_t bytes = sizeof(cl_mem);
    const void* from = nullptr;
    const cl_mem handle = memory == nullptr ? nullptr : memory->handle();
    if (memory != nullptr) {
      from = &handle;
    } else if (one.kind == Argument::Kind::local) {
      bytes = one.bytes(names);
    } else {
      value = value_of(one, names);
      from = value.data();
      bytes = value.size();
    }
    const cl_int status =
        clSetKernelArg(kernel_->handle()(), static_cast<cl_uint>(position), bytes, from);
    if (status == CL_SUCCESS) {
      using Kind = LaunchArgument::Kind;
      const auto* const first = static_cast<const unsigned char*>(from);
      const bool local = one.kind == Argument::Kind::local;
      given_.push_back({memory != nullptr ? Kind::memory
                        : local           ? Kind::local
                                          : Kind::value,
                        bytes, local ? Bytes() : Bytes(first, first + bytes)});
      return;
    }
    wrong(one.place, text("the argument '", one.name, "' of ", bytes, " bytes is not argument ",
                          position, " of ", entry_.function, "(): ", status_name(status)));
  }

  Runtime runtime_;
  std::shared_ptr<const Description> about_;
  const KernelEntry& entry_;
  Offer offer_;
  std::string what_;
  std::optional<Kernel> kernel_;
  Geometry geometry_;
  // The arguments, in their order, as they were set.
  struct Given {
    LaunchArgument::Kind kind;
    std::size_t bytes;
    Bytes value;
  };
  std::vector<Given> given_;
};

// ---- Comparing ----------------------------------------------------------------------------------

// Where a component lies, for messages: "dst(3, 4).1", "y[17]".
struct Place {
  const Argument& about;
  std::size_t width;  // of an image
  std::size_t height;
  std::size_t at;  // component
  const Compare& how;
  const Names& names;
  const unsigned char* got = nullptr;  // its bytes

  const char* note() const {
    const std::size_t bytes = about.numbers().bytes;
    const bool untouched =
        std::all_of(got, got + bytes, [](unsigned char one) { return one == kWritePattern; });
    return untouched ? " (never written?)" : "";
  }

  friend std::ostream& operator<<(std::ostream& out, const Place& one) {
    const std::size_t lanes = one.about.lanes();
    const std::size_t element = one.at / lanes;
    if (one.how.where) {
      out << one.how.where(one.about.name, one.names, element);
      if (lanes > 1) out << ", component " << one.at % lanes;
      return out << one.note();
    }
    out << one.about.name;
    if (one.about.kind == Argument::Kind::image) {
      out << '(' << element % one.width;
      if (!one.about.height.empty()) out << ", " << element / one.width % one.height;
      if (!one.about.depth.empty()) out << ", " << element / one.width / one.height;
      out << ')';
    } else {
      out << '[' << element << ']';
    }
    if (lanes > 1) out << '.' << one.at % lanes;
    return out << one.note();
  }
};

double spacing(const Type& type, double value) {
  if (type.kind != Type::Kind::real) return 1;
  const int digits = type.bytes == 2 ? 11 : type.bytes == 4 ? 24 : 53;
  const int least = type.bytes == 2 ? -14 : type.bytes == 4 ? -126 : -1022;
  if (!std::isfinite(value)) return 0;
  const int exponent = value == 0 ? least : std::max(least, std::ilogb(value));
  return std::ldexp(1.0, exponent + 1 - digits);
}

void compare(const Compare& how, const Argument& one, const Names& names, const Bytes& expected,
             const Bytes& got, Diff& diff) {
  const Type& type = one.numbers();
  const bool exact =
      type.kind != Type::Kind::real && how.absolute == 0 && how.relative == 0 && how.ulp == 0;
  const auto extent = [&](const Located& size) {
    return size.empty() ? std::size_t{1} : static_cast<std::size_t>(evaluate(size, names));
  };
  Place place{one, extent(one.width), extent(one.height), 0, how, names};
  const bool three = one.kind == Argument::Kind::buffer && one.type.components == 3;
  for (std::size_t i = 0; i < got.size() / type.bytes; ++i) {
    if (three && i % 4 == 3) continue;  // nothing lies there
    place.at = i;
    const unsigned char* a = &expected[i * type.bytes];
    const unsigned char* b = &got[i * type.bytes];
    place.got = b;
    if (exact) {
      diff.match(place, get_whole(type, a), get_whole(type, b));
      continue;
    }
    const double wanted = get_real(type, a);
    diff.compare(place, wanted, get_real(type, b),
                 how.absolute + how.relative * (std::isfinite(wanted) ? std::abs(wanted) : 0) +
                     (how.ulp > 0 ? how.ulp * spacing(type, wanted) : 0));
  }
}

// The contents that a reference in C leaves, for the last shape and seed: it is called once, however
// often a case is made.
class References {
 public:
  using Made = std::shared_ptr<const std::vector<Bytes>>;

  Made of(const Description& about, const Params& shape, std::uint64_t seed,
          const std::vector<Bytes>& contents) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string key = text(shape.str(), " ", seed);
    if (made_ == nullptr || key != key_) {
      made_ = std::make_shared<const std::vector<Bytes>>(call_reference(about, contents));
      key_ = key;
    }
    return made_;
  }

 private:
  std::mutex mutex_;
  std::string key_;
  Made made_;
};

// What the reference gets: inputs as they are filled, outputs as patterns, scalars.
std::vector<Bytes> contents_of(const Description& about, const Names& names, std::uint64_t seed) {
  std::vector<Bytes> out;
  for (std::size_t i = 0; i < about.arguments.size(); ++i) {
    const Argument& one = about.arguments[i];
    if (one.in_memory() && one.is_read()) {
      out.push_back(contents_of(about, i, names, seed));
    } else if (one.in_memory()) {
      out.emplace_back(one.bytes(names), kOtherPattern);
    } else if (one.kind == Argument::Kind::scalar) {
      out.push_back(value_of(one, names));
    } else {
      out.emplace_back();
    }
  }
  return out;
}

class DescribedCase : public Case {
 public:
  DescribedCase(const Runtime& runtime, std::shared_ptr<const Description> about,
                const std::shared_ptr<References>& references, const Params& shape,
                std::uint64_t seed)
      : runtime_(runtime), about_(std::move(about)), shape_(shape), names_(names_of(shape, {})) {
    // Scalars may depend on a tune: a reference gets the values that the baseline has by default.
    const Params defaults = combinations(about_->baseline().tunes).front();
    contents_ = contents_of(*about_, names_of(shape, defaults), seed);
    const Compare& how = about_->compare;
    if (how.reference) {
      std::vector<Bytes> expected = contents_;
      how.reference(expected, names_);
      reference_ = std::make_shared<const std::vector<Bytes>>(std::move(expected));
    } else if (!how.library.empty()) {
      reference_ = references->of(*about_, shape, seed, contents_);
    } else if (!how.files.empty()) {
      std::vector<Bytes> expected(about_->arguments.size());
      for (const auto& [index, path] : how.files) {
        const std::string whole = about_->path({fill_in(path, names_), path.place});
        const std::string content = at_place(path.place, [&] { return read_bytes(whole); });
        const std::size_t bytes = about_->arguments[index].bytes(names_);
        if (content.size() != bytes)
          wrong(path.place, text(whole, " has ", content.size(), " bytes, must have ", bytes));
        expected[index].assign(content.begin(), content.end());
      }
      reference_ = std::make_shared<const std::vector<Bytes>>(std::move(expected));
    }
    memories_ = memories_of(runtime, *about_, names_, false);
  }

  void prepare(const std::string& variant, const Params& tune) override {
    const KernelEntry& entry = about_->kernel(variant);
    // A reference is of one set of values.
    prepared_.reset();
    prepared_.emplace(runtime_, about_, entry, tune, shape_, memories_);
    entry_ = &entry;
  }

  void poison() override {
    for (const auto& memory : memories_)
      if (memory) memory->poison();
  }

  cl::Event upload(const std::vector<cl::Event>& wait) override {
    return upload_all(runtime_, *about_, memories_, contents_, wait);
  }

  cl::Event run(const std::vector<cl::Event>& wait) override { return prepared().run(wait); }

  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    // What the baseline computes is read before: nothing of it runs while this is looked at.
    std::vector<Bytes> got(memories_.size());
    for (std::size_t i = 0; i < memories_.size(); ++i) {
      if (!memories_[i]) continue;
      const Argument& one = about_->arguments[i];
      got[i] = memories_[i]->read(wait, diff, one.name);
      const auto& used = entry_->arguments;
      if (!one.is_written() && std::find(used.begin(), used.end(), i) != used.end() &&
          got[i] != contents_[i])
        diff.broken("'" + one.name + "' is only read, and it was changed");
    }
    if (about_->compare.look) about_->compare.look(got);
    const std::vector<Bytes>& expected = expected_outputs();
    for (const std::size_t index : about_->compare.outputs)
      compare(about_->compare, about_->arguments[index], names_, expected[index], got[index], diff);
    return diff;
  }

  Work work() const override { return prepared_ ? prepared_->offer().work : Work{}; }

 private:
  Prepared& prepared() {
    if (!prepared_) fail(Errc::invalid_argument, about_->name, "prepare() was not called");
    return *prepared_;
  }

  const std::vector<Bytes>& expected_outputs() {
    if (reference_ != nullptr) return *reference_;
    const Runtime quiet = runtime_.with_observer({});
    const Memories memories = memories_of(quiet, *about_, names_, true);
    for (const auto& memory : memories)
      if (memory) memory->poison();
    const KernelEntry& entry = about_->baseline();
    Prepared baseline(quiet, about_, entry, combinations(entry.tunes).front(), shape_, memories);
    const cl::Event done = baseline.run({upload_all(quiet, *about_, memories, contents_, {})});
    std::vector<Bytes> out(about_->arguments.size());
    Diff guards;  // the baseline's own rows report what it damages
    for (const std::size_t index : about_->compare.outputs)
      out[index] = memories[index]->read({done}, guards, "");
    reference_ = std::make_shared<const std::vector<Bytes>>(std::move(out));
    return *reference_;
  }

  Runtime runtime_;
  std::shared_ptr<const Description> about_;
  Params shape_;
  Names names_;
  std::vector<Bytes> contents_;
  References::Made reference_;  // null: the baseline has not run yet
  Memories memories_;
  std::optional<Prepared> prepared_;
  const KernelEntry* entry_ = nullptr;
};

}  // namespace

void inspect(const Runtime& runtime, const Description& about) {
  const Params& shape = about.check_shapes.front();
  const auto shared = std::make_shared<const Description>(about);
  for (const KernelEntry& entry : shared->kernels) {
    try {
      Prepared(runtime, shared, entry, combinations(entry.tunes).front(), shape, {});
    } catch (const Error& error) {
      // What this device cannot do is for the rows to say.
      if (error.code != Errc::unsupported) throw;
    }
  }
  if (!about.compare.library.empty()) {
    const Params tune = combinations(about.baseline().tunes).front();
    call_reference(about, contents_of(about, names_of(shape, tune), 1));
  }
}

namespace {

// A checked shape without what is not the description's.
Params sizes_of(const Description& about, const Params& shape) {
  Params out;
  for (const std::string& size : about.sizes) out.set(size, shape.at(size));
  return out;
}

// A description's kernels on one shape.
class DescribedProblem : public AnyProblem {
 public:
  DescribedProblem(std::shared_ptr<const Description> about,
                   const std::vector<VariantInfo>& variants, Params shape)
      : about_(std::move(about)), variants_(variants), shape_(std::move(shape)) {}

  const char* operation() const override { return about_->name.c_str(); }
  std::vector<const VariantInfo*> variants() const override { return infos_of(variants_); }
  double bytes() const override {
    double bytes = 0;
    for (const Argument& one : about_->arguments)
      if (one.in_memory()) bytes += static_cast<double>(one.bytes(names_of(shape_, {})));
    return bytes;
  }
  std::vector<std::string> tuning_names() const override { return {about_->name}; }
  Params close(const VariantInfo& variant, const Params& tune, const DeviceInfo&) const override {
    Params whole = tune;
    for (const TuneAxis& axis : variant.axes)
      if (whole.find(axis.name) == nullptr) whole.set(axis.name, axis.values.front());
    return whole;
  }
  Offer offer(const Runtime& runtime, const VariantInfo& variant,
              const Params& tune) const override {
    Offer out = offer_of(runtime, *about_, about_->kernel(variant.name), tune, shape_);
    out.units = units(variant, tune, runtime.info());
    return out;
  }
  std::vector<CompileUnit> units(const VariantInfo& variant, const Params& tune,
                                 const DeviceInfo&) const override {
    return {unit_of(*about_, about_->kernel(variant.name), tune, shape_)};
  }

 private:
  std::shared_ptr<const Description> about_;
  std::vector<VariantInfo> variants_;
  Params shape_;
};

}  // namespace

Recipe recipe_of(std::shared_ptr<const Description> about) {
  Recipe out;
  out.name = about->name;
  out.title = about->title;
  out.family = "described in a file";
  out.summary = "described in " + about->file;
  for (const KernelEntry& one : about->kernels) {
    out.variants.emplace_back();
    VariantInfo& row = out.variants.back();
    row.name = one.name;
    row.summary = one.summary;
    row.is_baseline = one.baseline;
    row.axes = one.tunes;
  }
  for (const std::string& size : about->sizes)
    out.parameters.push_back(
        Parameter::integer(size.c_str(), ("a size of " + about->file).c_str(), 0, 0x1p53));
  out.test_shapes = about->check_shapes;
  out.bench_shapes = about->bench_shapes;
  out.quick_shape = about->bench_shapes.front();
  out.make_case = [about, references = std::make_shared<References>()](
                      const Runtime& runtime, const Params& shape, std::uint64_t seed) {
    return std::make_unique<DescribedCase>(runtime, about, references, sizes_of(*about, shape),
                                           seed);
  };
  out.pose = [about, variants = out.variants](const Params& shape) {
    return std::make_unique<const DescribedProblem>(about, variants, sizes_of(*about, shape));
  };
  return out;
}

}  // namespace clcook::tool::described
