// What the library writes and reads is the same under every locale and with every flag of a stream.
#include <doctest/doctest.h>

#include <clcook/core/defines.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/tuning.hpp>
#include <clcook/io/dds.hpp>
#include <clcook/io/exr.hpp>
#include <clcook/io/obj.hpp>
#include <clcook/io/pfm.hpp>
#include <clcook/io/quad_patches.hpp>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <clcook/registry/random.hpp>

#include "support/grid.hpp"
#include "support/testing.hpp"

namespace {

using namespace clcook;
using namespace clcook::testing;

struct CommaDecimals : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

// A stream as callers have them: of a locale of theirs, with flags and a width that are left from
// what was written before.
struct OddStream : std::ostringstream {
  OddStream() {
    imbue(std::locale(std::locale::classic(), new CommaDecimals));
    *this << std::hex << std::showbase << std::showpos << std::fixed << std::uppercase
          << std::setprecision(1) << std::setfill('*') << std::setw(30) << std::unitbuf;
  }
};

struct Place {
  int x = 0;
  double y = 0;
  friend std::ostream& operator<<(std::ostream& out, const Place& at) {
    return out << at.x << ", " << at.y;
  }
};

io::QuadMesh large_mesh() {
  io::QuadMesh mesh;
  for (int i = 0; i < 1200; ++i)
    mesh.vertices.push_back({static_cast<float>(i) * 1000.5f, -0.3f, 1234567.0f});
  mesh.quads = {{0, 1, 2, 3}, {999, 1000, 1001, 1199}};
  return mesh;
}

template <class Stream>
std::string written(const std::function<void(std::ostream&)>& write) {
  Stream out;
  write(out);
  return out.str();
}

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// Everything that the library writes with numbers in it, by name.
template <class Stream>
std::vector<std::pair<std::string, std::string>> everything() {
  const std::vector<float> floats(12 * 1004, 1234.5f);
  TuningEntry entry;
  entry.recipe = "recipe";
  entry.compute_units = 1234;
  entry.size_class = 5678;
  entry.factor = 1234.75;
  const auto write = [](const std::function<void(std::ostream&)>& how) {
    return written<Stream>(how);
  };
  return {
      {"write_obj", write([](std::ostream& out) { io::write_obj(out, large_mesh()); })},
      {"write_bv", write([&](std::ostream& out) { io::write_bv(out, floats.data(), 2); })},
      {"write_pfm", write([&](std::ostream& out) { io::write_pfm(out, floats.data(), 1004, 4); })},
      {"write_exr", write([&](std::ostream& out) {
         io::write_exr(out, floats.data(), 1004, 3, io::ExrTexel::rgba32f);
       })},
      {"dds_header", io::dds_header({io::DdsFormat::bc6h_uf16, 4096, 1024, 3, 1234, false})},
      {"dds message", message_of([] {
         io::parse_dds(io::dds_header({io::DdsFormat::bc6h_uf16, 4096, 1024, 3, 1, false}));
       })},
      {"dds sizes", message_of([] {
         io::dds_layout({io::DdsFormat::bc6h_uf16, 1u << 20, 1u << 20});
       })},
      {"obj message", message_of([] { io::parse_obj("f 1234567\n"); })},
      {"definitions",
       Defines().set("A", 0.3f).set("B", -1234.5).set("C", 1234567).set("D", 1e-310).options()},
      {"value", to_string(Value(1234567.25)) + to_string(Value(std::int64_t{1234567}))},
      {"tuning", Tuning::format({entry})},
      {"text", text(1234567, " ", 1234.5, " ", Place{1234567, 1234.5})},
      {"digits", three_digits(0.123) + " " + image_format_name({0xABCDEF, CL_FLOAT})},
      {"source",
       Source("a.cl", std::string(1234, '\n') + "#include <clcook/view.clh>\n").flatten()},
  };
}

// What was written, read again: numbers as text, so that one string holds them all.
std::string read_again() {
  const io::QuadMesh mesh =
      io::parse_obj("v 1.5 2.25 -3e2\nv 0 0 1\nv 1 0 1\nv 1 1 1\nf 1 2 3 4\n");
  const TuningEntry entry =
      Tuning::parse("clcook-tuning 2\nr\td\tp\tv\t1\tgpu\t8\t20\tbest\tx\tt=1\t\t1.5\n", "memory")
          .at(0);
  return text(mesh.vertices[0][0], " ", mesh.vertices[0][1], " ", mesh.vertices[0][2], " ",
              entry.factor, " ", Params::parse("sigma=2.5").real("sigma"));
}

void same(const std::vector<std::pair<std::string, std::string>>& now,
          const std::vector<std::pair<std::string, std::string>>& before) {
  REQUIRE(now.size() == before.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    CAPTURE(now[i].first);
    CHECK_FALSE(now[i].second.empty());
    const bool unchanged = now[i].second == before[i].second;
    CHECK(unchanged);
  }
}

}  // namespace

