// clcook course: twelve exercises, graded.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>

#include <clcook/core/source.hpp>

#include "course/grade.hpp"
#include "course/learner.hpp"
#include "course/parts.hpp"
#include "course/progress.hpp"
#include "tool/command.hpp"

namespace clcook::tool {

namespace {

namespace fs = std::filesystem;
using course::Exercise;
using course::Proof;

struct CourseArguments {
  std::string what;  // a number, a name or a file
  bool force = false;
  int step = 1;
  std::uint64_t seed = 0;
  course::Part part;
};

std::string page_of(const Exercise& exercise) {
  return fmt::format("docs/course/{}.md", exercise.name);
}

std::string file_of(const Exercise& exercise) { return fmt::format("{}.cl", exercise.name); }

// By number or name; null: neither.
const Exercise* find_exercise(const std::string& what) {
  for (const Exercise& one : course::exercises()) {
    if (what == std::to_string(one.number) || what == one.name || what == one.name.substr(0, 2))
      return &one;
  }
  return nullptr;
}

const Exercise& exercise_named(const std::string& what) {
  if (const Exercise* found = find_exercise(what)) return *found;
  if (fs::path(what).extension() == ".cl" && fs::exists(what)) {
    if (const Exercise* found = course::exercise_in(read_text_file(what))) return *found;
  }
  fail(
      Errc::invalid_argument, "clcook course",
      fmt::format("there is no exercise '{}'; they are 1 to {}", what, course::exercises().size()));
}

int list() {
  const course::Progress progress(course::Progress::standard_path());
  std::string out;
  std::size_t solved = 0;
  const Exercise* next = nullptr;
  for (const Exercise& one : course::exercises()) {
    const course::Done* done = progress.find(one.name);
    std::string stars;
    for (const char* name : {"right", "clean", "shape", "time"})
      stars += done != nullptr && done->stars.find(name) != std::string::npos ? "*" : ".";
    const bool is_solved = done != nullptr && done->solved;
    solved += is_solved ? 1 : 0;
    if (!is_solved && next == nullptr) next = &one;
    out += fmt::format("{:>2}  {}  {} {:<34} {}\n", one.number, stars, is_solved ? "+" : " ",
                       one.title, one.aim);
  }
  out += fmt::format(
      "{} of {} solved. Stars: right, clean (no race), shape (what it does), time (on a GPU).\n",
      solved, course::exercises().size());
  if (next != nullptr)
    out +=
        fmt::format("Next: clcook course start {}, then read {}\n", next->number, page_of(*next));
  if (progress.damaged())
    out += "The record of your progress could not be read: the file is damaged.\n";
  deliver("", out);
  return 0;
}

int start(const CourseArguments& arguments) {
  const Exercise& exercise = exercise_named(arguments.what);
  const std::string file = file_of(exercise);
  const std::string content = course::start_of(exercise);
  if (arguments.force) {
    write_file(file, content);
  } else {
    std::FILE* out = std::fopen(file.c_str(), "wx");
    if (out == nullptr) {
      fail(Errc::io, file,
           fs::exists(file) ? "is there already and is left as it is; --force writes it anew"
                            : "cannot be made");
    }
    const bool written = std::fwrite(content.data(), 1, content.size(), out) == content.size();
    if (std::fclose(out) != 0 || !written) fail(Errc::io, file, "cannot be written");
  }
  deliver("", fmt::format("exercise {}: {}\n"
                          "  made {}; change it, then: clcook course check {}\n"
                          "  read {}: the question, a drawing, what to aim for\n"
                          "  stuck? clcook course hint {}\n",
                          exercise.number, exercise.title, file, exercise.number, page_of(exercise),
                          exercise.number));
  return 0;
}

int hint(const CourseArguments& arguments) {
  const Exercise& exercise = exercise_named(arguments.what);
  std::string out;
  for (int step = 0; step < arguments.step; ++step)
    out += fmt::format("{}. {}\n", step + 1, exercise.hints[static_cast<std::size_t>(step)]);
  if (arguments.step < 3) {
    out +=
        fmt::format("More: clcook course hint {} --step {}\n", exercise.number, arguments.step + 1);
  } else {
    out += fmt::format("The solution is the recipe: docs/{}.md, its kernel {}_{}\n",
                       exercise.recipe, exercise.recipe, exercise.variant);
  }
  deliver("", out);
  return 0;
}

std::string own_path() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) fail(Errc::io, "/proc/self/exe", error.message());
  return path.string();
}

