// The card of the recipe argument_swap.
//
// Problem: one expensive function, called in both branches with two arguments exchanged; here the
// light that passes a boundary from outside to inside, or from inside to outside. Why the naive
// kernel is slow: work-items in lock-step that disagree run both calls one after the other, each
// with the others idle. What each variant changes: see its summary. When it does not help: where
// neighbours agree, where a device does not run work-items in lock-step, where the function is so
// cheap that memory decides, and where a compiler merges the two calls itself, as clang does if f is
// a few operations. CPUs gain from the explicit vectors of cpu_lanes. With `steps` the call stands in
// a loop, and each step decides anew.
#pragma once

#include <algorithm>
#include <clcook/argument_swap.hpp>
#include <clcook/reference/argument_swap.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clcook::cookbook {
namespace argument_swap_card {

using Medium = reference::argument_swap::Medium;

// A shape; recipe.parameters names its values. The views other than y start one to three items
// later than y, so that an exchange of offsets shows.
struct Shape {
  std::size_t count;
  double share;
  std::size_t run;
  int cost;
  std::size_t offset;
  int steps = 1;
};

inline Shape read(const Params& shape) {
  return {shape.as<std::size_t>("count"),  shape.real("share"),
          shape.as<std::size_t>("run"),    shape.as<int>("cost"),
          shape.as<std::size_t>("offset"), shape.as<int>("steps")};
}

inline ArgumentSwap::Problem problem(const Shape& shape) {
  ArgumentSwap::Problem out;
  out.count = shape.count;
  out.cost = shape.cost;
  out.steps = shape.steps;
  return out;
}

// Which items take the branch in a step; other steps are independent. They come in blocks of `run`
// items with one outcome; of the blocks, share percent take the branch, at random places. Where that
// is no whole number of blocks, it is the next lower or higher one, at random, so that the share is
// right on average. Neighbouring blocks may agree.
inline std::vector<bool> outcomes(const Shape& shape, std::uint64_t seed, int step = 0) {
  Random random(seed ^ 0x5A17ULL ^ static_cast<std::uint64_t>(step) << 32);
  const std::size_t blocks = (shape.count + shape.run - 1) / shape.run;
  const double wanted = static_cast<double>(blocks) * shape.share / 100;
  std::size_t left = static_cast<std::size_t>(wanted);
  if (static_cast<double>(random.uniform()) < wanted - std::floor(wanted)) ++left;
  std::vector<bool> taken(shape.count);
  // Each block takes one of the remaining places with equal chances: every choice of places is
  // equally likely, and exactly as many as wanted are taken.
  for (std::size_t block = 0; block < blocks; ++block) {
    if (random.below(blocks - block) >= left) continue;
    --left;
    const std::size_t end = std::min(shape.count, (block + 1) * shape.run);
    for (std::size_t i = block * shape.run; i < end; ++i) taken[i] = true;
  }
  return taken;
}

// Air or a glass outside, a glass inside; Cauchy's coefficients of glasses that are made.
inline Medium medium(std::uint64_t which) {
  static constexpr float kMedia[][2] = {{1.458f, 0.00354f},  // fused silica
                                        {1.5046f, 0.0042f},  // borosilicate crown BK7
                                        {1.522f, 0.00459f},  // hard crown K5
                                        {1.569f, 0.00531f},  // barium crown BaK4
                                        {1.67f, 0.00743f},   // barium flint BaF10
                                        {1.728f, 0.01342f},  // dense flint SF10
                                        {1.00028f, 0.0f}};   // air
  const auto& one = kMedia[std::min<std::uint64_t>(which, 6)];
  return {static_cast<double>(one[0]), static_cast<double>(one[1])};
}

// How far the kernel's result may lie from the exact one: the kernel's steps in their order, each
// with the absolute error that it inherits and the one that it adds. u = 2^-24 is the relative
// error of a rounding; a division is good to 2.5 ulp (5 u), a square root to 3 ulp (6 u). A fused
// operation that is written as two has one rounding less. Products of errors are left out; the
// factor at the end covers them.
//
// The transmittance is ill-conditioned at the critical angle, where it falls to 0 like a square
// root: q2 is the root of a number that has a rounding error of its own. No formulation avoids
// that, because n1 and n2 are themselves rounded. So the error of q2 is taken from the two ends of
// the interval that its square may lie in, which at the critical angle is the root of the error and
// everywhere else the error over 2 q2.
inline double bound(Medium from, Medium to, double cosine, double first, double last, int points) {
  constexpr double u = 0x1p-24;
  if (std::isnan(cosine)) return 0;
  const double c = std::max(cosine, 0x1p-60);
  // f = p q / (p + q)^2 with errors dp and dq: |df/dq| = p |p - q| / (p + q)^3, and p for q.
  // |p - q| / (p + q) has its largest value at one of the ends of q's interval.
  const auto fraction = [](double p, double dp, double q, double low, double high, double dq,
                           double roundings) {
    const double sum = p + low;
    const double lever = std::max(std::abs(p - low) / sum, std::abs(p - high) / (p + high));
    // f itself lies between 0 and 1/4.
    const double inherited = std::min(lever * (p * dq + high * dp) / (sum * sum), 0.25);
    return inherited + roundings * u * (p * q / ((p + q) * (p + q)) + inherited);
  };
  double errors = 0;
  double sum = 0;
  bool nothing = true;  // passes, at any wavenumber
  for (int k = 0; k < points; ++k) {
    const double s = first + (k + 0.5) * (last - first) / points;
    // s: the width has a subtraction and a division, 6 u, and the fma 1 u; squared 15 u.
    const double n1 = from.index(s);
    const double n2 = to.index(s);
    const double dn1 = 15 * u * std::abs(from.b) * s * s + u * n1;
    const double dn2 = 15 * u * std::abs(to.b) * s * s + u * n2;
    const double e1 = n1 * n1;
    const double e2 = n2 * n2;
    const double de1 = 2 * n1 * dn1 + u * e1;
    const double de2 = 2 * n2 * dn2 + u * e2;
    const double q1 = n1 * c;
    const double dq1 = c * dn1 + u * q1;
    const double minus = n2 - n1;
    const double plus = n2 + n1;
    const double dminus = dn1 + dn2 + u * std::abs(minus);
    const double dplus = dn1 + dn2 + u * plus;
    const double product = minus * plus;
    const double square = product + q1 * q1;
    const double dsquare = std::abs(minus) * dplus + plus * dminus + u * std::abs(product) +
                           2 * q1 * dq1 + u * std::abs(square);
    nothing = nothing && square + dsquare < 0;
    const double q2 = std::sqrt(std::max(square, 0.0));
    const double low = std::sqrt(std::max(square - dsquare, 0.0));
    const double high = std::sqrt(std::max(square + dsquare, 0.0));
    const double dq2 = std::max(high - q2, q2 - low) + 6 * u * high;
    // T_s / 4: the product 1 u, the square of the sum 3 u, the division 5 u.
    errors += fraction(q1, dq1, q2, low, high, dq2, 9);
    // T_p / 4, the same of e2 q1 and e1 q2: the products 3 u, the square 5 u, the division 5 u.
    errors += fraction(e2 * q1, e2 * dq1 + q1 * de2, e1 * q2, e1 * low, e1 * high,
                       e1 * dq2 + high * de1, 13);
    const double v = e2 * q1 + e1 * q2;
    sum += q1 * q2 / ((q1 + q2) * (q1 + q2)) + e1 * e2 * q1 * q2 / (v * v);
  }
  // Where all is reflected, q2 and every sum are 0, which nothing rounds.
  if (nothing) return 0;
  // Two additions per point, each at most u of the sum; the last division 5 u.
  const double mean = 2 * sum / points;
  return (2 * errors / points + (2.0 * points + 5) * u * mean) * (1 + 0x1p-8) + 0x1p-48;
}

// A value with its bound, as floats: of millions of items.
struct Expected {
  float error;  // the bound
  double value;
};

// The value of an item with these x, and its bound: the sum of the steps' bounds, and u of each
// partial sum behind the first. Since no value is negative, none of these exceeds the last one, which
// is at most value + bound. So bound = errors + n u (value + bound) with n partial sums.
inline Expected expected(Medium outside, Medium inside, const std::vector<double>& x, double first,
                         double last, int points) {
  const double value = reference::argument_swap::rays(outside, inside, x, first, last, points);
  double errors = 0;
  for (const double one : x) {
    const bool leaves = std::signbit(one);
    errors += bound(leaves ? inside : outside, leaves ? outside : inside, std::abs(one), first,
                    last, points);
  }
  const double rounding = static_cast<double>(x.size() - 1) * 0x1p-24;
  const double most = (errors + rounding * value) / (1 - rounding);
  // Rounded up.
  return {std::nextafter(static_cast<float>(most), 1e30f), value};
}

class SwapCase : public PlanCase<ArgumentSwap> {
 public:
  SwapCase(const Runtime& runtime, const Params& params, std::uint64_t seed)
      : PlanCase(runtime, problem(read(params))), shape_(read(params)) {
    const std::size_t first = shape_.offset;
    const auto skip = [&](std::size_t more) { return first == 0 ? 0 : first + more; };
    // 0xFF in the poison makes every float a NaN.
    const std::size_t count = shape_.count;
    a_.emplace(runtime, count * 8, 1, skip(1) * 8, 0, static_cast<unsigned char>(0xFF));
    b_.emplace(runtime, count * 8, 1, skip(2) * 8, 0, static_cast<unsigned char>(0xFF));
    const auto steps = static_cast<std::size_t>(shape_.steps);
    x_.emplace(runtime, count * steps * 4, 1, skip(3) * 4, 0, static_cast<unsigned char>(0xFF));
    y_.emplace(runtime, count * 4, 1, first * 4, 0, static_cast<unsigned char>(0xCD));
    Random random(seed);
    outside_.resize(2 * count);
    inside_.resize(2 * count);
    cosines_.resize(count * steps);
    const auto put = [](std::vector<float>& to, std::size_t i, Medium medium) {
      to[2 * i] = static_cast<float>(medium.a);
      to[2 * i + 1] = static_cast<float>(medium.b);
    };
    // Some in the plane of the boundary, where the sign of a zero says which way they go.
    const auto cosine = [&](std::size_t i) { return i % 13 == 6 ? 0.0f : 1.0f - random.uniform(); };
    for (std::size_t i = 0; i < count; ++i) {
      put(outside_, i, medium(random.below(12)));  // air for every other ray
      put(inside_, i, medium(random.below(6)));
      cosines_[i] = cosine(i);
    }
    for (std::size_t i = count; i < cosines_.size(); ++i) cosines_[i] = cosine(i);
    for (int step = 0; step < shape_.steps; ++step) {
      const std::vector<bool> taken = outcomes(shape_, seed, step);
      float* const of_step = &cosines_[static_cast<std::size_t>(step) * count];
      for (std::size_t i = 0; i < count; ++i) of_step[i] = taken[i] ? -of_step[i] : of_step[i];
    }
  }