TEST_CASE("every writer is the same in a stream and a C++ locale that group digits") {
  const auto before = everything<std::ostringstream>();
  const std::string numbers = read_again();
  CHECK(numbers == "1.5 2.25 -300 1.5 2.5");
  CHECK(contains(before[0].second, "f 1000 1001 1002 1200\n"));
  CHECK(contains(before[11].second, "1234567 1234.5 1234567, 1234.5"));
  same(everything<OddStream>(), before);
  const std::locale old =
      std::locale::global(std::locale(std::locale::classic(), new CommaDecimals));
  // The locale works: what is written without care is another text.
  std::ostringstream plain;
  plain << 1234.5;
  const auto now = everything<OddStream>();
  const std::string numbers_now = read_again();
  std::locale::global(old);
  CHECK(plain.str() == "1.234,5");
  same(now, before);
  CHECK(numbers_now == numbers);
}

LONG_TEST_CASE("every writer is the same in a C locale with another decimal sign", 4) {
  const auto before = everything<std::ostringstream>();
  const std::string numbers = read_again();
  // Where none is installed, one is made from the system's locale sources.
  const TempFolder folder;
  const std::string localedef = "/usr/bin/localedef";
  std::optional<ScopedVariable> locale_path;
  if (std::filesystem::exists(localedef)) {
    for (const char* name : {"ps_AF", "de_DE"}) {
      run_program({localedef, "--quiet", "-i", name, "-f", "UTF-8",
                   (folder / (std::string(name) + ".UTF-8")).string()});
    }
    if (!std::filesystem::is_empty(folder.path()))
      locale_path.emplace("LOCPATH", folder.path().string());
  }
  int found = 0;
  // The sign of ps_AF has two bytes.
  for (const char* name : {"ps_AF.UTF-8", "ps_AF", "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) == nullptr) continue;
    if (std::string(std::localeconv()->decimal_point) != ".") ++found;
    const auto now = everything<OddStream>();
    const std::string numbers_now = read_again();
    std::setlocale(LC_ALL, "C");
    CAPTURE(name);
    same(now, before);
    CHECK(numbers_now == numbers);
  }
  std::setlocale(LC_ALL, "C");
  if (found == 0) MESSAGE("SKIPPED: no locale with another decimal sign is there or can be made");
}

TEST_CASE("the literal of a definition is the hexadecimal form of C") {
  CHECK(Defines().set("A", 1.5f).set("B", 0.1).set("C", 1234567).options() ==
        "-DA=0x1.8p+0f -DB=0x1.999999999999ap-4 -DC=1234567");
  CHECK(Defines().set("A", -0.0f).set("B", -1.0).set("C", 0.0).options() ==
        "-DA=(-0x0p+0f) -DB=(-0x1p+0) -DC=0x0p+0");
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t bits = random.bits32();
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    char wanted[64];
    std::snprintf(wanted, sizeof wanted, value < 0 ? "(%af)" : "%af", static_cast<double>(value));
    if (Defines().set("A", value).values().at("A") != wanted) FAIL_CHECK(wanted);
  }
}
