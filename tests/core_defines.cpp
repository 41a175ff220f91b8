// Definitions: what the host sets is what the kernel reads, bit for bit.
#include <clcook/core/defines.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <clcook/core/launch.hpp>
#include <clcook/registry/random.hpp>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

// Builds a kernel that stores each definition V0, V1, ... converted by `expression`, and runs it.
template <class T>
std::vector<T> values_in_kernel(const Defines& defines, std::size_t count,
                                const std::string& expression, const std::string& type) {
  std::string body = "__kernel void k(__global " + type + "* out) {\n";
  for (std::size_t i = 0; i < count; ++i) {
    std::string one = expression;
    for (std::size_t at = one.find('@'); at != std::string::npos; at = one.find('@')) {
      one.replace(at, 1, text("V", i));
    }
    body += text("  out[", i, "] = ", one, ";\n");
  }
  const cl::Program program =
      runtime().build(Source("values.cl", body + "}\n"), defines, "test/values");
  const cl::Buffer buffer = create_buffer(runtime(), count * sizeof(T));
  Kernel kernel(runtime(), program, "k");
  const cl::Event done = kernel(Launch{}, {}, buffer);
  return read_buffer<T>(runtime(), buffer, count, {done});
}

template <class T>
void check_integers(const std::string& type, std::vector<T> values) {
  CAPTURE(type);
  Defines defines;
  for (std::size_t i = 0; i < values.size(); ++i) defines.set(text("V", i), values[i]);
  CAPTURE(defines.options());
  CHECK(values_in_kernel<T>(defines, values.size(), "@", type) == values);
  // The sign and width survive in an expression too: no definition may change its neighbours.
  std::vector<cl_long> halves;
  for (const T value : values) {
    halves.push_back(static_cast<cl_long>(-1) - static_cast<cl_long>(value / 2));
  }
  CHECK(values_in_kernel<cl_long>(defines, values.size(), "-1 - (long)(@ / 2)", "long") == halves);
}

template <class T>
std::vector<T> limits_of() {
  using L = std::numeric_limits<T>;
  std::vector<T> out{L::min(),
                     L::max(),
                     T{0},
                     T{1},
                     static_cast<T>(L::max() - 1),
                     static_cast<T>(L::min() + 1),
                     static_cast<T>(L::max() / 2)};
  if (L::is_signed) out.push_back(static_cast<T>(-1));
  return out;
}

}  // namespace

LONG_TEST_CASE("the limits of every integer type reach the kernel", 16) {
  check_integers<cl_char>("char", limits_of<cl_char>());
  check_integers<cl_uchar>("uchar", limits_of<cl_uchar>());
  check_integers<cl_short>("short", limits_of<cl_short>());
  check_integers<cl_ushort>("ushort", limits_of<cl_ushort>());
  check_integers<cl_int>("int", limits_of<cl_int>());
  check_integers<cl_uint>("uint", limits_of<cl_uint>());
  check_integers<cl_long>("long", limits_of<cl_long>());
  check_integers<cl_ulong>("ulong", limits_of<cl_ulong>());
  check_integers<long long>("long", limits_of<long long>());
  check_integers<unsigned long long>("ulong", limits_of<unsigned long long>());
  check_integers<std::size_t>("ulong", {0, 1, std::size_t{1} << 31, std::size_t{1} << 32});
  check_integers<cl_long>("long", {2147483647, 2147483648, -2147483647, -2147483648LL,
                                   -2147483649LL, 4294967295, 4294967296});
}

TEST_CASE("unsigned stays unsigned and negative stays one operand") {
  Defines defines;
  defines.set("V0", 4294967295u).set("V1", -5).set("V2", true).set("V3", false).set("V4", 3u);
  const std::vector<cl_long> got =
      values_in_kernel<cl_long>(defines, 5, "(long)(@ > 0) * 1000 + (long)(10 -@)", "long");
  CHECK(got[0] == 1011);  // 10 - 0xFFFFFFFFu wraps to 11 as an unsigned value
  CHECK(got[1] == 15);
  CHECK(got[2] == 1009);
  CHECK(got[3] == 10);
  CHECK(got[4] == 1007);
}

