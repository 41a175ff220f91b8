// Conformance on the default device: every recipe x variant x tune x shape x kind of queue.
//
// Fails on a failed row, among them a skip that the variant's offer does not name, on a recipe or
// variant of which nothing ran, and on rows that passed without launching a kernel.
#include <clcook/registry/conformance.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <clcook/core/launch.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include "bench/cookbook/recipes.hpp"

#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"
#include "support/toy_problem.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

// The variant that a kernel is named after: <recipe>_<variant>, or <recipe>_<variant>_<what>.
std::string variant_of(const Recipe& recipe, const std::string& kernel) {
  std::string longest;
  for (const VariantInfo& variant : recipe.variants) {
    const std::string stem = recipe.name + "_" + variant.name;
    if (kernel != stem && kernel.rfind(stem + "_", 0) != 0) continue;
    if (variant.name.size() > longest.size()) longest = variant.name;
  }
  return longest;
}

// Whether a variant has no kernels of its own, but an offer with those of others, as a volume's blur
// with those of pictures, or those of another recipe. Beside these it may have what all variants share,
// such as a copy.
bool is_composed(const Recipe& recipe, const VariantInfo& variant) {
  bool shared = false;
  bool others = false;
  for (const Params& shape : recipe.test_shapes) {
    for (const CompileUnit& unit : recipe.units(variant.name, {}, shape, runtime().info())) {
      if (!variant_of(recipe, unit.kernel).empty()) return false;
      (unit.kernel.rfind(recipe.name + "_", 0) == 0 ? shared : others) = true;
    }
  }
  return others || !shared;
}

// A recipe that writes `size` ones; its variants misbehave in the ways that their names say.
class ToyCase : public Case {
 public:
  ToyCase(const Runtime& on, const Params& shape)
      : on_(on), shape_(shape), out_(on, 64, 1), in_(on, 64, 1, 0, 0, 0xFF) {}
  void prepare(const std::string& variant, const Params&) override {
    variant_ = variant;
    if (variant == "unsupported") fail(Errc::unsupported, "toy", "not here");
    // "lacks_A_says_B": what prepare() lacks, and what the offer says; "nothing" is that it can.
    for (const Lacks lacks : {Lacks::problem, Lacks::feature, Lacks::kernel_limit}) {
      if (variant.rfind(std::string("lacks_") + to_string(lacks) + "_says_", 0) == 0)
        clcook::unsupported(lacks, "toy", "not here");
    }
    if (variant == "lacks_once" && shape_.integer("tiny", 0) != 0)
      clcook::unsupported(Lacks::kernel_limit, "toy", "not here");
    if (variant == "broken_build") on_.build(Source("toy.cl", "nonsense"), {}, "toy/broken_build");
    program_ = on_.build(
        Source("toy.cl",
               "__kernel void toy_copy(__global const int* in, __global int* out, int n) {"
               "  int i = (int)get_global_id(0); if (i < n) out[i] = in[i]; }"),
        {}, "toy");
  }
  void poison() override {
    out_.poison();
    in_.poison();
  }
  cl::Event upload(const std::vector<cl::Event>& wait) override {
    return in_.upload(data_.data(), wait);
  }
  cl::Event run(const std::vector<cl::Event>& wait) override {
    if (variant_ == "no_launch") return wait.front();
    if (variant_ == "throws") throw std::runtime_error("a foreign exception");
    Kernel kernel(on_, program_, "toy_copy");
    const std::size_t items = variant_ == "short" ? 15 : variant_ == "overrun" ? 17 : 16;
    const Launch launch = Launch::cover({items, 1, 1}, {1, 1, 1});
    const auto count = static_cast<cl_int>(items);
    cl_command_queue_properties properties = 0;
    clGetCommandQueueInfo(on_.queue()(), CL_QUEUE_PROPERTIES, sizeof properties, &properties,
                          nullptr);
    const bool reorders = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    if (variant_ == "ignores_wait" && reorders) {
      const cl::Event done = kernel(launch, {}, in_.buffer(), out_.buffer(), count);
      const cl_event handle = done();
      clWaitForEvents(1, &handle);  // so that it is over before the upload may begin
      return done;
    }
    return kernel(launch, wait, in_.buffer(), out_.buffer(), count);
  }
  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> got = out_.read(wait, diff, "out");
    if (variant_ == "compares_nothing") return diff;
    for (std::size_t i = 0; i < 64; ++i) diff.match(i, data_[i], got[i]);
    return diff;
  }
  Work work() const override { return {}; }

 private:
  Runtime on_;
  Params shape_;
  GuardedBuffer out_;
  GuardedBuffer in_;
  std::string variant_;
  cl::Program program_;
  std::vector<unsigned char> data_ = std::vector<unsigned char>(64, 1);
};

