// <clcook/sub_group.clh>: every function against a scalar model, with each implementation that the
// device has and always with local memory.
#include <clcook/core/sub_group.hpp>
#include <clcook/embedded/headers.hpp>
#include <clcook/registry/conformance.hpp>
#include <clcook/registry/random.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr const char* kKernels = R"(
#include <clcook/sub_group.clh>

// A function of the kernel's own takes the sub-group as any other value.
static uint twice(clcook_sub_group sg, uint x) { return 2u * clcook_sub_group_reduce_add_uint(sg, x); }

#define ITEM                                                                                   \
  const uint local_id = (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) *       \
                                   get_local_size(0) + get_local_id(0));                       \
  const uint per_group = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));    \
  const uint i = (uint)get_group_id(0) * per_group + local_id

#define VALUES(T)                                                                              \
  __kernel CLCOOK_SUB_GROUP_KERNEL void values_##T(__global const T* in,                       \
                                                   __global const uint* from, uint lane,       \
                                                   uint mask, uint by, uint count,             \
                                                   __global T* out) {                          \
    CLCOOK_SUB_GROUP(sg, 256);                                                                 \
    ITEM;                                                                                      \
    const T x = in[i];                                                                         \
    out[i] = clcook_sub_group_broadcast_##T(sg, x, lane);                                      \
    out[count + i] = clcook_sub_group_shuffle_##T(sg, x, from[i]);                             \
    out[2 * count + i] = clcook_sub_group_shuffle_xor_##T(sg, x, mask);                        \
    out[3 * count + i] = clcook_sub_group_shuffle_up_##T(sg, x, by);                           \
    out[4 * count + i] = clcook_sub_group_shuffle_down_##T(sg, x, by);                         \
    out[5 * count + i] = clcook_sub_group_reduce_add_##T(sg, x);                               \
    out[6 * count + i] = clcook_sub_group_reduce_min_##T(sg, x);                               \
    out[7 * count + i] = clcook_sub_group_reduce_max_##T(sg, x);                               \
    out[8 * count + i] = clcook_sub_group_scan_inclusive_add_##T(sg, x);                       \
    out[9 * count + i] = clcook_sub_group_scan_exclusive_add_##T(sg, x);                       \
  }
VALUES(int)
VALUES(uint)
VALUES(float)

__kernel CLCOOK_SUB_GROUP_KERNEL void flags(__global const int* in, uint count,
                                            __global uint* out) {
  CLCOOK_SUB_GROUP(sg, 256);
  ITEM;
  const clcook_lane_mask mask = clcook_sub_group_ballot(sg, in[i]);
  out[i] = (uint)mask;
  out[count + i] = (uint)((ulong)mask >> 32);
  out[2 * count + i] = clcook_lanes_below(sg, mask);
  out[3 * count + i] = (uint)clcook_sub_group_all(sg, in[i]);
  out[4 * count + i] = (uint)clcook_sub_group_any(sg, in[i]);
  out[5 * count + i] = sg.lane;
  out[6 * count + i] = sg.id;
  out[7 * count + i] = twice(sg, sg.lane);
}
)";

// The header, with OTHER in place of TEXT where CLCOOK_TEST_PLANT says "TEXT=>OTHER".
Source source() {
  Source out("sub_group_user.cl", kKernels);
  const char* plant = std::getenv("CLCOOK_TEST_PLANT");
  if (plant == nullptr) return out;
  std::string header;
  for (const embedded::File& file : embedded::headers) {
    if (file.name == "clcook/sub_group.clh") header = file.text();
  }
  const std::string change = plant;
  const std::size_t arrow = change.find("=>");
  const std::string text = change.substr(0, arrow);
  const std::string other = change.substr(arrow + 2);
  std::size_t at = header.find(text);
  REQUIRE_MESSAGE(at != std::string::npos, "the header has no " << text);
  for (; at != std::string::npos; at = header.find(text, at + other.size()))
    header.replace(at, text.size(), other);
  out.header("clcook/sub_group.clh", header);
  return out;
}

