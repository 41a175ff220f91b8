// How `clcook course` weighs machine code: regions of a source, and how often instructions run.
#include <stdexcept>
#include <string>

#include "bench/course/regions.hpp"
#include "bench/course/weights.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using namespace clcook::tool::course;

namespace {

// A kernel with a loop and a branch in it, as lines of regions and as machine code.
const char* kLoopSource =
    "float halve(float v) { return v * 0.5f; }\n"
    "__kernel void k(__global float* x, int n) {\n"
    "  float s = 0;\n"
    "  for (int i = 0; i < n; ++i) {\n"
    "    s += x[i];\n"
    "    if (s > 1.0e+3f) s = halve(s);\n"
    "  }\n"
    "  x[0] = s;\n"
    "}\n";

struct Loop {
  Regions regions = regions_of(kLoopSource);
  isa::Listing listing;
  RegionCounts counts;

  // The first line of a region that is no loop's header, or that is.
  unsigned line(int region, bool header = false) const {
    for (unsigned i = 0; i < regions.of_line.size(); ++i) {
      if (regions.of_line[i] == region && regions.header[i] == header) return i + 1;
    }
    return 0;
  }

  Loop() {
    const auto at = [](unsigned line) { return "\t.loc\t1 " + std::to_string(line) + " 1\n"; };
    // Regions: 0 halve, 1 k, 2 the loop, 3 the branch.
    const std::string text =
        "\nk:\n" + at(line(1)) + "\tv_mov_b32 v0, 0\n\tv_mov_b32 v1, 0\n" + ".LBB0_1:\n" +
        at(line(2)) + "\tglobal_load_dword v2, v1, s[0:1]\n\tv_add_f32 v0, v0, v2\n" +
        "\ts_cbranch_vccz .LBB0_3\n" + at(line(0)) + "\tv_mul_f32 v0, 0.5, v0\n" + ".LBB0_3:\n" +
        at(line(2, true)) + "\ts_add_u32 s0, s0, 4\n\ts_cbranch_scc1 .LBB0_1\n" + at(line(1)) +
        "\tglobal_store_dword v1, v0, s[0:1]\n\ts_endpgm\n.Lfunc_end0:\n";
    listing = isa::read_listing(isa::Dialect::amdgcn, text, "k");
    // Two waves of 32 that go round ten times and take the branch in a quarter of them.
    counts.of = {5, 2, 20, 5};
    counts.wave = 32;
    counts.outputs = 64;
  }

  Weighted weigh(const std::string& log = "") const {
    return weighted(isa::Dialect::amdgcn, listing, regions, counts, read_loop_remarks(log), "k");
  }
};

}  // namespace

TEST_CASE("regions of a source") {
  const Regions regions = regions_of(
      "struct S { int a; };\n__constant int t[2] = {1, 2};\n"
      "#pragma something {\n"
      "__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void k(__global int* x) {\n"
      "  int v[2] = {1, 2};\n"
      "  if (x[0] > 0) return; else x[1] = 1;\n"
      "  do { x[2] += 1; } while (x[2] < 4);\n"
      "  switch (x[3]) { case 1: x[4] = 1; break; default: x[4] = x[3] ? 2 : 3; }\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 4; ++i)\n"
      "    for (int k = 0; k < 4; ++k) { if (k == i) continue; x[i] = k; }\n"
      "}\n");
  // k, if, else, what follows it, do, two cases, two loops, the inner if and what follows it
  CHECK(regions.signature() == "f-1k;b0;b0;r0;l3;b3;b3;l3;l7;b8;r8;");
  CHECK(contains(regions.counted,
                 "if (x[0] > 0) { CLCOOK_COUNT(1); return; } else { "
                 "CLCOOK_COUNT(2); x[1] = 1; } CLCOOK_COUNT(3);"));
  CHECK(contains(regions.counted, "case 1: CLCOOK_COUNT(5);"));
  CHECK(contains(regions.counted, "\n#pragma unroll\n"));
  CHECK_FALSE(contains(regions.plain, "CLCOOK_COUNT"));
  for (unsigned line = 1; line <= regions.of_line.size(); ++line)
    CHECK(regions.at_line(line) < static_cast<int>(regions.all.size()));
  CHECK(regions.at_line(0) == -1);
  CHECK(regions.at_line(1000) == -1);
  CHECK(regions_of("").all.empty());
  CHECK_THROWS_AS(regions_of("void k() { for (;;"), std::runtime_error);
}

TEST_CASE("what the compiler says of loops") {
  const auto said = read_loop_remarks(
      "k.cl:7:3: remark: unrolled loop by a factor of 8 with run-time trip count [-Rpass]\n"
      "k.cl:9:3: remark: completely unrolled loop with 50 iterations [-Rpass=loop-unroll]\n"
      "k.cl:11:3: remark: vectorized loop (vectorization width: 16, interleaved count: 2) [-R]\n"
      "k.cl:12:3: warning: something else\nremark: without a place\n");
  CHECK(said.size() == 3);
  CHECK(said.at(7).factor == 8);
  CHECK(said.at(9).complete);
  CHECK(said.at(11).factor == 32);
}

TEST_CASE("instructions weighed by how often they run") {
  Loop loop;
  REQUIRE(loop.regions.signature() == "f-1halve;f-1k;l1;b2;");
  const Weighted once = loop.weigh();
  // 4 once, 3 and 2 ten times, 1 in a quarter of ten.
  CHECK(once.total == doctest::Approx(4 + 50 + 2.5));
  CHECK(once.of(isa::Kind::vector_memory) == doctest::Approx(11));
  CHECK(once.of(isa::Kind::vector_alu) == doctest::Approx(2 + 10 + 2.5));
  CHECK(once.guessed == 0);

  // Half as many items for the same outputs.
  loop.counts.outputs = 128;
  CHECK(loop.weigh().total == doctest::Approx(28.25));
  loop.counts.outputs = 64;

  // Two iterations of the source in one of the machine.
  const std::string place = "k.cl:" + std::to_string(loop.line(2, true)) + ":3: remark: ";
  CHECK(loop.weigh(place + "unrolled loop by a factor of 2 with run-time trip count\n").total ==
        doctest::Approx(4 + 25 + 1.25));

  // A loop that is none of the source's: taken as run once, and told.
  const Weighted lost = loop.weigh(place + "completely unrolled loop with 10 iterations\n");
  CHECK(lost.total == doctest::Approx(4 + 5 + 0.25));
  CHECK(lost.guessed > 0.5);

  // A kernel that did not run.
  loop.counts.of = {0, 0, 0, 0};
  CHECK(loop.weigh().total == 0);
}
