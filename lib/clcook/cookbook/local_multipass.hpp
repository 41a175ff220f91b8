// The card of the recipe local_multipass.
//
// Problem: an iterative solver on many small independent problems, here position-based dynamics of
// cloth patches and ropes, coloured Gauss-Seidel. Why naive is slow: colours must follow one
// another, so each is a launch of its own, and every launch reads the positions from global memory
// and writes them back for some forty operations. What the variants change: an island fits the
// local memory of a work-group, whose barriers order the colours, so one launch makes all
// iterations; see the summaries and docs/local_multipass.md. When it does not help: at one
// iteration there is nothing to save but launches; an island that does not fit local memory stays
// in global memory; and on a CPU local memory is ordinary memory, where vectors across islands pay
// instead.
#pragma once

#include <algorithm>
#include <clcook/local_multipass.hpp>
#include <clcook/reference/local_multipass.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clcook::cookbook {
namespace local_multipass_card {

constexpr float kSpacing = 0.125f;

// Recipe.parameters names the values of a shape; extra makes the graph irregular. Sources start one
// particle later than results.
// The graph of a shape without its random part, which does not change the shape of the code.
inline LocalMultipass::Island graph(const Params& shape, std::uint64_t seed) {
  LocalMultipass::Island island = LocalMultipass::Island::cloth(
      shape.as<std::uint32_t>("width"), shape.as<std::uint32_t>("height"), kSpacing);
  Random random(seed);
  std::vector<LocalMultipass::Constraint> all = std::move(island.constraints);
  for (std::int64_t i = shape.integer("extra"); i > 0; --i) {
    const auto a = static_cast<std::uint32_t>(random.below(island.particles));
    const auto b = static_cast<std::uint32_t>(random.below(island.particles - 1));
    all.push_back({a, b < a ? b : b + 1, kSpacing, 1});
  }
  // Lengths and stiffnesses that differ, so that an exchange of two constraints shows.
  for (LocalMultipass::Constraint& one : all) {
    one.rest *= random.uniform(0.75f, 1.0f);
    one.stiffness = random.uniform(0.5f, 1.0f);
  }
  return LocalMultipass::Island::coloured(island.particles, all);
}

inline LocalMultipass::Problem problem(const Params& shape, std::uint64_t seed) {
  return {shape.as<std::uint32_t>("islands"), shape.as<std::uint32_t>("iterations"),
          graph(shape, seed)};
}

class IslandsCase : public PlanCase<LocalMultipass> {
 public:
  IslandsCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape, seed)) {
    const auto width = shape.as<std::uint32_t>("width");
    const std::size_t particles = problem_.island.particles;
    const auto offset = shape.as<std::size_t>("offset");
    const std::size_t row = particles * kBytes;
    const std::size_t pitch = row + shape.as<std::size_t>("pad") * kBytes;
    // 0xFF in the poison makes every float a NaN. The result's is another, so that poison which is
    // copied past the end of an island shows.
    src_.emplace(runtime, row, problem_.islands, (offset == 0 ? 0 : offset + 1) * kBytes, pitch,
                 0xFF);
    if (shape.integer("in_place") == 0)
      dst_.emplace(runtime, row, problem_.islands, offset * kBytes, pitch, 0xCD);
    // A stretched, rumpled cloth. One particle in 16 is held.
    Random random(seed + 1);
    values_.resize(particles * problem_.islands * 4);
    for (std::size_t i = 0; i < values_.size() / 4; ++i) {
      const std::size_t particle = i % particles;
      const float at[3] = {static_cast<float>(particle % width), 0,
                           static_cast<float>(particle / width)};
      for (std::size_t e = 0; e < 3; ++e)
        values_[4 * i + e] = 1.25f * kSpacing * (at[e] + random.uniform(-0.25f, 0.25f));
      values_[4 * i + 3] = random.below(16) == 0 ? 0.0f : random.uniform(0.5f, 2.0f);
    }
    // The first island has two particles at one place, both held, and the last has two that are
    // not.
    const std::size_t last = values_.size() - 8;
    for (std::size_t e = 0; e < 3; ++e) {
      values_[4 + e] = values_[e];
      values_[last + 4 + e] = values_[last + e];
    }
    values_[3] = values_[7] = 0;
    if (problem_.islands > 1) values_[last + 3] = values_[last + 7] = 1;
  }

  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> got = result().read(wait, diff, "dst");
    const std::vector<float>& expected = reference();
    const std::size_t particles = problem_.island.particles;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      float value = 0;
      std::memcpy(&value, got.data() + i * sizeof value, sizeof value);
      const auto where = [&] {
        return text("island ", i / 4 / particles, ", particle ", i / 4 % particles, ", element ",
                    i % 4);
      };
      diff.compare(where, static_cast<double>(expected[i]), static_cast<double>(value), 0);
    }
    return diff;
  }

  Work work() const override {
    Work work;
    work.bytes_read = static_cast<double>(values_.size() * sizeof(float));
    work.bytes_written = work.bytes_read;
    work.operations = plan().offer().work.operations;
    return work;
  }

 protected:
  const void* input() override { return values_.data(); }

 private:
  static constexpr std::size_t kBytes = 16;

  // Islands are independent: threads share them out.
  const std::vector<float>& reference() {
    if (!expected_.empty()) return expected_;
    std::vector<reference::local_multipass::Constraint> constraints;
    for (const LocalMultipass::Constraint& one : problem_.island.constraints)
      constraints.push_back({one.a, one.b, one.rest, one.stiffness});
    expected_ = values_;
    in_parallel(problem_.islands, 2, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        reference::local_multipass::solve(
            expected_.data() + i * std::size_t{4} * problem_.island.particles, constraints,
            problem_.iterations);
      }
    });
    return expected_;
  }

  std::vector<float> values_;
  std::vector<float> expected_;
};

