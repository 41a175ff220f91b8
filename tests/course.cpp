// clcook course: wrong answers are refused with the reason, right ones of any shape are accepted.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "bench/course/exercise.hpp"
#include "bench/course/grade.hpp"
#include "bench/course/learner.hpp"
#include "bench/course/progress.hpp"

#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/planted.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using namespace clcook::tool::course;

namespace {

std::vector<std::filesystem::path> answers(const char* folder) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(CLCOOK_SOURCE_DIR "/tests/course/" +
                                                               std::string(folder)))
    out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

// A wrong answer: what must fail, and part of what the learner is told.
struct Wrong {
  std::string name;
  std::string text;
  std::string fails;
  std::string says;
};

// The rest of the line that begins with `key`.
std::string said(const std::string& text, const std::string& key) {
  const std::size_t at = text.find("// " + key + ": ");
  REQUIRE(at != std::string::npos);
  const std::size_t begin = at + key.size() + 5;
  return text.substr(begin, text.find('\n', begin) - begin);
}

// The right answers with a mistake of tests/course/wrong.txt, and the files of tests/course/wrong. A
// file without a kernel stands for the one that `start` writes.
std::vector<Wrong> wrong_answers() {
  std::vector<Wrong> out;
  const std::string folder = CLCOOK_SOURCE_DIR "/tests/course/";
  for (const PlantedBug& bug :
       read_planted("wrong.txt", read_bytes(folder + "wrong.txt"), {"fails", "says"})) {
    Wrong one{bug.name, plant(read_bytes(folder + "right/" + bug.file), bug), "", ""};
    for (const auto& [key, value] : bug.more) (key == "fails" ? one.fails : one.says) = value;
    out.push_back(one);
  }
  for (const auto& file : answers("wrong")) {
    Wrong one{file.stem().string(), read_bytes(file), "", ""};
    one.fails = said(one.text, "fails");
    one.says = said(one.text, "says");
    const Exercise* exercise = exercise_in(one.text);
    REQUIRE(exercise != nullptr);
    if (one.text.find("__kernel") == std::string::npos) one.text += start_of(*exercise);
    out.push_back(one);
  }
  return out;
}

std::string joined(const Grade& grade) {
  std::string out = grade.refusal;
  for (const Proof& proof : grade.proofs) {
    out += std::string(proof.name) + (proof.state == Proof::State::holds   ? " holds\n"
                                      : proof.state == Proof::State::fails ? " fails\n"
                                                                           : " cannot be had\n");
    for (const std::string& line : proof.lines) out += "  " + line + "\n";
  }
  return out;
}

bool has_oclgrind() { return std::filesystem::exists("/usr/bin/oclgrind"); }

Ran tool_in(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
            std::vector<std::pair<std::string, std::optional<std::string>>> variables = {}) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  std::vector<std::string> command = {built_program("clcook"), "course"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  variables.emplace_back("XDG_DATA_HOME", (folder / "data").string());
  const Ran ran = run_program(command, variables);
  std::filesystem::current_path(before);
  return ran;
}

const Exercise& numbered(int number) {
  return exercises().at(static_cast<std::size_t>(number - 1));
}

// A file of exercise 2 with this text in it.
std::string of_two(const std::string& text) {
  return "// clcook course, exercise 2: x\n// clcook: local = 64\n" + text + "\n";
}

}  // namespace

TEST_SUITE_BEGIN("course" * doctest::skip(!clcook::tool::described::can_read()));

