// The command lines of the examples and of the clcook command: their meaning does not depend on the
// order of options and files.
#include <algorithm>
#include <filesystem>
#include <pictures/picture.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

using Words = std::vector<std::string>;

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string text_of(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += word + " ";
  return out;
}

// The programs end where they ask for this device: before that they have read their command line,
// and done nothing.
const Words kNowhere = {"--device", "nowhere"};

// What a program says in the folder of the test, where the files are.
Ran ran(const std::string& program, const Words& words) {
  return run_program(Words{built_program(program)} + words);
}

// The usage lines at the top of an example, "//   NAME in.png out.png --sigma 12    what it does",
// without the name and without a device.
std::vector<Words> usage_of(const std::filesystem::path& source) {
  std::vector<Words> out;
  std::istringstream in(read_bytes(source.string()));
  const std::string begin = "//   " + source.stem().string() + " ";
  for (std::string line; std::getline(in, line) && line.rfind("//", 0) == 0;) {
    if (line.rfind(begin, 0) != 0) continue;
    line.erase(0, begin.size());
    line.resize(std::min(line.find("  "), line.size()));
    std::istringstream words(line);
    out.emplace_back();
    for (std::string word; words >> word;) {
      word.erase(
          std::remove_if(word.begin(), word.end(), [](char c) { return c == '[' || c == ']'; }),
          word.end());
      word.resize(std::min(word.find('|'), word.size()));
      if (word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z') word = "1";
      out.back().push_back(word);
    }
    const auto device = std::find(out.back().begin(), out.back().end(), "--device");
    if (device != out.back().end()) out.back().erase(device, device + 2);
  }
  return out;
}

// The options of a program that --help shows with a value, each with one that fits its type, or with
// the several that it has by default.
std::vector<Words> options_of(const std::string& program) {
  std::vector<Words> out;
  std::istringstream in(ran(program, {"--help"}).out);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    std::string type;
    words >> name >> type;
    if (line.rfind("  --", 0) != 0 || name == "--device") continue;
    const bool is_text = type.rfind("TEXT", 0) == 0;
    if (!is_text && type.rfind("FLOAT", 0) != 0 && type.rfind("INT", 0) != 0 &&
        type.rfind("UINT", 0) != 0)
      continue;  // a flag
    std::string value = is_text ? "word" : "2";
    const std::size_t list = type.find_first_of("{[");
    if (list != std::string::npos)
      value = type.substr(list + 1,
                          type.find_first_of(type[list] == '{' ? ",}" : "]", list) - list - 1);
    out.push_back({name, value});
  }
  return out;
}

// The same words in both orders: the same end, which is the program's own, not CLI11's.
void same(const std::string& program, const Words& files, const Words& options) {
  const Ran first = ran(program, options + files + kNowhere);
  const Ran last = ran(program, files + kNowhere + options);
  CAPTURE(program);
  CAPTURE(text_of(options));
  CAPTURE(text_of(files));
  CAPTURE(first.err);
  CAPTURE(last.err);
  CHECK(first.code == 2);
  CHECK(first.err.rfind(program + ": ", 0) == 0);
  CHECK(first.code == last.code);
  CHECK(first.err == last.err);
}

std::vector<std::filesystem::path> examples() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(CLCOOK_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".cpp") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

// Files for the places in a usage line: names of pictures that are there, or can be written.
Words placed(Words words, const TempFolder& folder) {
  for (std::string& word : words)
    if (word.find('.') != std::string::npos && word[0] != '-' && std::isdigit(word[0]) == 0)
      word = (folder / word).string();
  return words;
}

}  // namespace

LONG_TEST_CASE("each example's usage lines and options mean the same in both orders", 16) {
  const TempFolder folder;
  for (const char* name : {"in.png", "old.png"})
    pictures::write_picture(folder / name, {2, 2, std::vector<std::uint8_t>(16, 255)});
  std::size_t lines = 0;
  for (const std::filesystem::path& source : examples()) {
    const std::string program = source.stem().string();
    if (not_built(program)) continue;
    Words files;
    for (const Words& usage : usage_of(source)) {
      if (usage.empty()) continue;  // has no order, and a scene takes long to make
      const auto option = std::find_if(usage.begin(), usage.end(),
                                       [](const std::string& word) { return word[0] == '-'; });
      const Words its(usage.begin(), option);
      if (its.size() > files.size()) files = its;
      same(program, placed(its, folder), placed(Words(option, usage.end()), folder));
      ++lines;
    }
    for (const Words& option : options_of(program)) same(program, placed(files, folder), option);
  }
  CHECK(lines > 0);
}

