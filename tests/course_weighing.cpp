// How `clcook course` counts what kernels do: places of a source, and the ways of work-items by them.
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/course/regions.hpp"
#include "bench/course/weighing.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using namespace clcook::tool::course;

namespace {

std::string kinds(const Regions& regions) {
  std::string out;
  for (const Region& one : regions.all) {
    out += "FLBRcls"[static_cast<int>(one.kind)] + std::to_string(one.parent) + one.name + ";";
  }
  return out;
}

Regions of(const std::string& text) { return regions_of(text, "k.cl"); }

// The kinds and parents of what a body accesses, and that body with its counters.
std::string accesses(const std::string& body) {
  const Regions regions =
      of("__kernel void k(__global float4* p, __global int* q, int n) {\n" + body + "}");
  return kinds(regions).substr(5);
}

}  // namespace

TEST_CASE("regions of a source") {
  const Regions regions =
      of("struct S { int a; };\n__constant int t[2] = {1, 2};\n"
         "#pragma something {\n"
         "__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void k(__local int* x) {\n"
         "  int v[2] = {1, 2};\n"
         "  if (x[0] > 0) return; else x[1] = 1;\n"
         "  do { x[2] += 1; } while (x[2] < 4);\n"
         "  switch (x[3]) { case 1: x[4] = 1; break; default: x[4] = x[3] ? 2 : 3; }\n"
         "#pragma unroll\n"
         "  for (int i = 0; i < 4; ++i)\n"
         "    for (int k = 0; k < 4; ++k) { if (k == i) continue; x[i] = k; }\n"
         "}\n");
  // k, if, else, what follows it, do, two cases, two loops, the inner if and what follows it
  CHECK(kinds(regions) == "F-1k;B0;B0;R0;L3;B3;B3;L3;L7;B8;R8;");
  CHECK(contains(regions.counted,
                 "if (x[0] > 0) { CLCOOK_COUNT(1); return; } else { "
                 "CLCOOK_COUNT(2); x[1] = 1; } CLCOOK_COUNT(3);"));
  CHECK(contains(regions.counted, "case 1: CLCOOK_COUNT(5);"));
  CHECK(contains(regions.counted, "\n#pragma unroll\n"));
  // A way back without a loop is a place, too.
  CHECK(kinds(of("void k(int n) { again: --n; if (n > 0) goto again; n = 1; }")) ==
        "F-1k;R0;B1;R1;");
  CHECK_FALSE(regions.waits);
  CHECK(of("void k() { barrier(1); }").waits);
  CHECK(of("").all.empty());
  CHECK_THROWS_AS(of("void k() { for (;;"), std::runtime_error);
}

TEST_CASE("lines are those of the file") {
  const Regions regions =
      of("# 1 \"/tmp/k.cl\"\n# 1 \"/tmp/header.clh\" 1\nint f() {\n return 1; }\n# 3 \"/tmp/k.cl\" "
         "2\n\n"
         "void k() {\n  if (f()) f();\n}\n");
  REQUIRE(kinds(regions) == "F-1f;F-1k;c1f;B1;c3f;");
  CHECK(regions.all[0].line == 0);
  CHECK(regions.all[1].line == 4);
  CHECK(regions.all[3].line == 5);
}

TEST_CASE("calls and accesses of global memory are places of their own") {
  const Regions regions =
      of("float f(float v) { return v; }\n"
         "__kernel void k(__global float* x, __local float* y) { x[0] = f(x[1] + f(y[2])); }\n");
  CHECK(kinds(regions) == "F-1f;F-1k;s1;c1f;l1;c1f;");
  CHECK(contains(regions.counted,
                 "x[CLCOOK_AT(2, x,0)] = (CLCOOK_COUNT(3), f(x[CLCOOK_AT(4, x,1)] + "
                 "(CLCOOK_COUNT(5), f(y[2]))));"));
  CHECK(accesses("p[n] += p[q[0]];") == "s0;l0;l0;");
  CHECK(accesses("if (p[0].x == 1 && p[1].x <= 2) p[2].x = 1;") == "l0;l0;B0;s3;");
  CHECK(accesses("*p = *(p + n); *p++ = 2 * *q;") == "s0;l0;s0;l0;");
  CHECK(accesses("(p + n)[1] = ((__global float4*)q)[2];") == "s0;l0;");
  CHECK(accesses("float4 v = vload4(n, q); vstore4(v, n, (__global float*)(q + 4));") == "l0;s0;");
  CHECK(accesses("atomic_add(q + n, 1); atomic_inc(&q[n]);") == "l0;l0;");
  CHECK(accesses("__global int* r = q + n; r += 1; r[0] = n * (n + 1);") == "s0;");
  CHECK(accesses("typedef __global const int* P; P r = q; n = r[0];") == "l0;");
  // A name is what was declared last.
  CHECK(accesses("q[0] = 1; int q[4]; q[0] = n * q[1];") == "s0;");
  CHECK(accesses("int a = 2 * q[0];") == "l0;");
}

