// clcook explore: time against how far the paths of the work-items part, or against another number
// that a recipe sweeps, beside what its model says.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "measure/ceilings.hpp"
#include "measure/fingerprint.hpp"
#include "measure/measure.hpp"
#include "measure/statistics.hpp"
#include "tool/command.hpp"
#include "tool/growing_result.hpp"
#include "tool/interrupt.hpp"

namespace clcook::tool {

namespace {

// Widths of the lock-step that the model is asked about: none, NVIDIA's and AMD's.
constexpr std::size_t kWidths[] = {1, 32, 64};

// A variant pays where it is faster than the baseline by more than this: two runs of one kernel
// differ by less.
constexpr double kMargin = 1.01;

// What the copy within the cache is measured with: as much, or less, is taken to stay there.
constexpr double kCachedBytes = 8.0 * 1024 * 1024;

struct ExploreArguments {
  std::string recipe;
  std::string variant;
  std::string device;
  std::string out;
  std::string resume;
  std::string shape;
  int samples = 9;
  std::uint64_t seed = 1;
  bool smoke = false;
};

double number_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  fail(Errc::invalid_argument, "explore",
       "the axis of a sweep holds numbers, got '" + std::get<std::string>(value) + "'");
}

Params merged(Params into, const Params& from) {
  for (const Params::Entry& entry : from.entries()) into.set(entry.name, entry.value);
  return into;
}

double rounded(double microseconds) { return std::round(microseconds * 1e3) / 1e3; }

std::vector<double> rounded(std::vector<double> microseconds) {
  for (double& one : microseconds) one = rounded(one);
  return microseconds;
}

using Ranges = std::vector<std::pair<double, double>>;

// The ranges of x in which `variant` is faster than `baseline`; their ends are the break-even
// points, interpolated between the points of the sweep.
Ranges ranges_where_it_pays(const std::vector<double>& x, const std::vector<double>& baseline,
                            const std::vector<double>& variant) {
  Ranges out;
  bool inside = false;
  double from = 0;
  bool any = false;
  double last_x = 0;
  double last_gain = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(baseline[i]) || std::isnan(variant[i])) continue;
    const double gain = baseline[i] / variant[i] - kMargin;
    // Used where the gain changes its sign only.
    const double crossing =
        any && gain != last_gain ? last_x + (x[i] - last_x) * last_gain / (last_gain - gain) : x[i];
    if (gain > 0 && !inside) from = crossing;
    if (gain <= 0 && inside) out.emplace_back(rounded(from), rounded(crossing));
    inside = gain > 0;
    last_x = x[i];
    last_gain = gain;
    any = true;
  }
  if (inside) out.emplace_back(rounded(from), last_x);
  return out;
}

// A variant along a sweep as it was measured.
struct Line {
  std::string variant;
  bool baseline = false;
  std::vector<double> measured;  // us per point, NaN where it did not run
  std::vector<double> floor;     // us that moving its bytes, or a launch, takes at least
  std::string reason;
};

// The models of a sweep, each with its unit of cost in microseconds: one for all variants and curves
// of the sweep, from the point of the first measured baseline that costs most.
class Models {
 public:
  explicit Models(const Sweep& sweep, std::uint64_t seed) : sweep_(sweep), seed_(seed) {}

  // What they say of each line: the larger of its cost and its floor.
  std::vector<CurveVariant::Predictions> predict(const std::vector<Params>& points,
                                                 const std::vector<Line>& lines) {
    std::vector<Costs> costs;
    for (const Line& line : lines) costs.push_back(costs_of(line.variant, points));
    for (std::size_t i = 0; units_.empty() && i < lines.size(); ++i) {
      const std::vector<double>& times = lines[i].measured;
      const bool ran =
          !std::all_of(times.begin(), times.end(), [](double t) { return std::isnan(t); });
      if (lines[i].baseline && ran) measure_units(costs[i], lines[i]);
    }
    std::vector<CurveVariant::Predictions> out(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (std::size_t m = 0; m < units_.size(); ++m) {
        if (std::isnan(units_[m])) continue;
        std::vector<double> times;
        for (std::size_t k = 0; k < points.size(); ++k)
          times.push_back(std::fmax(units_[m] * costs[i][m].second[k], lines[i].floor[k]));
        out[i].emplace_back(costs[i][m].first, rounded(std::move(times)));
      }
    }
    return out;
  }

