// What a plan becomes, as a list: without a device, and with a tuning file of the test's own.
#include <doctest/doctest.h>

#include <clcook/core/choose.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/testing.hpp"
#include "support/toy_problem.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

VariantInfo variant(const char* name) {
  VariantInfo out;
  out.name = name;
  return out;
}

// An operation of four variants.
class FourVariants : public ToyProblem {
 public:
  FourVariants()
      : ToyProblem("Toy", {variant("plain"), variant("wide"), variant("rough"), variant("strip")}) {
    all[0].is_baseline = true;
    all[1].axes = {{"group", {256, 128}}};
    all[2].is_by_name = true;
    all[3].is_for_cpus = true;
  }

  bool by_cost() const override { return goes_by_cost; }
  Params close(const VariantInfo& of, const Params& tune, const DeviceInfo&) const override {
    Params out = tune;
    for (const Params::Entry& entry : tune.entries()) {
      if (entry.name != "group")
        fail(Errc::invalid_argument, "Toy", "a tune has no '" + entry.name + "'");
    }
    if (out.find("group") == nullptr) out.set("group", std::int64_t{of.name == "wide" ? 256 : 64});
    return out;
  }
  Offer offer(const Runtime&, const VariantInfo&, const Params&) const override {
    fail(Errc::invalid_argument, "Toy", "there is no device");
  }

  bool goes_by_cost = false;
};

// Groups fit as long as they are small enough.
struct Toy {
  Toy() {
    device.name = "a device";
    device.gpu = true;
    question.offer = [this](const VariantInfo& of, const Params& tune) {
      ++offers;
      if (tune.integer("group") < 1) fail(Errc::invalid_argument, "Toy", "group must be 1 or more");
      if (tune.integer("group") > largest_group) {
        return Offer::no(Lacks::work_group,
                         text("a group of ", tune.integer("group"), " is too large"));
      }
      Offer out;
      out.psnr = psnr;
      const double work[] = {100, 10, 1, 1};
      out.work.operations = 1e7 * work[&of - problem.all.data()];
      if (psnr < floor) return Offer::no(Lacks::quality, "promises too little");
      return out;
    };
  }

  // The winner of a tuning file; of a variant alone where a factor is given.
  void measured(const std::string& variant, const std::string& tune, double factor = 0) {
    TuningEntry one;
    one.recipe = "toy";
    one.device = device.name;
    one.type = "gpu";
    one.best = factor == 0;
    one.factor = factor;
    one.variant = variant;
    one.tune = tune;
    tuning = Tuning({one});
  }

  // What is taken, with the reason; the notes stay in `notes`. Groups above `built` do not build.
  std::string chosen(std::int64_t built = 1 << 20) {
    std::string out;
    choose(question, device, tuning, [&](Candidate one) {
      if (one.tune.integer("group") > built)
        unsupported(Lacks::kernel_limit, "Toy", "the kernel takes smaller groups");
      notes = std::move(one.notes);
      out = one.text() + ", " + one.reason;
    });
    return out;
  }

  FourVariants problem;
  DeviceInfo device;
  Tuning tuning;
  Question question{problem, nullptr, {}, {}};
  std::int64_t largest_group = 1 << 20;
  double psnr = std::numeric_limits<double>::infinity();
  double floor = 0;
  int offers = 0;
  std::vector<std::string> notes;
};

// The lines of a ranking, as one text.
std::string texts(const std::vector<RankedCandidate>& ranking) {
  std::string out;
  for (const RankedCandidate& one : ranking) out += one.line + "\n";
  return out;
}

}  // namespace

TEST_CASE("choose: the list of all, the cheapest first, those that cannot last") {
  Toy toy;
  const Rates rates{1e3, 1e7, 0};
  CHECK(texts(ranked_candidates(toy.question, toy.device, toy.tuning, rates)) ==
        "wide: about 10 us\nplain: about 100 us\n"
        "rough: only where it is asked for\nstrip: for CPUs only\n");
  toy.largest_group = 100;
  CHECK(texts(ranked_candidates(toy.question, toy.device, toy.tuning, rates)) ==
        "plain: about 100 us\nwide: a group of 256 is too large\n"
        "rough: only where it is asked for\nstrip: for CPUs only\n");
}