TEST_CASE("an option of several numbers takes those that follow, and no file") {
  if (not_built("gaussian_blur") || not_built("group_size") || not_built("argument_swap") ||
      not_built("strips"))
    return;
  const TempFolder folder;
  pictures::write_picture(folder / "in.png", {2, 2, std::vector<std::uint8_t>(16, 255)});
  const Words files = {(folder / "in.png").string(), (folder / "out.png").string()};
  const Words picture = {(folder / "out.png").string()};
  const auto goes = [](const std::string& program, const Words& options, const Words& its) {
    const Ran one = ran(program, options + its + kNowhere);
    CAPTURE(program);
    CAPTURE(text_of(options));
    CAPTURE(one.err);
    CHECK(one.code == 2);
    CHECK(contains(one.err, "nowhere"));
  };
  for (const Words& sigma : {Words{"--sigma", "3"},
                             {"--sigma", "3", "4"},
                             {"--sigma", "3,4"},
                             {"--sigma", "3x4"},
                             {"--sigma=3"},
                             {"--sigma=3,4"},
                             {"--sigma=3x4"},
                             {"--sigma", ".5"},
                             {"--sigma", "1e1"}})
    goes("gaussian_blur", sigma, files);
  for (const Words& group : {Words{"--group", "32"},
                             {"--group", "32,64"},
                             {"--group=32,64"},
                             {"--group", "32", "64", "128"}})
    goes("group_size", group, picture);
  for (const Words& glass :
       {Words{"--glass", "1.5,0.01"}, {"--glass", "1.5", "0.01"}, {"--glass=1.5,0.01"}})
    goes("argument_swap", glass, picture);
  for (const Words& ways : {Words{"--ways", "staged"},
                            {"--ways", "staged", "direct"},
                            {"--ways", "staged,direct"},
                            {"--ways=mapped"}})
    goes("strips", ways, {});
  const auto fails = [](const std::string& program, const Words& words, const std::string& part) {
    const Ran one = ran(program, words + kNowhere);
    CAPTURE(one.err);
    CHECK(one.code > 2);
    CHECK(contains(one.err, part));
  };
  fails("gaussian_blur", Words{"--sigma", "3,4,5"} + files, "--sigma");
  fails("gaussian_blur", Words{"--sigma", "3", "4", "5"} + files, "FILES");
  for (const char* word :
       {"x", "3,", ",3", "3,,4", "3x", "nan", "inf", "0x1p3", "3.png", "1e", " 3"}) {
    fails("gaussian_blur", Words{"--sigma", word} + files, std::string("not '") + word + "'");
    fails("gaussian_blur", Words{std::string("--sigma=") + word} + files, "--sigma");
  }
  fails("gaussian_blur", {"--sigma"}, "--sigma");
  fails("argument_swap", Words{"--glass=1.5"} + picture, "--glass");
  fails("group_size", Words{"--group", "4096"} + picture, "--group");
  fails("strips", {"--ways", "backwards"}, "--ways");
}