 private:
  using Costs = std::vector<std::pair<std::string, std::vector<double>>>;  // per model and point

  Costs costs_of(const std::string& variant, const std::vector<Params>& points) const {
    Costs out;
    if (sweep_.lanes) {
      for (const std::size_t width : kWidths)
        out.emplace_back(fmt::format("{} lane{}", width, width == 1 ? "" : "s"),
                         std::vector<double>());
      for (const Params& point : points) {
        const model::LaneMasks masks = sweep_.lanes(variant, point, seed_);
        for (std::size_t w = 0; w < std::size(kWidths); ++w)
          out[w].second.push_back(model::lane_mask_cost(masks, kWidths[w]));
      }
    }
    if (sweep_.model) {
      out.emplace_back(sweep_.model_name, std::vector<double>());
      for (const Params& point : points)
        out.back().second.push_back(sweep_.model(variant, point, seed_));
    }
    return out;
  }

  void measure_units(const Costs& costs, const Line& baseline) {
    for (const auto& [model, of_points] : costs) {
      double most = 0;
      double unit = std::nan("");
      for (std::size_t k = 0; k < of_points.size(); ++k) {
        if (std::isnan(baseline.measured[k]) || of_points[k] <= most) continue;
        most = of_points[k];
        unit = baseline.measured[k] / most;
      }
      units_.push_back(unit);
    }
  }

  const Sweep& sweep_;
  std::uint64_t seed_;
  std::vector<double> units_;  // per model; none before a baseline ran
};

std::string curve_text(const Curve& curve) {
  std::string out =
      fmt::format("\n{}  {}\n{:>14}", curve.recipe, to_text(curve.shape), curve.along);
  for (const CurveVariant& one : curve.variants) out += fmt::format("{:>20}", one.variant + " us");
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    out += fmt::format("\n{:>14}", to_json(curve.points[i]).dump());
    for (const CurveVariant& one : curve.variants) {
      const double time = one.measured_us[i];
      out += fmt::format("{:>20}", std::isnan(time) ? "-" : fmt::format("{}", time));
    }
  }
  out += "\n";
  for (const CurveVariant& one : curve.variants) {
    if (one.reason) out += fmt::format("{}: {}\n", one.variant, *one.reason);
    if (!one.pays) continue;
    std::string ranges;
    for (const auto& [from, to] : *one.pays)
      ranges += fmt::format("{}{} to {}", ranges.empty() ? "" : ", ", from, to);
    out += fmt::format("{} pays {}\n", one.variant, ranges.empty() ? "nowhere" : "from " + ranges);
  }
  return out;
}

// The recipe to explore. Throws Error(invalid_argument) where it has no sweep.
const Recipe& recipe_of(const ExploreArguments& arguments) {
  const Recipe& recipe = find_recipe(recipes(), arguments.recipe);
  if (recipe.sweeps.empty()) {
    std::string known;
    for (const Recipe& one : recipes()) {
      if (!one.sweeps.empty()) known += " " + one.name;
    }
    fail(Errc::invalid_argument, "explore",
         fmt::format("{} declares no sweep; those that do:{}", recipe.name,
                     known.empty() ? " none" : known));
  }
  if (!arguments.variant.empty()) recipe.variant(arguments.variant);
  return recipe;
}

// A sweep with one family of it: what is measured for one curve.
struct Course {
  const Sweep* sweep;
  Params base;
  std::vector<Params> points;
  std::vector<double> x;
};

