// vertex_transform: what the generic conformance test cannot know.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/reference/vertex_transform.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/vertex_transform.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "support/testing.hpp"

namespace {

namespace ref = clcook::reference::vertex_transform;
using namespace clcook;
using namespace clcook::testing;
using Format = VertexTransform::Format;
using Variant = VertexTransform::Variant;

std::vector<float> matrices(std::size_t count, float diagonal, float move) {
  std::vector<float> out(count * 16);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t r = 0; r < 3; ++r) {
      out[i * 16 + r * 5] = diagonal;
      out[i * 16 + r * 4 + 3] = move;
    }
    out[i * 16 + 15] = 1;
  }
  return out;
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double size =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

}  // namespace

TEST_CASE("floats become the nearest halfs") {
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double value = half_value(half);
    REQUIRE(VertexTransform::to_half(static_cast<float>(value)) == half);
    REQUIRE(VertexTransform::to_half(static_cast<float>(-value)) == (half | 0x8000));
    if (bits == 0x7BFF) break;
    // Half-way to the next: the even one. A little less and a little more: the nearer one.
    const double next = half_value(static_cast<std::uint16_t>(bits + 1));
    const auto middle = static_cast<float>((value + next) / 2);
    REQUIRE(VertexTransform::to_half(middle) == (bits % 2 == 0 ? half : half + 1));
    REQUIRE(VertexTransform::to_half(std::nextafter(middle, 0.0f)) == half);
    REQUIRE(VertexTransform::to_half(std::nextafter(middle, 1e9f)) == half + 1);
  }
  CHECK(VertexTransform::to_half(65519.0f) == 0x7BFF);
  CHECK(VertexTransform::to_half(65520.0f) == 0x7C00);
  CHECK(VertexTransform::to_half(-std::numeric_limits<float>::infinity()) == 0xFC00);
  CHECK((VertexTransform::to_half(std::numeric_limits<float>::quiet_NaN()) & 0x7FFF) > 0x7C00);
}

TEST_CASE("vertices and matrices are packed in every format") {
  const std::vector<float> mesh{1, 2, 3, 4, 5, 6};
  const auto floats = [](const std::vector<unsigned char>& bytes) {
    std::vector<float> out(bytes.size() / sizeof(float));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  };
  CHECK(floats(VertexTransform::pack_vertices(Format::float4, mesh)) ==
        std::vector<float>{1, 2, 3, 1, 4, 5, 6, 0});
  CHECK(floats(VertexTransform::pack_vertices(Format::float3, mesh)) == mesh);
  CHECK(VertexTransform::pack_vertices(Format::half3, mesh).size() == 12);
  const std::vector<float> two = matrices(2, 2, 7);
  CHECK(VertexTransform::pack_matrices(4, two) == two);
  const std::vector<float> rows = VertexTransform::pack_matrices(3, two);
  REQUIRE(rows.size() == 24);
  CHECK(rows[3] == 7);
  CHECK(rows[12] == 2);
  CHECK(contains(error_of([] {
                   VertexTransform::pack_vertices(Format::float3, {1, 2});
                 }).what(),
                 "got 2 floats"));
  CHECK(contains(error_of([&] { VertexTransform::pack_matrices(2, two); }).what(), "got 2 rows"));
}

