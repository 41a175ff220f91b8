// The tuning table: its file format, and which entry applies to which device.
#include <string>
#include <vector>

#include <clcook/core/tuning.hpp>

#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

TuningEntry entry(const std::string& device, const std::string& driver, unsigned units, int size,
                  const std::string& variant, bool best = true) {
  TuningEntry out;
  out.recipe = "toy";
  out.device = device;
  out.platform = "P";
  out.vendor = device == "stranger" ? "W" : "V";
  out.driver = driver;
  out.type = "gpu";
  out.compute_units = units;
  out.size_class = size;
  out.best = best;
  out.variant = variant;
  out.tune = "group=" + std::to_string(units);
  return out;
}

DeviceInfo device(const std::string& name, const std::string& driver, cl_uint units) {
  DeviceInfo info;
  info.name = name;
  info.platform = "P";
  info.vendor = "V";
  info.driver = driver;
  info.gpu = true;
  info.compute_units = units;
  return info;
}

}  // namespace

TEST_CASE("entries survive the file format") {
  TuningEntry odd = entry("name\twith\ttabs\nand lines", "1.2", 7, 24, "fast");
  odd.ties = "slow group=64, fast group=128";
  const std::vector<TuningEntry> back =
      Tuning::parse(Tuning::format({odd, entry("d", "2", 1, 0, "v", false)}), "memory");
  REQUIRE(back.size() == 2);
  CHECK(back[0].device == "name with tabs and lines");
  CHECK(back[0].ties == odd.ties);
  CHECK(back[0].best);
  CHECK(back[0].compute_units == 7);
  CHECK(back[0].size_class == 24);
  CHECK(back[0].integer("group", -1) == 7);
  CHECK(back[0].integer("missing", -1) == -1);
  CHECK_FALSE(back[1].best);
  CHECK(Tuning::parse("\xEF\xBB\xBF" + Tuning::format(back), "memory").size() == 2);
}

TEST_CASE("a broken file is an error that names file and line") {
  for (const std::string& content :
       {std::string(), std::string("clcook-tuning 3\n"), std::string("clcook-tuning 1\na\tb\n"),
        std::string("clcook-tuning 1\n1\t2\t3\t4\t5\t6\tx\t8\tbest\t10\t11\t12\n"),
        std::string("clcook-tuning 1\n\n# comment\n1\t2\t3\t4\t5\t6\t7\t-8\tbest\t10\t11\t12\n")}) {
    CAPTURE(content);
    const Error error = error_of([&] { Tuning::parse(content, "some/file.txt"); });
    CHECK(error.code == Errc::io);
    CHECK(contains(error.what(), "some/file.txt"));
  }
  CHECK(contains(error_of([] { Tuning::parse("clcook-tuning 1\n\na\n", "f"); }).what(), "line 3"));
}

TEST_CASE("this device and driver first, then this device, then the nearest of its type") {
  const double bytes = 1 << 20;
  const Tuning tuning({entry("mine", "old", 10, 20, "old_driver"),
                       entry("near", "d", 12, 20, "near"), entry("far", "d", 100, 20, "far"),
                       entry("stranger", "d", 10, 20, "stranger"),
                       entry("mine", "new", 10, 20, "exact")});
  using Match = TuningChoice::Match;
  const auto choose = [&](const DeviceInfo& info) { return tuning.choose(info, "toy", bytes); };
  CHECK(choose(device("mine", "new", 10)).entry.variant == "exact");
  CHECK(choose(device("mine", "new", 10)).match == Match::exact);
  CHECK(choose(device("mine", "newer", 10)).match == Match::other_driver);
  CHECK(choose(device("other", "d", 12)).entry.variant == "near");
  CHECK(choose(device("other", "d", 90)).entry.variant == "far");
  CHECK(choose(device("other", "d", 12)).match == Match::other_device);
  CHECK(contains(choose(device("other", "d", 12)).where, "near"));
  DeviceInfo cpu = device("mine", "new", 10);
  cpu.gpu = false;
  cpu.cpu = true;
  CHECK(choose(cpu).match == Match::none);
  CHECK(tuning.choose(device("mine", "new", 10), "another_recipe", bytes).match == Match::none);
}