// What its variants offer is a function of their names.
class OfferingProblem : public ToyProblem {
 public:
  using Offers = std::function<Offer(const std::string& variant)>;

  OfferingProblem(std::vector<VariantInfo> variants, Offers of)
      : ToyProblem("toy", std::move(variants)), offers_(std::move(of)) {}

  Offer offer(const Runtime&, const VariantInfo& variant, const Params&) const override {
    return offers_(variant.name);
  }

 private:
  Offers offers_;
};

void let_offer(Recipe& recipe, const OfferingProblem::Offers& offers) {
  recipe.pose = [variants = recipe.variants, offers](const Params&) {
    return std::make_unique<const OfferingProblem>(variants, offers);
  };
}

Recipe toy(const std::vector<std::string>& variants) {
  Recipe recipe;
  recipe.name = "toy";
  for (const std::string& name : variants) {
    VariantInfo info;
    info.name = name;
    info.is_baseline = recipe.variants.empty();
    recipe.variants.push_back(info);
  }
  recipe.parameters = {Parameter::integer("size", "items", 1, 64)};
  recipe.test_shapes = {Params{{"size", std::int64_t{16}}, {"tiny", std::int64_t{1}}},
                        Params{{"size", std::int64_t{17}}}};
  recipe.make_case = [](const Runtime& on, const Params& shape, std::uint64_t) {
    return std::unique_ptr<Case>(new ToyCase(on, shape));
  };
  return recipe;
}

std::vector<ConformanceRow> run_toy(const std::vector<std::string>& variants,
                                    ConformanceOptions options = {}) {
  std::vector<ConformanceRow> rows;
  const ConformanceSummary summary = run_conformance(
      {toy(variants)}, runtime(), options, [&](const ConformanceRow& row) { rows.push_back(row); });
  CHECK(summary.passed + summary.failed + summary.skipped == rows.size());
  return rows;
}

}  // namespace

LONG_TEST_CASE("the runner finds what is wrong", 16) {
  const std::map<std::string, Outcome> expected{
      {"right", Outcome::passed},     {"short", Outcome::failed},
      {"overrun", Outcome::failed},   {"broken_build", Outcome::failed},
      {"throws", Outcome::failed},    {"unsupported", Outcome::skipped},
      {"no_launch", Outcome::failed}, {"compares_nothing", Outcome::failed}};
  for (const auto& [name, outcome] : expected) {
    const std::string& variant = name;  // C++17 captures no structured binding
    CAPTURE(variant);
    const std::vector<ConformanceRow> rows = run_toy({variant});
    CHECK((rows.size() == 4 || rows.size() == 3));  // 2 shapes on 2 queues, or on one and a skip
    for (const ConformanceRow& row : rows) {
      if (row.variant == "*") continue;
      CHECK(row.outcome == outcome);
      CHECK(row.reason.empty() == (outcome == Outcome::passed));
    }
  }
  CHECK(contains(run_toy({"short"})[0].reason, "at 60"));
  CHECK(contains(run_toy({"overrun"})[0].reason, "the byte at 64 "));
  CHECK(contains(run_toy({"throws"})[0].reason, "a foreign exception"));
  CHECK(contains(run_toy({"broken_build"})[0].reason, "toy/broken_build"));
  CHECK(contains(run_toy({"unsupported"})[0].reason, "not here"));
  CHECK(contains(run_toy({"compares_nothing"})[0].reason, "nothing was compared"));
}