template <class T>
cl::Buffer filled(const std::vector<T>& data) {
  return create_buffer(runtime(), data.size() * sizeof(T), CL_MEM_READ_WRITE, data.data());
}

template <class T>
T random_value(Random& random) {
  if constexpr (std::is_same_v<T, float>) return random.uniform(-1.0f, 1.0f);
  if constexpr (std::is_same_v<T, cl_int>) return static_cast<cl_int>(random.bits32()) >> 8;
  return static_cast<T>(random.bits32());
}

// The sum of lanes first .. first + count - 1 and the bound on the error of adding them in any
// order: fewer than 64 additions of relative error 2^-24, each of at most the sum of the sizes.
template <class T>
bool sum_agrees(T got, const T* x, std::size_t count) {
  if constexpr (std::is_same_v<T, float>) {
    double sum = 0;
    double size = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += static_cast<double>(x[i]);
      size += std::fabs(static_cast<double>(x[i]));
    }
    return std::fabs(static_cast<double>(got) - sum) <= static_cast<double>(count) * 0x1p-24 * size;
  } else {
    T sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += x[i];
    return got == sum;
  }
}

constexpr const char* kOperations[] = {"broadcast",    "shuffle",    "shuffle_xor", "shuffle_up",
                                       "shuffle_down", "reduce_add", "reduce_min",  "reduce_max",
                                       "inclusive",    "exclusive"};

struct Setting {
  SubGroups groups;
  std::size_t size;
  Launch launch;
};

template <class T>
void check_values(const Setting& now, const cl::Program& program, const std::string& kernel_name) {
  const std::size_t count = now.launch.global[0] * now.launch.global[1] * now.launch.global[2];
  const std::size_t n = now.size;
  Random random(n * 1000 + count);
  for (int round = 0; round < 3; ++round) {
    std::vector<T> in(count);
    std::vector<cl_uint> from(count);
    for (T& one : in) one = random_value<T>(random);
    for (cl_uint& one : from) one = static_cast<cl_uint>(random.below(n));
    const auto lane = static_cast<cl_uint>(random.below(n));
    const auto mask = static_cast<cl_uint>(random.below(n));
    const auto by = static_cast<cl_uint>(round == 0 ? n - 1 : random.below(n));
    const cl::Buffer out = filled(std::vector<T>(10 * count, T(-77)));
    Kernel kernel(runtime(), program, kernel_name);
    const cl::Event done = kernel(now.launch, {}, filled(in), filled(from), lane, mask, by,
                                  static_cast<cl_uint>(count), out);
    const std::vector<T> got = read_buffer<T>(runtime(), out, 10 * count, {done});
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = i / n * n;
      const std::size_t l = i - first;
      const T* x = &in[first];
      T least = x[0];
      T most = x[0];
      for (std::size_t k = 1; k < n; ++k) {
        least = x[k] < least ? x[k] : least;
        most = x[k] > most ? x[k] : most;
      }
      const auto result = [&](std::size_t operation) { return got[operation * count + i]; };
      const bool right[10] = {
          result(0) == x[lane],
          result(1) == x[from[i]],
          result(2) == x[l ^ mask],
          result(3) == x[l < by ? l : l - by],
          result(4) == x[l + by < n ? l + by : l],
          sum_agrees(result(5), x, n) && result(5) == got[5 * count + first],
          result(6) == least,
          result(7) == most,
          sum_agrees(result(8), x, l + 1),
          l == 0 ? result(9) == T(0) : sum_agrees(result(9), x, l),
      };
      for (std::size_t operation = 0; operation < 10; ++operation) {
        if (right[operation]) continue;
        FAIL(kernel_name, ", ", kOperations[operation], " of item ", i, ": ", result(operation));
      }
    }
  }
}

