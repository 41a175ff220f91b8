// Plans: names, tunes, what is chosen when, and the way back to a tune that fits. The operation is
// a toy whose variants fit or do not fit as the test wants.
#include <doctest/doctest.h>

#include <clcook/core/plan.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

struct Toy : PlainSpec {
  struct Problem {
    int count = 1;
    int largest_group = 1 << 20;  // of `wide`
    bool strip_is_slow = false;
  };
  struct Tune {
    int group = 0;
    int each = 0;
  };
  struct Traits {
    int group = 64;
    double operations = 0;
  };
  using Row = VariantRow<Toy>;
  static constexpr const char* kName = "Toy";
  static constexpr const char* kRecipe = "toy";

  static const std::vector<Row>& variants() {
    static const std::vector<Row> all{
        Row("plain", "a loop", {64, 100}).baseline(),
        Row("wide", "a large group", {256, 10}).tunes({{"group", {256, 128}}}),
        Row("rough", "not the same result", {64, 1}).approximate(),
        Row("strip", "long items", {1, 50}).for_cpus(),
    };
    return all;
  }
  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{axis("group", &Tune::group),
                                             axis("each", &Tune::each, {4}).only({1, 4})};
    return all;
  }
  static void check(const Problem& p) {
    if (p.count < 1) fail(Errc::invalid_argument, kName, text("count must be 1, got ", p.count));
  }
  static Tune defaults(const Row& row, const Problem&, const DeviceInfo&) {
    return {row.traits.group, 0};
  }
  static double bytes(const Problem& p) { return 4.0 * p.count; }
  static Offer offer(const Runtime&, const Setup<Toy>& s) {
    if (s.row.name == "wide" && s.tune.group > s.problem.largest_group)
      return Offer::no(Lacks::problem, text("a group of ", s.tune.group, " is too large"));
    Offer out;
    out.work.operations = 1e9 * s.row.traits.operations;
    out.last = s.row.is_for_cpus && s.problem.strip_is_slow;
    return out;
  }
  static std::vector<CompileUnit> units(const Setup<Toy>& s) {
    const Source source("toy.cl", "__kernel void toy(__global int* p) { p[0] = " +
                                      std::to_string(s.tune.group) + "; }  // " + s.device.name);
    return {{"toy", "", source, {}, "", {static_cast<std::size_t>(s.tune.group), 1, 1}, 0}};
  }
};

class ToyPlan : public Plan<Toy> {
 public:
  using Plan::Plan;
};

// A runtime that knows this tuning file.
Runtime with_tuning(const TempFolder& folder, const std::string& entry, double factor = 0) {
  const DeviceInfo& info = runtime().info();
  TuningEntry one;
  one.recipe = "toy";
  one.device = info.name;
  one.platform = info.platform;
  one.vendor = info.vendor;
  one.driver = info.driver;
  one.type = info.cpu ? "cpu" : "gpu";
  one.compute_units = info.compute_units;
  one.best = factor == 0;
  one.factor = factor;
  one.variant = entry.substr(0, entry.find(' '));
  one.tune = entry.find(' ') == std::string::npos ? "" : entry.substr(entry.find(' ') + 1);
  const auto file = folder.path() / "tuning.txt";
  write_bytes(file, Tuning::format({one}));
  const ScopedVariable variable("CLCOOK_TUNING_FILE", file.string());
  return Runtime(runtime().queue());
}

}  // namespace

TEST_CASE("plan: a variant is a name of the table") {
  using Variant = ToyPlan::Variant;
  CHECK(Variant().is_automatic());
  CHECK(Variant("automatic").is_automatic());
  CHECK(Variant("wide").name() == "wide");
  CHECK(Variant("wide") == "wide");
  CHECK(Variant("wide") != "plain");
  const Error error = error_of([] { Variant("fastest"); });
  CHECK(error.code == Errc::invalid_argument);
  CHECK(contains(error.what(), "'fastest'; known are automatic, plain, wide, rough, strip"));
  // A comparison with an unknown name is an error too, not false.
  CHECK_THROWS_AS((void)(Variant("wide") == "wyde"), Error);
  for (const ToyPlan::Row& row : ToyPlan::variants()) CHECK(Variant(row).row() == &row);
}