LONG_TEST_CASE("at least forty wrong answers, each of them not accepted and told why", 16) {
  if (not_built("clcook")) return;
  const bool compiles = !compiling_tool().empty();
  const std::vector<Wrong> all_wrong = wrong_answers();
  CHECK(all_wrong.size() >= 40);
  std::size_t number = 0;
  const TempFolder folder;
  for (const Wrong& wrong : all_wrong) {
    if (left_out(number++, 16)) continue;
    CAPTURE(wrong.name);
    CHECK_FALSE(wrong.says.empty());
    const std::string& proof = wrong.fails;
    if (proof == "shape" && !compiles) continue;
    if (proof == "clean" && !has_oclgrind()) continue;
    const Exercise* exercise = exercise_in(wrong.text);
    REQUIRE(exercise != nullptr);
    GradeOptions options;
    options.program = built_program("clcook");
    options.seed = 11 + number;
    options.proofs = {proof};
    const std::string answer = folder / (wrong.name + ".cl");
    write_bytes(answer, wrong.text);
    const Grade grade = clcook::tool::course::grade(*exercise, answer, options);
    const std::string all = joined(grade);
    CAPTURE(all);
    CHECK_FALSE(grade.solved());
    CHECK(all.find(wrong.says) != std::string::npos);
    // A line of it is a line.
    CHECK(all.find("\n\n") == std::string::npos);
    if (proof == "refused") {
      CHECK_FALSE(grade.refusal.empty());
      continue;
    }
    const Proof* found = grade.find(proof);
    REQUIRE(found != nullptr);
    CHECK(found->state == Proof::State::fails);
    CHECK_FALSE(found->lines.empty());
  }
}

LONG_TEST_CASE("right answers of other shapes are accepted", 32) {
  if (compiling_tool().empty()) return;
  const auto files = answers("right");
  CHECK(files.size() >= 13);
  std::set<int> seen;
  std::size_t number = 0;
  for (const auto& file : files) {
    const std::string text = read_bytes(file);
    const Exercise* exercise = exercise_in(text);
    REQUIRE(exercise != nullptr);
    seen.insert(exercise->number);
    if (left_out(number++, 16)) continue;
    GradeOptions options;
    options.program = built_program("clcook");
    options.seed = 5 + number;
    const Grade grade = clcook::tool::course::grade(*exercise, file.string(), options);
    const std::string all = joined(grade);
    CAPTURE(file.filename().string());
    CAPTURE(all);
    CHECK(grade.solved());
  }
  CHECK(seen.size() == exercises().size());
}

TEST_CASE("every exercise has a page with its kernel and its drawing") {
  CHECK(exercises().size() == 12);
  const std::string index = read_bytes(CLCOOK_SOURCE_DIR "/docs/course.md");
  int number = 0;
  for (const Exercise& one : exercises()) {
    CAPTURE(one.name);
    CHECK(one.number == ++number);
    const std::string start = start_of(one);
    CHECK(exercise_in(start) == &one);
    CHECK(refusal(one, start).empty());
    CHECK_NOTHROW(geometry_in(one, one.name, start));
    const std::string page = read_bytes(CLCOOK_SOURCE_DIR "/docs/course/" + one.name + ".md");
    CHECK(page.find("```c\n" + start + "```") != std::string::npos);
    CHECK(page.rfind("# Exercise " + std::to_string(one.number) + ": " + one.title + "\n", 0) == 0);
    const std::string picture = "images/course_" + one.name.substr(3) + ".svg";
    CHECK(page.find(picture) != std::string::npos);
    CHECK(std::filesystem::exists(CLCOOK_SOURCE_DIR "/docs/" + picture));
    CHECK(index.find("course/" + one.name + ".md") != std::string::npos);
    for (const std::string& hint : one.hints) CHECK(hint.size() > 40);
  }
}