inline Params shape(std::int64_t islands, std::int64_t width, std::int64_t height,
                    std::int64_t iterations) {
  return Params{
      {"islands", islands}, {"width", width}, {"height", height}, {"iterations", iterations}};
}

inline Params shape(std::int64_t islands, std::int64_t width, std::int64_t height,
                    std::int64_t iterations, const Params& more) {
  Params out = shape(islands, width, height, iterations);
  for (const Params::Entry& entry : more.entries()) out.set(entry.name, entry.value);
  return out;
}

}  // namespace local_multipass_card

inline Recipe local_multipass() {
  using local_multipass_card::shape;
  Recipe recipe;
  recipe.title = "Multi-pass solver in local memory";
  recipe.question = "All passes in one launch?";
  recipe.for_cpus = "cpu_lanes";
  recipe.written_first = {"per_iteration"};
  recipe.family = "memory locality";
  recipe.headline_pair = {"all_local", "per_iteration"};
  recipe.summary =
      "Position-based dynamics of many cloth patches or ropes, from one launch per colour and "
      "iteration to all iterations in local memory.";
  recipe.parameters = {
      Parameter::integer("islands", "independent graphs", 1, 1 << 24),
      Parameter::integer("width", "particles of a cloth", 1, 1 << 24),
      Parameter::integer("height", "particles of a cloth; 1: a rope", 1, 1 << 24),
      Parameter::integer("iterations", "of all colours", 1, LocalMultipass::kMaxIterations),
      Parameter::integer("extra", "constraints more, between any two particles", 0, 1 << 24, "0"),
      Parameter::integer("offset", "particles before the first island", 0, 1 << 24, "0"),
      Parameter::integer("pad", "particles behind each island", 0, 1 << 24, "0"),
      Parameter::integer("in_place", "1: one buffer", 0, 1, "0"),
  };
  describe<LocalMultipass, local_multipass_card::IslandsCase>(
      recipe, [](const Params& shape) { return local_multipass_card::problem(shape, 1); });
  recipe.test_shapes = {
      shape(1, 2, 1, 1, {{"tiny", std::int64_t{1}}}),
      shape(5, 5, 3, 2,
            {{"offset", std::int64_t{3}}, {"pad", std::int64_t{2}}, {"tiny", std::int64_t{1}}}),
      shape(19, 7, 1, 2, {{"in_place", std::int64_t{1}}, {"tiny", std::int64_t{1}}}),
      // Islands that no group is full of, and items behind the last whole one.
      shape(20, 37, 1, 1, {{"tiny", std::int64_t{1}}}),
      shape(1, 32, 1, 100),
      shape(15, 31, 1, 3, {{"offset", std::int64_t{1}}, {"pad", std::int64_t{5}}}),
      shape(16, 37, 1, 3),
      shape(17, 13, 1, 100),
      shape(67, 3, 1, 2, {{"offset", std::int64_t{5}}}),
      shape(9, 16, 16, 3),
      shape(2, 20, 16, 1),  // more constraints of a colour than items
      shape(3, 16, 16, 100, {{"in_place", std::int64_t{1}}, {"pad", std::int64_t{1}}}),
      shape(7, 23, 1, 3, {{"extra", std::int64_t{17}}}),
      shape(33, 17, 9, 1, {{"pad", std::int64_t{3}}}),
  };
  recipe.bench_shapes = {
      shape(4096, 16, 16, 100),
      shape(4096, 16, 16, 10),
      shape(65536, 32, 1, 100),
      shape(65536, 32, 1, 10),
  };
  recipe.quick_shape = shape(32, 16, 16, 100);
  // No lanes part here. The curve is the time over the number of iterations, with which the launches
  // of the first variants grow.
  Sweep sweep;
  sweep.shape = shape(4096, 16, 16, 1);
  sweep.smoke = {{"islands", std::int64_t{3}}};
  sweep.along.name = "iterations";
  for (const std::int64_t k : {1, 2, 5, 10, 20, 50, 100, 200}) sweep.along.values.emplace_back(k);
  sweep.label = "iterations of all colours";
  recipe.sweeps = {sweep};
  recipe.shows = {
      {12,
       "all_local, packed_islands and resident against per_colour and per_iteration; clcook "
       "explore plots the time over the iterations",
       {Experiment::pair("per_iteration", "all_local", "width=16 iterations=100",
                         "one launch for all passes")}},
      {8,
       "the group axis of packed_islands: several small groups per compute unit, or few large "
       "ones, between the same barriers",
       {Experiment::not_tested("clcook bench local_multipass --all-tunes; not run on this device "
                               "yet")}},
      {5,
       "packed_islands and its group axis: the local memory of a group decides how many reside",
       {Experiment::not_tested("clcook bench local_multipass --all-tunes; not run on this device "
                               "yet")}},
  };
  return recipe;
}

}  // namespace clcook::cookbook
