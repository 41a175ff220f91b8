// The parts of `clcook report`: reading results, tables, plots, pictures, the page, the markdown.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "isa/gate.hpp"
#include "measure/verdict.hpp"
#include "results.hpp"
#include "tool/command.hpp"

namespace clcook::tool::report {

// ---- Results (report/results.cpp) ----

// A result file. Of the contents the one of its kind is filled, none for a kind that has no table
// here.
struct Result {
  std::string stem;  // file name without folder and .json: how documents refer to it
  std::string path;
  std::string kind;
  std::string commit;  // empty where it is not said
  std::string date;
  std::string device;  // Device::text(), empty for results of no device (isa)
  Device about;        // that device
  BenchResult bench;
  CheckResult check;
  IsaResult isa;
  StagesResult stages;
  PeersResult peers;
  ExploreResult explore;
  StartupResult startup;
  CountersResult counters;
  Json json;               // the file as it is: what documents quote from it
  bool has_place = false;  // the page shows results of this kind; documents may quote any
};

// A result from the content of a file; `path` is its name. Throws Error(io) as reading results.hpp
// does.
Result parse(const std::string& content, const std::string& path);

// Reads results. Throws Error(io) as reading results.hpp does; two files of one stem are an error.
// Files of a kind that has no table here are kept: documents may quote them.
std::vector<Result> load(const std::vector<std::string>& paths);

// The one of that stem. Throws Error(invalid_argument) that lists the stems; also when `kind` is
// not empty and the result is of another.
const Result& find(const std::vector<Result>& results, const std::string& stem,
                   const std::string& kind);

// The recipes that a result is about.
std::vector<std::string> recipes_of(const Result& result);

// The newest result of a kind and a device that has times of a recipe; null without one.
const Result* newest_of(const std::vector<Result>& results, const std::string& kind,
                        const std::string& device, const std::string& recipe);

// Whether a result is about recipes of the cookbook, and whether a benchmark's among these is: beside
// such, results of somebody's kernels count as no device, and have no row in recipes_table().
bool of_cookbook(const Result& result);
bool has_cookbook(const std::vector<Result>& results);

// The devices with a result of that kind ("" for any), in order of appearance.
std::vector<std::string> devices_of(const std::vector<Result>& results, const std::string& kind);

// What people call the device, such as "NVIDIA H200" or "PoCL, 2 cores"; its whole name where another
// device with a result of that kind has this one too.
std::string short_device(const std::vector<Result>& results, const std::string& kind,
                         const std::string& device);

// Rows of one recipe that can be compared: one shape, one mode.
struct Group {
  std::string shape;
  std::string mode;
  std::vector<const BenchRow*> rows;
};
std::vector<Group> groups_of(const Result& result, const std::string& recipe);

// Two measured rows of a group whose variants differ and whose tunes, what was left open included,
// do not: of all such the one in which `with` is fastest. Null where there is none.
struct Pair {
  const BenchRow* with = nullptr;
  const BenchRow* without = nullptr;
  Ratio ratio;  // the time of `without` over that of `with`
  Verdict verdict = Verdict::none;
};
Pair pair_of(const Recipe& recipe, const Device& device, const Group& group,
             const std::string& with, const std::string& without);
// The same of a row and its variant's predecessor.
Pair step_of(const Recipe& recipe, const Device& device, const Group& group, const BenchRow& row);

// Whether a group's baseline is the recipe's, at the first of its tunes, the best one: not where the
// shape has another, to show what the tune gains.
bool has_baseline(const Recipe& recipe, const Device& device, const Group& group);

// The checks of each variant, added up; "" for all recipes.
std::vector<CheckTotalRow> totals_of(const Result& result, const std::string& recipe);

// The steps of a stage table, with the interval of each step from its samples.
struct Stage {
  std::string name;     // "coalesced@64"
  std::string skipped;  // why it was not run
  Ratio time_us;        // the median with its 95 % interval
  double total = 0;
  std::string previous;
  Ratio step;
  Verdict verdict = Verdict::none;
  double max_error = 0;
  double off_full = 0;
};
std::vector<Stage> stages_of(const Result& result);

// The command that measures a result file again, from its kind and recipes: also of one that cannot be
// read. Its options may have been others.
std::string renewal_of(const Json& json, const std::string& path);

// ---- History (report/history.cpp) ----

// What git knows in a project's folder of the commits of results. Where it cannot be asked, since the
// folder is no repository or a shallow clone, the answers are `unknown`.
class History {
 public:
  enum class Has { yes, no, unknown };