TEST_CASE("a skip is right where the variant's offer names what is lacking, and nowhere else") {
  const std::map<std::string, Outcome> expected{
      {"lacks_nothing_says_nothing", Outcome::passed},
      {"lacks_nothing_says_problem", Outcome::failed},
      {"lacks_problem_says_problem", Outcome::skipped},
      {"lacks_problem_says_nothing", Outcome::failed},
      {"lacks_problem_says_feature", Outcome::failed},
      {"lacks_feature_says_feature", Outcome::skipped},
      // Known to a built kernel alone.
      {"lacks_kernel_limit_says_nothing", Outcome::skipped},
      {"lacks_kernel_limit_says_problem", Outcome::failed}};
  for (const auto& [name, outcome] : expected) {
    const std::string variant = name;  // clang captures no structured binding
    const Outcome wanted = outcome;
    CAPTURE(variant);
    Recipe recipe = toy({variant});
    let_offer(recipe, [](const std::string& one) {
      for (const Lacks lacks : {Lacks::problem, Lacks::feature}) {
        if (contains(one, std::string("says_") + to_string(lacks)))
          return Offer::no(lacks, "the offer says so");
      }
      return Offer();
    });
    int rows = 0;
    run_conformance({recipe}, runtime(), {}, [&](const ConformanceRow& row) {
      // The next test is about variants of which nothing ran.
      if (row.variant == "*" || contains(row.reason, "nothing of this variant ran")) return;
      ++rows;
      CHECK(row.outcome == wanted);
      CHECK((row.lacks == Lacks::nothing) ==
            (row.outcome != Outcome::skipped && !contains(variant, "lacks_problem") &&
             !contains(variant, "lacks_kernel")));
    });
    CHECK(rows >= 2);
  }
}

TEST_CASE("a variant of which nothing ran fails, unless its offer names what is lacking") {
  struct Row {
    const char* variant;
    Lacks offers;  // what the offer says is lacking
    bool made;     // whether the cases can be made
    std::uint64_t failed;
  };
  for (const Row& one : {Row{"right", Lacks::nothing, true, 0},
                         // The kernel's own limit, which no offer knows: never, and in one shape.
                         Row{"lacks_kernel_limit_says_nothing", Lacks::nothing, true, 1},
                         Row{"lacks_once", Lacks::nothing, true, 0},
                         Row{"lacks_feature_says_feature", Lacks::feature, true, 0},
                         Row{"right", Lacks::nothing, false, 2}}) {
    const std::string variant = one.variant;
    CAPTURE(variant);
    Recipe recipe = toy({variant, "right2"});
    let_offer(recipe, [&](const std::string& name) {
      return name == variant && one.offers != Lacks::nothing ? Offer::no(one.offers, "so it says")
                                                             : Offer();
    });
    if (!one.made) {
      recipe.make_case = [](const Runtime&, const Params&, std::uint64_t) -> std::unique_ptr<Case> {
        clcook::unsupported(Lacks::memory, "toy", "too large");
      };
    }
    std::vector<ConformanceRow> rows;
    const ConformanceSummary summary = run_conformance(
        {recipe}, runtime(), {}, [&](const ConformanceRow& row) { rows.push_back(row); });
    CHECK(summary.failed == one.failed);
    CHECK(summary.ok() == (one.failed == 0));
    CHECK(summary.passed + summary.failed + summary.skipped == rows.size());
    if (one.failed == 0) continue;
    const ConformanceRow& last = rows.back();
    CHECK(last.outcome == Outcome::failed);
    CHECK(contains(last.reason, "names no reason"));
    CHECK(last.lacks == (one.made ? Lacks::kernel_limit : Lacks::memory));
    CHECK(contains(last.name(), "size=16"));
  }
}

TEST_CASE("an operation that ignores its wait list fails on an out-of-order queue") {
  if (!out_of_order_runtime(runtime())) {
    MESSAGE("SKIPPED: the device has no out-of-order queue");
    return;
  }
  int failed = 0;
  for (const ConformanceRow& row : run_toy({"ignores_wait"})) {
    if (row.queue == "out-of-order" && row.outcome == Outcome::failed) ++failed;
  }
  CHECK(failed == 2);
}