  cl::Event upload(const std::vector<cl::Event>& wait) override {
    const cl::Event a = a_->upload(outside_.data(), wait);
    const cl::Event b = b_->upload(inside_.data(), {a});
    return x_->upload(cosines_.data(), {b});
  }

  std::vector<Operand> operands() override {
    return {{"a", &*a_, Access::read},
            {"b", &*b_, Access::read},
            {"x", &*x_, Access::read},
            {"y", &*y_, Access::write}};
  }

  cl::Event call(const std::vector<BufferView>& views,
                 const std::vector<cl::Event>& wait) override {
    return plan()(views[0], views[1], views[2], views[3], wait);
  }

  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> bytes = y_->read(wait, diff, "y");
    expect();
    for (std::size_t i = 0; i < shape_.count; ++i) {
      float got = 0;
      std::memcpy(&got, bytes.data() + i * sizeof got, sizeof got);
      diff.compare(i, expected_[i].value, static_cast<double>(got),
                   static_cast<double>(expected_[i].error));
    }
    return diff;
  }

  Work work() const override {
    const double count = static_cast<double>(shape_.count);
    Work work;
    work.bytes_read = count * (16 + 4.0 * shape_.steps);
    work.bytes_written = count * 4;
    // Of a point: additions, multiplications (with two in an fma), two divisions and a root.
    work.operations = count * shape_.steps * shape_.cost * 29;
    return work;
  }

