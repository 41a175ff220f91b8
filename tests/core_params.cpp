// Params, axes, recipes: the registry's small types, and the pseudo-random data of the tests.
#include <clcook/core/params.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>

#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

TEST_CASE("what is written is read as the same, minus zero too") {
  for (const char* one : {"a=-0", "a=-0.0", "a=0", "a=-1e-320", "a=1e308", "a=inf", "a=word"}) {
    CAPTURE(one);
    const std::string text = Params::parse(one).str();
    CHECK(Params::parse(text).str() == text);
  }
  CHECK(Params::parse("a=-0").str() == "a=-0");
}

TEST_CASE("several texts at once") {
  const std::vector<Params> all = parse_all({"a=1", "", "b=x c=0.5"});
  REQUIRE(all.size() == 3);
  CHECK(all[0] == Params::parse("a=1"));
  CHECK(all[1].empty());
  CHECK(all[2].str() == "b=x c=0.5");
  CHECK_THROWS_AS(parse_all({"a=1", "b"}), Error);
}

TEST_CASE("values keep their kind and order") {
  const Params p{{"width", std::int64_t{3}}, {"sigma", 0.5}, {"pixel", std::string("rgba8")}};
  CHECK(p.integer("width") == 3);
  CHECK(p.real("sigma") == 0.5);
  CHECK(p.real("width") == 3.0);  // an integer is a number
  CHECK(p.word("pixel") == "rgba8");
  CHECK(p.str() == "width=3 sigma=0.5 pixel=rgba8");
  CHECK(p.integer("nothing", 7) == 7);
  CHECK(p.real("nothing", 0.25) == 0.25);
  CHECK(p.word("nothing", "x") == "x");
  CHECK(p.integer("width", 7) == 3);
  CHECK(p.find("nothing") == nullptr);
  CHECK(Params().empty());
  CHECK(Params().str().empty());
}

TEST_CASE("set replaces in place") {
  Params p;
  p.set("a", std::int64_t{1}).set("b", std::int64_t{2}).set("a", 1.5);
  CHECK(p.str() == "a=1.5 b=2");
  CHECK(p.entries().size() == 2);
}

TEST_CASE("missing names and other kinds are refused by name") {
  const Params p{{"width", std::int64_t{3}}, {"sigma", 0.5}, {"pixel", std::string("rgba8")}};
  const auto refused = [&](const std::string& part, const auto& call) {
    const Error error = error_of(call);
    CHECK(error.code == Errc::invalid_argument);
    CHECK(contains(error.what(), part));
  };
  refused("'height'", [&] { p.integer("height"); });
  refused("'height'", [&] { p.real("height"); });
  refused("'height'", [&] { p.word("height"); });
  refused("'sigma'", [&] { p.integer("sigma"); });
  refused("'pixel'", [&] { p.real("pixel"); });
  refused("'width'", [&] { p.word("width"); });
  refused("'sigma'", [&] { p.integer("sigma", 1); });  // a default does not excuse another kind
}

TEST_CASE("a parameter takes values of its kind and range, and says which") {
  const Parameter size = Parameter::integer("size", "pixels", 1, 64);
  CHECK(size.range() == "1 to 64");
  CHECK((size.takes(std::int64_t{1}) && size.takes(std::int64_t{64})));
  CHECK_FALSE((size.takes(std::int64_t{0}) || size.takes(std::int64_t{65}) || size.takes(2.0)));
  CHECK_FALSE(size.takes(std::string("1")));
  const Parameter sigma = Parameter::real("sigma", "pixels", 0.5, 8);
  CHECK(sigma.range() == "a number from 0.5 to 8");
  CHECK((sigma.takes(0.5) && sigma.takes(std::int64_t{8})));
  CHECK_FALSE((sigma.takes(8.25) || sigma.takes(std::nan(""))));
  const Parameter border = Parameter::word("border", "outside", {"clamp", "mirror", "wrap"});
  CHECK(border.range() == "clamp, mirror or wrap");
  CHECK(border.takes(std::string("wrap")));
  CHECK_FALSE((border.takes(std::string("Wrap")) || border.takes(std::int64_t{1})));
  const Parameter modes{"modes", "which", "uniform", {"uniform", "random"}, 0, 13};
  CHECK(modes.range() == "uniform, random or 0 to 13");
  CHECK((modes.takes(std::string("random")) && modes.takes(std::int64_t{13})));
  CHECK_FALSE(modes.takes(std::int64_t{14}));
  CHECK(Parameter::integer("count", "", 1, 0x1p40).range() == "1 to 1099511627776");
}

TEST_CASE("equality looks at names, kinds, values and order") {
  const Params a{{"x", std::int64_t{1}}, {"y", std::int64_t{2}}};
  CHECK(a == Params{{"x", std::int64_t{1}}, {"y", std::int64_t{2}}});
  CHECK(a != Params{{"y", std::int64_t{2}}, {"x", std::int64_t{1}}});
  CHECK(a != Params{{"x", std::int64_t{1}}});
  CHECK(a != Params{{"x", 1.0}, {"y", std::int64_t{2}}});
}