LONG_TEST_CASE("each command's line means the same in both orders", 16) {
  if (not_built("clcook")) return;
  const struct {
    Words command;  // behind clcook
    Words options;
    Words files;
    const char* said;  // a part of the end
  } lines[] = {
      {{"list"}, {"--json"}, {"line_blur"}, "\"line_blur\""},
      {{"devices"}, {"--device", "nowhere"}, {}, "nowhere"},
      {{"check"}, {"--device", "nowhere", "--shape", "width=3"}, {"line_blur"}, "nowhere"},
      {{"check"}, {"--device", "nowhere", "--variant", "naive"}, {"line_blur"}, "nowhere"},
      {{"flatten"}, {"--out", "not.cl"}, {"nowhere.cl"}, "nowhere.cl"},
      {{"bench"}, {"--device", "nowhere", "--shape", "a=3"}, {"line_blur"}, "has no 'a'"},
      {{"bench"}, {"--samples", "5", "--device", "nowhere"}, {"line_blur"}, "nowhere"},
      {{"counters"}, {"--device", "nowhere"}, {"line_blur"}, ""},
      {{"explore"}, {"--variant", "naive", "--device", "nowhere"}, {"line_blur"}, ""},
      {{"tune"},
       {"--dry-run", "--device", "nowhere", "--shape", "a=3"},
       {"line_blur"},
       "has no 'a'"},
      {{"isa"}, {"--show", "line_blur/naive"}, {"nowhere.cl"}, "nowhere.cl: --show and --diff"},
      {{"isa"}, {"--diff", "a.cl", "b.cl"}, {"nowhere.cl"}, "nowhere.cl: --show and --diff"},
      {{"isa"}, {"--target", "nowhere"}, {"line_blur"}, ""},
      {{"isa"}, {"-D", "A=1", "-I", "folder"}, {"nowhere.cl"}, ""},
      {{"occupancy"}, {"-D", "A=1", "-I", "folder"}, {"nowhere.cl"}, "nowhere.cl"},
      {{"report"}, {"--out", "not.html"}, {"nowhere.json"}, "nowhere.json"},
      {{"report"}, {"--curves", "nowhere.json", "line_blur", "a.svg"}, {"b.json"}, ""},
      {{"report"}, {"--picture", "line_blur=a.png,b.png"}, {"nowhere.json"}, "nowhere.json"},
      {{"startup"}, {"--device", "nowhere", "--sigma", "3"}, {}, "nowhere"},
      {{"warm"}, {"--device", "nowhere", "--shape", "a=3"}, {"line_blur"}, "has no 'a'"},
      {{"try"}, {"--device", "nowhere"}, {"nowhere.toml"}, "nowhere.toml"},
      {{"try", "--new", "a.cl"}, {"--options", "-DA={1,2}", "--device", "nowhere"}, {}, "nowhere"},
      {{"course", "start"}, {}, {"nowhere"}, "nowhere"},
      {{"course", "hint"}, {"--step", "1"}, {"nowhere"}, "nowhere"},
      {{"course", "check"}, {"--device", "nowhere", "--seed", "1"}, {"nowhere.cl"}, "nowhere"},
  };
  std::set<std::string> known;
  for (const auto& line : lines) {
    known.insert(line.command.front());
    const Ran first = ran("clcook", line.command + line.options + line.files);
    const Ran last = ran("clcook", line.command + line.files + line.options);
    CAPTURE(text_of(line.command + line.options));
    CAPTURE(first.err);
    CAPTURE(last.err);
    CHECK(first.code == last.code);
    CHECK(first.out == last.out);
    CHECK(first.err == last.err);
    CHECK(contains(first.out + first.err, line.said));
  }
  // None is left out.
  std::istringstream help(ran("clcook", {"--help"}).out);
  bool commands = false;
  for (std::string line; std::getline(help, line);) {
    if (commands && line.rfind("  ", 0) == 0 && line[2] != ' ') {
      const std::string name = line.substr(2, line.find(' ', 2) - 2);
      CAPTURE(name);
      CHECK(known.count(name) == 1);
    }
    commands = commands || line.rfind("Subcommands:", 0) == 0;
  }
  CHECK(commands);
}

TEST_CASE("warm fills our cache, unless the implementation keeps programs itself") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  std::filesystem::create_directory(folder / "pocl");
  for (const char* pocl : {"1", "0"}) {  // whether PoCL keeps programs
    CAPTURE(pocl);
    const std::filesystem::path ours = folder / (std::string("ours") + pocl);
    const Ran warm =
        run_program({built_program("clcook"), "warm", "argument_swap", "--shape", "count=1000"},
                    {{"CLCOOK_CACHE", std::nullopt},
                     {"CLCOOK_CACHE_DIR", ours.string()},
                     {"POCL_CACHE_DIR", (folder / "pocl").string()},
                     {"POCL_KERNEL_CACHE", pocl}});
    CAPTURE(warm.out);
    CAPTURE(warm.err);
    CHECK(warm.code == 0);
    const bool are_theirs = contains(warm.out, " keeps them itself\n");
    CHECK(are_theirs != contains(warm.out, ours.string() + " has them\n"));
    CHECK(are_theirs != std::filesystem::exists(ours));
    if (pocl[0] == '0') CHECK_FALSE(are_theirs);
  }
}