TEST_CASE("plan: a variant's kernel and definitions follow from its name") {
  const std::string_view source = "__kernel void toy_wide() {}";
  const embedded::File file{"toy.cl", &source, 1};
  const Toy::Problem problem;
  const Toy::Tune tune{128, 1};
  const Setup<Toy> setup{*ToyPlan::Variant("wide").row(), problem, tune, runtime().info()};
  const CompileUnit unit = variant_unit(setup, file);
  CHECK(unit.kernel == "toy_wide");
  CHECK(unit.defines.options() == "-DCLCOOK_TOY_ONLY -DCLCOOK_TOY_WIDE");
  CHECK(unit.group == Launch::Sizes{128, 1, 1});
  CHECK(variant_unit(setup, file, {16, 8, 2}).group == Launch::Sizes{16, 8, 2});
}

TEST_CASE("plan: tunes by name") {
  using Posed = ToyPlan::Posed;
  CHECK(Posed::parse_tune(Params::parse("group=32")).group == 32);
  CHECK(Posed::format_tune({32, 0}).str() == "group=32");
  for (const char* wrong :
       {"grup=32", "group=x", "group=1.5", "group=4294967297", "group=-4294967297"}) {
    CAPTURE(wrong);
    CHECK(error_of([&] { Posed::parse_tune(Params::parse(wrong)); }).code ==
          Errc::invalid_argument);
  }
}

TEST_CASE("plan: the units of kernel files as they are written") {
  const embedded::File file{"toy.cl", nullptr, 0};
  const ToyPlan::Problem problem;
  const ToyPlan::Tune tune{32, 1};
  const Setup<Toy> setup{*ToyPlan::Variant("wide").row(), problem, tune, runtime().info()};
  const CompileUnit own = variant_unit(setup, file);
  CHECK(own.kernel == "toy_wide");
  CHECK(own.group == Launch::Sizes{32, 1, 1});
  CHECK(own.defines.options() == "-DCLCOOK_TOY_ONLY -DCLCOOK_TOY_WIDE");
  const CompileUnit scan = kernel_unit(setup, "scan_all", file);
  CHECK(scan.kernel == "toy_scan_all");
  CHECK(scan.defines.options() == "-DCLCOOK_TOY_ONLY -DCLCOOK_TOY_SCAN_ALL");
}

TEST_CASE("plan: units know their device") {
  using Posed = ToyPlan::Posed;
  DeviceInfo there;
  there.name = "a device elsewhere";
  const auto source = [&](const DeviceInfo& device) {
    return Posed({}).units(Posed::baseline(), {}, device).front().source.flatten();
  };
  CHECK(contains(source(there), "// a device elsewhere"));
  CHECK(contains(source(runtime().info()), "// " + runtime().info().name));
}

LONG_TEST_CASE("plan: without a measurement the cheapest, CPU variants on CPUs alone", 16) {
  const ToyPlan plan(runtime(), {});
  CHECK(plan.variant() == (runtime().info().cpu ? "strip" : "wide"));
  CHECK(plan.tune().each == 4);
  CHECK(contains(plan.describe(), "nothing was measured"));
  CHECK(ToyPlan::choice(runtime(), {}).variant == plan.variant().row());
  CHECK(ToyPlan(runtime(), {1, 1 << 20, true}).variant() == "wide");
  CHECK(ToyPlan(runtime(), {1, 100, true}, "strip").variant() == "strip");
}

