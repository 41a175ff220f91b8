// Descriptions of somebody's kernels: what clcook try, check, bench, tune and isa make of them, what
// they find in kernels with known faults, and what a wrong description is told.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bench/try/description.hpp"
#include "bench/try/expression.hpp"
#include "bench/try/recipe.hpp"
#include "bench/try/signature.hpp"
#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using clcook::tool::described::Description;
using clcook::tool::described::evaluate;
using clcook::tool::described::fill_in;
using clcook::tool::described::Names;
using clcook::tool::described::parse_description;

namespace {

Ran command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), built_program("clcook"));
  return run_program(arguments);
}

bool cannot_read() {
  if (tool::described::can_read() && !not_built("clcook")) return false;
  MESSAGE("SKIPPED: built without toml++, or without the command");
  return true;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// The line that a text first stands in.
std::size_t line_of(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return count_of(text.substr(0, at), "\n") + 1;
}

constexpr const char* kKernels = R"(
#define AT const int i = (int)get_global_id(0)
__kernel void good(__global const float* x, __global float* y, float a, int n) {
  AT;
  if (i < n) y[i] = a * x[i];
}
__kernel void edge(__global const float* x, __global float* y, float a, int n) {
  AT;
  if (i < n - 1) y[i] = a * x[i];
}
__kernel void reads_past(__global const float* x, __global float* y, float a, int n) {
  AT;
  if (i < n) y[i] = a * x[i] + 0.0f * x[i + 1];
}
__kernel void writes_past(__global const float* x, __global float* y, float a, int n) {
  AT;
  y[i] = a * x[min(i, n - 1)];
}
__kernel void race(__global const float* x, __global float* y, float a, int n) {
  AT;
  __local float tile[64];
  const int lane = (int)get_local_id(0);
  const int from = i - lane + 63 - lane;
  tile[lane] = from < n ? a * x[from] : 0.0f;
  if (i < n) y[i] = tile[63 - lane];
}
__kernel void endless(__global const float* x, __global float* y, float a, int n) {
  AT;
  volatile int stay = 1;
  while (stay) {
  }
  if (i < n) y[i] = a * x[i];
}
__kernel void other(__global const float* x, __global int* y, __local float* z) { y[0] = 0; }
)";

constexpr const char* kDescription = R"toml(program = "kernels.cl"
time_limit = 2

[sizes]
check = [{ n = 5 }, { n = 64 }, { n = 65 }]
bench = [{ n = 100000 }]

[[argument]]
name = "x"
buffer = "float"
count = "n"
fill = { random = 3, low = 1.0, high = 2.0 }

[[argument]]
name = "y"
buffer = "float"
count = "n"

[[argument]]
name = "a"
scalar = "float"
value = 2.5

[[argument]]
name = "n"
scalar = "int"
value = "n"

[[kernel]]
name = "good"
baseline = true
global = "round_up(n, 64)"
local = 64

[[kernel]]
name = "mine"
function = "good"
global = "round_up(n, 64)"
local = 64
)toml";

// A folder with the kernels and a description of which `from` became `to`.
struct Described {
  TempFolder folder;
  std::string file = (folder / "mine.toml").string();

  explicit Described(const std::string& description = kDescription) {
    write_bytes((folder / "kernels.cl").string(), kKernels);
    write_bytes(file, description);
  }
};

// The error of a description that is wrong in one place: mine.toml:LINE, and what it says.
void refused(const std::string& from, const std::string& to, const std::string& at,
             const std::string& part) {
  const std::string text = replaced(kDescription, from, to);
  const Described here(text);
  CAPTURE(to);
  std::string said;
  try {
    tool::described::read_description(here.file);
  } catch (const Error& error) {
    CHECK(error.code == Errc::invalid_argument);
    said = error.what();
  }
  CAPTURE(said);
  CHECK(contains(said, "mine.toml:" + std::to_string(line_of(text, at)) + ": "));
  CHECK(contains(said, part));
}

}  // namespace