  explicit History(const std::filesystem::path& root);

  // Whether a commit, as result files name it, is HEAD or before it.
  Has has(const std::string& commit);
  // The committed counts of machine code at a commit before HEAD; null where it has none.
  const isa::Gate* gate_at(const std::string& commit);
  // Those in the folder.
  const isa::Gate* gate();
  // What it could not be asked, and why, as one line; "" for nothing.
  std::string note() const;

 private:
  std::string root_;
  std::string git_;
  std::string silence_;  // why it cannot be asked anything
  bool shallow_ = false;
  std::map<std::string, Has> known_;
  std::map<std::string, std::optional<isa::Gate>> gates_;  // by commit, "" for the folder's
};

// ---- Provenance (report/provenance.cpp) ----

// A document's word that results hold although there is a doubt.
struct Vouch {
  std::string where;   // "docs/line_blur.md:540"
  std::string recipe;  // or "*" for all that the results have
  std::string hash;    // what the measured variants compiled and enqueued when this was written
  std::vector<std::string> results;
  std::string text;  // why they hold
};

// Complaints of results that may not be those of the recipes that this program was built with, each with
// the command that renews it, and of what vouches in vain. A document that vouches for times has to name
// each variant in `quotes` whose machine code, as the counts of clcook isa have it, is another now. A recipe that this program does not
// have is not compared. Throws Error(invalid_argument) for a vouch that names a result that is not there.
std::vector<std::string> doubts_about(const std::vector<Result>& results,
                                      const std::vector<Vouch>& vouches, History& history);

// ---- Tables (report/tables.cpp): made once, written as markdown and as HTML ----

struct Cell {
  std::string text;
  std::string mark;  // faster, tie, slower, failed, skipped, strong or empty
  std::string link;
};
struct Column {
  std::string title;
  bool figures = false;  // right-aligned
};
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::string note{};  // a line below it
};

// "2.31× [2.20, 2.40]", "tie: 1.01× [0.98, 1.03]", "slower: 0.90× [...]", marked.
Cell ratio_cell(Verdict verdict, const Ratio& ratio);

std::string to_markdown(const Table& table);
std::string to_html(const Table& table);

// All recipes with the question that each answers and, per device, what it gains, the least and the most.
// Over its shapes: of the variant that it recommends there, or else of the fastest that is not marked
// approximate, against the fastest of what is written first. Of a CPU that was compared with other
// programs, over the cases: against the fastest of those. Links are `prefix` + name + `suffix`.
Table recipes_table(const std::vector<Result>& results, const std::string& prefix,
                    const std::string& suffix);
// All recipes with two gains per device: that of the recipe's technique, at the shape that its card
// names, and that of the fastest exact variant over the baseline at the first. The names in `linked`
// lead to #NAME.
Table gains_table(const std::vector<Result>& results, const std::vector<std::string>& linked);
// The numbered techniques, what pays first: for each a word (pays, ties, costs, not tested) and what
// the results of `device` measured of it, in each recipe that shows it. Links are to
// `prefix` + name + ".md".
Table techniques_table(const std::vector<Result>& results, const std::string& device,
                       const std::string& prefix);
Table results_table(const std::vector<Result>& results);
Table ceilings_table(const Result& result);
Table check_table(const Result& result, const std::string& recipe);  // "" for all
// All shapes, without what was skipped.
Table bench_table(const Result& result, const std::string& recipe);
// One of them, with it.
Table bench_table(const Result& result, const std::string& recipe, const Group& group);
// The recipe's variants, each with its predecessor, what it changes, and what that alone gains at the
// first shape, one column per device.
Table steps_table(const std::vector<Result>& results, const Recipe& recipe);
// A rung per variant on the way from the baseline to those that the recipe recommends, to the fastest
// and to those in `also`: what it changes, its time at the shape of a group of `result`, the share of
// the copy or of its ceiling, what this step alone gains, and what limits it by the counters of that
// device. Throws Error(invalid_argument) for a variant that the group has no time of, and without steps.
Table ladder_table(const std::vector<Result>& results, const Recipe& recipe, const Result& result,
                   const Group& group, const std::vector<std::string>& also);