TEST_CASE("the reference moves bodies as bodies move") {
  // Two bones that turn about an axis by an angle and move, after Rodrigues; a world that only
  // moves. A vertex of one bone keeps its distances, a normal its length and its angle to others.
  const double axis[3] = {2.0 / 7, 3.0 / 7, 6.0 / 7};
  const double angle = 0.75;
  const auto turned = [&](const double(&v)[3]) {
    const double dot = axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2];
    std::array<double, 3> out{};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t j = (i + 1) % 3;
      const std::size_t k = (i + 2) % 3;
      out[i] = v[i] * std::cos(angle) + (axis[j] * v[k] - axis[k] * v[j]) * std::sin(angle) +
               axis[i] * dot * (1 - std::cos(angle));
    }
    return out;
  };
  ref::Mesh mesh;
  mesh.bone_count = 2;
  mesh.vertices = {1, 2, 3, 0, 1, 0, -4, 5, -6, 0.6f, 0, 0.8f};
  mesh.skin = {1, 0, 0, 0, 255, 0, 0, 0, 1, 1, 7, 1, 100, 55, 60, 40};  // joint 7 counts as 1
  mesh.world = matrices(1, 1, 8);
  mesh.bones = matrices(2, 1, 0);
  for (std::size_t column = 0; column < 3; ++column) {
    double unit[3] = {};
    unit[column] = 1;
    for (std::size_t row = 0; row < 3; ++row)
      mesh.bones[16 + row * 4 + column] = static_cast<float>(turned(unit)[row]);
  }
  for (std::size_t row = 0; row < 3; ++row) mesh.bones[16 + row * 4 + 3] = -2;
  for (std::size_t v = 0; v < 2; ++v) {
    const ref::Result got = ref::transform(mesh, 0, v);
    double position[3];
    double normal[3];
    for (std::size_t c = 0; c < 3; ++c) {
      position[c] = static_cast<double>(mesh.vertices[v * 6 + c]);
      normal[c] = static_cast<double>(mesh.vertices[v * 6 + 3 + c]);
    }
    for (std::size_t c = 0; c < 3; ++c) {
      CHECK(got.position[c] == doctest::Approx(turned(position)[c] - 2 + 8).epsilon(1e-5));
      CHECK(std::abs(got.normal[c] - turned(normal)[c]) < 1e-6);
    }
    CHECK(got.position[3] == doctest::Approx(1));
    CHECK(got.normal[3] == 0);
  }
  // Half of each bone is half of both results.
  const ref::Result turn = ref::transform(mesh, 0, 0);
  mesh.skin[0] = 0;
  const ref::Result rest = ref::transform(mesh, 0, 0);
  for (std::size_t c = 0; c < 3; ++c)
    CHECK(rest.position[c] == static_cast<double>(mesh.vertices[c]) + 8);
  mesh.skin = {0, 1, 0, 0, 51, 204, 0, 0};
  const ref::Result blend = ref::transform(mesh, 0, 0);
  for (std::size_t c = 0; c < 3; ++c)
    CHECK(blend.position[c] ==
          doctest::Approx(0.2 * rest.position[c] + 0.8 * turn.position[c]).epsilon(1e-12));
}

TEST_CASE("simple poses are exact, by every variant") {
  // Doubled by the skeleton, moved by 8 by the world: nothing rounds. 255 counts as exactly 1.
  const VertexTransform::Problem p{3, 2, 1};
  const std::vector<float> mesh{1, 2, 3, 0, 1, 0, -4, 5, -6, 1, 0, 0, 0, 0, 0, 0, 0, -1};
  std::vector<std::uint8_t> skin;
  for (int v = 0; v < 3; ++v) {
    for (const int byte : {0, 9, 255, 0, 255, 0, 0, 0}) {
      skin.push_back(static_cast<std::uint8_t>(byte));
    }
  }
  for (const VertexTransform::Row& row : VertexTransform::variants()) {
    CAPTURE(row.name);
    if (!VertexTransform::Posed(p).offer(runtime(), row).can()) continue;
    const VertexTransform transform(runtime(), p, row);
    const int rows = transform.matrix_rows();
    const std::size_t bytes = VertexTransform::bytes_per_vertex(transform.result_format());
    const cl::Buffer result = clcook::create_buffer(runtime(), 6 * bytes);
    const cl::Event done =
        transform({upload(VertexTransform::pack_vertices(transform.vertex_format(), mesh)),
                   upload(skin), upload(VertexTransform::pack_matrices(rows, matrices(2, 1, 8))),
                   upload(VertexTransform::pack_matrices(rows, matrices(2, 2, 0)))},
                  result);
    const auto got = read_buffer<float>(runtime(), result, 6 * bytes / 4, {done});
    const std::size_t width = bytes / 8;
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        CHECK(got[(2 * i) * width + c] == 2 * mesh[i % 3 * 6 + c] + 8);
        CHECK(got[(2 * i + 1) * width + c] == 2 * mesh[i % 3 * 6 + 3 + c]);
      }
      if (width == 4) {
        CHECK(got[(2 * i) * 4 + 3] == 1);
        CHECK(got[(2 * i + 1) * 4 + 3] == 0);
      }
    }
  }
}

