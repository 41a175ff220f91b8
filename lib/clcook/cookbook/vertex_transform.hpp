// The card of the recipe vertex_transform.
//
// Problem: a crowd of skinned instances; each result blends the matrices of 4 joints and goes
// through the matrix of its instance. Why per_item is slow: it gathers four joints' matrices of 16
// floats from the caches, a quarter of which is 0 0 0 1, and loads the instance's matrix in every
// work-item, although all work-items of an instance share it. What each variant changes: see its
// summary; from per_item to rolled each step builds on the one before, local_palette and
// cpu_columns on no_w. When it does not help: where the gather is the limit fewer registers do not
// make it faster; the loads and bytes that affine, no_w and half3 save do. The compiler hoists and sinks loads itself:
// docs/vertex_transform.md says which of the pairs it makes equal.
#pragma once

#include <clcook/reference/vertex_transform.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <clcook/vertex_transform.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clcook::cookbook {
namespace vertex_transform_card {

// The problem of a shape; recipe.parameters names its values. With an offset, the inputs start one
// to four units later than the results, so that an exchange shows.
inline VertexTransform::Problem problem(const Params& shape) {
  return {shape.as<int>("vertices"), shape.as<int>("instances"), shape.as<int>("bones")};
}

// How far a result may lie from the exact one, in units of the same expression with the absolute
// value of every number. u = 2^-24, the relative error of one rounding. On the way of a number into
// a result lie at most: the weight, a rounded constant and a product (2 u); the blend, a chain of 4
// fma (4 u); the row of the blended matrix, 4 roundings (4 u); the row of the world matrix (4 u).
// Together 14 u; one more covers the terms of higher order. The weights of a vertex sum to 1, so
// the fourth row gives 1 and 0 in the reference too, and affine may write them.
//   half3   The vertices are rounded to halfs first: by 2^-11 of the value, or by 2^-25 where the
//           half is subnormal. Both are at most 2^-11 (|value| + 2^-14).
inline double roundings() { return 15 * 0x1p-24; }

class TransformCase : public PlanCase<VertexTransform> {
 public:
  TransformCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape)) {
    offset_ = shape.as<std::size_t>("offset");
    const auto vertices = static_cast<std::size_t>(problem_.vertices);
    const auto instances = static_cast<std::size_t>(problem_.instances);
    const auto bones = static_cast<std::size_t>(problem_.bones);
    Random random(seed);
    mesh_.bone_count = bones;
    mesh_.vertices.resize(vertices * 6);
    for (float& value : mesh_.vertices) value = random.uniform(-1.0f, 1.0f);
    mesh_.skin.resize(vertices * 8);
    for (std::size_t v = 0; v < vertices; ++v) {
      std::uint64_t left = 255;
      for (std::size_t k = 0; k < 4; ++k) {
        // One joint too many, if a byte can hold it: it counts as the last.
        mesh_.skin[v * 8 + k] =
            static_cast<std::uint8_t>(random.below(std::min<std::size_t>(bones + 1, 256)));
        const std::uint64_t weight = k == 3 ? left : random.below(left + 1);
        mesh_.skin[v * 8 + 4 + k] = static_cast<std::uint8_t>(weight);
        left -= weight;
      }
    }
    const auto matrices = [&](std::vector<float>& out, std::size_t count) {
      out.resize(count * 16);
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = i % 16 < 12 ? random.uniform(-1.0f, 1.0f) : i % 16 == 15 ? 1.0f : 0.0f;
      }
    };
    matrices(mesh_.world, instances);
    matrices(mesh_.bones, instances * bones);

    // The inputs of every variant, so that prepare() keeps what upload() has written.
    using T = VertexTransform;
    skin_.emplace(buffer(mesh_.skin.size(), 2, 0x7F));
    for (const T::Row& row : T::variants()) {
      const T::Format from = row.traits.vertices;
      const T::Format to = row.traits.results;
      const int rows = row.traits.matrix_rows;
      if (results_.count(to) == 0) {
        results_.emplace(to, buffer(vertices * instances * T::bytes_per_vertex(to), 0, 0xCD));
      }
      if (vertices_.count(from) == 0) {
        vertices_.emplace(from, filled(T::pack_vertices(from, mesh_.vertices), 1, 0xFF));
      }
      if (world_.count(rows) == 0) {
        world_.emplace(rows, filled(bytes_of(T::pack_matrices(rows, mesh_.world)), 3, 0xFF));
        bones_.emplace(rows, filled(bytes_of(T::pack_matrices(rows, mesh_.bones)), 4, 0xFF));
      }
    }
  }

  void poison() override {
    for (GuardedBuffer* buffer : all()) buffer->poison();
  }

  cl::Event upload(const std::vector<cl::Event>& wait) override {
    cl::Event done = skin_->upload(mesh_.skin.data(), wait);
    const auto next = [&](Input& input) {
      done = input.buffer->upload(input.bytes.data(), {done});
    };
    for (auto& [format, input] : vertices_) next(input);
    for (auto& [rows, input] : world_) next(input);
    for (auto& [rows, input] : bones_) next(input);
    return done;
  }

  std::vector<Operand> operands() override {
    const int rows = plan().matrix_rows();
    return {{"vertices", &*vertices_.at(plan().vertex_format()).buffer, Access::read},
            {"skin", &*skin_, Access::read},
            {"world", &*world_.at(rows).buffer, Access::read},
            {"bones", &*bones_.at(rows).buffer, Access::read},
            {"result", &result(), Access::write}};
  }

  cl::Event call(const std::vector<BufferView>& views,
                 const std::vector<cl::Event>& wait) override {
    return plan()({views[0], views[1], views[2], views[3]}, views[4], wait);
  }

  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> got = result().read(wait, diff, "result");
    const std::size_t result_bytes = VertexTransform::bytes_per_vertex(plan().result_format());
    const std::size_t components = result_bytes / 8;
    const bool half = plan().vertex_format() == VertexTransform::Format::half3;
    const auto vertices = static_cast<std::size_t>(problem_.vertices);
    compare_in_parallel(diff, got.size() / result_bytes, [&](Diff& part, std::size_t i) {
      namespace ref = reference::vertex_transform;
      const ref::Result expected = ref::transform(mesh_, i / vertices, i % vertices);
      const ref::Result size = ref::transform(mesh_, i / vertices, i % vertices, true);
      ref::Result rounded{};
      if (half) rounded = ref::transform(mesh_, i / vertices, i % vertices, true, 0x1p-14);
      for (std::size_t c = 0; c < 2 * components; ++c) {
        float value = 0;
        std::memcpy(&value, got.data() + i * result_bytes + c * sizeof value, sizeof value);
        const bool normal = c >= components;
        const std::size_t axis = c % components;
        const auto of = [&](const ref::Result& r) {
          return (normal ? r.normal : r.position)[axis];
        };
        // The rounded vertices are larger by a factor of at most 1 + 2^-11.
        const double limit =
            half ? of(rounded) * (0x1p-11 + roundings() * (1 + 0x1p-11)) : of(size) * roundings();
        const auto where = [&] {
          return text("instance ", i / vertices, ", vertex ", i % vertices,
                      normal ? ", normal " : ", position ", "xyzw"[axis]);
        };
        part.compare(where, of(expected), static_cast<double>(value), limit);
      }
    });
    return diff;
  }

 private:
  struct Input {
    std::vector<unsigned char> bytes;
    std::optional<GuardedBuffer> buffer;
  };

  GuardedBuffer buffer(std::size_t size, std::size_t index, unsigned char fill) const {
    const std::size_t offset = offset_ == 0 ? 0 : (offset_ + index) * 16;
    return GuardedBuffer(runtime_, size, 1, offset, 0, fill);
  }
  Input filled(std::vector<unsigned char> bytes, std::size_t index, unsigned char fill) const {
    const std::size_t size = bytes.size();
    return {std::move(bytes), buffer(size, index, fill)};
  }
  static std::vector<unsigned char> bytes_of(const std::vector<float>& values) {
    std::vector<unsigned char> out(values.size() * sizeof(float));
    std::memcpy(out.data(), values.data(), out.size());
    return out;
  }
  GuardedBuffer& result() { return results_.at(plan().result_format()); }
  std::vector<GuardedBuffer*> all() {
    std::vector<GuardedBuffer*> out{&*skin_};
    for (auto& [format, buffer] : results_) out.push_back(&buffer);
    for (auto* inputs : {&world_, &bones_}) {
      for (auto& [rows, input] : *inputs) out.push_back(&*input.buffer);
    }
    for (auto& [format, input] : vertices_) out.push_back(&*input.buffer);
    return out;
  }

  std::size_t offset_ = 0;
  reference::vertex_transform::Mesh mesh_;
  std::map<VertexTransform::Format, GuardedBuffer> results_;
  std::map<VertexTransform::Format, Input> vertices_;
  std::optional<GuardedBuffer> skin_;
  std::map<int, Input> world_;  // by the rows of a matrix
  std::map<int, Input> bones_;
};