// One counter in words: "issue slots 94 %", "16 of 32 lanes active", "DRAM 88 %", "L2 hit rate 21 %" or
// "78 % of waits: global memory"; empty where none stands out. DRAM is compared with the measured copy,
// `bytes` are those that the kernel has to move.
std::string limit_text(const CountersRow& row, double bytes, double copy_gbs);
Table stages_table(const Result& result);
Table peers_table(const Result& result);
// The library beside others on a device: for each recipe and library how many times as fast clcook is, from
// the least to the most of the cases, by its fastest variant that is as exact as theirs.
Table libraries_table(const std::vector<Result>& results, const std::string& device,
                      const std::string& prefix);
// Over the cases of a result of that kind the least and the most of how many times as fast clcook is as
// the fastest other program, by its fastest variant that is as exact; nothing without such a case.
struct Range {
  double least = 0, most = 0;
};
std::optional<Range> against_others(const Result& peers);
Table startup_table(const Result& result);
// The variants of a recipe with these counters, by their names in result files. Throws
// Error(invalid_argument) for a counter that there is none of. What was not counted stands in the note.
Table counters_table(const Result& result, const std::string& recipe,
                     const std::vector<std::string>& counters);
// The same with those that say most.
Table counters_table(const Result& result, const std::string& recipe);
// Counts and resources of every kernel, those with these names or all; "" for all targets. Throws
// Error(invalid_argument) for a name that there is none of.
Table isa_table(const Result& result, const std::string& recipe, const std::string& target,
                const std::vector<std::string>& figures = {});
std::vector<std::string> targets_of(const Result& result, const std::string& recipe);
Table curve_table(const Curve& curve);

// ---- For a recipe's page (report/charts.cpp, report/kernels.cpp, report/ladder.cpp) ----

// What gains less is not worth a bold word.
inline constexpr double kBold = 1.05;

// What differs by less than a half per cent is called a tie, however certain it is.
bool is_tie(const BenchRow& row);
// Whether an exact row is as fast as best_of() its group, as far as the intervals tell.
bool wins(const BenchRow& row, const BenchRow* best);
// Whether it is one of those and gains enough for a bold word: neither a baseline nor a tie does.
bool stands_out(const BenchRow& row, const BenchRow* best);
// The time that a copy of its bytes takes, of a row whose ceiling is the copy.
std::optional<double> copy_us(const BenchRow& row);
// Of each variant the measured row with the fastest tuning; of the baseline the one that ratios are
// to.
std::vector<const BenchRow*> fastest_rows(const Group& group);

// That of a variant; null without one.
const BenchRow* row_of(const std::vector<const BenchRow*>& rows, const std::string& variant);

// The first group of a recipe whose shape has all of `wanted`, such as "width=3840" or "mode=hot".
// Throws Error(invalid_argument) where there is none.
Group group_of(const Result& result, const std::string& recipe,
               const std::vector<std::string>& wanted);

// The same of one line of words; nothing where no shape has them.
std::optional<Group> group_with(const Result& result, const Recipe& recipe,
                                const std::string& words);

// RESULT RECIPE VARIANT[/OTHER] [NAME=VALUE]... [short]: "2.8 times as fast as", or "as fast as" where
// the interval contains 1 or the ratio rounds to that; with short "2.8×" or "a tie". Against OTHER at equal tunes, else against the
// baseline. RESULT RECIPE others [short] of a comparison with other programs: "1.6 to 4.2 times as fast as"
// the fastest of them, over the cases. Throws Error(invalid_argument).
std::string gain_text(const std::vector<Result>& results, const std::vector<std::string>& words);

// One row per variant, one column per shape: the baseline's time, and of the others how many times
// as fast they are. The fastest is bold, with all whose intervals reach its own, from 1.05 on.
Table speed_table(const Result& result, const std::string& recipe);