void check_flags(const Setting& now, const cl::Program& program) {
  const std::size_t count = now.launch.global[0] * now.launch.global[1] * now.launch.global[2];
  const std::size_t n = now.size;
  const std::size_t per_group = now.launch.group_size();
  Random random(n * 2000 + count);
  std::vector<cl_int> in(count);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      // None, few, most, all: in each sub-group another. Any value but 0 is true.
      const std::uint64_t kind = i / n + static_cast<std::uint64_t>(2 * round);
      const std::uint64_t eighths = kind % 4 == 0 ? 0 : kind % 4 == 1 ? 1 : kind % 4 == 2 ? 7 : 8;
      in[i] = random.below(8) < eighths ? static_cast<cl_int>(random.bits32() | 0x80000000U) : 0;
    }
    const cl::Buffer out = filled(std::vector<cl_uint>(8 * count, 0xCDCDCDCDU));
    Kernel kernel(runtime(), program, "flags");
    const cl::Event done = kernel(now.launch, {}, filled(in), static_cast<cl_uint>(count), out);
    const std::vector<cl_uint> got = read_buffer<cl_uint>(runtime(), out, 8 * count, {done});
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = i / n * n;
      std::uint64_t mask = 0;
      cl_uint below = 0;
      for (std::size_t k = 0; k < n; ++k) {
        if (in[first + k] == 0) continue;
        mask |= std::uint64_t{1} << k;
        if (first + k < i) ++below;
      }
      const std::uint64_t all = n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
      const std::vector<cl_uint> expected = {static_cast<cl_uint>(mask),
                                             static_cast<cl_uint>(mask >> 32),
                                             below,
                                             mask == all ? 1U : 0U,
                                             mask != 0 ? 1U : 0U,
                                             static_cast<cl_uint>(i - first),
                                             static_cast<cl_uint>(i % per_group / n),
                                             static_cast<cl_uint>(n * (n - 1))};
      for (std::size_t k = 0; k < expected.size(); ++k) {
        if (got[k * count + i] == expected[k]) continue;
        CAPTURE(k);
        CAPTURE(i);
        REQUIRE(got[k * count + i] == expected[k]);
      }
    }
  }
}

// One sub-group, and several in several dimensions, an odd number where there is room for it: 256
// items at most. Each shape is some seconds of a compiler's time, so there are three.
std::vector<Launch::Sizes> group_shapes(std::size_t n) {
  std::vector<Launch::Sizes> out = {{n, 1, 1}};
  for (const Launch::Sizes& one : {Launch::Sizes{3 * n, 1, 1}, {2 * n, 1, 2}}) {
    const std::size_t items = one[0] * one[1] * one[2];
    if (items <= 256 && items <= runtime().info().max_group) out.push_back(one);
  }
  return out;
}

void check_all(const SubGroups& groups, std::size_t size,
               const std::vector<Launch::Sizes>& shapes) {
  CAPTURE(describe(groups));
  CAPTURE(size);
  const cl::Program program =
      runtime().build(source(), sub_group_defines(groups, size), "test/sub_group");
  for (const Launch::Sizes& shape : shapes) {
    CAPTURE(shape[0]);
    CAPTURE(shape[1]);
    CAPTURE(shape[2]);
    const Setting now{groups, size, Launch::groups({3, 1, 1}, shape)};
    check_sub_group_launch(size, now.launch, "test");
    check_values<cl_int>(now, program, "values_int");
    check_values<cl_uint>(now, program, "values_uint");
    check_values<cl_float>(now, program, "values_float");
    check_flags(now, program);
  }
}

}  // namespace

LONG_TEST_CASE("sub-groups of local memory", 32) {
  const SubGroups groups = local_sub_groups();
  std::size_t number = 0;
  for (const std::size_t size : {1U, 8U, 64U}) {
    if (!left_out(number++, 3)) check_all(groups, size, group_shapes(size));
  }
}

