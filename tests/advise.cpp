// clcook advise: every rule on a kernel that has the fault and on one that has not, what it says of
// the cookbook's own kernels, and what it refuses.
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/advise/rules.hpp"
#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using advise::Spread;

namespace {

Ran run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {compiling_tool(), "advise"});
  return run_program(arguments, {{"CLCOOK_DEVICE", std::nullopt}});
}

using Names = std::vector<std::string>;

// The rules that found something, by kernel, in the order of the advice.
std::map<std::string, Names> rules_of(const std::string& json) {
  std::map<std::string, Names> out;
  const nlohmann::json parsed = nlohmann::json::parse(json);
  for (const auto& kernel : parsed.at("kernels")) {
    Names& names = out[kernel["variant"].get<std::string>()];
    for (const auto& one : kernel["advice"]) names.push_back(one["rule"].get<std::string>());
  }
  return out;
}

// Kernels with a fault have the rule's name, the same without it end in _cured.
const char* const kKernels = R"(
static float cost(float a, float b, int n) {
  float s = 0.0f;
  for (int i = 0; i < n; ++i) s = fma(s, a, sqrt(b + s * s)) / (1.0f + a * s);
  return s;
}
kernel void same_on_both_sides(global const float* a, global const float* b, global float* r, int n) {
  const size_t i = get_global_id(0);
  const float x = a[i], y = b[i];
  if (x < y) {
    r[i] = cost(x, y, n);
  } else {
    r[i] = cost(y, x, n);
  }
}
kernel void same_on_both_sides_cured(global const float* a, global const float* b, global float* r,
                                     int n) {
  const size_t i = get_global_id(0);
  const float x = a[i], y = b[i];
  r[i] = cost(fmin(x, y), fmax(x, y), n);
}
kernel void light_chain(global const uint* a, global uint* r) {
  const size_t i = get_global_id(0);
  const uint v = a[i];
  uint m = 14;
  if ((v & 3) == 0) m = 7;
  else if ((v & 3) == 1) m = 2;
  else if ((v & 31) == 2) m = 9;
  else if ((v & 31) == 6) m = 4;
  else if ((v & 31) == 10) m = 11;
  else if ((v & 31) == 14) m = 1;
  r[i] = m;
}
kernel void light_chain_cured(global const uint* a, global uint* r) {
  const size_t i = get_global_id(0);
  r[i] = 0x7294b1u >> (a[i] & 7u) * 4u & 15u;
}
kernel void threshold_chain(global const float* a, constant float* t, global uint* r) {
  const size_t i = get_global_id(0);
  const float x = a[i];
  uint slot = 5;
  if (x >= t[0]) slot = 0;
  else if (x >= t[1]) slot = 1;
  else if (x >= t[2]) slot = 2;
  else if (x >= t[3]) slot = 3;
  else if (x >= t[4]) slot = 4;
  r[i] = slot;
}
kernel void threshold_chain_cured(global const float* a, constant float* t, global uint* r) {
  const size_t i = get_global_id(0);
  const float x = a[i];
  r[i] = (uint)((x < t[0]) + (x < t[1]) + (x < t[2]) + (x < t[3]) + (x < t[4]));
}
kernel void heavy_chain(global const uint* mode, global const float* a, global float* r, int n) {
  const size_t i = get_global_id(0);
  float x = a[i];
  switch (mode[i]) {
    case 0: for (int k = 0; k < n; ++k) x = sqrt(x * 3.0f + k) + exp(x); break;
    case 1: for (int k = 0; k < n; ++k) x = x * x + log(x + k); break;
    case 2: for (int k = 0; k < n; ++k) x = exp(x) / (x + k); break;
    case 3: x = log(x) * exp(x * x) + sqrt(x); break;
    case 4: x = sqrt(log(x) + x) * exp(x); break;
    case 5: for (int k = 0; k < n; ++k) x = log(x) - k; break;
    default: break;
  }
  r[i] = x;
}
kernel void heavy_chain_cured(global const uint* mode, constant float4* table, global const float* a,
                              global float* r) {
  const size_t i = get_global_id(0);
  const float4 w = table[mode[i]];
  const float x = a[i];
  r[i] = fma(fma(fma(w.x, x, w.y), x, w.z), x, w.w);
}
kernel void two_ways(global const float* a, global float* r, int n) {
  const size_t i = get_global_id(0);
  float x = a[i];
  if (x > 0.5f) {
    for (int k = 0; k < n; ++k) x = fma(x, x, 1.0f) / (x + k) - sqrt(x) * x;
  } else {
    for (int k = 0; k < n; ++k) x = exp(x - k) + log(x + k);
  }
  r[i] = x;
}
kernel void two_ways_cured(global const float* a, global float* r, int n) {
  const size_t i = get_global_id(0);
  float x = a[i] > 0.5f ? a[i] : 1.0f - a[i];
  for (int k = 0; k < n; ++k) x = fma(x, x, 1.0f) / (x + k) - sqrt(x) * x;
  r[i] = x;
}
kernel void own_trips(global const float* a, global float* r) {
  const size_t i = get_global_id(0);
  float x = a[i];
  while (x > 0.5f) x = sqrt(x) * 0.9f;
  r[i] = x;
}
kernel void own_trips_cured(global const float* a, global float* r, int n) {
  const size_t i = get_global_id(0);
  float x = a[i];
  for (int k = 0; k < n; ++k) x = sqrt(x) * 0.9f;
  r[i] = x;
}
kernel void neighbours(global const float* a, global float* r, int radius) {
  const int i = get_global_id(0);
  float s = 0.0f;
  for (int k = -radius; k <= radius; ++k) s += a[i + k];
  r[i] = s;
}
kernel void neighbours_clamped(global const float* a, global float* r, int width) {
  const int i = get_global_id(0);
  if (i < width) r[i] = a[max(i - 1, 0)] + a[i] + a[min(i + 1, width - 1)];
}
kernel void neighbours_rows(global const float* a, global float* r, int pitch, int radius) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  float s = 0.0f;
  for (int k = -radius; k <= radius; ++k) s += a[(y + k) * pitch + x];
  r[y * pitch + x] = s;
}
// Each element once, by a loop that strides over the whole grid; and the sum of a column.
kernel void neighbours_cured(global const float* a, global float* r, int count) {
  float s = 0.0f;
  for (int i = get_global_id(0); i < count; i += get_global_size(0)) s += a[i];
  r[get_global_id(0)] = s;
}
kernel void neighbours_columns_cured(global const float* a, global float* r, int pitch, int rows) {
  const int x = get_global_id(0);
  float s = 0.0f;
  for (int y = 0; y < rows; ++y) s += a[y * pitch + x];
  r[x] = s;
}
kernel void same_for_all(global const float* a, global float* r, int n, float sigma) {
  const size_t i = get_global_id(0);
  float s = 0.0f;
  for (int k = 0; k < n; ++k) s += exp(-(float)(k * k) / sigma) * a[i];
  r[i] = s;
}
kernel void same_for_all_cured(global const float* a, constant float* w, global float* r, int n) {
  const size_t i = get_global_id(0);
  float s = 0.0f;
  for (int k = 0; k < n; ++k) s += w[k] * a[i];
  r[i] = s;
}
kernel void scattered(global const float* a, global float* r, int pitch, int n) {
  const uint x = get_global_id(0);
  const uint y = get_global_id(1);
  uint state = x * 747796405u ^ y * 2891336453u;
  float s = 0.0f;
  for (int k = 0; k < n; ++k) {
    state = state * 1664525u + 1013904223u;
    s += a[(y + (state >> 28)) * pitch + x + (state >> 24 & 15)];
  }
  r[y * pitch + x] = s;
}
kernel void scattered_cured(global const float* a, global float* r, int pitch) {
  const uint x = get_global_id(0);
  const uint y = get_global_id(1);
  r[y * pitch + x] = a[y * pitch + x] * 2.0f;
}
kernel void product(global const float* a, global const float* b, global float* c, int n) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  float s = 0.0f;
  for (int k = 0; k < n; ++k) s = fma(a[y * n + k], b[k * n + x], s);
  c[y * n + x] = s;
}
kernel __attribute__((reqd_work_group_size(16, 16, 1))) void product_cured(
    global const float* a, global const float* b, global float* c, int n) {
  local float p[16][16], q[16][16];
  const int x = get_local_id(0), y = get_local_id(1);
  const int column = get_group_id(0) * 16 + x, row = get_group_id(1) * 16 + y;
  float s = 0.0f;
  for (int k = 0; k < n; k += 16) {
    p[y][x] = a[row * n + k + x];
    q[y][x] = b[(k + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 16; ++j) s = fma(p[y][j], q[j][x], s);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = s;
}
kernel void apart(global float* r) { r[get_global_id(0) * 32] = 1.0f; }
kernel void apart_rows(global const float* a, global float* r, int width, int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x < width && y < height) r[x * height + y] = a[y * width + x];
}
kernel void apart_cured(global float* r) { r[get_global_id(0)] = 1.0f; }
// Structures of 24 bytes, read whole.
kernel void apart_whole_cured(global const float* a, global float* r) {
  const size_t i = get_global_id(0);
  r[i] = a[6 * i] + a[6 * i + 1] + a[6 * i + 2] + a[6 * i + 3] + a[6 * i + 4] + a[6 * i + 5];
}
kernel void shared_block(global const float4* matrices, global const float4* a, global float4* r,
                         uint each) {
  const uint i = get_global_id(0);
  global const float4* m = matrices + i / each * 4;
  const float4 v = a[i];
  r[i] = m[0] * v.x + m[1] * v.y + m[2] * v.z + m[3] * v.w;
}
kernel void shared_block_cured(global const float4* matrices, global const float4* a,
                               global float4* r, uint each) {
  const uint i = get_group_id(1) * each + get_global_id(0);
  global const float4* m = matrices + get_group_id(1) * 4;
  const float4 v = a[i];
  r[i] = m[0] * v.x + m[1] * v.y + m[2] * v.z + m[3] * v.w;
}
kernel void unpacked(global const uint4* a, global const float4* lights, global float* r, int n) {
  const size_t i = get_global_id(0);
  const uint4 w = a[i];
  const float4 p = convert_float4(w & 255u), q = convert_float4(w >> 8 & 255u);
  const float4 s = convert_float4(w >> 16 & 255u), t = convert_float4(w >> 24);
  float out = 0.0f;
  for (int k = 0; k < n; ++k) {
    const float4 l = lights[k];
    out += dot(l, p) * dot(l, q) + dot(l.yzwx, s) * dot(l.zwxy, t);
  }
  r[i] = out;
}
kernel void unpacked_cured(global const float4* a, global const float4* lights, global float* r,
                           int n) {
  const size_t i = get_global_id(0);
  const float4 p = a[i];
  float out = 0.0f;
  for (int k = 0; k < n; ++k) out += dot(lights[k], p);
  r[i] = out;
}
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void scan(global uint* x) {
  local uint cells[64];
  const uint i = get_local_id(0);
  uint v = x[get_global_id(0)];
  cells[i] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint d = 1; d < 64; d *= 2) {
    const uint before = i >= d ? cells[i - d] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    cells[i] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  x[get_global_id(0)] = cells[i];
}
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void scan_cured(global uint* x) {
  local uint cells[64];
  cells[get_local_id(0)] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[get_global_id(0)] = cells[63 - get_local_id(0)];
}
kernel void one_counter(global const uint* a, volatile global uint* count) {
  if (a[get_global_id(0)] > 7u) atomic_inc(count);
}
kernel void one_counter_cured(global const uint* a, volatile global uint* count) {
  local uint sum;
  if (get_local_id(0) == 0) sum = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (a[get_global_id(0)] > 7u) atomic_inc(&sum);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_add(count, sum);
}
kernel void in_place(global const uint2* pairs, global float* p) {
  const uint2 c = pairs[get_global_id(0)];
  const float d = 0.5f * (p[c.x] - p[c.y]);
  p[c.x] -= d;
  p[c.y] += d;
}
kernel void in_place_cured(global const uint2* pairs, global const float* p, global float* r) {
  const uint2 c = pairs[get_global_id(0)];
  r[get_global_id(0)] = p[c.x] - p[c.y];
}
kernel __attribute__((reqd_work_group_size(1024, 1, 1))) void registers(global float* x) {
  float v[200];
#pragma unroll
  for (int i = 0; i < 200; ++i) v[i] = x[i * 1024 + get_local_id(0)];
  float s = 1.0f;
#pragma unroll
  for (int i = 0; i < 200; ++i) s = s * v[i] + v[(i * 7) % 200] * v[199 - i];
  x[get_local_id(0)] = s;
}
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void registers_cured(global float* x) {
  x[get_global_id(0)] *= 2.0f;
}
)";