TEST_CASE("expressions are whole numbers, and what overflows is refused") {
  const Names names{{"n", 100}, {"GROUP", 64}};
  const std::pair<const char*, std::int64_t> good[] = {
      {"1", 1},
      {"n", 100},
      {" 2 * n + 3 ", 203},
      {"2*(n+3)", 206},
      {"-n + 1", -99},
      {"n / 7 % 5 - 10", -6},
      {"ceil_div(n, GROUP)", 2},
      {"round_up(n, GROUP) * max(2, min(n, 3))", 384},
      {"9223372036854775807", 9223372036854775807},
      {"10 - 3 - 2", 5}};
  for (const auto& one : good) {
    CAPTURE(one.first);
    CHECK(evaluate(one.first, names) == one.second);
  }
  const std::pair<const char*, const char*> bad[] = {
      {"", "ends too early"},
      {"n +", "ends too early"},
      {"(n", "')' is missing"},
      {"n n", "is left over"},
      {"m", "'m' is not known here; known are GROUP, n"},
      {"2n", "is no number"},
      {"n / (n - 100)", "division by zero"},
      {"n % 0", "division by zero"},
      {"9223372036854775808", "64 bits"},
      {"n * 9223372036854775807", "64 bits"},
      {"0 - 9223372036854775807 - 2", "64 bits"},
      {"round_up(9223372036854775807, 64)", "64 bits"},
      {"cube(n, 2)", "no function 'cube'"},
      {"min(n)", "',' is missing"},
      {"n $ 2", "is left over"}};
  for (const auto& one : bad) {
    CAPTURE(one.first);
    std::string said;
    try {
      evaluate(one.first, names);
    } catch (const Error& error) {
      CHECK(error.code == Errc::invalid_argument);
      said = error.what();
    }
    CHECK(contains(said, one.second));
  }
  CHECK_THROWS_AS(evaluate(std::string(1000, '(') + "1", names), Error);
  CHECK(fill_in("${HOME}/x_{n}.bin", names) == "${HOME}/x_100.bin");
  CHECK(fill_in("-DN={n} -DM={n+1} {{x}", names) == "-DN=100 -DM=101 {x}");
  CHECK(fill_in("-DTAB={{1,2}} -DN={n}}} -DM={{{{1}},{{n,{n}}}}}", names) ==
        "-DTAB={1,2} -DN=100} -DM={{1},{n,100}}");
  CHECK_THROWS_AS(fill_in("-DN={n", names), Error);
  CHECK_THROWS_WITH_AS(fill_in("-DTAB={1,2}", names),
                       doctest::Contains("braces themselves are written {{ and }}"), Error);
}

TEST_CASE("a file of any name gives a description a legal one") {
  using tool::described::name_of_file;
  CHECK(name_of_file("some/where/my-buf.v2.toml") == "my_buf_v2");
  CHECK(name_of_file(".toml") == "_toml");
  CHECK(name_of_file(std::string(300, 'a') + ".toml") == std::string(100, 'a'));
  if (!tool::described::can_read()) return;
  const std::string text =
      replaced(kDescription, "kernels.cl", CLCOOK_SOURCE_DIR "/examples/try/smooth.cl");
  for (int c = 1; c < 256; ++c) {
    if (c == '/') continue;
    const std::string file = std::string("a") + static_cast<char>(c) + "b.toml";
    CAPTURE(c);
    const bool plain = std::isalnum(c) != 0 && c < 128;
    CHECK(parse_description(text, file).name == (c == '.' ? "a_b"
                                                 : plain
                                                     ? std::string("a") + static_cast<char>(c) + "b"
                                                     : "a_b"));
  }
}