inline Params shape(int vertices, int instances, int bones, int offset = 0, bool tiny = false) {
  Params out{{"vertices", std::int64_t{vertices}},
             {"instances", std::int64_t{instances}},
             {"bones", std::int64_t{bones}}};
  if (offset != 0) out.set("offset", std::int64_t{offset});
  if (tiny) out.set("tiny", std::int64_t{1});
  return out;
}

}  // namespace vertex_transform_card

inline Recipe vertex_transform() {
  using vertex_transform_card::shape;
  Recipe recipe;
  recipe.title = "Skinned vertices of a crowd";
  recipe.question = "Fewer loads, or fewer registers?";
  recipe.for_gpus = "local_palette";
  recipe.for_cpus = "cpu_columns";
  recipe.family = "memory locality";
  recipe.headline_pair = {"affine", "uniform"};
  recipe.summary =
      "Four joints and an instance matrix per vertex: uniform and constant matrices, three rows "
      "instead of four, no w, a loop instead of straight-line code, half inputs, products of "
      "matrices in local memory.";
  recipe.shows = {
      {6,
       "the table of registers and waves; variants uniform, affine, rolled",
       {Experiment::fewer_registers("no_w", "rolled")}},
      {13, "per_item against uniform", {Experiment::pair("per_item", "uniform")}},
      {14,
       "uniform against typed: the same matrices by scalar loads and through an image",
       {Experiment::pair("typed", "uniform")}},
      {15, "uniform against affine", {Experiment::pair("uniform", "affine")}},
      {17, "affine against no_w", {Experiment::pair("affine", "no_w")}},
      {18, "rolled against half3", {Experiment::pair("rolled", "half3")}},
      {23,
       "no_w against rolled; rolled against constant_trips and run_time_trips",
       {Experiment::pair("no_w", "rolled").with_registers()}},
      {25, "no_w against local_palette", {Experiment::pair("no_w", "local_palette")}},
      {28, "rolled against early", {Experiment::pair("rolled", "early").with_registers()}},
  };
  recipe.parameters = {
      Parameter::integer("vertices", "of a mesh", 1, clcook::vertex_transform::kMaxVertices),
      Parameter::integer("instances", "of the mesh", 1, clcook::vertex_transform::kMaxInstances),
      Parameter::integer("bones", "of a skeleton", 1, clcook::vertex_transform::kMaxBones),
      Parameter::integer("offset", "16-byte units before the results", 0, 1 << 20, "0"),
  };
  describe<VertexTransform, vertex_transform_card::TransformCase>(recipe,
                                                                  vertex_transform_card::problem);
  recipe.test_shapes = {
      shape(1, 1, 1, 0, true),
      shape(65, 2, 3, 2, true),
      shape(63, 3, 2, 1),
      shape(256, 2, 5),
      shape(257, 5, 31, 3),
      shape(1, 67, 2, 1),
      shape(1021, 3, 256),
      shape(255, 7, 8, 5),
      // Strips of cpu_columns, in aligned memory: a rest of 1 vertex, whole blocks.
      shape(4097, 2, 17),
      shape(4096 + 64, 2, 3),
  };
  recipe.bench_shapes = {shape(8192, 256, 64), shape(2048, 64, 64)};
  recipe.quick_shape = shape(2048, 32, 64);
  return recipe;
}

}  // namespace clcook::cookbook