TEST_CASE("choose: without a measurement the cheapest; a name is taken as it is") {
  Toy toy;
  CHECK(contains(toy.chosen(), "wide group=256, about "));
  CHECK(toy.notes.size() == 3);  // of the three others
  toy.question.wanted = &toy.problem.all[2];
  CHECK(contains(toy.chosen(), "rough group=64, "));
  toy.question.tune = {{"group", std::int64_t{32}}};
  CHECK(contains(toy.chosen(), "rough group=32, "));
}

TEST_CASE("choose: what was measured comes first, and asks nobody else") {
  Toy toy;
  toy.measured("plain", "group=32");
  CHECK(contains(toy.chosen(), "plain group=32, measured on "));
  CHECK(toy.offers == 1);
  CHECK(toy.notes.empty());
}

TEST_CASE("choose: nothing that a tuning file says is an error") {
  const std::pair<const char*, const char*> files[] = {
      {"wyde", ""}, {"wide", "grup=64"}, {"wide", "group"}, {"automatic", ""}, {"rough", ""}};
  for (const auto& file : files) {
    const std::string variant = file.first;
    INFO(variant, " ", file.second);
    Toy toy;
    toy.measured(variant, file.second);
    CHECK(contains(toy.chosen(), "wide group=256, "));
    REQUIRE_FALSE(toy.notes.empty());
    CHECK(contains(toy.notes.front(), "what was measured, '" + variant));
  }
}

TEST_CASE("choose: a tune that does not fit steps back to one that does") {
  Toy toy;
  toy.measured("wide", "group=512");
  toy.largest_group = 200;
  CHECK(toy.chosen() == "wide group=128, the first of its tunes that fits the device");
  CHECK(toy.notes.size() == 2);  // 512 and 256
  CHECK(contains(toy.notes.front(),
                 "wide group=512: Toy: the variant wide: a group of 512 is too large"));
  // The same where nobody knows before the kernel is built.
  toy.largest_group = 1 << 20;
  CHECK(toy.chosen(130) == "wide group=128, the first of its tunes that fits the device");
  CHECK(contains(toy.chosen(64), "plain group=64, "));
}

TEST_CASE("choose: each variant and tune is asked once") {
  Toy toy;
  toy.measured("wide", "group=256");
  toy.largest_group = 0;
  CHECK_THROWS_AS(toy.chosen(), Error);
  // wide with 256 and 128; ranked: wide and plain, whose offers are known then.
  CHECK(toy.offers == 4);
}

TEST_CASE("choose: where nothing fits, the error says what each variant lacks") {
  Toy toy;
  toy.largest_group = 1;
  Error error = error_of([&] { toy.chosen(); });
  CHECK(error.code == Errc::unsupported);
  CHECK(error.lacks == Lacks::work_group);
  CHECK(contains(error.what(), "no variant can serve this problem; "));
  CHECK(contains(error.what(), "; plain: a group of 64 is too large"));
  CHECK(contains(error.what(), "; strip: for CPUs only"));
  toy.question.wanted = &toy.problem.all[0];
  error = error_of([&] { toy.chosen(); });
  CHECK(contains(error.what(), "the variant plain: a group of 64 is too large"));
  toy.question.tune = {{"group", std::int64_t{0}}};
  CHECK(error_of([&] { toy.chosen(); }).code == Errc::invalid_argument);
}

TEST_CASE("choose: a quality that nothing reaches comes with the best that can be had") {
  Toy toy;
  toy.psnr = 60;
  toy.floor = 80;
  const Error error = error_of([&] { toy.chosen(); });
  CHECK(error.lacks == Lacks::quality);
  CHECK(contains(error.what(), "promises too little"));
}

TEST_CASE(
    "choose: by cost, next to measured variants one that was not measured counts as the worst") {
  Toy toy;
  toy.problem.goes_by_cost = true;
  toy.measured("wide", "", 30);
  CHECK(contains(toy.chosen(), "wide group=256, about "));
  CHECK(contains(toy.notes.front(), "plain: about "));
}