TEST_CASE("the nearest size class, and the best tuning of a given variant") {
  const Tuning tuning({entry("mine", "d", 10, 20, "small"), entry("mine", "d", 10, 28, "large"),
                       entry("mine", "d", 10, 28, "named", false)});
  const DeviceInfo info = device("mine", "d", 10);
  CHECK(tuning.choose(info, "toy", 1).entry.variant == "small");
  CHECK(tuning.choose(info, "toy", 1e6).entry.variant == "small");
  CHECK(tuning.choose(info, "toy", 1e8).entry.variant == "large");
  CHECK(tuning.choose(info, "toy", 1e6, "named").entry.variant == "named");
  CHECK(tuning.choose(info, "toy", 1e6, "unknown").match == TuningChoice::Match::none);
  CHECK(size_class(0) == 0);
  CHECK(size_class(1) == 0);
  CHECK(size_class(1024) == 10);
  CHECK(size_class(2047) == 10);
}

TEST_CASE("the shipped files can be read, and a user's file goes before them") {
  const Tuning shipped = Tuning::standard({});
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "tuning.txt";
  write_bytes(file, Tuning::format({entry("mine", "d", 1, 1, "users")}));
  const Tuning both = Tuning::standard(file);
  REQUIRE(both.entries().size() == shipped.entries().size() + 1);
  CHECK(both.entries().front().variant == "users");
  const ScopedVariable set("CLCOOK_TUNING_FILE", file.string());
  CHECK(Tuning::user_file("elsewhere") == file);
}

TEST_CASE("a variant's factor: the nearest kind of problem first, then device, driver and size") {
  const auto with = [](TuningEntry one, double factor) {
    one.factor = factor;
    return one;
  };
  TuningEntry other = with(entry("mine", "new", 10, 20, "v", false), 5);
  other.recipe = "toy/far";
  const Tuning tuning({with(entry("mine", "new", 10, 20, "v", false), 2),
                       with(entry("mine", "new", 10, 26, "v", false), 3),
                       with(entry("near", "new", 10, 20, "w", false), 4), other,
                       with(entry("mine", "new", 10, 20, "best_alone", true), 9),
                       entry("mine", "new", 10, 20, "unknown", false)});
  const DeviceInfo mine = device("mine", "new", 10);
  const auto factor = [&](const std::vector<std::string>& names, double bytes,
                          const char* variant) {
    return tuning.factor(mine, names, bytes, variant).value;
  };
  CHECK(factor({"toy"}, 1 << 20, "v") == doctest::Approx(2));
  CHECK(factor({"toy"}, 1 << 27, "v") == doctest::Approx(3));
  CHECK(factor({"toy/far", "toy"}, 1 << 20, "v") == doctest::Approx(5));
  CHECK(factor({"none", "toy"}, 1 << 20, "v") == doctest::Approx(2));
  CHECK(factor({"toy"}, 1 << 20, "w") == doctest::Approx(4));
  for (const char* none : {"x", "best_alone", "unknown"})
    CHECK(factor({"toy"}, 1 << 20, none) == doctest::Approx(0));
  CHECK(contains(tuning.factor(mine, {"toy"}, 1, "v").where, "this device and driver"));
  CHECK(contains(tuning.factor(mine, {"toy"}, 1, "w").where, "another device"));
  CHECK(contains(tuning.factor(mine, {"toy"}, 1, "x").where, "nothing was measured"));
}

TEST_CASE("files of version 1 have no factors; a factor must be a number") {
  const std::string line = "r\td\tp\tv\tdr\tgpu\t7\t8\tvariant\tfast\tgroup=1\t";
  const auto one = Tuning::parse("clcook-tuning 1\n" + line + "\n", "f");
  REQUIRE(one.size() == 1);
  CHECK(one[0].factor <= 0);
  const auto two = Tuning::parse("clcook-tuning 2\n" + line + "\t1.25\n", "f");
  REQUIRE(two.size() == 1);
  CHECK(two[0].factor == doctest::Approx(1.25));
  for (const char* wrong : {"", "\tx", "\t", "\t-1", "\t1e999", "\tnan", "\t1 2", "\t1\t2"}) {
    CAPTURE(wrong);
    CHECK(error_of([&] { Tuning::parse("clcook-tuning 2\n" + line + wrong + "\n", "f"); }).code ==
          Errc::io);
  }
}

TEST_CASE("a tuning file that cannot be read breaks nothing and is reported") {
  const TempFolder folder;
  const auto file = folder / "tuning.txt";
  const ScopedVariable set("CLCOOK_TUNING_FILE", file.string());
  for (const char* content : {"", "clcook-tuning 99\n", "clcook-tuning 2\nbroken\n", "\xff\xfe"}) {
    CAPTURE(content);
    write_bytes(file, content);
    const Runtime with(runtime().queue());
    REQUIRE(with.tuning().notes().size() == 1);
    CHECK(contains(with.tuning().notes()[0], file.string()));
    CHECK(with.tuning().entries().size() == runtime().tuning().entries().size());
    CHECK(read_bytes(file) == content);
  }
}