TEST_CASE("a failure does not spoil the variants behind it") {
  for (const ConformanceRow& row :
       run_toy({"throws", "right", "short", "right2", "unsupported", "right3"})) {
    CAPTURE(row.name());
    if (row.variant.rfind("right", 0) == 0) CHECK(row.outcome == Outcome::passed);
  }
}

TEST_CASE("options choose variants, shapes and queues, and unknown names are refused") {
  ConformanceOptions options;
  options.out_of_order = false;
  CHECK(run_toy({"right", "short"}, options).size() == 4);
  options.tiny = true;
  CHECK(run_toy({"right", "short"}, options).size() == 2);
  options.variant = "right";
  const std::vector<ConformanceRow> rows = run_toy({"right", "short"}, options);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].kernels == std::vector<std::string>{"toy_copy"});
  CHECK(rows[0].queue == "in-order");
  CHECK(contains(rows[0].name(), "toy/right (size=16 tiny=1) in-order"));
  options.shapes = {Params::parse("size=3")};
  CHECK(run_toy({"right"}, options)[0].shape.str() == "size=3");
  options.variant = "wrong";
  Error error = error_of([&] { run_toy({"right"}, options); });
  CHECK(error.code == Errc::invalid_argument);
  CHECK(contains(error.what(), "'wrong'"));
  CHECK(contains(error.what(), "toy/right"));
  options.variant = "";
  options.recipes = {"wrong"};
  error = error_of([&] { run_toy({"right"}, options); });
  CHECK(contains(error.what(), "'wrong'"));
  CHECK_FALSE(ConformanceSummary().ok());  // nothing at all is not ok
  options.recipes = {};
  for (const char* shape : {"size=3 sise=4", "size=65", "size=x", "tiny=1"}) {
    options.shapes = {Params::parse("size=3"), Params::parse(shape)};
    error = error_of([&] { run_toy({"right"}, options); });
    CHECK(error.code == Errc::invalid_argument);
    CHECK(contains(error.what(), "size"));
    CHECK(contains(error.what(), "1 to 64"));
  }
}

TEST_CASE("a kernel belongs to the variant with the longest fitting name") {
  Recipe recipe;
  recipe.name = "r";
  for (const char* name : {"bit", "bit_words"}) {
    VariantInfo variant;
    variant.name = name;
    recipe.variants.push_back(variant);
  }
  CHECK(variant_of(recipe, "r_bit") == "bit");
  CHECK(variant_of(recipe, "r_bit_scan") == "bit");
  CHECK(variant_of(recipe, "r_bit_words") == "bit_words");
  CHECK(variant_of(recipe, "r_bit_words_scan") == "bit_words");
  CHECK(variant_of(recipe, "r_bits").empty());
  CHECK(variant_of(recipe, "bit").empty());
}

namespace {

// Each variant but the baseline is one step from another, in a few words, and the steps lead to the
// baseline; the pair that shows the technique lies on such a way. Empty, or the name of what does
// not.
std::string wrong_step(const Recipe& recipe) {
  const auto known = [&](const std::string& name) {
    return std::any_of(recipe.variants.begin(), recipe.variants.end(),
                       [&](const VariantInfo& one) { return one.name == name; });
  };
  const auto before = [&](const std::string& from, const std::string& wanted) {
    std::string at = from;
    for (std::size_t i = 0; i < recipe.variants.size(); ++i) {
      at = recipe.variant(at).predecessor;
      if (at == wanted) return true;
      if (!known(at)) return false;
    }
    return false;
  };
  for (const VariantInfo& variant : recipe.variants) {
    const bool none = variant.predecessor.empty() && variant.change.empty();
    const bool whole = known(variant.predecessor) && !variant.change.empty() &&
                       variant.change.size() <= 72 && before(variant.name, recipe.baseline().name);
    if (variant.is_baseline ? !none : !whole) return variant.name;
  }
  const std::string& with = recipe.headline_pair.with;
  const std::string& without = recipe.headline_pair.without;
  if (with.empty() && without.empty()) return "";
  return known(with) && before(with, without) && known(without) ? "" : with + " for " + without;
}

}  // namespace