TEST_CASE("a wrong description is told its file and its line") {
  if (cannot_read()) return;
  refused("local = 64", "locla = 64", "locla", "a kernel has no 'locla'; it may have arguments");
  refused("time_limit = 2", "time_limit = \"2\"", "time_limit", "must be a number, is a text");
  refused("time_limit = 2", "time_limit = 2\ntime_limit = 3", "time_limit = 3", "");
  refused("time_limit = 2", "time_limit = ", "time_limit", "");
  refused("\"kernels.cl\"", "\"nowhere.cl\"", "program", "nowhere.cl");
  refused("\"kernels.cl\"", "\"${CLCOOK_NOT_SET}/a.cl\"", "program",
          "the variable CLCOOK_NOT_SET of");
  refused("count = \"n\"", "count = \"n * n * 9223372036854775807\"", "count", "64 bits");
  refused("count = \"n\"", "count = \"n * 1000000000000\"", "count", "more than 2^40");
  refused("count = \"n\"", "count = \"n - 5\"", "count", "'n - 5' is 0, must be at least 1");
  refused("count = \"n\"", "count = \"m\"", "count", "'m' is not known here");
  refused("count = \"n\"", "count = 2.5", "count", "a whole number or an expression");
  refused("buffer = \"float\"", "buffer = \"real\"", "buffer", "'real' is no type");
  refused("buffer = \"float\"", "image = \"RGBA FLOATS\"", "image", "no image format");
  refused("fill = {", "filling = {", "filling", "has no 'filling'");
  refused("low = 1.0", "low = 3.0", "low", "must not be above 'high'");
  refused("random = 3,", "", "low = 1.0", "a fill has one of random");
  refused("fill = {", "access = \"write\"\nfill = {", "[[argument]]", "nothing fills it");
  refused("value = 2.5", "value = \"n\"\nscalar = \"int\"", "scalar = \"int\"", "");
  refused("scalar = \"int\"\nvalue = \"n\"", "scalar = \"char\"\nvalue = \"n * 2\"",
          "value = \"n * 2\"", "does not fit in char");
  refused("name = \"n\"", "name = \"x\"", "[[argument]]\nname = \"x\"\nscalar",
          "two arguments 'x'");
  refused("name = \"mine\"", "name = \"good\"", "[[kernel]]\nname = \"good\"\nfunction",
          "two kernels 'good'");
  refused("baseline = true", "baseline = false", "program", "0 kernels have baseline");
  refused("baseline = true", "baseline = 1", "baseline", "must be true or false");
  refused("global = \"round_up(n, 64)\"", "global = \"n\"", "global = \"n\"",
          "5 of dimension 0 is no multiple of the local size 64");
  refused("local = 64", "local = [64, 1]", "[[kernel]]", "'local' has 2 sizes, 'global' has 1");
  refused("function = \"good\"", "arguments = [\"x\", \"z\"]", "arguments", "no argument 'z'");
  refused("function = \"good\"", "arguments = [\"x\"]", "[[kernel]]\nname = \"mine\"",
          "has no argument 'y', which is compared");
  refused("function = \"good\"", "tune = { n = [1] }", "tune", "a size has the name 'n'");
  refused("function = \"good\"", "tune = { G = [] }", "tune", "is an empty list");
  refused("function = \"good\"", "options = \"-I here\"", "options", "include = [...]");
  refused("program = ", "include = [\"nowhere\"]\nprogram = ", "include", "there is no folder");
  refused("check = [", "check = [{ m = 1 }, ", "{ n = 5 }", "the same names");
  refused("{ n = 64 }", "{ n = -1 }", "check", "must be 0 to 2^53");
  refused("[[kernel]]", "[compare]\noutputs = [\"x\"]\n[[kernel]]", "outputs", "is not written");
  refused("[[kernel]]", "[compare]\nulp = -1\n[[kernel]]", "ulp", "at least 0");
  refused("[[kernel]]", "[compare]\nfiles = { y = \"no.bin\" }\n[[kernel]]", "files",
          "cannot read");
  refused("[[kernel]]", "[compare]\nfiles = { y = \"kernels.cl\" }\n[[kernel]]", "files",
          "'y' has 20");
  refused("[[kernel]]", "[compare]\nlibrary = \"a.so\"\n[[kernel]]", "[compare]", "both 'library'");
  // Characters of which toml++ does not know what they are.
  refused("check = [", "check = \u00e4[", "check = \u00e4[",
          "^ stands for every character beyond ASCII");
  refused("[[kernel]]", "\u00e4 = 1\n[[kernel]]", "\u00e4 = 1", "'^'");
  refused("[[kernel]]", "options = \"\"\"-D \\\n \u00e4\"\"\"\n[[kernel]]", " \u00e4",
          "must not begin with a character beyond ASCII");
  CHECK(parse_description(
            replaced(replaced("\xEF\xBB\xBF# \u00e4\n" + std::string(kDescription), "kernels.cl",
                              CLCOOK_SOURCE_DIR "/examples/try/smooth.cl"),
                     "[[kernel]]", "[[kernel]]\noptions = \"-D N=\u00e4\"  # \u2028"),
            "x.toml")
            .kernels[0]
            .options.text == "-D N=\u00e4");
  // The whole is right.
  CHECK(parse_description(
            replaced(kDescription, "kernels.cl", CLCOOK_SOURCE_DIR "/examples/try/smooth.cl"),
            "x.toml")
            .kernels.size() == 2);
}