int check(const CourseArguments& arguments) {
  const Exercise* numbered = find_exercise(arguments.what);
  const std::string file = numbered != nullptr ? file_of(*numbered) : arguments.what;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    fail(Errc::io, file,
         numbered != nullptr ? fmt::format("is not in this folder; clcook course start {} makes it",
                                           numbered->number)
                             : std::string("is not there"));
  }
  const Exercise* exercise = course::exercise_in(read_text_file(file));
  if (exercise == nullptr) exercise = numbered;
  if (exercise == nullptr) exercise = find_exercise(fs::path(file).stem().string());
  if (exercise == nullptr) {
    fail(Errc::invalid_argument, file,
         "does not say of which exercise it is: keep the first line of the file that clcook course "
         "start wrote");
  }
  if (!arguments.part.name.empty()) {
    course::Part part = arguments.part;
    part.file = file;
    part.seed = arguments.seed;
    course::run_part(*exercise, part);
    return 0;
  }
  course::GradeOptions options;
  options.program = own_path();
  options.device = arguments.part.device;
  options.seed = arguments.seed;
  if (options.seed == 0) {
    std::random_device random;
    options.seed = random() % 1000000 + 1;
  }
  const course::Grade grade = course::grade(*exercise, file, options);
  std::string out =
      fmt::format("exercise {}: {} (--seed {})\n", exercise->number, exercise->title, options.seed);
  if (!grade.refusal.empty()) {
    out += fmt::format("  not taken: {}: {}\n", file, grade.refusal);
    deliver("", out);
    return 1;
  }
  course::Done done;
  done.solved = grade.solved();
  for (const Proof& proof : grade.proofs) {
    const bool holds = proof.state == Proof::State::holds;
    const char* mark = holds ? "*" : proof.state == Proof::State::fails ? "x" : "-";
    for (std::size_t i = 0; i < proof.lines.size(); ++i)
      out += fmt::format("  {} {:<6} {}\n", i == 0 ? mark : " ", i == 0 ? proof.name : "",
                         proof.lines[i]);
    if (holds) done.stars += (done.stars.empty() ? "" : " ") + std::string(proof.name);
  }
  const Proof* shape = grade.find("shape");
  if (done.solved) {
    out += fmt::format("solved. Compare with the recipe: docs/{}.md, its kernel {}_{}\n",
                       exercise->recipe, exercise->recipe, exercise->variant);
  } else if (grade.find("right")->state != Proof::State::holds) {
    out += fmt::format("not right yet: clcook course hint {}\n", exercise->number);
  } else if (shape != nullptr && shape->state == Proof::State::unavailable) {
    out += "right; whether it is better nobody can tell here\n";
  } else {
    out += fmt::format("right, and not there yet: clcook course hint {}\n", exercise->number);
  }
  deliver("", out);
  course::Progress(course::Progress::standard_path()).keep(exercise->name, done);
  return done.solved ? 0 : 1;
}

}  // namespace

const Command add_course(14, [](CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("course", "Twelve exercises: make a kernel better, and have it graded");
  command->require_subcommand(0, 1);
  auto arguments = std::make_shared<CourseArguments>();
  CLI::App* begin = command->add_subcommand("start", "Write the file of an exercise here");
  begin->add_option("EXERCISE", arguments->what, "1 to 12, or its name")->required();
  begin->add_flag("--force", arguments->force, "Overwrite the file if it exists");
  begin->callback([arguments, &exit_code] { exit_code = start(*arguments); });
  CLI::App* help = command->add_subcommand("hint", "A hint, in three steps");
  help->add_option("EXERCISE", arguments->what, "1 to 12, its name or its file")->required();
  help->add_option("--step", arguments->step, "How many of the three")
      ->check(CLI::Range(1, 3))
      ->capture_default_str();
  help->callback([arguments, &exit_code] { exit_code = hint(*arguments); });
  CLI::App* look = command->add_subcommand(
      "check", "Grade a file: right, clean, its shape, its time; exit code 1 until it is solved");
  look->add_option("EXERCISE", arguments->what, "1 to 12 for the file in this folder, or a file")
      ->required();
  look->add_option("--seed", arguments->seed,
                   "Seed of data and sizes, as an earlier check printed it; 0: a new one")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  look->add_option("--device", arguments->part.device,
                   "Device specification; default CLCOOK_DEVICE, else any");
  look->add_option("--part", arguments->part.name, "For the grader itself")->group("");
  look->add_option("--report", arguments->part.report, "For the grader itself")->group("");
  look->add_option("--nonce", arguments->part.nonce, "For the grader itself")->group("");
  look->callback([arguments, &exit_code] { exit_code = check(*arguments); });
  command->footer("docs/course.md is the way in.");
  command->callback([command, &exit_code] {
    if (command->get_subcommands().empty()) exit_code = list();
  });
});

}  // namespace clcook::tool