TEST_CASE("a step that leads nowhere is found") {
  Recipe good;
  good.name = "r";
  for (const char* name : {"first", "second", "third"}) {
    VariantInfo variant;
    variant.name = name;
    variant.is_baseline = good.variants.empty();
    if (!variant.is_baseline) variant.predecessor = good.variants.back().name, variant.change = "c";
    good.variants.push_back(variant);
  }
  CHECK(wrong_step(good).empty());
  good.headline_pair = {"third", "first"};
  CHECK(wrong_step(good).empty());
  const auto wrong = [&](const auto& change) {
    Recipe bad = good;
    change(bad);
    return wrong_step(bad);
  };
  CHECK(wrong([](Recipe& r) { r.variants[1].predecessor.clear(); }) == "second");
  CHECK(wrong([](Recipe& r) { r.variants[2].change.clear(); }) == "third");
  CHECK(wrong([](Recipe& r) { r.variants[2].change = std::string(80, 'x'); }) == "third");
  CHECK(wrong([](Recipe& r) { r.variants[2].predecessor = "fourth"; }) == "third");
  CHECK(wrong([](Recipe& r) { r.variants[1].predecessor = "third"; }) == "second");
  CHECK(wrong([](Recipe& r) { r.variants[0].predecessor = "third"; }) == "first");
  CHECK(wrong([](Recipe& r) { r.headline_pair = {"second", "third"}; }) == "second for third");
  CHECK(wrong([](Recipe& r) { r.headline_pair = {"fourth", "first"}; }) == "fourth for first");
}

TEST_CASE("every recipe describes itself") {
  const std::vector<Recipe> recipes = cookbook::recipes();
  REQUIRE_FALSE(recipes.empty());
  for (const Recipe& recipe : recipes) {
    CAPTURE(recipe.name);
    CHECK_FALSE(recipe.title.empty());
    CHECK_FALSE(recipe.family.empty());
    CHECK_FALSE(recipe.summary.empty());
    CHECK_FALSE(recipe.bench_shapes.empty());
    CHECK_FALSE(recipe.quick_shape.empty());
    CHECK(recipe.pose);
    int baselines = 0;
    std::set<std::string> names;
    for (const VariantInfo& variant : recipe.variants) {
      CHECK(names.insert(variant.name).second);
      CHECK_FALSE(variant.summary.empty());
      baselines += variant.is_baseline ? 1 : 0;
      for (const TuneAxis& axis : variant.axes) CHECK_FALSE(axis.values.empty());
      CHECK(&recipe.variant(variant.name) == &variant);
    }
    CHECK(baselines == 1);
    CHECK(wrong_step(recipe).empty());
    for (const std::string& variant : recipe.written_first) CHECK_NOTHROW(recipe.variant(variant));
    CHECK(std::any_of(
        recipe.bench_shapes.begin(), recipe.bench_shapes.end(), [&](const Params& shape) {
          return contains(" " + shape.str() + " ", " " + recipe.headline_pair.words + " ") ||
                 recipe.headline_pair.words.empty();
        }));
    bool tiny = false;
    for (const Params& shape : recipe.test_shapes) tiny = tiny || shape.integer("tiny", 0) != 0;
    CHECK(tiny);  // something for Oclgrind
  }
}

TEST_CASE("every shape of a recipe has the recipe's parameters, within their ranges") {
  for (const Recipe& recipe : cookbook::recipes()) {
    std::vector<Params> shapes = recipe.test_shapes;
    shapes.insert(shapes.end(), recipe.bench_shapes.begin(), recipe.bench_shapes.end());
    for (const Sweep& sweep : recipe.sweeps) {
      for (const Params& family : combinations(sweep.families)) {
        for (const Value& value : sweep.along.values) {
          Params shape = sweep.shape;
          for (const Params::Entry& entry : family.entries()) shape.set(entry.name, entry.value);
          shapes.push_back(Params(shape).set(sweep.along.name, value));
          for (const Params::Entry& entry : sweep.smoke.entries())
            shape.set(entry.name, entry.value);
          shapes.push_back(shape.set(sweep.along.name, value));
        }
      }
    }
    for (const Params& shape : shapes) {
      CAPTURE(shape.str());
      CHECK_NOTHROW(recipe.check_shape(shape));
    }
    const Error error =
        error_of([&] { recipe.check_shape(Params(shapes[0]).set("raduis", std::int64_t{4})); });
    CHECK(error.code == Errc::invalid_argument);
    CHECK(contains(error.what(), "'raduis'"));
    for (const Parameter& one : recipe.parameters) {
      CAPTURE(one.name);
      CHECK_FALSE(one.meaning.empty());
      CHECK(contains(error.what(), one.name + " (" + one.range() + ")"));
    }
  }
}