 private:
  // The reference of all items, once per case.
  void expect() {
    if (!expected_.empty()) return;
    expected_.resize(shape_.count);
    const auto some = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto medium_of = [i](const std::vector<float>& of) {
          return Medium{static_cast<double>(of[2 * i]), static_cast<double>(of[2 * i + 1])};
        };
        std::vector<double> x;
        for (std::size_t at = i; at < cosines_.size(); at += shape_.count)
          x.push_back(static_cast<double>(cosines_[at]));
        expected_[i] = expected(medium_of(outside_), medium_of(inside_), x,
                                static_cast<double>(problem_.parameters[0]),
                                static_cast<double>(problem_.parameters[1]), shape_.cost);
      }
    };
    in_parallel(shape_.count, 4096, some);
  }

  Shape shape_;
  std::optional<GuardedBuffer> a_;
  std::optional<GuardedBuffer> b_;
  std::optional<GuardedBuffer> x_;
  std::optional<GuardedBuffer> y_;
  std::vector<float> outside_;
  std::vector<float> inside_;
  std::vector<float> cosines_;
  std::vector<Expected> expected_;
};

inline Params shape(std::int64_t count, double share, std::int64_t run, std::int64_t cost = 0,
                    std::int64_t offset = 0, bool tiny = false, std::int64_t steps = 0) {
  Params out{{"count", count}, {"share", share}, {"run", run}};
  if (cost != 0) out.set("cost", cost);
  if (offset != 0) out.set("offset", offset);
  if (steps != 0) out.set("steps", steps);
  if (tiny) out.set("tiny", std::int64_t{1});
  return out;
}