TEST_CASE("what a file may not hold") {
  const auto refused = [](const std::string& text) { return refusal(numbered(2), of_two(text)); };
  CHECK(refused("#include <clcook/table.clh>").empty());
  CHECK(refused("// #include \"x\"\n/* #include \"x\"\n*/ int f() { return 1; }").empty());
  CHECK(refused("#if 0\n#endif").empty());
  CHECK(refused("#define N 3\n#if N > 2 && defined(N)\n#endif").empty());
  CHECK(refused("__attribute__((reqd_work_group_size(64, 1, 1)))").empty());
  for (const char* bad : {"#include \"x.h\"",
                          "#include <stdio.h>",
                          "  #  include <clcook/../x.clh>",
                          "%:include \"x\"",
                          "#inc\\\nlude \"x\"",
                          "/* */ #include \"x\"",
                          "#include_next <x>",
                          "#import \"x\"",
                          "#embed \"x\"",
                          "# 3 \"x.cl\"",
                          "#define clcook_x 1",
                          "#define CLCOOK_COUNT(x)",
                          "#undef clcook_count",
                          "#define block_modes other",
                          "#define __kernel",
                          "#ifdef __AMDGCN__\n#endif",
                          "#if defined(unix)\n#endif",
                          "#define A B\n#if A\n#endif",
                          "#define A(x) __x86_64__\n",
                          "int f() { return __LINE__; }",
                          "printf(\"\");",
                          "#define P printf",
                          "asm(\"\");",
                          "#pragma clang optimize off",
                          "#line 3",
                          "_Pragma(\"clang x\")"}) {
    CAPTURE(std::string(bad));
    CHECK_FALSE(refused(bad).empty());
  }
  // The line is that of the file.
  CHECK(contains(refused("\n#define X \\\n  1\n#include \"x\""), "line 6"));
}

TEST_CASE("the size of a group is read from the file") {
  const auto read = [](int number, const std::string& lines) {
    return geometry_in(numbered(number), "mine.cl", lines);
  };
  CHECK(read(1, "// clcook: local = 64\n").outputs == std::vector<std::size_t>{1});
  CHECK(read(4, "// clcook: local = 16 4\n  // clcook: outputs = 2 1\n").local ==
        std::vector<std::size_t>{16, 4});
  for (const char* bad :
       {"", "// clcook: local = 0\n", "// clcook: local = 64 1\n", "// clcook: local = 2048\n",
        "// clcook: local = x\n", "// clcook: local = -1\n", "// clcook: local 64\n",
        "// clcook: local = 99999999999999999999\n",
        "// clcook: local = 64\n// clcook: local = 64\n", "// clcook: group = 64\n"}) {
    CAPTURE(std::string(bad));
    CHECK_THROWS_AS(read(1, bad), Error);
  }
  CHECK_THROWS_AS(read(4, "// clcook: local = 64 64\n"), Error);
  CHECK_THROWS_AS(read(8, "// clcook: local = 64\n// clcook: outputs = 2\n"), Error);
}

TEST_CASE("progress is kept, the better of two, and survives what is no progress") {
  const TempFolder folder;
  const std::string path = (folder / "new/clcook/course.json").string();
  {
    Progress progress(path);
    CHECK(progress.find("01_two_calls") == nullptr);
    progress.keep("01_two_calls", {"right clean shape", true});
    progress.keep("01_two_calls", {"right", false});
    progress.keep("02_table", {"", false});
  }
  CHECK(Progress(path).find("01_two_calls")->solved);
  CHECK(Progress(path).find("01_two_calls")->stars == "right clean shape");
  CHECK_FALSE(Progress(path).find("02_table")->solved);
  // Half of a file, as a crash of something else leaves it; nothing; other things.
  const std::string whole = read_bytes(path);
  for (const std::string& damage :
       {whole.substr(0, whole.size() / 2), std::string(), std::string("[]"),
        std::string("{\"format\": 7, \"exercises\": {}}"), std::string("\0\xFF\x80", 3),
        std::string("{\"format\": 1, \"exercises\": {\"01_two_calls\": 5}}")}) {
    CAPTURE(damage);
    write_bytes(path, damage);
    Progress progress(path);
    CHECK(progress.damaged());
    CHECK(progress.find("01_two_calls") == nullptr);
    progress.keep("03_thresholds", {"right", false});
    CHECK_FALSE(Progress(path).damaged());
    CHECK(read_bytes(path + ".damaged") == damage);
  }
  // Nothing else is left in the folder: files are put in place whole.
  for (const auto& entry : std::filesystem::directory_iterator(folder / "new/clcook"))
    CHECK_FALSE(contains(entry.path().string(), ".tmp-"));
}