TEST_CASE("every parameter that a recipe declares is read, and every word of it known") {
  std::vector<Recipe> recipes = cookbook::recipes();
  if (const char* only = std::getenv("CLCOOK_TEST_RECIPE")) recipes = {find_recipe(recipes, only)};
  for (const Recipe& recipe : recipes) {
    std::vector<Params> shapes = recipe.test_shapes;
    for (const Sweep& sweep : recipe.sweeps) {
      shapes.push_back(sweep.shape);
      for (const Params::Entry& entry : sweep.smoke.entries())
        shapes.back().set(entry.name, entry.value);
    }
    // In some shape a case takes this value in place of the shape's own, or refuses it.
    const auto seen = [&](bool accepted, const std::string& name, const Value& value) {
      return std::any_of(shapes.begin(), shapes.end(), [&](const Params& shape) {
        try {
          recipe.make(runtime(), Params(shape).set(name, value), 1);
          return accepted;
        } catch (const Error& error) {
          return accepted == (error.code != Errc::invalid_argument);
        }
      });
    };
    for (const Parameter& one : recipe.parameters) {
      CAPTURE(recipe.name);
      CAPTURE(one.name);
      const bool number = one.least <= one.most;
      CHECK(seen(false, one.name, number ? Value("nonsense") : Value(std::int64_t{1})));
      for (const std::string& word : one.words) {
        CAPTURE(word);
        CHECK(seen(true, one.name, word));
      }
    }
  }
}

// What the benchmark relies on: see Case.
TEST_CASE("inputs that are uploaded once serve every variant") {
  std::vector<Recipe> recipes = cookbook::recipes();
  if (const char* only = std::getenv("CLCOOK_TEST_RECIPE")) recipes = {find_recipe(recipes, only)};
  for (const Recipe& recipe : recipes) {
    if (left_out(number_of(recipe.name), 8)) continue;
    const auto tiny =
        std::find_if(recipe.test_shapes.begin(), recipe.test_shapes.end(),
                     [](const Params& shape) { return shape.integer("tiny", 0) != 0; });
    REQUIRE(tiny != recipe.test_shapes.end());
    const std::unique_ptr<Case> one = recipe.make(runtime(), *tiny, 1);
    one->poison();
    const cl::Event uploaded = one->upload({});
    int ran = 0;
    for (const VariantInfo& variant : recipe.variants) {
      CAPTURE(recipe.name);
      CAPTURE(variant.name);
      Params tune;
      for (const TuneAxis& axis : variant.axes) tune.set(axis.name, axis.values.front());
      try {
        one->prepare(variant.name, tune);
      } catch (const Error& error) {
        CHECK(error.code == Errc::unsupported);
        continue;
      }
      const Diff diff = one->check({one->run({uploaded})});
      CHECK_MESSAGE(diff.ok(), diff.first());
      ++ran;
    }
    CHECK(ran > 0);
  }
}