TEST_CASE("floats reach the kernel bit for bit") {
  std::vector<cl_uint> bits{0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000,
                            0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000, 0x3DCCCCCD, 0xBDCCCCCD, 0x33800000};
  Random random(1);
  while (bits.size() < 200) {
    const cl_uint one = random.bits32();
    if ((one & 0x7F800000U) != 0x7F800000U) bits.push_back(one);
  }
  while (bits.size() < 250) bits.push_back(random.bits32() & 0x807FFFFFU);  // denormals
  Defines defines;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    float value = 0;
    std::memcpy(&value, &bits[i], sizeof value);
    defines.set(text("V", i), value);
  }
  CHECK(values_in_kernel<cl_uint>(defines, bits.size(), "as_uint(@)", "uint") == bits);
}

TEST_CASE("doubles reach the kernel bit for bit") {
  if (!runtime().info().has_extension("cl_khr_fp64")) {
    MESSAGE("SKIPPED: the device has no cl_khr_fp64");
    return;
  }
  std::vector<cl_ulong> bits{0,
                             1,
                             0x8000000000000000,
                             0x8000000000000001,
                             0x000FFFFFFFFFFFFF,
                             0x7FEFFFFFFFFFFFFF,
                             0xFFEFFFFFFFFFFFFF,
                             0x3FB999999999999A};
  Random random(2);
  while (bits.size() < 150) {
    const cl_ulong one = random.bits();
    if ((one & 0x7FF0000000000000U) != 0x7FF0000000000000U) bits.push_back(one);
  }
  while (bits.size() < 180) bits.push_back(random.bits() & 0x800FFFFFFFFFFFFFU);
  Defines defines;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    double value = 0;
    std::memcpy(&value, &bits[i], sizeof value);
    defines.set(text("V", i), value);
  }
  CHECK(values_in_kernel<cl_ulong>(defines, bits.size(), "as_ulong(@)", "ulong") == bits);
}

TEST_CASE("NaN and infinity are refused") {
  const float float_inf = std::numeric_limits<float>::infinity();
  const double double_inf = std::numeric_limits<double>::infinity();
  const auto refused = [](auto value) {
    Defines defines;
    const Error error = error_of([&] { defines.set("RADIUS", value); });
    CHECK(error.code == Errc::invalid_argument);
    CHECK(contains(error.what(), "RADIUS"));
    CHECK(defines.options().empty());  // nothing half-way
  };
  refused(float_inf);
  refused(-float_inf);
  refused(std::numeric_limits<float>::quiet_NaN());
  refused(double_inf);
  refused(-double_inf);
  refused(std::numeric_limits<double>::quiet_NaN());
  refused(std::numeric_limits<long double>::infinity());
  if (std::numeric_limits<long double>::max_exponent > std::numeric_limits<double>::max_exponent) {
    refused(std::numeric_limits<long double>::max());  // finite, but not as a double
  }
}

TEST_CASE("names must be C identifiers") {
  using namespace std::string_literals;
  for (const std::string& name : {""s, "1A"s, "A B"s, "A-B"s, "A=1"s, "A;"s, "\"A\""s, "A\n"s,
                                  "A\0B"s, "\xC3\x84"s, "A("s, "-DA"s}) {
    CAPTURE(name);
    Defines defines;
    CHECK(error_of([&] { defines.set(name, 1); }).code == Errc::invalid_argument);
    CHECK(error_of([&] { defines.flag(name); }).code == Errc::invalid_argument);
    CHECK(error_of([&] { defines.set(name, 1.0f); }).code == Errc::invalid_argument);
    CHECK(error_of([&] { defines.set(name, Token{"x"}); }).code == Errc::invalid_argument);
    CHECK(defines.values().empty());
  }
  for (const char* name : {"A", "_", "a1_B2", "_9"}) CHECK_NOTHROW(Defines().set(name, 1));
}