TEST_CASE("sub-groups of the device") {
  SubGroups groups = sub_groups(runtime());
  MESSAGE(runtime().info().platform_version, ", ", runtime().info().name, ": ", describe(groups));
  if (groups.kind == SubGroupKind::local) {
    MESSAGE("SKIPPED: ", groups.lacks);
    return;
  }
  for (const std::size_t size : groups.sizes) check_all(groups, size, group_shapes(size));
  // What is there only on some devices has a way without it.
  if (groups.ballot) {
    groups.ballot = false;
    for (const std::size_t size : groups.sizes) check_all(groups, size, {{size, 1, 1}});
  }
  if (groups.capability >= 80) {
    groups.capability = 70;
    check_all(groups, 32, group_shapes(32));
  }
}

TEST_CASE("a device that says it has sub-groups has them") {
  const DeviceInfo& info = runtime().info();
  const SubGroups groups = sub_groups(runtime());
  CHECK((groups.kind == SubGroupKind::local) == !groups.lacks.empty());
  CHECK(!groups.sizes.empty());
  // These have been seen to work; to fall back silently would be a defect.
  if (contains(info.platform_version, "PoCL 6.") || contains(info.platform, "Intel") ||
      (info.platform == "rusticl" && info.has_extension("cl_khr_subgroup_shuffle"))) {
    CHECK_MESSAGE(groups.kind == SubGroupKind::native, groups.lacks);
  }
  if (contains(info.platform, "NVIDIA"))
    CHECK_MESSAGE(groups.kind == SubGroupKind::ptx, groups.lacks);
}

TEST_CASE("sub-groups: bad sizes and launches are refused") {
  const SubGroups local = local_sub_groups();
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{128}}) {
    const Error error = error_of([&] { sub_group_defines(local, size); });
    CHECK(error.code == Errc::invalid_argument);
    CHECK(contains(error.what(), std::to_string(size) + " lanes"));
    CHECK(contains(error.what(), "1 2 4 8 16 32 64"));
  }
  check_sub_group_launch(8, Launch::groups({1, 1, 1}, {24, 3, 1}), "test");
  for (const std::size_t width : {std::size_t{1}, std::size_t{12}, std::size_t{20}}) {
    const Error error = error_of([&] {
      check_sub_group_launch(8, Launch::groups({1, 1, 1}, {width, 8, 1}), "my_sum");
    });
    CHECK(error.code == Errc::invalid_argument);
    CHECK(contains(error.what(), "my_sum"));
    CHECK(contains(error.what(), "got " + std::to_string(width)));
  }
  // The header says so itself, for those who choose by hand.
  for (const char* value : {"0", "12", "128"}) {
    const Error error = error_of([&] {
      runtime().build(source(), Defines().set("CLCOOK_SUB_GROUP_SIZE", Token{value}), "by hand");
    });
    CHECK(error.code == Errc::build_failed);
    CHECK(contains(error.build_log, "power of two"));
  }
}

namespace {

// A recipe of a variant that declares the need, and one for every device.
class Sums : public Case {
 public:
  explicit Sums(const Runtime& on) : on_(on) {}
  void prepare(const std::string& variant, const Params&) override {
    if (variant == "shuffled") needed_sub_groups(on_, "sums/shuffled");
  }
  void poison() override {}
  cl::Event upload(const std::vector<cl::Event>&) override { return event(); }
  cl::Event run(const std::vector<cl::Event>&) override { return event(); }
  Diff check(const std::vector<cl::Event>&) override { return {}; }
  Work work() const override { return {}; }

 private:
  cl::Event event() const {
    cl_event out = nullptr;
    clcook::check(clEnqueueMarkerWithWaitList(on_.queue()(), 0, nullptr, &out), "marker");
    return cl::Event(out);
  }
  Runtime on_;
};

}  // namespace

TEST_CASE("a variant that declares the need is skipped where the device has none") {
  const SubGroups groups = sub_groups(runtime());
  Sums sums(runtime());
  sums.prepare("plain", {});
  if (groups.kind != SubGroupKind::local) {
    sums.prepare("shuffled", {});
    return;
  }
  const Error error = error_of([&] { sums.prepare("shuffled", {}); });
  CHECK(error.code == Errc::unsupported);  // what the conformance test counts as a skip
  CHECK(contains(error.what(), std::string("needs ") + kNeedsSubGroups));
  CHECK(contains(error.what(), groups.lacks));
}