// The segments: what every item does, and of each step the call for a ray that enters and the one
// for a ray that leaves. Costs in operations of an item, see SwapCase::work(). A mask has room for 31
// steps; each of them stands for the 31st after it, and so on, too.
inline model::LaneMasks lanes(const std::string& variant, const Params& params,
                              std::uint64_t seed) {
  constexpr int kMost = 31;
  const Shape shape = read(params);
  const bool two = ArgumentSwap::Variant(variant).row()->is_baseline;
  model::LaneMasks out;
  out.cost = {20};
  out.taken.assign(shape.count, 1);
  for (int step = 0; step < std::min(shape.steps, kMost); ++step) {
    const std::vector<bool> taken = outcomes(shape, seed, step);
    const int alike = 1 + (shape.steps - 1 - step) / kMost;
    out.cost.insert(out.cost.end(), 2, 29.0 * shape.cost * alike);
    for (std::size_t i = 0; i < shape.count; ++i)
      out.taken[i] |= std::uint64_t{two && taken[i] ? 4u : 2u} << (2 * step);
  }
  return out;
}

}  // namespace argument_swap_card

inline Recipe argument_swap() {
  using argument_swap_card::shape;
  Recipe recipe;
  recipe.title = "Exchange arguments, call once";
  recipe.question = "One call instead of one in each branch?";
  recipe.for_gpus = "select";
  recipe.for_cpus = "cpu_lanes";
  recipe.family = "branch divergence";
  recipe.headline_pair = {"select", "two_calls"};
  recipe.summary =
      "An expensive function called in both branches with two arguments exchanged: the light that "
      "passes the boundary of two media, in or out.";
  recipe.parameters = {
      Parameter::integer("count", "items", 1, 0x1p40),
      Parameter::real("share", "items that take the branch, %", 0, 100, "50"),
      Parameter::integer("run", "length of the runs of equal outcomes", 1, 4096, "1"),
      Parameter::integer("cost", "quadrature points", 1, clcook::argument_swap::kMaxCost, "40"),
      Parameter::integer("offset", "items before the first of y", 0, 1 << 20, "0"),
      Parameter::integer("steps", "calls per item, in a loop", 1, clcook::argument_swap::kMaxSteps,
                         "1"),
  };
  describe<ArgumentSwap, argument_swap_card::SwapCase>(recipe, [](const Params& shape) {
    return argument_swap_card::problem(argument_swap_card::read(shape));
  });
  recipe.test_shapes = {
      shape(1, 100, 1, 2, 0, true),
      shape(131, 50, 1, 2, 5, true),
      shape(127, 30, 1, 2, 3),
      shape(128, 0, 1, 2),
      shape(129, 100, 1, 2, 1),
      shape(255, 50, 8, 2),
      shape(256, 35, 32, 2, 7),
      shape(257, 65, 64, 2),
      shape(4999, 50, 1, 2, 11),
      shape(20011, 20, 512, 2),
      shape(20011, 50, 1, 0, 2),
      shape(997, 80, 8, 7),
      shape(70001, 50, 1, 1),
      shape(37, 50, 1, 2, 5, true, 3),
      shape(257, 50, 1, 2, 3, false, 2),
      shape(4999, 35, 8, 3, 0, false, 7),
      shape(1031, 50, 1, 1, 2, false, 64),
  };
  constexpr std::int64_t kCount = std::int64_t{1} << 22;
  recipe.bench_shapes = {shape(kCount, 50, 1), shape(kCount, 50, 4096), shape(kCount, 0, 1),
                         shape(kCount, 100, 1),
                         // As many calls as the first.
                         shape(kCount / 8, 50, 1, 0, 0, false, 8)};
  recipe.quick_shape = shape(std::int64_t{1} << 16, 50, 1);
  Sweep sweep;
  sweep.shape = {{"count", kCount}};
  sweep.smoke = {{"count", std::int64_t{4096}}};
  sweep.label = "share of the rays that leave, %";
  sweep.along.name = "share";
  for (const std::int64_t share : {0, 1, 2, 5, 10, 20, 35, 50, 65, 80, 90, 95, 98, 99, 100}) {
    sweep.along.values.emplace_back(share);
  }
  TuneAxis run{"run", {}};
  for (const std::int64_t length : {1, 8, 32, 64, 512, 4096}) run.values.emplace_back(length);
  const TuneAxis cost{"cost", {std::int64_t{ArgumentSwap::Problem{}.cost}, std::int64_t{4}}};
  sweep.families = {run, cost};
  sweep.lanes = argument_swap_card::lanes;
  recipe.sweeps.push_back(std::move(sweep));
  Sweep loop;
  loop.shape = {{"count", kCount / 8}, {"share", 50.0}, {"run", std::int64_t{1}}};
  loop.smoke = {{"count", std::int64_t{4096}}};
  loop.label = "calls per item, in a loop";
  loop.along.name = "steps";
  for (const std::int64_t steps : {1, 2, 4, 8, 16, 32}) loop.along.values.emplace_back(steps);
  loop.families = {cost};
  loop.lanes = argument_swap_card::lanes;
  recipe.sweeps.push_back(std::move(loop));
  return recipe;
}

}  // namespace clcook::cookbook