// All of them, their shapes checked, by sweep.
std::vector<std::vector<Course>> courses_of(const Recipe& recipe,
                                            const ExploreArguments& arguments) {
  const Params override = Params::parse(arguments.shape);
  std::vector<std::vector<Course>> out;
  for (const Sweep& sweep : recipe.sweeps) {
    std::vector<Params> families = combinations(sweep.families);
    std::vector<Value> along = sweep.along.values;
    out.emplace_back();
    for (const Params& family : families) {
      Course one{&sweep, merged(sweep.shape, family), {}, {}};
      if (arguments.smoke) one.base = merged(one.base, sweep.smoke);
      one.base = merged(one.base, override);
      for (const Value& value : along) {
        one.points.push_back(recipe.check_shape(Params(one.base).set(sweep.along.name, value)));
        one.x.push_back(number_of(value));
      }
      if (arguments.smoke && along.size() > 2) {
        one.points = {one.points.front(), one.points.back()};
        one.x = {one.x.front(), one.x.back()};
      }
      if (!arguments.smoke || out.back().empty()) out.back().push_back(std::move(one));
    }
  }
  return out;
}

// Measures the curves of a recipe.
class Explorer {
 public:
  Explorer(const ExploreArguments& arguments, const Recipe& recipe, Meter& meter,
           const Ceilings& ceilings)
      : arguments_(arguments), recipe_(recipe), meter_(meter), ceilings_(ceilings) {}

  bool failed() const { return failed_; }

  // Whether a curve is of this course, with as many variants.
  bool is_of(const Curve& curve, const Course& course) const {
    return curve.recipe == recipe_.name && curve.along == course.sweep->along.name &&
           curve.shape.str() == course.base.str() && curve.points.size() == course.points.size() &&
           curve.variants.size() == subjects().size();
  }

  Curve measure(const Course& course, Models& models) {
    std::vector<Line> lines;
    for (const Subject& one : subjects())
      lines.push_back({one.variant, recipe_.variant(one.variant).is_baseline, {}, {}, ""});
    std::vector<double> copies;
    for (const Params& point : course.points) {
      const double bytes = add_point(point, lines);
      copies.push_back(bytes / (ceilings_.copy_gbs * 1e3));
    }
    const Sweep& sweep = *course.sweep;
    Curve curve{recipe_.name, sweep.label, sweep.along.name, course.base, {}, rounded(copies), {}};
    for (const double one : course.x) curve.points.emplace_back(one);
    const auto baseline =
        std::find_if(lines.begin(), lines.end(), [](const Line& line) { return line.baseline; });
    const auto predicted = models.predict(course.points, lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Line& line = lines[i];
      CurveVariant one;
      one.variant = line.variant;
      one.baseline = line.baseline;
      one.measured_us = rounded(line.measured);
      if (!line.reason.empty()) one.reason = line.reason;
      if (!std::all_of(line.measured.begin(), line.measured.end(),
                       [](double time) { return std::isnan(time); }))
        one.ran = fingerprint_of(recipe_, one.variant, subjects()[i].tune, course.points,
                                 meter_.runtime().info());
      if (sweep.lanes || sweep.model) one.predicted_us = predicted[i];
      if (!line.baseline)
        one.pays = ranges_where_it_pays(course.x, baseline->measured, line.measured);
      curve.variants.push_back(std::move(one));
    }
    return curve;
  }

 private:
  std::vector<Subject> subjects() const { return subjects_of(recipe_, arguments_.variant, false); }

