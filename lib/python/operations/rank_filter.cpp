// clcook.RankFilter, and what clcook.rank_filter stands on.
#include <clcook/rank_filter.hpp>

#include <optional>
#include <vector>

#include "../plan.hpp"

namespace clcook::python {

namespace {

using RankProblem = RankFilter::Problem;

std::vector<Field<RankProblem>> rank_fields() {
  return {field("width", &RankProblem::width),
          field("height", &RankProblem::height),
          field("radius", &RankProblem::radius),
          field("rank", &RankProblem::rank),
          field("pixel", &RankProblem::pixel, kPixelTypes),
          field("border", &RankProblem::border, kBorders),
          field("outside", &RankProblem::outside)};
}

// Of what comes out, where there is one, another rank: an opening or a closing.
class RanksOnHost : public PictureOnHost<RankFilter> {
 public:
  RanksOnHost(const RankProblem& problem, std::size_t row_bytes, std::size_t rows,
              const std::vector<double>& then)
      : PictureOnHost(problem, row_bytes, rows) {
    if (then.empty()) return;
    RankProblem next = problem;
    next.rank = then.front();
    then_.emplace(standard_runtime(), next);
    between_ = create_buffer(standard_runtime(), row_bytes * rows);
    bytes_ = row_bytes * rows;
  }

  std::size_t bytes() const { return PictureOnHost::bytes() + bytes_; }

  void run(const HostArray& src, const HostArray& dst) {
    if (!then_) return PictureOnHost::run(src, dst);
    PictureOnHost::run(
        src, dst,
        [&](const BufferView& from, const BufferView& to, const std::vector<cl::Event>& wait) {
          return (*then_)(between_, to, {plan()(from, between_, wait)});
        },
        {}, {});
  }

 private:
  std::optional<RankFilter> then_;
  cl::Buffer between_;
  std::size_t bytes_ = 0;
};

}  // namespace

void bind_rank_filter(nb::module_& m) {
  constexpr const char* kName = "RankFilter";
  picture_call(plan_class<RankFilter>(
                   m, "A rank filter as a plan on a queue of pyopencl; see docs/rank_filter.md.",
                   rank_fields()),
               picture_array<RankProblem>);

  // Needs no device, see gaussian_blur.cpp.
  m.def(
      "_rank_halo",
      [](const nb::kwargs& values) {
        const RankProblem problem = problem_of(rank_fields(), values, kName);
        rank_filter::Spec::check(problem);
        return nb::make_tuple(problem.radius, problem.radius);
      },
      "values"_a, "How far a problem's filter reaches down and across, in pixels.");

  picture_on_host<RankFilter, RanksOnHost>(m, "_RankFilterOnHost", rank_fields());
}

}  // namespace clcook::python