TEST_CASE("headers that macros name are read with the description's folders and options") {
  if (cannot_read()) return;
  const std::string kernels = std::string("#define S_(x) #x\n#define S(x) S_(x)\n") +
                              "#include S(inc/NAME.clh)\n" + kKernels;
  const auto text_of = [&](const std::string& from, const std::string& to) {
    const Described here(replaced(kDescription, from, to));
    write_bytes(here.folder / "kernels.cl", kernels);
    write_bytes(here.folder / "more/inc/v.clh", "#define FROM_HEADER 3\n");
    const Description about = tool::described::read_description(here.file);
    const std::string first = about.kernels.front().source.flatten();
    write_bytes(here.folder / "more/inc/v.clh", "#define FROM_HEADER 4\n");
    const Description again = tool::described::read_description(here.file);
    CHECK(first != again.kernels.front().source.flatten());
    return first;
  };
  const auto said = [&](const std::string& to) {
    try {
      return text_of("program = ", to + "program = ");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  const std::string folders = "include = [\"more\"]\n";
  CHECK(contains(said(folders + "options = \"-DNAME=v\"\n"), "#define FROM_HEADER 3"));
  CHECK(contains(said(folders + "options = \"-D NAME=v -DN={n}\"\n"), "#define FROM_HEADER 3"));
  CHECK(contains(said("options = \"-DNAME=v\"\n"),
                 "kernels.cl:3: header 'inc/v.clh' file not found"));
  CHECK(contains(said(folders), "mine.toml:2: "));
  CHECK(contains(said(folders), "header 'inc/NAME.clh' file not found"));
  for (const char* unknown : {"options = \"-DNAME={n}\"\n", "options = \"-D NAME={n}\"\n"})
    CHECK(contains(said(folders + unknown),
                   "kernels.cl:3: #include S(inc/NAME.clh): what the macro NAME"));
}

LONG_TEST_CASE("a description that does not fit its kernels is refused before anything runs", 16) {
  if (cannot_read()) return;
  const auto refuses = [](const std::string& from, const std::string& to, const std::string& at,
                          const std::string& part) {
    const std::string text = replaced(kDescription, from, to);
    const Described here(text);
    const Ran ran = command({"check", here.file});
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(contains(ran.err, "mine.toml:" + std::to_string(line_of(text, at)) + ": "));
    CHECK(contains(ran.err, part));
  };
  refuses("function = \"good\"", "function = \"goood\"", "[[kernel]]\nname = \"mine\"",
          "no kernel 'goood'; it has good");
  refuses("function = \"good\"", "function = \"good\"\narguments = [\"x\", \"y\", \"a\"]",
          "[[kernel]]\nname = \"mine\"", "good() takes 4 arguments, it is given 3: x, y, a");
  refuses("function = \"good\"", "function = \"good\"\narguments = [\"x\", \"y\", \"n\", \"a\"]",
          "[[argument]]\nname = \"n\"", "float a: 'n' is int");
  refuses("function = \"good\"", "function = \"good\"\narguments = [\"y\", \"y\", \"a\", \"n\"]",
          "[[argument]]\nname = \"y\"", "is const, 'y' is written");
  refuses("function = \"good\"", "function = \"good\"\narguments = [\"a\", \"y\", \"a\", \"n\"]",
          "[[argument]]\nname = \"a\"", "is a buffer, 'a' is a scalar");
  refuses("function = \"good\"", "function = \"good\"\noptions = \"-Dgood=\"",
          "[[kernel]]\nname = \"mine\"", "");
}

// One kernel with types of every sort, and what each argument is.
constexpr const char* kTypes = R"(
typedef float real;
typedef float3 vec3;
typedef __global real* reals;
enum low { kMinus = -1, kOne };
typedef enum { kZero, kTwo } mode;
struct point { float x, y, z; };
typedef struct { int rows; } image_size;
__kernel void take(__global real* y, const real f, const vec3 v, enum low l, mode m,
                  __global const struct point* p, __global image_size* s, reals r, __global vec3* t,
                  __local double* part, __constant short* c, __global const void* any,
                  __global float (*rows)[4], __global const uchar* bytes, __global float4* four) {
  y[0] = f * v.x + p[0].y + l + m + c[0] + rows[0][1] + four[0].x;
}
__kernel void by_value(__global float* y, struct point p, __global int*) { y[0] = p.x; }
)";
constexpr const char* kTypesDescription = R"(program = "types.cl"
sizes = { check = [{ n = 4 }] }
argument = [
  { name = "y", buffer = "float", count = "n" },
  { name = "f", scalar = "float", value = 1 },
  { name = "v", scalar = "float3", value = [1, 2, 3] },
  { name = "l", scalar = "int", value = 1 },
  { name = "m", scalar = "uint", value = 1 },
  { name = "p", buffer = "uchar", count = "12 * n", fill = "random" },
  { name = "s", buffer = "int", count = "n" },
  { name = "r", buffer = "float2", count = "n" },
  { name = "t", buffer = "float3", count = "n" },
  { name = "part", local = "double", count = 4 },
  { name = "c", buffer = "short", count = "n", fill = "random" },
  { name = "any", buffer = "float", count = "n", fill = "random" },
  { name = "rows", buffer = "float4", count = "n" },
  { name = "bytes", buffer = "float", count = "n", fill = "random" },
  { name = "four", buffer = "float", count = "4 * n" },
]
kernel = [{ name = "take", global = 1, local = 1 }]
compare = { outputs = ["y"] }
)";