  // Adds the times of one point to the lines. Returns the bytes that the first variant moves that runs.
  double add_point(const Params& point, std::vector<Line>& lines) {
    std::vector<Subject> measured = subjects();
    MeasureOptions options;
    options.samples = arguments_.smoke ? 1 : arguments_.samples;
    options.progress = isatty(STDERR_FILENO) != 0;
    meter_.measure(recipe_, point, arguments_.seed, measured, options);
    double bytes = std::nan("");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Subject& subject = measured[i];
      if (!subject.problem.empty()) {
        lines[i].reason = subject.problem;
        failed_ = failed_ || !subject.skipped;
      }
      const bool ran = !subject.blocks.empty();
      lines[i].measured.push_back(ran ? median(subject.samples()) * 1e6 : std::nan(""));
      const double moved = subject.work.bytes_read + subject.work.bytes_written;
      if (ran && std::isnan(bytes)) bytes = moved;
      const double rate = moved <= kCachedBytes ? ceilings_.cached_copy_gbs : ceilings_.copy_gbs;
      lines[i].floor.push_back(ran ? std::max(moved / (rate * 1e3), ceilings_.launch_us)
                                   : std::nan(""));
    }
    return bytes;
  }

  const ExploreArguments& arguments_;
  const Recipe& recipe_;
  Meter& meter_;
  const Ceilings& ceilings_;
  bool failed_ = false;
};

int explore(const ExploreArguments& arguments) {
  const Recipe& recipe = recipe_of(arguments);
  const std::vector<std::vector<Course>> courses = courses_of(recipe, arguments);
  Meter meter(arguments.device);
  const Runtime& runtime = meter.runtime();

  const Interrupt interrupt("the curve that is being measured");
  Json head = result_head("explore", runtime.info());
  head["seed"] = arguments.seed;
  std::vector<Curve> curves;
  GrowingResult result(arguments.out, arguments.resume, std::move(head), "curves",
                       [&] { return to_json(curves); });
  std::optional<Ceilings> measured;
  if (!result.earlier().is_null()) {
    curves = read_fields<ExploreResult>(result.earlier(), arguments.resume).curves;
    measured = read_fields<Ceilings>(result.earlier()["ceilings"], arguments.resume, "ceilings");
  }
  const Ceilings ceilings = measured ? *measured : measure_ceilings(runtime, arguments.smoke);
  result.head()["ceilings"] = to_json(ceilings);
  Explorer explorer(arguments, recipe, meter, ceilings);
  for (const std::vector<Course>& of_sweep : courses) {
    Models models(*of_sweep.front().sweep, arguments.seed);
    for (const Course& course : of_sweep) {
      if (Interrupt::asked()) break;
      const auto is_its = [&](const Curve& one) { return explorer.is_of(one, course); };
      auto curve = std::find_if(curves.begin(), curves.end(), is_its);
      const bool is_new = curve == curves.end();
      if (is_new) curve = curves.insert(curves.end(), explorer.measure(course, models));
      if (arguments.out != "-") fmt::print("{}", curve_text(*curve));
      if (!is_new) continue;
      std::fflush(stdout);
      result.keep();
    }
  }
  result.finish();
  if (Interrupt::asked()) {
    fmt::print(stderr, "{}", result.kept(fmt::format("{} curves", curves.size())));
    return kInterrupted;
  }
  return explorer.failed() ? 1 : 0;
}

}  // namespace

const Command add_explore(7, [](CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "explore", "Sweep what a recipe's time depends on: measured and predicted times");
  auto arguments = std::make_shared<ExploreArguments>();
  command->add_option("RECIPE", arguments->recipe, "A recipe that declares a sweep")->required();
  command->add_option("--variant", arguments->variant, "Only this variant (and the baseline)");
  command->add_option("--shape", arguments->shape,
                      "Replace parameters of every problem of the sweep, such as \"count=65536\"");
  command->add_option("--device", arguments->device,
                      "Device specification; default CLCOOK_DEVICE, else any");
  add_result_options(*command, arguments->out, arguments->resume);
  command->add_option("--samples", arguments->samples, "Timed runs of each variant at each point")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "Seed of the pseudo-random data")
      ->capture_default_str();
  command->add_flag("--smoke", arguments->smoke,
                    "First curve, two points of a small problem, one run: does it work? Its "
                    "figures mean nothing");
  command->callback([arguments, &exit_code] { exit_code = explore(*arguments); });
});

}  // namespace clcook::tool
