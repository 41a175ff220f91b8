// What a plan becomes, as a list: without a device, and with a tuning file of the test's own.
#include <doctest/doctest.h>

#include <clcook/core/choose.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

// An operation of four variants whose groups fit as long as they are small enough.
struct Toy {
  Toy() {
    device.name = "a device";
    device.gpu = true;
    add("plain", 100).is_baseline = true;
    add("wide", 10).axes = {{"group", {256, 128}}};
    add("rough", 1).is_by_name = true;
    add("strip", 1).is_for_cpus = true;
    for (const VariantInfo& one : variants) question.variants.push_back(&one);
    question.operation = "Toy";
    question.tuning_name = "toy";
    question.factor_names = {"toy"};
    question.bytes = 1024;
    question.close = [](const VariantInfo& variant, Params tune) {
      for (const Params::Entry& entry : tune.entries()) {
        if (entry.name != "group")
          fail(Errc::invalid_argument, "Toy", "a tune has no '" + entry.name + "'");
      }
      if (tune.find("group") == nullptr)
        tune.set("group", std::int64_t{variant.name == "wide" ? 256 : 64});
      return tune;
    };
    question.offer = [this](const VariantInfo& variant, const Params& tune) {
      ++offers;
      if (tune.integer("group") < 1) fail(Errc::invalid_argument, "Toy", "group must be 1 or more");
      if (tune.integer("group") > largest_group) {
        return Offer::no(Lacks::work_group,
                         text("a group of ", tune.integer("group"), " is too large"));
      }
      Offer out;
      out.psnr = psnr;
      out.work.operations = 1e7 * work.at(static_cast<std::size_t>(&variant - variants.data()));
      if (psnr < floor) return Offer::no(Lacks::quality, "promises too little");
      return out;
    };
  }

  VariantInfo& add(const char* name, double operations) {
    VariantInfo one;
    one.name = name;
    variants.push_back(one);
    work.push_back(operations);
    return variants.back();
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

  std::vector<VariantInfo> variants = [] {
    std::vector<VariantInfo> out;
    out.reserve(4);
    return out;
  }();
  std::vector<double> work;
  DeviceInfo device;
  Tuning tuning;
  Question question;
  std::int64_t largest_group = 1 << 20;
  double psnr = std::numeric_limits<double>::infinity();
  double floor = 0;
  int offers = 0;
  std::vector<std::string> notes;
};

std::vector<std::string> texts(const std::vector<RankedCandidate>& ranking) {
  std::vector<std::string> out;
  for (const RankedCandidate& one : ranking) out.push_back(one.line);
  return out;
}

}  // namespace

TEST_CASE("choose: the list of all, the cheapest first, those that cannot last") {
  Toy toy;
  const Rates rates{1e3, 1e7, 1};
  CHECK(texts(ranked_candidates(toy.question, toy.device, toy.tuning, rates)) ==
        std::vector<std::string>{"wide: about 10.0 us", "plain: about 100 us",
                                 "rough: only where it is asked for", "strip: for CPUs only"});
  toy.largest_group = 100;
  CHECK(texts(ranked_candidates(toy.question, toy.device, toy.tuning, rates)).at(1) ==
        "wide: a group of 256 is too large");
}

TEST_CASE("choose: without a measurement the cheapest; a name is taken as it is") {
  Toy toy;
  CHECK(contains(toy.chosen(), "wide group=256, about "));
  CHECK(toy.notes.size() == 3);  // of the three others
  toy.question.wanted = &toy.variants[2];
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
  toy.question.wanted = &toy.variants[0];
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
  toy.question.by_cost = true;
  toy.measured("wide", "", 30);
  CHECK(contains(toy.chosen(), "wide group=256, about "));
  CHECK(contains(toy.notes.front(), "plain: about "));
}