std::string results(const std::string& file, const std::map<std::string, double>& counters) {
  nlohmann::json row = {
      {"recipe", file}, {"variant", "apart_cured"}, {"status", "counted"}, {"counters", counters}};
  return nlohmann::json{{"kind", "counters"}, {"rows", {row}}}.dump();
}

}  // namespace

TEST_CASE("every rule finds its fault and nothing where it is cured" * doctest::timeout(600)) {
  if (compiling_tool().empty()) return;
  const TempFolder folder;
  const std::string file = (folder / "faults.cl").string();
  write_bytes(file, kKernels);
  const Ran ran = run({file, "--json", "-"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  std::set<std::string> tested;
  for (const auto& entry : rules_of(ran.out)) {
    const std::string& kernel = entry.first;
    const Names& found = entry.second;
    CAPTURE(kernel);
    std::string names;
    for (const std::string& one : found) names += one + " ";
    CAPTURE(names);
    if (contains(kernel, "_cured")) {
      CHECK(found.empty());
      continue;
    }
    std::string rule;
    for (const advise::Rule& one : advise::rules()) {
      if (kernel.rfind(one.name, 0) == 0 && std::string(one.name).size() > rule.size())
        rule = one.name;
    }
    CHECK(std::find(found.begin(), found.end(), rule) != found.end());
    tested.insert(rule);
  }
  const std::map<std::string, std::map<std::string, double>> counted = {
      {"idle_lanes", {{"lanes", 9.0}}},
      {"many_sectors", {{"store_sectors", 32.0}}},
      {"few_waves", {{"warps_pct", 12.0}, {"issue_pct", 20.0}}},
      {"banks", {{"bank_conflicts", 900.0}, {"local_wavefronts", 1000.0}}}};
  const std::map<std::string, double> sound = {
      {"lanes", 32.0},     {"store_sectors", 16.0}, {"load_sectors", 4.0},     {"warps_pct", 80.0},
      {"issue_pct", 70.0}, {"bank_conflicts", 0.0}, {"local_wavefronts", 10.0}};
  for (const auto& entry : counted) {
    const std::string& rule = entry.first;
    const std::map<std::string, double>& counters = entry.second;
    CAPTURE(rule);
    write_bytes(folder / "counters.json", results(file, counters));
    const Ran with = run({file, "--kernel", "apart_cured", "--results",
                          (folder / "counters.json").string(), "--json", "-"});
    REQUIRE(with.code == 0);
    CHECK(rules_of(with.out)["apart_cured"] == Names{rule});
    tested.insert(rule);
  }
  write_bytes(folder / "counters.json", results(file, sound));
  const Ran none =
      run({file, "--kernel", "apart_cured", "--results", (folder / "counters.json").string()});
  CHECK(contains(none.out, "nothing found"));
  for (const advise::Rule& one : advise::rules()) {
    CAPTURE(std::string(one.name));
    CHECK(tested.count(one.name) == 1);
    for (const char* recipe : one.recipes) {
      CHECK(std::filesystem::exists(std::string(CLCOOK_SOURCE_DIR) + "/docs/" + recipe + ".md"));
    }
  }
}

// The baselines are what a good programmer writes first: their recipe is to be among the first two
// pieces of advice. The fastest variants of the H200 are to be left in peace.
TEST_CASE("the cookbook's own kernels" * doctest::timeout(600)) {
  if (compiling_tool().empty()) return;
  struct Known {
    const char* recipe;
    const char* baseline;
    const char* best;
    Names said;  // of the best
  };
  const Known all[] = {
      {"argument_swap", "two_calls", "swap_in_place", {}},
      {"bc6h_decode", "branchy", "local_headers", {}},
      {"bc6h_mode", "cascade", "packed_nibbles", {}},
      {"folded_switch", "switch16", "weight_matrix", {}},
      {"gaussian_blur", "per_pixel", "fused", {"registers"}},  // applies: it spills on gfx942
      {"gbuffer_shade", "wide", "reloaded", {"unpacked"}},     // it does what is advised
      {"group_size", "direct", "local_table", {"own_trips"}},  // applies
      {"group_swizzle", "row_major", "hilbert", {}},
      {"halo_tile", "direct", "columns_first", {}},
      {"line_blur", "naive", "coalesced", {}},
      {"local_multipass", "per_colour", "resident", {}},
      // In place of sub-groups, which clang's sm_90 has not.
      {"stream_compaction", "int_flags", "look_back", {"scan", "own_trips"}},
      {"threshold_count", "else_if_chain", "binary_search", {}},
      {"vertex_transform", "per_item", "early", {}}};
  std::size_t number = 0;
  for (const Known& one : all) {
    if (left_out(number++, 3)) continue;
    CAPTURE(std::string(one.recipe));
    const auto advice = [&](const char* variant) {
      const Ran ran = run({one.recipe, "--variant", variant, "--json", "-"});
      CAPTURE(ran.err);
      REQUIRE(ran.code == 0);
      std::vector<std::pair<double, nlohmann::json>> sorted;  // of all kernels of the variant
      const nlohmann::json parsed = nlohmann::json::parse(ran.out);
      for (const auto& kernel : parsed.at("kernels")) {
        for (const auto& piece : kernel["advice"])
          sorted.emplace_back(piece["share"].get<double>(), piece);
      }
      std::stable_sort(sorted.begin(), sorted.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
      return sorted;
    };
    const auto first = advice(one.baseline);
    bool named = false;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, first.size()); ++i) {
      for (const auto& recipe : first[i].second["recipes"]) named = named || recipe == one.recipe;
    }
    CHECK(named);
    Names said;
    for (const auto& [share, piece] : advice(one.best))
      said.push_back(piece["rule"].get<std::string>());
    CHECK(said == one.said);
  }
}

TEST_CASE("what the command refuses") {
  if (compiling_tool().empty()) return;
  const TempFolder folder;
  write_bytes(folder / "none.cl", "float f(float x) { return x; }\n");
  write_bytes(folder / "broken.cl", "kernel void k(global float* x) { x[0] = y; }\n");
  write_bytes(folder / "good.cl", "kernel void k(global float* x) { x[0] = 1.0f; }\n");
  write_bytes(folder / "other.json", "{\"kind\": \"check\"}\n");
  write_bytes(folder / "no.json", "nothing\n");
  const auto refused = [&](std::vector<std::string> arguments, const std::string& why) {
    const Ran ran = run(std::move(arguments));
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(contains(ran.err, why));
  };
  refused({}, "required");
  refused({(folder / "missing.cl").string()}, "there is no file");
  refused({(folder / "none.cl").string()}, "has no kernel");
  refused({(folder / "broken.cl").string()}, "undeclared identifier 'y'");
  refused({(folder / "good.cl").string(), "--kernel", "j"}, "there is no kernel 'j'");
  refused({"no_such_recipe"}, "no_such_recipe");
  refused({"line_blur", "--variant", "fastest"}, "fastest");
  refused({(folder / "good.cl").string(), "--results", (folder / "other.json").string()},
          "its kind is 'check'");
  refused({(folder / "good.cl").string(), "--results", (folder / "no.json").string()},
          "is no result");
  refused({(folder / "good.cl").string(), "--results", (folder / "gone.json").string()},
          "gone.json");
}

// Without a compiler: PTX as clang writes it.
TEST_CASE("values over work-items and over trips") {
  const std::string text =
      ".entry k(\n)\n{\n"
      "\tld.param.u64 \t%rd1, [k_param_0];\n"
      "\tld.param.u32 \t%r9, [k_param_1];\n"
      "\tmov.u32 \t%r1, %tid.x;\n"
      "\tmov.u32 \t%r2, %ctaid.x;\n"
      "\tmov.u32 \t%r3, %ntid.x;\n"
      "\tmad.lo.s32 \t%r4, %r2, %r3, %r1;\n"
      "\tmul.wide.s32 \t%rd2, %r4, 12;\n"
      "\tadd.s64 \t%rd3, %rd1, %rd2;\n"
      "\tmul.lo.s32 \t%r5, %r4, %r9;\n"
      "\trem.u32 \t%r6, %r4, %r9;\n"
      "\tand.b32 \t%r7, %r4, 15;\n"
      "\tmin.s32 \t%r8, %r4, %r9;\n"
      "\tmul.lo.s64 \t%rd4, %rd2, 4611686018427387;\n"
      "\tmul.lo.s64 \t%rd5, %rd4, 4611686018427387;\n"
      "\tadd.s64 \t%rd6, %rd5, 9223372036854775;\n"
      "\tmul.lo.s64 \t%rd7, %rd6, 1664525;\n"
      "\tmov.u32 \t%r10, 0;\n"
      "$L__BB0_1:\n"
      "\tld.global.f32 \t%f1, [%rd3+8];\n"
      "\tadd.s32 \t%r10, %r10, 3;\n"
      "\tadd.s64 \t%rd3, %rd3, 24;\n"
      "\tsetp.lt.s32 \t%p1, %r10, %r9;\n"
      "\t@%p1 bra \t$L__BB0_1;\n"
      "\tret;\n}\n";
  const isa::Listing listing = isa::read_listing(isa::Dialect::ptx, text, "k");
  const advise::Flow flow = advise::flow_of(listing);
  const advise::Values items = advise::over_items(flow, advise::forks_of(flow));
  const auto is = [&](const char* name, Spread spread, long stride) {
    CAPTURE(name);
    CHECK(items.at(name).spread == spread);
    CHECK(items.at(name).stride == stride);
  };
  is("%r2", Spread::uniform, 0);
  is("%r4", Spread::linear, 1);
  is("%rd2", Spread::linear, 12);
  is("%rd3", Spread::linear, 12);
  is("%r5", Spread::scaled, 0);
  is("%r6", Spread::linear, 1);
  is("%r7", Spread::irregular, 0);
  is("%r8", Spread::linear, 1);
  is("%r10", Spread::uniform, 0);
  is("%p1", Spread::uniform, 0);
  is("%f1", Spread::irregular, 0);
  CHECK(items.at("%r6").bends);
  CHECK(!items.at("%r4").bends);
  CHECK((items.at("%f1").from & advise::from_memory) != 0);
  CHECK(items.at("%r4").from == (advise::from_item_x | advise::from_group_x));
  REQUIRE(flow.loops.size() == 1);
  const advise::Values trips = advise::over_trips(flow, flow.loops[0], items);
  CHECK(trips.at("%rd3").spread == Spread::linear);
  CHECK(trips.at("%rd3").stride == 24);
  CHECK(trips.at("%r10").stride == 3);
  CHECK(trips.at("%r4").spread == Spread::uniform);
  const advise::Facts facts = advise::facts_of(listing);
  REQUIRE(facts.accesses.size() == 1);
  CHECK(facts.accesses[0].bytes == 4);
  CHECK(facts.accesses[0].depth == 1);
}