// RECIPE RESULT [NAME=VALUE]... [RESULT ...]: a file with the bars of one shape per RESULT, with
// their intervals, the time of a copy and a legend. Throws Error(invalid_argument).
std::string chart_file(const std::vector<Result>& results, const std::vector<std::string>& words);

// FILE NAME [from="TEXT" [to="TEXT"]]... [mark="TEXT"]... [NAME ...]: functions or macros of a file
// under `root` as fenced code, and a link to their lines, which are `to_root` + FILE. Of one with
// `from` its head and the lines from the first with that text to the first with `to`, else to its end.
// Lines with a mark are marked. Throws Error(invalid_argument) for what is not there, Error(io) for a
// file that cannot be read.
std::string kernel_markdown(const std::filesystem::path& root, const std::string& arguments,
                            const std::string& to_root);

// ---- Curves (report/curves.cpp) ----

// Curves of a recipe that belong on one plot: they differ in one parameter at most.
struct Figure {
  std::string title;   // what all have in common, beside what other figures have too
  std::string varies;  // the parameter that tells the curves apart; empty for one curve
  std::vector<const Curve*> curves;
};
std::vector<Figure> figures_of(const Result& result, const std::string& recipe);
std::string figure_svg(const Figure& figure);
// The figures of a recipe below each other, as a file of its own.
std::string curves_file(const Result& result, const std::string& recipe);

// ---- Plots (report/plots.cpp): inline SVG in the page's colours ----

struct Bar {
  std::string label;
  std::string note;  // written behind the label: "412 us, 2.3x"
  Ratio value;
  std::optional<double> copy;  // where a dashed line marks the time of a copy of its bytes
  Verdict verdict = Verdict::none;
};
struct Dot {
  std::string label;
  double x = 0;
  double y = 0;
  Verdict verdict = Verdict::none;
};
// One line of a plot of curves.
struct Line {
  enum class Style { baseline, other, predicted, limit };
  std::string label;       // stands at its right end; empty for none
  std::size_t colour = 0;  // of baselines and predictions; the other variants are grey
  Style style = Style::baseline;
  std::vector<std::pair<double, double>> points;
};
// A point that matters: where a variant breaks even.
struct Mark {
  double x = 0;
  double y = 0;
};

// Whether these values need a logarithmic axis.
bool needs_log(const std::vector<Bar>& bars);
// Bars, or on a logarithmic axis, where a length says nothing, dots. `title` is what a screen reader says.
std::string bar_plot(const std::vector<Bar>& bars, const std::string& unit,
                     const std::string& title);
std::string roofline_plot(const std::vector<Dot>& dots, const Ceilings& ceilings,
                          const std::string& title);
std::string curve_plot(const std::vector<Line>& lines, const std::vector<Mark>& marks,
                       const std::string& x_title, const std::string& title);

// ---- Pictures (report/pictures.cpp) ----

// --picture RECIPE=BEFORE,AFTER[,REFERENCE]. Returns the figures as HTML. Throws Error for files
// that cannot be read or differ in size.
struct Pictures {
  std::string recipe;
  std::vector<std::string> files;
};
Pictures parse_pictures(const std::string& argument);
std::string pictures_html(const Pictures& pictures);

// ---- Output ----

std::string escape(const std::string& text);      // for HTML text and attributes
std::string page_head(const std::string& title);  // up to <body>, with the style
// The page of `./cook demo` from what lies in `folder`: bench.json and check.json of this machine,
// NAME.txt with what the example NAME printed below its command, and the pictures that the command
// names. `others` are results of other devices.
std::string demo_page(const std::filesystem::path& folder, const std::vector<Result>& others);
std::string html_page(const std::vector<Result>& results, const std::vector<Pictures>& pictures);

// Rewrites the tables and figures of README.md and docs/*.md under `root`; with `check_only` it
// prints what differs instead, which results there is a doubt about, and which comparisons with other
// programs the recipe's page leaves out. Returns 1 when it printed any of these, else 0.
int rewrite_markdown(const std::filesystem::path& root, const std::vector<Result>& results,
                     bool check_only);

}  // namespace clcook::tool::report