TEST_CASE("every variant of every recipe agrees with its reference") {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Recipe> recipes = cookbook::recipes();
  // The lanes run one recipe at a time.
  if (const char* only = std::getenv("CLCOOK_TEST_RECIPE")) recipes = {find_recipe(recipes, only)};
  const std::string device = runtime().info().platform + ", " + runtime().info().name;
  std::map<std::string, std::uint64_t> passed;
  std::map<std::string, std::set<std::string>> kernels;
  std::map<std::string, std::pair<std::uint64_t, std::string>> skipped;
  std::set<std::string> refused;
  // The short grid: each variant on the tiny shapes until one has passed, and a slice of all
  // others.
  ConformanceOptions options;
  std::size_t number = 0;
  std::set<std::string> seen;
  if (short_grid()) {
    options.selects = [&](const ConformanceRow& row) {
      const bool tiny = row.shape.integer("tiny", 0) != 0;
      const std::string name = row.recipe + "/" + row.variant + " " + row.queue;
      return (tiny && seen.count(name) == 0) || in_slice(number++, 256);
    };
  }
  const ConformanceSummary summary =
      run_conformance(recipes, runtime(), options, [&](const ConformanceRow& row) {
        const std::string name = row.recipe + "/" + row.variant;
        CAPTURE(row.name());
        CAPTURE(row.reason);
        switch (row.outcome) {
          case Outcome::passed:
            ++passed[name];
            seen.insert(name + " " + row.queue);
            CHECK_FALSE(row.kernels.empty());
            CHECK(row.diff.compared() > 0);
            for (const std::string& kernel : row.kernels) kernels[name].insert(kernel);
            break;
          case Outcome::failed:
            FAIL_CHECK("failed");
            break;
          case Outcome::skipped: {
            auto& [count, first] = skipped[name + ", for lack of " + to_string(row.lacks)];
            if (count++ == 0) first = row.reason;
          }
            CHECK(row.lacks != Lacks::nothing);
            if (row.lacks == Lacks::implementation) refused.insert(name);
            break;
        }
      });
  for (const Recipe& recipe : recipes) {
    for (const VariantInfo& variant : recipe.variants) {
      const std::string name = recipe.name + "/" + variant.name;
      CAPTURE(name);
      if (passed[name] == 0) {
        // Only a variant that the device cannot run at all may be absent, or that is refused since its
        // implementation fails over it.
        CHECK_MESSAGE((!variant.needs.empty() || refused.count(name) != 0),
                      "nothing of this variant ran");
        continue;
      }
      // Kernels are named after their variant, so a variant that runs another's kernel shows.
      bool own = false;
      for (const std::string& kernel : kernels[name])
        own = own || variant_of(recipe, kernel) == variant.name;
      CHECK((own || is_composed(recipe, variant)));
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  for (const auto& [what, times] : skipped) {
    std::printf("SKIPPED %llu times: %s, first: %s\n", static_cast<unsigned long long>(times.first),
                what.c_str(), times.second.c_str());
  }
  std::printf("%s, %s grid: %llu passed, %llu failed, %llu skipped, %llu kernels ran, %.1f s\n",
              device.c_str(), short_grid() ? "short" : "full",
              static_cast<unsigned long long>(summary.passed),
              static_cast<unsigned long long>(summary.failed),
              static_cast<unsigned long long>(summary.skipped),
              static_cast<unsigned long long>(summary.launches), took.count());
  CHECK(summary.failed == 0);
  CHECK(summary.passed > 0);
  CHECK(summary.launches > 0);
  CHECK(summary.ok());
}

TEST_CASE("what the tools say automatic would take is what a plan takes") {
  for (const Recipe& recipe : cookbook::recipes()) {
    if (left_out(number_of(recipe.name), 8)) continue;
    CAPTURE(recipe.name);
    for (const Params& shape : {recipe.quick_shape, recipe.test_shapes.front()}) {
      CAPTURE(shape.str());
      const Candidate choice = recipe.choose(runtime(), shape);
      const std::string& variant = choice.variant->name;
      CAPTURE(variant);
      std::set<std::string> kernels;
      const auto names_of = [&](const Params& tune) {
        std::set<std::string> out;
        for (const CompileUnit& unit : recipe.units(variant, tune, shape, runtime().info()))
          out.insert(unit.kernel);
        return out;
      };
      const Runtime observed = runtime().with_observer(
          [&](const std::string& kernel, const cl::Event&) { kernels.insert(kernel); });
      const std::unique_ptr<Case> seen = recipe.make(observed, shape, 1);
      seen->prepare("automatic", {});
      seen->poison();
      const cl::Event uploaded = seen->upload({});
      const Diff diff = seen->check({seen->run({uploaded})});
      CHECK_MESSAGE(diff.ok(), diff.first());
      // Kernels are named after their variant; some variants share those of other passes.
      bool own = false;
      for (const std::string& kernel : kernels)
        own = own || names_of(choice.tune).count(kernel) > 0;
      CHECK(own);
      CHECK(recipe.offer(runtime(), variant, choice.tune, shape).can());
    }
  }
}