TEST_CASE("operators, indices and calls are steps") {
  const auto steps = [](const std::string& body) {
    return of("float f(float);float f(float v) { return v; } void k(int a, int b, __local int* x) "
              "{ " +
              body + "}")
        .all.at(1)
        .steps;
  };
  CHECK(steps("") == 0);
  CHECK(steps("a = b;") == 0);
  CHECK(steps("a += b << 2; ++a;") == 3);
  CHECK(steps("a = b <= 2 && !(a != b) ? x[1] : get_local_id(0);") == 6);
  CHECK(steps("a = max(b, (int)f(a));") == 1);
  CHECK(steps("a = (int)exp(1.0e-3f);") > 8);
}

TEST_CASE("work-items of a wave run in step") {
  // A kernel with a branch, a loop in it and a function that the loop calls.
  const Regions regions =
      of("void f(__global float* x, int i) { x[i] = 1; }\n"
         "__kernel void k(__global float* x, int n) {\n"
         "  if (n > 0) {\n"
         "    for (int i = 0; i < n; ++i) f(x, i);\n"
         "  }\n"
         "}\n");
  REQUIRE(kinds(regions) == "F-1f;s0;F-1k;B2;L3;c4f;");
  const double loop = regions.all[4].steps;
  REQUIRE(loop == 2);
  const double own = regions.all[2].steps;
  const double body = regions.all[0].steps;
  // A work-item that makes so many turns, with the addresses that it stores to.
  const auto item = [](int turns, std::uint64_t address) {
    std::vector<Trace::Event> out = {{2, 0}};
    if (turns > 0) out.push_back({3, 0});
    for (int i = 0; i < turns; ++i) {
      for (const int region : {4, 5, 0}) out.push_back({region, 0});
      out.push_back({1, address});
    }
    return out;
  };
  Trace all;
  all.group = 64;
  all.results = 64;
  for (std::uint64_t i = 0; i < 64; ++i) all.items.push_back(item(3, 4096 + 16 * i));
  const Weighed alike = weighed(regions, all);
  CHECK(alike.steps.value == own + 3 * (loop + body));
  CHECK(alike.memory.value == 3);
  CHECK(alike.stores.value == 16);
  CHECK(alike.loads.value == 0);
  CHECK(alike.memory.line == 1);

  // One address for all of a wave hardly counts, and says nothing of neighbours.
  Trace one = all;
  for (auto& events : one.items) events = item(3, 4096);
  CHECK(weighed(regions, one).memory.value == doctest::Approx(3.0 / 32));
  CHECK(weighed(regions, one).stores.value == 0);

  // What one of the first wave needs, the wave goes through; parting costs, in each place.
  Trace parted = all;
  parted.items[5] = item(5, 4096);
  const double five = weighed(regions, parted).steps.value;
  CHECK(five > own + 4 * (loop + body));
  CHECK(five < own + 5 * (loop + body) + 20);
  // With a barrier the other wave waits.
  Regions waits = regions;
  waits.waits = true;
  CHECK(weighed(waits, parted).steps.value > five);
  CHECK(weighed(waits, all).steps.value == alike.steps.value);

  // Lanes that a group leaves empty count.
  Trace narrow;
  narrow.items = {item(3, 4096)};
  CHECK(weighed(regions, narrow).steps.value == 32 * alike.steps.value);
  CHECK(weighed(regions, narrow).memory.value == 32 * alike.memory.value);
}

TEST_CASE("a function that two places call runs twice") {
  const Regions regions =
      of("float f(float v) { return v * v; }\n"
         "__kernel void k(__local float* x) { x[0] = x[1] > 0 ? f(x[2]) : f(x[3]); }\n");
  REQUIRE(kinds(regions) == "F-1f;F-1k;c1f;c1f;");
  Trace all;
  all.group = 32;
  all.results = 32;
  const auto mixed = [&](int sides) {
    all.items.clear();
    for (int i = 0; i < 32; ++i) all.items.push_back({{1, 0}, {2 + i % sides, 0}, {0, 0}});
    return weighed(regions, all).steps.value;
  };
  CHECK(mixed(2) - mixed(1) == regions.all[0].steps);
  // In turns of a loop as well: here each lane calls in a turn of its own.
  const Regions loop =
      of("float f(float v) { return v * v; }\n"
         "void k(__local float* x, int n) { for (int i = 0; i < 32; ++i) if (i == n) f(x[0]); }\n");
  REQUIRE(kinds(loop) == "F-1f;F-1k;L1;B2;c3f;");
  all.items.clear();
  for (int lane = 0; lane < 32; ++lane) {
    std::vector<Trace::Event> events = {{1, 0}};
    for (int i = 0; i < 32; ++i) {
      events.push_back({2, 0});
      if (i == lane)
        for (const int region : {3, 4, 0}) events.push_back({region, 0});
    }
    all.items.push_back(events);
  }
  CHECK(weighed(loop, all).steps.value > 32 * (loop.all[0].steps + loop.all[2].steps));
}