TEST_CASE("plan: the caller's variant and tune are taken or refused") {
  CHECK(ToyPlan(runtime(), {}, "wide", {128, 1}).tune().group == 128);
  CHECK(ToyPlan(runtime(), {}, "wide", {0, 1}).tune().group == 256);
  CHECK(ToyPlan(runtime(), {}, "wide", {0, 1}).tune().each == 1);
  const Error each = error_of([] { ToyPlan(runtime(), {}, "wide", {0, 3}); });
  CHECK(each.code == Errc::invalid_argument);
  CHECK(contains(each.what(), "each must be 1 or 4, got 3"));
  const Error group = error_of([] { ToyPlan(runtime(), {1, 100}, "wide", {512, 0}); });
  CHECK(group.code == Errc::unsupported);
  CHECK(group.lacks == Lacks::problem);
  CHECK(contains(group.what(), "the variant wide: a group of 512 is too large"));
  const Error huge = error_of([] { ToyPlan(runtime(), {}, "plain", {1 << 30, 0}); });
  CHECK(huge.lacks == Lacks::work_group);
  CHECK(error_of([] { ToyPlan(runtime(), {}, "plain", {-1, 0}); }).code == Errc::invalid_argument);
  CHECK(error_of([] { ToyPlan(runtime(), {0}); }).code == Errc::invalid_argument);
}

TEST_CASE("plan: an open tune steps back to one that fits, and says so") {
  const ToyPlan plan(runtime(), {1, 200}, "wide");
  CHECK(plan.tune().group == 128);
  CHECK(contains(plan.describe(), "the first of its tunes that fits"));
  CHECK(contains(plan.describe(), "a group of 256 is too large"));
  CHECK(error_of([] { ToyPlan(runtime(), {1, 100}, "wide"); }).lacks == Lacks::problem);
}

TEST_CASE("plan: what was measured comes first, as long as it fits") {
  const TempFolder folder;
  const auto variant = [&](const std::string& entry, const ToyPlan::Problem& problem = {}) {
    const ToyPlan plan(with_tuning(folder, entry), problem);
    return plan.variant().name() + " " + ToyPlan::Posed::format_tune(plan.tune()).str();
  };
  CHECK(variant("plain group=32 each=1") == "plain group=32 each=1");
  CHECK(variant("wide group=128") == "wide group=128 each=4");
  // Too large here: back to the measured variant's own tunes.
  CHECK(variant("wide group=512", {1, 200}) == "wide group=128 each=4");
  const std::string fallback =
      runtime().info().cpu ? "strip group=1 each=4" : "wide group=256 each=4";
  // None of its tunes fits; unknown names, values and kinds; never chosen automatically.
  for (const char* entry : {"wide group=512", "wyde group=64", "automatic", "rough group=64"}) {
    CAPTURE(entry);
    CHECK(variant(entry, {1, 100}) == (runtime().info().cpu ? fallback : "plain group=64 each=4"));
  }
  for (const char* tune : {"plain grup=64", "plain group=huge", "plain group=999999999999999999999",
                           "plain group=", "plain each=3", "plain group=1073741824"}) {
    CAPTURE(tune);
    CHECK(contains(ToyPlan(with_tuning(folder, tune), {}).describe(), "\n"));
  }
  CHECK(contains(ToyPlan(with_tuning(folder, "wyde"), {}).describe(), "not of this version"));
  // A named variant takes its own measured tune only.
  CHECK(ToyPlan(with_tuning(folder, "wide group=128"), {}, "wide").tune().group == 128);
  CHECK(ToyPlan(with_tuning(folder, "wide group=128"), {}, "plain").tune().group == 64);
}

TEST_CASE("plan: a variant that was not measured is not taken for want of a factor") {
  const TempFolder folder;
  ToyPlan::Problem problem;
  problem.strip_is_slow = true;
  // By work alone plain takes 10 times as long as wide.
  const ToyPlan plan(with_tuning(folder, "wide", 30), problem);
  CHECK(plan.variant() == "wide");
  CHECK(contains(plan.describe(), "from measurements on this device"));
  const ToyPlan other(with_tuning(folder, "plain", 0.01), problem);
  CHECK(other.variant() == "wide");
  CHECK(contains(other.describe(), "as badly as the worst that was measured"));
}

TEST_CASE("plan: copies share it, and a moved-from plan says so") {
  ToyPlan plan(runtime(), {});
  const ToyPlan copy = plan;
  const ToyPlan moved = std::move(plan);
  CHECK(moved.variant() == copy.variant());
  const Error error = error_of([&] { (void)plan.variant(); });  // NOLINT(bugprone-use-after-move)
  CHECK(contains(error.what(), "the plan was moved from"));
}