TEST_CASE("tokens must be free of blanks, quotes and anything that ends an option") {
  using namespace std::string_literals;
  for (const std::string& value : {""s, " "s, "a b"s, "a\tb"s, "a\nb"s, "\"a\""s, "'a'"s, "a\\b"s,
                                   "a;b"s, "float4\0-DX"s, "a\vb"s, "a\x7F"s}) {
    CAPTURE(value);
    Defines defines;
    CHECK(error_of([&] { defines.set("T", Token{value}); }).code == Errc::invalid_argument);
    CHECK(defines.values().empty());
  }
  Defines defines;
  defines.set("V0", Token{"(3+4)"}).set("V1", Token{"sizeof(float4)"});
  CHECK(values_in_kernel<cl_int>(defines, 2, "(int)@", "int") == std::vector<cl_int>{7, 16});
}

TEST_CASE("equal sets give equal options, whatever the order") {
  Defines a;
  a.set("B", 2).flag("C").set("A", 1);
  Defines b;
  b.flag("C").set("A", 7).set("A", 1).set("B", 2);
  CHECK(a.options() == "-DA=1 -DB=2 -DC");
  CHECK(a.options() == b.options());
  CHECK(Defines().options().empty());
  CHECK(Runtime::build_options({}, {}) == "-cl-std=CL1.2");
  CHECK(Runtime::build_options({}, a, "-w") == "-cl-std=CL1.2 -DA=1 -DB=2 -DC -w");
}

TEST_CASE("the language level and the builtins are the device's, unless the caller says -cl-std") {
  DeviceInfo info;
  CHECK(info.language == "CL1.2");
  info.language = "CL3.0";
  CHECK(Runtime::build_options(info, {}) == "-cl-std=CL3.0");
  CHECK(Runtime::build_options(info, {}, "-w") == "-cl-std=CL3.0 -w");
  CHECK(Runtime::build_options(info, {}, "-cl-std=CL2.0") == "-cl-std=CL2.0");
  CHECK(Runtime::build_options(info, {}, "-w -cl-std=CL2.0") == "-w -cl-std=CL2.0");
  CHECK(Runtime::build_options(info, {}, "-DA=\"x-cl-std=\"") == "-cl-std=CL3.0 -DA=\"x-cl-std=\"");
  const std::string prefetch = "-DCLCOOK_BUILTIN_PREFETCH";
  for (const auto& [platform, knows] :
       {std::pair("Portable Computing Language", true), std::pair("Intel(R) OpenCL", true),
        std::pair("rusticl", false), std::pair("", false)}) {
    info.platform = platform;
    for (const bool cpu : {true, false}) {
      info.cpu = cpu;
      CHECK(contains(Runtime::build_options(info, {}), prefetch) == (knows && cpu));
    }
  }
}

TEST_CASE("a -cl-std of the caller reaches the compiler") {
  const Source source("std.cl",
                      "__kernel void k(__global int* out) { out[0] = __OPENCL_C_VERSION__; }\n");
  const auto version = [&](const std::string& extra_options) {
    const cl::Buffer buffer = create_buffer(runtime(), 4);
    Kernel kernel(runtime(), runtime().build(source, {}, "test/std", extra_options), "k");
    const cl::Event done = kernel(Launch{}, {}, buffer);
    return read_buffer<cl_int>(runtime(), buffer, 1, {done})[0];
  };
  CHECK(version("") == (runtime().info().language == "CL3.0" ? 300 : 120));
  CHECK(version("-cl-std=CL1.1") == 110);
  CHECK(version("-w -cl-std=CL1.2") == 120);
}

TEST_CASE("a flag is defined and empty-handed tests see it") {
  Source source("flag.cl",
                "__kernel void k(__global int* out) {\n#ifdef ON\nout[0] = 1;\n#else\nout[0] = "
                "2;\n#endif\n}\n");
  for (const bool on : {true, false}) {
    Defines defines;
    if (on) defines.flag("ON");
    const cl::Buffer buffer = create_buffer(runtime(), 4);
    Kernel kernel(runtime(), runtime().build(source, defines, "test/flag"), "k");
    const cl::Event done = kernel(Launch{}, {}, buffer);
    CHECK(read_buffer<cl_int>(runtime(), buffer, 1, {done})[0] == (on ? 1 : 2));
  }
}