LONG_TEST_CASE("clcook devices says what sub-groups a device has", 16) {
  if (not_built("clcook")) return;
  const Ran ran = run_program({built_program("clcook"), "devices"});
  CHECK(contains(ran.out, "sub-groups: " + describe(sub_groups(runtime()))));
}

// What Oclgrind runs: small, local memory.
TEST_CASE("child: sub-groups of local memory" * doctest::skip()) {
  check_all(local_sub_groups(), 4, {{8, 1, 1}});
}

LONG_TEST_CASE("planted bugs of the header are found", 16) {
  const auto child = [](const std::string& plant) {
    return run_self("child: sub-groups of local memory", {{"CLCOOK_TEST_PLANT", plant}});
  };
  const std::string none = "#ifndef CLCOOK_SUB_GROUP_CLH=>#ifndef CLCOOK_SUB_GROUP_CLH";
  REQUIRE(child(none).code == 0);
  std::size_t number = 0;
  for (const std::string plant : {
           "i < sg.lane ? one=>i <= sg.lane ? one",  // scan of one lane more
           "uint i = 1; i < CLCOOK_SUB_GROUP_SIZE=>uint i = 2; i < CLCOOK_SUB_GROUP_SIZE",
           "<< sg.lane) - 1)=><< sg.lane))",  // the lane itself counts
           "sg.lane ^ mask=>sg.lane + mask",
           "sg.lane < by ? x=>sg.lane + 1 < by ? x",
           "sg.lane + by < CLCOOK_SUB_GROUP_SIZE ?=>sg.lane + by <= CLCOOK_SUB_GROUP_SIZE ?",
           "SIZE * CLCOOK_SUB_GROUP_SIZE}=>SIZE}",  // all in one another's words
           "== CLCOOK_ALL_LANES=>!= 0",
           "(clcook_lane_mask)sg.scratch[i] << i=>(clcook_lane_mask)sg.scratch[0] << i",
       }) {
    if (left_out(number++, 3)) continue;
    CAPTURE(plant);
    CHECK(child(plant).code != 0);
  }
}

TEST_CASE("Oclgrind sees no race in the header, and does where a barrier is missing") {
  const char* oclgrind = "/usr/bin/oclgrind";
  if (!std::filesystem::exists(oclgrind)) {
    MESSAGE("SKIPPED: oclgrind is not installed");
    return;
  }
  const std::string none = "#ifndef CLCOOK_SUB_GROUP_CLH=>#ifndef CLCOOK_SUB_GROUP_CLH";
  const TempFolder folder;
  const auto complaints = [&](const std::string& plant, const char* mode) {
    const std::string log = folder / "log";
    write_bytes(log, "");
    const Ran ran = run_program(
        {oclgrind, "--build-options", "-cl-opt-disable", mode, "--log", log, self_path(),
         "--no-skip", "--test-case=child: sub-groups of local memory"},
        {{"CLCOOK_TEST_PLANT", plant}, {"CLCOOK_DEVICE", std::nullopt}, {"CLCOOK_CACHE", "0"}});
    if (plant == none) CHECK_MESSAGE(ran.code == 0, ran.out);
    return read_bytes(log);
  };
  CHECK(complaints(none, "--data-races") == "");
  CHECK(complaints(none, "--uninitialized") == "");
  const std::string barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
  for (const std::string& plant : {
           "sg.scratch[sg.lane] = x;\n  " + barrier + "=>sg.scratch[sg.lane] = x;",
           // One that keeps the words until all have read them.
           "(clcook_lane_mask)sg.scratch[i] << i;\n  " + barrier +
               "=>(clcook_lane_mask)sg.scratch[i] << i;",
       }) {
    CAPTURE(plant);
    CHECK(complaints(plant, "--data-races") != "");
  }
}