TEST_CASE("the image of typed lives until the call that waits is done") {
  const VertexTransform::Problem p{3, 2, 1};
  const Variant typed("typed");
  if (!VertexTransform::Posed(p).offer(runtime(), *typed.row()).can()) return;
  const VertexTransform transform(runtime(), p, typed);
  const std::vector<float> mesh{1, 2, 3, 0, 1, 0, -4, 5, -6, 1, 0, 0, 0, 0, 0, 0, 0, -1};
  const std::vector<std::uint8_t> skin{0,   0, 0, 0, 255, 0, 0, 0, 0,   0, 0, 0,
                                       255, 0, 0, 0, 0,   0, 0, 0, 255, 0, 0, 0};
  const auto floats = [&](float move) {
    return upload(VertexTransform::pack_matrices(4, matrices(2, 1, move)));
  };
  const cl::Buffer vertices = upload(VertexTransform::pack_vertices(Format::float4, mesh));
  const cl::Buffer bones = floats(0);
  const cl::Buffer skins = upload(skin);
  constexpr std::size_t kBytes = 6 * 32;
  const cl::UserEvent gate(runtime().context());
  // An image that a call lets go of early leaves its place to one of the calls behind it.
  std::vector<cl::Buffer> results;
  std::vector<cl::Event> done;
  for (int call = 0; call < 64; ++call) {
    results.push_back(create_buffer(runtime(), kBytes));
    done.push_back(transform({vertices, skins, floats(static_cast<float>(call)), bones},
                             results.back(), {gate}));
  }
  clcook::check(clSetUserEventStatus(gate(), CL_COMPLETE), "clSetUserEventStatus");
  for (std::size_t call = 0; call < done.size(); ++call) {
    CAPTURE(call);
    const auto got = read_buffer<float>(runtime(), results[call], kBytes / 4, {done[call]});
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(got[i * 8] == mesh[i % 3 * 6] + static_cast<float>(call));
  }
}

TEST_CASE("automatic names a variant that runs, of full quality") {
  const VertexTransform transform(runtime(), {10, 2, 3});
  CHECK_FALSE(transform.variant().is_automatic());
  CHECK(transform.variant() != "half3");
  if (clcook::quirks::takes_cpu_kernels(runtime().info()))
    CHECK(transform.variant() == "cpu_columns");
  CHECK(transform.tune().group >= 1);
  CHECK(transform.problem().bones == 3);
}

TEST_CASE("a problem or group out of range is refused with its value") {
  constexpr PlanRefused<VertexTransform> refused;
  refused({1 << 30, 4, 1}, "less than 2^32, got 4294967296");
  VertexTransform::Tune tune;
  tune.group = 64;
  refused({1, 1, 1}, "cpu_columns", tune, "group of cpu_columns must be 1, got 64");
  tune.group = -1;
  refused({1, 1, 1}, "no_w", tune, "got -1");
  tune.group = 1 << 20;
  refused({1, 1, 1}, "no_w", tune, "1048576", Errc::unsupported);
}

TEST_CASE("matrices beyond the constant memory are refused with the limit") {
  const auto limit = runtime().info().constant_buffer;
  const auto fits = static_cast<int>(limit / 64);
  if (fits >= clcook::vertex_transform::kMaxInstances) {
    MESSAGE("skipped: the device's constant memory holds any number of instances");
    return;
  }
  const Error error = error_of([&] { VertexTransform(runtime(), {1, fits + 1, 1}, "constant"); });
  CHECK(error.code == Errc::unsupported);
  CHECK(error.lacks == Lacks::memory);
  CHECK(contains(error.what(), std::to_string(limit)));
  // The whole buffer counts, not only what is used of it.
  const VertexTransform transform(runtime(), {1, 1, 1}, "constant");
  const cl::Buffer big = clcook::create_buffer(runtime(), static_cast<std::size_t>(limit) + 64);
  const cl::Buffer small = clcook::create_buffer(runtime(), 64);
  const Error late = error_of([&] {
    transform({small, small, big, small}, clcook::create_buffer(runtime(), 64));
  });
  CHECK(late.code == Errc::unsupported);
  CHECK(late.lacks == Lacks::memory);
}

TEST_CASE(
    "the rows of 48-byte matrices spread over the banks of a cache, those of 64-byte ones do not") {
  // A warp's loads of four random joints' matrices: how many passes they take through a cache line of
  // eight columns of 16 bytes, when eight lanes at a time ask for a row each.
  const auto passes = [](std::size_t rows) {
    clcook::Random random(5);
    constexpr int kWarps = 500;
    std::size_t sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) {
      for (int load = 0; load < 4 * 4; ++load) {  // four joints, four quarters of the warp
        std::array<std::size_t, 8> bones{};
        for (std::size_t& bone : bones) bone = random.below(64);
        for (std::size_t row = 0; row < rows; ++row) {
          std::array<std::set<std::size_t>, 8> columns;
          for (const std::size_t bone : bones) {
            const std::size_t at = bone * rows + row;
            columns[at % 8].insert(at);
          }
          std::size_t most = 0;
          for (const auto& one : columns) most = std::max(most, one.size());
          sum += most;
        }
      }
    }
    return static_cast<double>(sum) / kWarps;
  };
  CHECK(passes(4) == doctest::Approx(308).epsilon(0.01));
  CHECK(passes(3) == doctest::Approx(114).epsilon(0.01));
}