TEST_CASE("the command: start, hint, check, list") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const auto run = [&](const std::vector<std::string>& arguments) {
    return tool_in(folder.path(), arguments);
  };
  Ran ran = run({"start", "3"});
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, "docs/course/03_thresholds.md"));
  CHECK(read_bytes(folder / "03_thresholds.cl") == start_of(numbered(3)));
  // What is there is the learner's.
  write_bytes(folder / "03_thresholds.cl", "mine");
  ran = run({"start", "3"});
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, "--force"));
  CHECK(read_bytes(folder / "03_thresholds.cl") == "mine");
  CHECK(run({"start", "03_thresholds", "--force"}).code == 0);
  CHECK(read_bytes(folder / "03_thresholds.cl") == start_of(numbered(3)));

  ran = run({"hint", "3"});
  CHECK(contains(ran.out, "--step 2"));
  CHECK_FALSE(contains(ran.out, "2. "));
  ran = run({"hint", "03_thresholds.cl", "--step", "3"});
  CHECK(contains(ran.out, "3. "));
  CHECK(contains(ran.out, "docs/threshold_count.md"));
  CHECK(run({"hint", "3", "--step", "4"}).code == 2);

  for (const std::vector<std::string>& bad : {std::vector<std::string>{"start", "13"},
                                              {"start", "0"},
                                              {"check", "5"},
                                              {"hint", "x"},
                                              {"check", "nothing.cl"},
                                              {"check", "."}}) {
    ran = run(bad);
    CAPTURE(bad.back());
    CHECK(ran.code == 2);
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  }
  write_bytes(folder / "of_no.cl", "__kernel void f() {}\n");
  ran = run({"check", "of_no.cl"});
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, "does not say of which exercise"));

  ran = run({});
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, "0 of 12 solved"));
  CHECK(contains(ran.out, "clcook course start 1"));
}

TEST_CASE("without Oclgrind and a compiler their stars cannot be had, and the grade says so") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::string answer = CLCOOK_SOURCE_DIR "/tests/course/right/02_table_constant.cl";
  // All that PoCL itself calls.
  std::filesystem::create_directory(folder / "bin");
  std::filesystem::create_symlink("/usr/bin/ld", folder / "bin/ld");
  const Ran ran =
      tool_in(folder.path(), {"check", answer, "--seed", "3"},
              {{"PATH", (folder / "bin").string()}, {"CLCOOK_CLANG", "/nonexistent/clang"}});
  CAPTURE(ran.out);
  CAPTURE(ran.err);
  CHECK(ran.code == 1);
  CHECK(contains(ran.out, "Oclgrind, which looks for races"));
  CHECK(contains(ran.out, "* right"));
  CHECK(contains(ran.out, "- shape"));
  CHECK(contains(ran.out, "whether it is better nobody can tell here"));
  const Ran list = tool_in(folder.path(), {});
  CHECK(contains(list.out, " 2  *..."));
}

TEST_CASE("a seed repeats what a check found") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::string answer = folder / "02_wrong_entry.cl";
  for (const Wrong& wrong : wrong_answers())
    if (wrong.name == "02_wrong_entry") write_bytes(answer, wrong.text);
  // Without Oclgrind, which takes its time; PoCL links what it compiles.
  const std::filesystem::path programs = folder.path() / "programs";
  std::filesystem::create_directory(programs);
  std::filesystem::create_symlink("/usr/bin/ld", programs / "ld");
  const auto found = [&](const char* seed) {
    return tool_in(folder.path(), {"check", answer, "--seed", seed}, {{"PATH", programs.string()}})
        .out;
  };
  const std::string once = found("77");
  CHECK(contains(once, "--seed 77"));
  CHECK(contains(once, "expected 15, got 13"));
  CHECK(found("77") == once);
}

TEST_SUITE_END();