LONG_TEST_CASE("types behind typedefs, enums and structs are compared, and no struct goes by value",
               16) {
  if (cannot_read()) return;
  const TempFolder folder;
  write_bytes(folder / "types.cl", kTypes);
  const auto inspected = [&](const std::string& text) {
    std::string said;
    try {
      tool::described::inspect(runtime(), parse_description(text, folder / "mine.toml"));
    } catch (const Error& error) {
      CHECK(error.code == Errc::invalid_argument);
      said = error.what();
    }
    return said;
  };
  CHECK(inspected(kTypesDescription) == "");
  struct {
    const char* from;
    const char* to;
    const char* said;
  } const wrongs[] = {
      {"\"f\", scalar = \"float\"", "\"f\", scalar = \"int\"", "real f: 'f' is int, real is float"},
      {"\"f\", scalar = \"float\"", "\"f\", scalar = \"uchar\"", "'f' is uchar, real is float"},
      {"\"float3\", value = [1, 2, 3]", "\"float4\", value = [1, 2, 3, 4]",
       "vec3 v: 'v' is float4, vec3 is float3"},
      {"scalar = \"int\"", "scalar = \"uint\"", "enum low l: 'l' is uint, enum low is int"},
      {"scalar = \"uint\"", "scalar = \"long\"", "mode m: 'm' is long, mode is uint"},
      {"\"y\", buffer = \"float\"", "\"y\", buffer = \"int\"", "'y' is of int, real is float"},
      {"\"y\", buffer = \"float\"", "\"y\", buffer = \"float3\"",
       "without its unused fourth number"},
      {"\"y\", buffer = \"float\"", "\"y\", buffer = \"half\"", "'y' is of half, real is float"},
      {"\"r\", buffer = \"float2\"", "\"r\", buffer = \"double\"", "'r' is of double"},
      {"local = \"double\"", "local = \"float\"", "double part: 'part' is of float"},
      {"buffer = \"short\"", "buffer = \"ushort\"", "short c: 'c' is of ushort"},
      {"\"four\", buffer = \"float\"", "\"four\", buffer = \"float3\"",
       "float4 four: 'four' is float3"},
  };
  for (const auto& one : wrongs) {
    CAPTURE(one.to);
    const std::string said = inspected(replaced(kTypesDescription, one.from, one.to));
    CAPTURE(said);
    CHECK(contains(said, "mine.toml:"));
    CHECK(contains(said, one.said));
  }
  // A struct by value has no description, of whatever size.
  for (const char* scalar :
       {"\"uchar\", value = 1", "\"float\", value = 1", "\"float3\", value = [1, 2, 3]",
        "\"uchar16\", value = [1, 2, 3, 4, 5, "
        "6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]"}) {
    const std::string said = inspected(
        R"(program = "types.cl"
sizes = { check = [{ n = 4 }] }
argument = [{ name = "y", buffer = "float", count = "n" }, { name = "z", buffer = "int", count = 1 },
            { name = "p", scalar = )" +
        std::string(scalar) + R"( }]
kernel = [{ name = "by_value", global = 1, local = 1, arguments = ["y", "p", "z"] }]
)");
    CAPTURE(said);
    CHECK(contains(said, "struct point p: its 12 bytes are no number"));
  }
}

TEST_CASE("what a kernel declares is found without the program's help too") {
  const CompileUnit unit{"take", "", Source("types.cl", kTypes), {}, "", {0, 0, 0}, 0};
  // Not asked for: as of a binary that has lost it.
  const cl::Program program = runtime().build(unit.source, {}, "types");
  const Kernel kernel(runtime(), program, "take");
  const auto declared = tool::described::signature_of(runtime(), unit, kernel.handle());
  REQUIRE(declared.size() == 15);
  CHECK(declared[1].type == "real");
  CHECK(declared[6].kind == tool::described::Declared::Kind::buffer);  // image_size is no image
  CHECK(declared[9].kind == tool::described::Declared::Kind::local);
}

TEST_CASE("a number type is itself behind a typedef") {
  CompileUnit one{"", "", Source("", ""), {}, "", {0, 0, 0}, 0};
  for (const char* name : {"char3", "ushort2", "uint16", "ulong", "float3"}) {
    one.source = Source("types.cl", text("typedef ", name, " mine;\n"));
    CAPTURE(name);
    const tool::described::Meaning meaning = tool::described::meaning_of(runtime(), one, "mine");
    REQUIRE(meaning.number);
    CHECK(meaning.number->name == name);
    CHECK(meaning.bytes == meaning.number->size());
  }
  one.source = Source("types.cl", "typedef struct { float4 a; int b; } mine;\n");
  const tool::described::Meaning of_struct = tool::described::meaning_of(runtime(), one, "mine");
  CHECK(!of_struct.number);
  CHECK(of_struct.bytes == 32);
  CHECK(tool::described::meaning_of(runtime(), one, "nothing").bytes == 0);
}

LONG_TEST_CASE("check finds what is wrong with a kernel, and what never ends is ended", 16) {
  if (cannot_read()) return;
  const auto check = [](const std::string& function) {
    const Described here(
        replaced(kDescription, "function = \"good\"", "function = \"" + function + "\""));
    const Ran ran = command({"check", here.file});
    CAPTURE(ran.out);
    CAPTURE(ran.err);
    CHECK(ran.code == (function == "good" ? 0 : 1));
    CHECK(!contains(ran.err, "FAILED mine/good"));
    return ran.err;
  };
  CHECK(check("good").empty());
  CHECK(contains(check("edge"),
                 "FAILED mine/mine (n=65) in-order: at y[64] (never written?): expected"));
  CHECK(contains(check("reads_past"), "at y[4]: expected"));
  CHECK(contains(check("writes_past"), "y: the byte at 20 relative to the first row"));
  CHECK(contains(check("race"), "FAILED mine/mine (n=64)"));
  const std::string text = replaced(kDescription, "function = \"good\"", "function = \"endless\"");
  CHECK(contains(check("endless"),
                 "mine.toml:" + std::to_string(line_of(text, "[[kernel]]\nname = \"mine\"")) +
                     ": mine/mine (n=5) did not end within its time_limit of 2 s"));
}

TEST_CASE("a baseline is checked too") {
  if (cannot_read()) return;
  for (const char* function : {"edge", "reads_past", "writes_past"}) {
    const Described here(replaced(kDescription, "baseline = true",
                                  std::string("baseline = true\nfunction = \"") + function + "\""));
    const Ran ran = command({"check", here.file});
    CAPTURE(ran.err);
    CHECK(ran.code == 1);
    CHECK(contains(ran.err, "FAILED mine/good (n=65) in-order: "));
  }
}

LONG_TEST_CASE("the other commands take a description", 16) {
  if (cannot_read()) return;
  const Described here(replaced(kDescription, "function = \"good\"",
                                "function = \"good\"\ntune = { UNUSED = [1, 2] }"));
  const Ran looked = command({"try", here.file});
  CAPTURE(looked.err);
  CHECK(looked.code == 0);
  CHECK(contains(looked.out, "global 100032, local 64; 2 tunes"));
  const std::string result = (here.folder / "bench.json").string();
  const Ran bench = command({"bench", here.file, "--smoke", "--out", result});
  CAPTURE(bench.err);
  CHECK(bench.code == 0);
  CHECK(contains(bench.out, "mine UNUSED=1"));
  const Ran tune = command({"tune", here.file, "--samples", "3", "--dry-run"});
  CAPTURE(tune.err);
  CHECK(tune.code == 0);
  CHECK(contains(tune.out, "best: "));
  const Ran slow = command(
      {"bench",
       Described(replaced(kDescription, "function = \"good\"", "function = \"endless\"")).file,
       "--smoke"});
  CHECK(slow.code == 1);
  CHECK(contains(slow.err, "did not end within"));
}

TEST_CASE("a local size that is left open is warned of where groups cannot fill a wave") {
  if (cannot_read()) return;
  const auto looked = [](const std::string& global) {
    const std::string sizes = "global = \"round_up(n, 64)\"\nlocal = 64\n";
    const Described here(replaced(replaced(kDescription, sizes, "global = " + global + "\n"), sizes,
                                  "global = 64\n"));
    const Ran ran = command({"try", here.file});
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    return ran.out;
  };
  const std::string warning = " at most if it divides the global size";
  CHECK(contains(looked("16777259"), "device, 1" + warning));
  CHECK(contains(looked("[33554518, 1]"), "device, 2" + warning));
  CHECK(contains(looked("[16777259, 3, 3]"), "device, 9" + warning));
  for (const char* fine : {"96", "7", "[16777259, 64]", "33554432"})
    CHECK(!contains(looked(fine), warning));
}

TEST_CASE("--new describes what a kernel declares, and overwrites nothing") {
  if (cannot_read()) return;
  const TempFolder folder;
  const std::string kernels = (folder / "kernels.cl").string();
  write_bytes(kernels, kKernels);
  const Ran made = command({"try", "--new", kernels});
  CAPTURE(made.err);
  CHECK(made.code == 0);
  const std::string file = (folder / "kernels.toml").string();
  const std::string text = read_bytes(file);
  CHECK(contains(text, "# other() has other arguments than good()."));
  const Description about = tool::described::read_description(file);
  CHECK(about.kernels.size() == 6);
  CHECK(about.baseline().name == "good");
  CHECK(about.arguments.size() == 4);
  CHECK(about.arguments[2].type.name == "float");
  const Ran again = command({"try", "--new", kernels});
  CHECK(again.code == 2);
  CHECK(contains(again.err, "is there already"));
  CHECK(read_bytes(file) == text);
  // As it was made, it is checked: of one kernel, in both kinds of queues.
  const Ran check = command({"check", file, "--variant", "good"});
  CAPTURE(check.err);
  CHECK(check.code == 0);
  CHECK(contains(check.out, "10 passed, 0 failed"));
}

// --new of a text, and what it wrote.
std::string begun(const TempFolder& folder, const std::string& file, const std::string& kernels,
                  std::vector<std::string> options = {}) {
  write_bytes(folder / file, kernels);
  options.insert(options.begin(), {"try", "--new", (folder / file).string()});
  const Ran made = command(options);
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  return (folder / std::filesystem::path(file).replace_extension(".toml").string()).string();
}

LONG_TEST_CASE("what --new writes is what check takes, whatever the types are", 16) {
  if (cannot_read()) return;
  const TempFolder folder;
  // Every type of numbers, in every role, and structs in memory.
  std::string kernel =
      "typedef float real; struct point { float x, y, z; };\n"
      "__kernel void all_of_them(__global const struct point* points, "
      "__global const real* reals, real one, __local struct point* part, ";
  for (const std::string& type : tool::described::type_names()) {
    const bool optional = type.rfind("half", 0) == 0 || type.rfind("double", 0) == 0;
    if (optional) continue;
    kernel += "__global const " + type + "* in_" + type + ", const " + type + " by_" + type + ", ";
  }
  kernel +=
      "char n, __global float* size$) {\n"
      "  if (get_global_id(0) == 0) size$[0] = points[0].x + in_int4[0].w * by_float3.z;\n"
      "  if (get_global_id(0) < get_global_size(0)) size$[0] = 1;\n}\n";
  const std::string file = begun(folder, "my-buf.cl", kernel, {"--options", "-DTAB={1,{2}} -I ."});
  const Description about = tool::described::read_description(file);
  CHECK(about.name == "my_buf");
  CHECK(about.arguments.front().count.text == "12 * n");
  CHECK(fill_in(about.kernels.front().options, Names()) == "-DTAB={1,{2}}");
  tool::described::inspect(runtime(), about);
  CHECK(command({"try", file}).code == 0);
}

TEST_CASE("--new keeps to sizes of groups, and says what a description cannot give") {
  if (cannot_read()) return;
  const TempFolder folder;
  const char* groups =
      "__kernel __attribute__((reqd_work_group_size(4, 4, 2)))\n"
      "void box(__global float* y, int width) {\n"
      "  const int i = (int)(get_global_id(1) * width + get_global_id(0));\n"
      "  if ((int)get_global_id(0) < width && get_global_id(2) == 0 && i < 1) y[i] = 1;\n}\n";
  // The name of a recipe is taken.
  const std::string boxes = begun(folder, "line_blur.cl", groups);
  const Description about = tool::described::read_description(boxes);
  CHECK(about.name == "my_line_blur");
  CHECK(about.kernels.front().local.size() == 3);
  tool::described::inspect(runtime(), about);

  const auto is_refused = [&](const char* file, const char* kernel, const std::string& line,
                              const char* why) {
    const std::string made = begun(folder, file, kernel);
    const std::string at = made + ":" + std::to_string(line_of(read_bytes(made), line)) + ": ";
    CHECK_THROWS_WITH_AS(tool::described::read_description(made),
                         doctest::Contains((at + why).c_str()), Error);
  };
  is_refused("value.cl",
             "struct point { float x; };\n"
             "__kernel void v(__global float* y, struct point p) { y[0] = p.x; }\n",
             "scalar = \"struct point\"  # no number", "'struct point' is no type");
  is_refused("void.cl", "__kernel void v(__global void* y) { *(__global int*)y = 1; }\n",
             "buffer = \"void\"  # not known", "'void' is no type");
  const Ran other = command({"try", "--new", boxes, "--out", (folder / "mine.txt").string()});
  CHECK(other.code == 2);
  CHECK(contains(other.err, "must end in .toml"));
}

LONG_TEST_CASE("references in files and in C", 16) {
  if (cannot_read()) return;
  const TempFolder folder;
  const std::string library = (folder / "reference.so").string();
  const std::string source = (folder / "reference.c").string();
  write_bytes(source, R"(
#include <stddef.h>
#include <stdlib.h>
int right(void* const* a, const size_t* bytes) {
  for (size_t i = 0; i < bytes[1] / 4; ++i) ((float*)a[1])[i] = *(float*)a[2] * ((float*)a[0])[i];
  return 0;
}
int wrong(void* const* a, const size_t* bytes) {
  right(a, bytes);
  ((float*)a[1])[bytes[1] / 4 - 1] += 1;
  return 0;
}
int crashes(void* const* a, const size_t* bytes) { abort(); }
int endless(void* const* a, const size_t* bytes) { for (volatile int i = 0;;) i = 0; }
int refuses(void* const* a, const size_t* bytes) { return 7; }
int overruns(void* const* a, const size_t* bytes) { ((char*)a[1])[bytes[1]] = 0; return 0; }
)");
  REQUIRE(run_program({"/usr/bin/cc", "-shared", "-fPIC", "-o", library, source}).code == 0);
  const auto check = [&](const std::string& function, int code) {
    const Described here(std::string(kDescription) + "\n[compare]\nlibrary = \"" + library +
                         "\"\nfunction = \"" + function + "\"\n");
    const Ran ran = command({"check", here.file, "--in-order"});
    CAPTURE(ran.err);
    CHECK(ran.code == code);
    return ran.err;
  };
  CHECK(check("right", 0).empty());
  CHECK(contains(check("wrong", 1), "FAILED mine/good (n=64) in-order: at y[63]: expected"));
  CHECK(contains(check("crashes", 2), "the reference crashes() crashed: signal 6"));
  CHECK(contains(check("endless", 2), "did not return within the time_limit of 2 s"));
  CHECK(contains(check("refuses", 2), "returned 7, not 0"));
  CHECK(contains(check("overruns", 2), "wrote outside its arguments"));
  CHECK(contains(check("absent", 2), "no function: "));
  // The values of a file are taken as they are: of these the baseline computes others.
  const Described here(replaced(kDescription,
                                "check = [{ n = 5 }, { n = 64 }, { n = 65 }]\nbench = "
                                "[{ n = 100000 }]",
                                "check = [{ n = 2 }]") +
                       "\n[compare]\nfiles = { y = \"golden_{n}.bin\" }\n");
  write_bytes((here.folder / "golden_2.bin").string(), std::string(8, '\0'));
  const Ran ran = command({"check", here.file, "--in-order"});
  CAPTURE(ran.err);
  CHECK(ran.code == 1);
  CHECK(contains(ran.err, "at y[0]: expected 0, got "));
}

LONG_TEST_CASE("images are filled, compared and shown by their texels", 16) {
  if (cannot_read() || !runtime().info().images) return;
  const TempFolder folder;
  write_bytes(folder / "kernels.cl", R"(
__constant sampler_t kHere = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__kernel void swap(__read_only image2d_t from, __write_only image2d_t to) {
  const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
  write_imagef(to, at, read_imagef(from, kHere, at).zyxw);
}
__kernel void shifted(__read_only image2d_t from, __write_only image2d_t to) {
  const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
  write_imagef(to, at, read_imagef(from, kHere, (int2)(at.x + at.y / 4, at.y)).zyxw);
}
)");
  const std::string file = (folder / "pictures.toml").string();
  write_bytes(file, R"(program = "kernels.cl"
[sizes]
check = [{ width = 1, height = 1 }, { width = 7, height = 5 }]
[[argument]]
name = "from"
image = "RGBA UNORM_INT8"
width = "width"
height = "height"
fill = "random"
[[argument]]
name = "to"
image = "RGBA UNORM_INT8"
width = "width"
height = "height"
[[kernel]]
name = "swap"
baseline = true
global = ["width", "height"]
[[kernel]]
name = "again"
function = "swap"
global = ["width", "height"]
[[kernel]]
name = "shifted"
global = ["width", "height"]
)");
  const Ran ran = command({"check", file});
  CAPTURE(ran.out);
  CAPTURE(ran.err);
  CHECK(ran.code == 1);
  CHECK(contains(ran.out, "10 passed, 2 failed"));
  CHECK(contains(ran.err, "FAILED pictures/shifted (width=7 height=5) in-order: at to(0, 4).0"));
}

TEST_CASE("rows with an image that the device lacks are skipped") {
  const auto lacks = [](cl_channel_order order, cl_channel_type type) {
    return !has_image_format(runtime(), CL_MEM_OBJECT_IMAGE1D, {order, type}, CL_MEM_READ_WRITE);
  };
  const std::string image = lacks(CL_RG, CL_FLOAT)          ? "RG FLOAT"
                            : lacks(CL_RG, CL_SIGNED_INT16) ? "RG SIGNED_INT16"
                            : lacks(CL_BGRA, CL_FLOAT)      ? "BGRA FLOAT"
                                                            : "";
  if (cannot_read() || !runtime().info().images || image.empty()) return;
  const TempFolder folder;
  write_bytes(folder / "kernels.cl",
              "__kernel void fill(__write_only image1d_t to) {\n"
              "  write_imagef(to, (int)get_global_id(0), (float4)(1, 2, 3, 4));\n}\n");
  const std::string file = (folder / "fill.toml").string();
  write_bytes(file,
              "program = \"kernels.cl\"\n[sizes]\ncheck = [{ width = 4 }]\n[[argument]]\n"
              "name = \"to\"\nimage = \"" +
                  image +
                  "\"\nwidth = \"width\"\n[[kernel]]\nname = \"fill\"\nbaseline = true\n"
                  "global = [\"width\"]\n");
  const Ran ran = command({"check", file});
  CAPTURE(ran.out);
  CAPTURE(ran.err);
  CHECK(contains(ran.out, "0 passed, 0 failed, 2 skipped"));
  CHECK(contains(ran.out, "the device has no such image"));
  CHECK_FALSE(contains(ran.err, "FAILED"));
}

LONG_TEST_CASE("the page's description and the example are right", 16) {
  if (cannot_read()) return;
  const std::string page = read_bytes(CLCOOK_SOURCE_DIR "/docs/try.md");
  const auto block = [&](const std::string& kind) {
    const std::string begin = "```" + kind + "\n";
    const std::size_t from = page.find(begin) + begin.size();
    return page.substr(from, page.find("```", from) - from);
  };
  const TempFolder folder;
  write_bytes(folder / "turn.cl", block("cl"));
  write_bytes(folder / "turn.toml", block("toml"));
  for (const std::string& file : {(folder / "turn.toml").string(),
                                  std::string(CLCOOK_SOURCE_DIR "/examples/try/smooth.toml")}) {
    const Ran ran = command({"check", file, "--in-order"});
    CAPTURE(file);
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
  }
}
