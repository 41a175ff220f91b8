// clcook report: the evidence of results as one page, or as the tables of the documents.
#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clcook::tool {

namespace {

constexpr const char* kPage = "out/report.html";

struct ReportArguments {
  std::vector<std::string> files;
  std::string out = kPage;
  std::vector<std::string> pictures;
  std::vector<std::string> curves;
  std::string demo;
  std::string root = ".";
  bool markdown = false;
  bool check = false;
};

// ROOT/bench/results/*.json in the order of their names.
std::vector<std::string> committed(const std::string& root) {
  std::vector<std::string> files;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(root) / "bench" / "results";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

int run_report(const ReportArguments& arguments) {
  const std::vector<std::string> files =
      arguments.files.empty() ? committed(arguments.root) : arguments.files;
  const std::vector<report::Result> results = report::load(files);
  if (!arguments.demo.empty()) {
    if (arguments.markdown || arguments.check || !arguments.pictures.empty() ||
        !arguments.curves.empty())
      fail(Errc::invalid_argument, "report",
           "--demo does not go with --markdown, --check, --picture or --curves");
    const std::filesystem::path page = std::filesystem::path(arguments.demo) / "index.html";
    write_file(page, report::demo_page(arguments.demo, results));
    return 0;
  }
  if (!arguments.curves.empty()) {
    const report::Result& from = report::find(results, arguments.curves[0], "explore");
    write_file(arguments.curves[2], report::curves_file(from, arguments.curves[1]));
    return 0;
  }
  if (arguments.markdown) {
    if (!arguments.pictures.empty())
      fail(Errc::invalid_argument, "report", "--picture is for the page, not for --markdown");
    return report::rewrite_markdown(arguments.root, results, arguments.check);
  }
  if (arguments.check) fail(Errc::invalid_argument, "report", "--check needs --markdown");
  for (const report::Result& one : results) {
    if (!one.has_place)
      fail(Errc::io, "result file " + one.path,
           fmt::format("the page has no place for a result of kind '{}'", one.kind));
  }
  if (results.empty() && arguments.pictures.empty())
    fail(Errc::invalid_argument, "report",
         "give result files: there is none in " + arguments.root + "/bench/results");
  std::vector<report::Pictures> pictures;
  for (const std::string& one : arguments.pictures) pictures.push_back(report::parse_pictures(one));
  const std::string page = report::html_page(results, pictures);
  // The one folder that is made, since nobody named it.
  std::error_code error;
  if (arguments.out == kPage && std::filesystem::create_directory("out", error))
    fmt::print("made the folder out\n");
  write_file(arguments.out, page);
  fmt::print("{} results in {}\n", results.size(), arguments.out);
  return 0;
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "report", "Show results as one page, or write the tables of README.md and docs/*.md");
  auto arguments = std::make_shared<ReportArguments>();
  command->add_option("FILES", arguments->files,
                      "Results of check, bench, isa and others; default bench/results/*.json. With "
                      "FILE.toml, see clcook try, also its title");
  command->add_option("--out", arguments->out, "The page")->capture_default_str();
  command
      ->add_option("--picture", arguments->pictures,
                   "RECIPE=BEFORE,AFTER[,REFERENCE]: pictures for a card, PNG or JPEG")
      ->allow_extra_args(false);
  command
      ->add_option("--curves", arguments->curves,
                   "RESULT RECIPE FILE.svg: only draw the curves of a result of kind explore")
      ->expected(3)
      ->allow_extra_args(false);
  command->add_option("--demo", arguments->demo,
                      "FOLDER: write FOLDER/index.html from what ./cook demo left in it; FILES are "
                      "the results of other devices");
  command->add_flag("--markdown", arguments->markdown,
                    "Rewrite the tables and figures of README.md and docs/*.md");
  command->add_flag("--check", arguments->check,
                    "With --markdown: change nothing, print what differs, exit code 1 if any does");
  command->add_option("--root", arguments->root, "Folder of README.md, docs and bench/results")
      ->capture_default_str();
  command->callback([arguments, &exit_code] {
    auto& files = arguments->files;
    const auto end = std::stable_partition(
        files.begin(), files.end(), [](const std::string& name) { return !is_description(name); });
    std::vector<std::string> described(end, files.end());
    files.erase(end, files.end());
    if (!described.empty() && files.empty())
      fail(Errc::invalid_argument, "report",
           "give the results of the described kernels too: clcook check and bench write them with "
           "--out");
    add_descriptions(described);
    exit_code = run_report(*arguments);
  });
}

}  // namespace clcook::tool