TEST_CASE("parse reads what str writes") {
  const Params p = Params::parse("  width=3   height=-5 sigma=0.5 pixel=rgba8 big=1e30 eq=a=b ");
  CHECK(p.integer("width") == 3);
  CHECK(p.integer("height") == -5);
  CHECK(p.real("sigma") == 0.5);
  CHECK(p.word("pixel") == "rgba8");
  CHECK(p.real("big") == 1e30);
  CHECK(p.word("eq") == "a=b");
  CHECK(Params::parse(p.str()) == p);
  CHECK(Params::parse("").empty());
  CHECK(Params::parse("   ").empty());
  CHECK(Params::parse("a=1 a=2").str() == "a=2");
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    double value = 0;
    const std::uint64_t bits = random.bits();
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    Params one{{"v", value}, {"i", static_cast<std::int64_t>(random.bits())}};
    const Params back = Params::parse(one.str());
    CAPTURE(one.str());
    CHECK(back.real("v") == value);  // every digit survives
    CHECK(back.integer("i") == one.integer("i"));
  }
  CHECK(Params::parse(Params{{"v", 0.1}}.str()).real("v") == 0.1);
  CHECK(Params{{"v", 0.1}}.str() == "v=0.1");
}

TEST_CASE("parse refuses what is no name=value and shows it") {
  for (const char* bad : {"width", "=3", "width=", "a=1 b", "a=1 =2", "="}) {
    CAPTURE(bad);
    const Error error = error_of([&] { Params::parse(bad); });
    CHECK(error.code == Errc::invalid_argument);
    CHECK(contains(error.what(), "name=value"));
  }
}

TEST_CASE("numbers with more behind them are words") {
  for (const char* word : {"a=3x", "a=0x10", "a=1.5.2", "a=--1", "a=1e", "a=3,5"}) {
    CAPTURE(word);
    const Params p = Params::parse(word);
    CHECK(p.word("a") == std::string(word).substr(2));
  }
  CHECK(Params::parse("a=9223372036854775807").integer("a") ==
        std::numeric_limits<std::int64_t>::max());
  CHECK(Params::parse("a=9223372036854775808").real("a") == 9223372036854775808.0);
}

TEST_CASE("combinations: the product of the axes, defaults first") {
  CHECK(combinations({}).size() == 1);
  CHECK(combinations({}).front().empty());
  const std::vector<Params> all =
      combinations({{"group", {std::int64_t{256}, std::int64_t{64}}},
                    {"kind", {std::string("a"), std::string("b"), std::string("c")}}});
  REQUIRE(all.size() == 6);
  CHECK(all[0].str() == "group=256 kind=a");
  std::set<std::string> texts;
  for (const Params& one : all) texts.insert(one.str());
  CHECK(texts.size() == 6);
  CHECK(texts.count("group=64 kind=c") == 1);
  CHECK(combinations({{"empty", {}}}).empty());
}

TEST_CASE("unknown recipes and variants are refused with the known ones") {
  Recipe recipe;
  recipe.name = "toy";
  recipe.variants.resize(2);
  recipe.variants[0].name = "slow";
  recipe.variants[1].name = "fast";
  recipe.variants[1].is_baseline = true;
  CHECK(recipe.variant("slow").name == "slow");
  CHECK(recipe.baseline().name == "fast");
  Error error = error_of([&] { recipe.variant("fats"); });
  CHECK(error.code == Errc::invalid_argument);
  CHECK(contains(error.what(), "'fats'"));
  CHECK(contains(error.what(), "slow fast"));
  recipe.variants[1].is_baseline = false;
  CHECK(error_of([&] { recipe.baseline(); }).code == Errc::invalid_argument);
  const std::vector<Recipe> recipes{recipe};
  CHECK(find_recipe(recipes, "toy").name == "toy");
  error = error_of([&] { find_recipe(recipes, "toi"); });
  CHECK(contains(error.what(), "'toi'"));
  CHECK(contains(error.what(), "toy"));
}

TEST_CASE("the pseudo-random numbers are those of SplitMix64, everywhere") {
  Random zero(0);
  CHECK(zero.bits() == 0xE220A8397B1DCDAFULL);  // the generator's published first values
  CHECK(zero.bits() == 0x6E789E6AA1B965F4ULL);
  CHECK(zero.bits() == 0x06C45D188009454FULL);
  Random a(5);
  Random b(5);
  Random c(6);
  bool differs = false;
  for (int i = 0; i < 1000; ++i) {
    const float one = a.uniform();
    CHECK(one == b.uniform());
    differs = differs || one != c.uniform();
    CHECK((one >= 0.0f && one < 1.0f));
    const float ranged = a.uniform(-2.0f, 3.0f);
    b.uniform(-2.0f, 3.0f);
    CHECK((ranged >= -2.0f && ranged < 3.0f));
    CHECK(a.below(7) < 7);
    b.below(7);
  }
  CHECK(differs);
}
