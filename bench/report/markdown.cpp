// The tables and figures that documents take from committed results.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <clcook/core/source.hpp>
#include <set>
#include <sstream>

#include "report/report.hpp"
#include "tool/words.hpp"

namespace clcook::tool::report {

namespace {

// A part of a document that a result decides.
struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t line = 0;
  std::string what;
  std::string text;
};

// A picture that a document has made.
struct DrawnFile {
  std::size_t line = 0;
  std::string name;  // "docs/images/chart_line_blur.svg"
  std::string content;
};

struct Document {
  std::string name;  // "docs/line_blur.md"
  std::filesystem::path path;
  std::string content;
  std::vector<Edit> edits;
  std::vector<Vouch> vouches;
  std::vector<DrawnFile> pictures;
  std::vector<std::vector<std::string>> charts;  // the arguments of those so far

  bool in_docs() const { return name.rfind("docs/", 0) == 0; }
};

// The shape of the page's chart of the recipe, of the first device in it.
std::string make_ladder(const std::vector<Result>& results, const std::vector<std::string>& words,
                        const Document& document) {
  const std::string& recipe = words[1];
  const auto chart =
      std::find_if(document.charts.begin(), document.charts.end(),
                   [&](const std::vector<std::string>& one) { return one[0] == recipe; });
  if (chart == document.charts.end())
    fail(Errc::invalid_argument, "report",
         fmt::format("a ladder has the shape of a chart above it; there is none of '{}'", recipe));
  const auto shape = chart->begin() + 2;
  const auto end = std::find_if(shape, chart->end(), [](const std::string& word) {
    return word.find('=') == std::string::npos;
  });
  const Result& result = find(results, (*chart)[1], "bench");
  std::string out = to_markdown(ladder_table(results, find_recipe(recipes(), recipe), result,
                                             group_of(result, recipe, {shape, end}),
                                             {words.begin() + 2, words.end()}));
  out.insert(out.size() - 1, " [How to read it](report.md#ladders).");  // behind the note
  return out;
}

std::string make_table(const std::vector<Result>& results, const std::vector<std::string>& words,
                       const Document& document) {
  struct Kind {
    const char* name;
    std::size_t least, most;
    const char* usage;
  };
  static constexpr Kind kKinds[] = {{"recipes", 0, 0, ""},
                                    {"techniques", 1, 1, " RESULT"},
                                    {"results", 0, 0, ""},
                                    {"ceilings", 1, 1, " RESULT"},
                                    {"check", 1, 2, " RESULT [RECIPE]"},
                                    {"bench", 2, 2, " RESULT RECIPE"},
                                    {"speed", 2, 2, " RESULT RECIPE"},
                                    {"ladder", 1, 9, " RECIPE [VARIANT...]"},
                                    {"steps", 1, 1, " RECIPE"},
                                    {"stages", 1, 1, " RESULT"},
                                    {"peers", 1, 1, " RESULT"},
                                    {"libraries", 1, 1, " RESULT"},
                                    {"startup", 1, 1, " RESULT"},
                                    {"counters", 3, 14, " RESULT RECIPE COUNTER..."},
                                    {"isa", 2, 16, " RESULT RECIPE [TARGET [COUNT...]]"},
                                    {"explore", 2, 9, " RESULT RECIPE [NAME=VALUE]..."}};
  std::string known;
  for (const Kind& kind : kKinds) known += std::string(" ") + kind.name;
  if (words.empty())
    fail(Errc::invalid_argument, "report", "a table needs a name; known are" + known);
  const std::string& name = words[0];
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const Kind& kind) { return kind.name == name; });
  if (found == std::end(kKinds))
    fail(Errc::invalid_argument, "report", "there is no table '" + name + "'; known are" + known);
  const std::size_t count = words.size() - 1;
  if (count < found->least || count > found->most)
    fail(Errc::invalid_argument, "report",
         fmt::format("wrong number of arguments; expected: clcook:table {}{}", name, found->usage));
  const auto argument = [&](std::size_t i) { return i < words.size() ? words[i] : std::string(); };
  const auto some = [&](Table table) {
    if (table.rows.empty())
      fail(Errc::invalid_argument, "report",
           fmt::format("'{}' has nothing about '{}'", argument(1), argument(2)));
    return to_markdown(table);
  };
  const std::string to_docs = document.in_docs() ? "" : "docs/";
  if (name == "recipes") return to_markdown(recipes_table(results, to_docs, ".md"));
  if (name == "techniques")
    return to_markdown(techniques_table(results, find(results, words[1], "bench").device, to_docs));
  if (name == "results") return to_markdown(results_table(results));
  if (name == "ceilings") return to_markdown(ceilings_table(find(results, words[1], "bench")));
  if (name == "check") return some(check_table(find(results, words[1], "check"), argument(2)));
  if (name == "bench") return some(bench_table(find(results, words[1], "bench"), words[2]));
  if (name == "speed") return some(speed_table(find(results, words[1], "bench"), words[2]));
  if (name == "steps") return to_markdown(steps_table(results, find_recipe(recipes(), words[1])));
  if (name == "ladder") return make_ladder(results, words, document);
  if (name == "libraries")
    return some(libraries_table(results, find(results, words[1], "peers").device, to_docs));
  if (name == "peers") return some(peers_table(find(results, words[1], "peers")));
  if (name == "startup") return some(startup_table(find(results, words[1], "startup")));
  if (name == "counters")
    return some(counters_table(find(results, words[1], "counters"), words[2],
                               {words.begin() + 3, words.end()}));
  if (name == "stages") return some(stages_table(find(results, words[1], "stages")));
  if (name == "isa") {
    const std::size_t first = std::min<std::size_t>(words.size(), 4);
    return some(isa_table(find(results, words[1], "isa"), words[2], argument(3),
                          {words.begin() + static_cast<std::ptrdiff_t>(first), words.end()}));
  }
  std::string out;
  for (const Curve& curve : find(results, words[1], "explore").explore.curves) {
    if (curve.recipe != words[2]) continue;
    const std::string shape = " " + to_text(curve.shape) + " ";
    const bool wanted = std::all_of(words.begin() + 3, words.end(), [&](const std::string& one) {
      return shape.find(" " + one + " ") != std::string::npos;
    });
    if (wanted) out += (out.empty() ? "" : "\n") + to_markdown(curve_table(curve));
  }
  return out.empty() ? some({}) : out;
}

// Follows a JSON pointer. Beyond the standard, a step into a list may be "key=value,key=value": the
// one element with these members, where "a.b" is member b of member a; of several the one whose shape
// has the fewest members, if it is the only one.
const Json& follow(const Json& from, const std::string& pointer) {
  const auto lost = [&](const std::string& why) {
    fail(Errc::invalid_argument, "report", fmt::format("'{}': {}", pointer, why));
  };
  if (pointer.empty() || pointer[0] != '/') lost("a pointer begins with '/'");
  const Json* at = &from;
  for (std::size_t begin = 1; begin <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', begin), pointer.size());
    const std::string step = pointer.substr(begin, end - begin);
    begin = end + 1;
    if (at->is_object() && at->contains(step)) {
      at = &(*at)[step];
      continue;
    }
    if (!at->is_array()) lost("there is no '" + step + "'");
    if (!step.empty() && step.find_first_not_of("0123456789") == std::string::npos) {
      if (step.size() > 9 || std::stoul(step) >= at->size()) lost("there is no element " + step);
      at = &(*at)[std::stoul(step)];
      continue;
    }
    const Json* found = nullptr;
    bool several = false;
    const auto shape_members = [](const Json& element) {
      const auto shape = element.find("shape");
      return shape == element.end() ? std::size_t{0} : shape->size();
    };
    for (const Json& element : *at) {
      bool match = true;
      std::istringstream conditions(step);
      for (std::string one; std::getline(conditions, one, ',');) {
        const std::size_t equals = one.find('=');
        if (equals == std::string::npos) lost("'" + step + "' is neither an index nor key=value");
        const Json* member = &element;
        std::istringstream path(one.substr(0, equals));
        for (std::string key; member != nullptr && std::getline(path, key, '.');)
          member = member->is_object() && member->contains(key) ? &(*member)[key] : nullptr;
        const std::string value = member == nullptr     ? ""
                                  : member->is_string() ? member->get<std::string>()
                                                        : member->dump();
        match = match && member != nullptr && value == one.substr(equals + 1);
      }
      if (!match) continue;
      if (found != nullptr && shape_members(element) > shape_members(*found)) continue;
      several = found != nullptr && shape_members(element) == shape_members(*found);
      found = &element;
    }
    if (several) lost("several elements have " + step);
    if (found == nullptr) lost("no element has " + step);
    at = found;
  }
  return *at;
}

// FORMAT is [FACTOR*]TEXT with one {} or {:spec} of fmt in TEXT.
std::string make_value(const std::vector<Result>& results, const std::string& arguments) {
  const std::vector<std::string> words = words_of(arguments);
  if (words.size() < 2)
    fail(Errc::invalid_argument, "report", "expected: clcook:value RESULT POINTER [FORMAT]");
  const Json& value = follow(find(results, words[0], "").json, words[1]);
  std::string format;
  for (std::size_t i = 2; i < words.size(); ++i) format += (i > 2 ? " " : "") + words[i];
  if (format.empty()) format = "{}";
  double factor = 0;
  const std::size_t star = format.find('*');
  if (star != std::string::npos && star < format.find('{')) {
    const auto read = std::from_chars(format.data(), format.data() + star, factor);
    if (read.ec != std::errc() || read.ptr != format.data() + star)
      fail(Errc::invalid_argument, "report", "'" + format + "': no number before the '*'");
    format.erase(0, star + 1);
  }
  const auto put = [&](const auto& one) { return fmt::format(fmt::runtime(format), one); };
  try {
    if (factor != 0 && value.is_number()) return put(factor * value.get<double>());
    if (value.is_number_integer()) {
      // Formats such as {:.1f} are for floating point.
      const bool real = format.find_first_of("feg", format.find('{')) < format.find('}');
      return real ? put(value.get<double>()) : put(value.get<std::int64_t>());
    }
    if (value.is_number()) return put(value.get<double>());
    if (value.is_boolean()) return put(value.get<bool>());
    if (value.is_string()) return escape(put(value.get<std::string>()));
  } catch (const fmt::format_error& error) {
    fail(Errc::invalid_argument, "report",
         fmt::format("format '{}' does not fit {}: {}", format, value.dump(), error.what()));
  }
  fail(Errc::invalid_argument, "report",
       fmt::format("'{}' is neither a number nor a text", words[1]));
}

constexpr std::string_view kMarker = "<!-- clcook:";
constexpr std::string_view kMarkerEnd = "<!-- /clcook:";
// Each begins with "<!-- clcook:NAME ARGUMENTS -->" and ends with "<!-- /clcook:NAME -->".
constexpr std::array<std::string_view, 6> kKinds{"table", "value",  "gain",
                                                 "chart", "kernel", "older"};

Vouch parse_vouch(const std::string& arguments, const std::string& where, const std::string& text) {
  std::vector<std::string> words = words_of(arguments);
  const std::size_t at = words.empty() ? std::string::npos : words[0].find('@');
  if (words.size() < 2 || at == std::string::npos || at == 0)
    fail(Errc::invalid_argument, "report",
         "expected: clcook:older RECIPE@HASH RESULT..., where RECIPE may be *");
  if (text.find_first_not_of(" \n") == std::string::npos)
    fail(Errc::invalid_argument, "report", "between the markers must stand why the results hold");
  return {where,
          words[0].substr(0, at),
          words[0].substr(at + 1),
          {words.begin() + 1, words.end()},
          text};
}

// The new text between the markers of a kind; of a chart the document gets the picture.
std::string make_part(Document& document, std::string_view kind, const std::string& arguments,
                      std::size_t line, const std::filesystem::path& root,
                      const std::vector<Result>& results) {
  if (kind == "table") return "\n" + make_table(results, words_of(arguments), document);
  if (kind == "kernel")
    return "\n" + kernel_markdown(root, arguments, document.in_docs() ? "../" : "");
  if (kind == "gain") return gain_text(results, words_of(arguments));
  if (kind == "value") return make_value(results, arguments);
  const std::vector<std::string> words = words_of(arguments);
  const std::string content = chart_file(results, words);
  const std::string name = "images/chart_" + words[0] + ".svg";
  document.pictures.push_back({line, "docs/" + name, content});
  document.charts.push_back(words);
  return fmt::format("\n![Time of each variant; shorter is faster]({}{})\n",
                     document.in_docs() ? "" : "docs/", name);
}

// Finds the parts and makes their new text, and what the document vouches for. Fenced code and
// `inline code` are left alone.
void find_edits(Document& document, const std::filesystem::path& root,
                const std::vector<Result>& results) {
  const std::string& text = document.content;
  const auto newlines = [&](std::size_t begin, std::size_t end) {
    return std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                      text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
  };
  // The next marker of ours before `end`, outside inline code.
  const auto next_marker = [&](std::size_t at, std::size_t end) {
    for (at = text.find("<!-- ", at); at < end; at = text.find("<!-- ", at + 1)) {
      const std::size_t start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
      const std::string before = text.substr(start, at - start);
      const bool ours = text.compare(at, kMarker.size(), kMarker) == 0 ||
                        text.compare(at, kMarkerEnd.size(), kMarkerEnd) == 0;
      if (ours && std::count(before.begin(), before.end(), '`') % 2 == 0) return at;
    }
    return std::string::npos;
  };
  std::size_t line = 1;
  std::string fence;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (at == 0 || text[at - 1] == '\n') {
      const std::size_t indent = std::min(text.find_first_not_of(' ', at), end);
      const std::string mark = text.substr(indent, 3);
      if (fence.empty() ? mark == "```" || mark == "~~~" : mark == fence)
        fence = fence.empty() ? mark : "";
    }
    const std::size_t begin = fence.empty() ? next_marker(at, end) : std::string::npos;
    if (begin == std::string::npos) {
      at = end + 1;
      ++line;
      continue;
    }
    const auto wrong = [&](const std::string& what) {
      fail(Errc::invalid_argument, fmt::format("{}:{}", document.name, line), what);
    };
    const std::string marker = text.substr(begin, std::min<std::size_t>(end - begin, 80));
    if (text.compare(begin, kMarkerEnd.size(), kMarkerEnd) == 0)
      wrong("nothing is open here: " + marker);
    const std::size_t word = begin + kMarker.size();
    const std::string name = text.substr(word, text.find_first_of(" \n", word) - word);
    const auto* kind = std::find(kKinds.begin(), kKinds.end(), name);
    if (kind == kKinds.end()) {
      std::string known;
      for (const std::string_view one : kKinds) known += fmt::format(" clcook:{}", one);
      wrong(fmt::format("unknown marker; known are{}: {}", known, marker));
    }
    const std::size_t head = word + name.size();
    const std::string ending = fmt::format("{}{} -->", kMarkerEnd, name);
    const std::size_t close = text.find("-->", head);
    const std::size_t last = text.find(ending, head);
    if (last == std::string::npos || last < close || text.find(kMarker, head) < last)
      wrong(fmt::format("not closed by {}: {}", ending, marker));
    const std::string arguments = text.substr(head, close - head);
    try {
      if (name == "older") {
        const std::string reason = text.substr(close + 3, last - close - 3);
        document.vouches.push_back(
            parse_vouch(arguments, fmt::format("{}:{}", document.name, line), reason));
      } else {
        document.edits.push_back({close + 3, last, line, name + arguments,
                                  make_part(document, name, arguments, line, root, results)});
      }
    } catch (const Error& error) {
      wrong(error.what());
    }
    const std::size_t done = last + ending.size();
    line += static_cast<std::size_t>(newlines(at, done));
    at = done;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The lines that differ, without the equal ones before and after.
std::string difference(const std::string& before, const std::string& after) {
  std::vector<std::string> old = lines_of(before);
  std::vector<std::string> now = lines_of(after);
  while (!old.empty() && !now.empty() && old.back() == now.back()) {
    old.pop_back();
    now.pop_back();
  }
  std::size_t same = 0;
  while (same < old.size() && same < now.size() && old[same] == now[same]) ++same;
  std::string out;
  for (std::size_t i = same; i < old.size(); ++i) out += "- " + old[i] + "\n";
  for (std::size_t i = same; i < now.size(); ++i) out += "+ " + now[i] + "\n";
  return out;
}

// Complaints of comparisons that a recipe's page leaves out. README has the least and the most of them
// only, so nobody would see where clcook loses, nor what was refused.
std::vector<std::string> left_out(const std::vector<Document>& documents,
                                  const std::vector<Result>& results) {
  std::vector<std::string> out;
  for (const Result& result : results) {
    if (result.kind != "peers") continue;
    const std::vector<std::string> part{"table", "peers", result.stem};
    for (const Document& document : documents) {
      if (document.name != "docs/" + result.peers.recipe + ".md") continue;
      if (std::none_of(document.edits.begin(), document.edits.end(),
                       [&](const Edit& edit) { return words_of(edit.what) == part; }))
        out.push_back(fmt::format("{} leaves out {}: add <!-- clcook:{} -->", document.name,
                                  result.stem, fmt::join(part, " ")));
    }
  }
  return out;
}

}  // namespace

int rewrite_markdown(const std::filesystem::path& root, const std::vector<Result>& results,
                     bool check_only) {
  std::vector<Document> documents;
  std::error_code error;
  const auto add = [&](const std::filesystem::path& path, const std::string& name) {
    if (std::filesystem::is_regular_file(path, error))
      documents.push_back({name, path, {}, {}, {}, {}, {}});
  };
  add(root / "README.md", "README.md");
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs", error)) {
    if (entry.path().extension() == ".md")
      add(entry.path(), "docs/" + entry.path().filename().string());
  }
  std::sort(documents.begin(), documents.end(),
            [](const Document& a, const Document& b) { return a.name < b.name; });
  if (documents.empty())
    fail(Errc::io, "report",
         "there is neither README.md nor docs/*.md in " + root.string() + "; use --root FOLDER");

  std::size_t parts = 0;
  std::size_t different = 0;
  std::vector<std::pair<const Document*, std::string>> changed;
  std::vector<DrawnFile> pictures;
  std::set<std::string> drawn;
  for (Document& document : documents) {
    document.content = read_text_file(document.path.string());
    find_edits(document, root, results);
    std::string content;
    std::size_t at = 0;
    for (const Edit& edit : document.edits) {
      const std::string old = document.content.substr(edit.begin, edit.end - edit.begin);
      content += document.content.substr(at, edit.begin - at) + edit.text;
      at = edit.end;
      ++parts;
      if (old == edit.text) continue;
      ++different;
      if (check_only)
        fmt::print("{}:{}: {} differs from the results\n{}", document.name, edit.line, edit.what,
                   difference(old, edit.text));
    }
    content += document.content.substr(at);
    for (DrawnFile& picture : document.pictures) {
      const std::filesystem::path path = root / picture.name;
      if (!drawn.emplace(picture.name).second)
        fail(Errc::invalid_argument, fmt::format("{}:{}", document.name, picture.line),
             "there is another chart " + picture.name);
      ++parts;
      if (std::filesystem::is_regular_file(path, error) &&
          read_text_file(path.string()) == picture.content)
        continue;
      ++different;
      if (check_only)
        fmt::print("{}:{}: {} differs from the results\n", document.name, picture.line,
                   picture.name);
      else
        pictures.push_back(std::move(picture));
    }
    if (content != document.content) changed.emplace_back(&document, std::move(content));
  }
  if (check_only) {
    std::vector<Vouch> vouches;
    for (const Document& document : documents)
      vouches.insert(vouches.end(), document.vouches.begin(), document.vouches.end());
    History history(root);
    std::vector<std::string> doubts = doubts_about(results, vouches, history);
    for (std::string& one : left_out(documents, results)) doubts.push_back(std::move(one));
    for (const std::string& one : doubts) fmt::print("{}\n", one);
    if (const std::string note = history.note(); !note.empty()) fmt::print("{}\n", note);
    fmt::print("{} tables and figures, {} differ{}\n", parts, different,
               different == 0 ? "" : "; write them with: clcook report --markdown");
    return different == 0 && doubts.empty() ? 0 : 1;
  }
  // Only now, when every part could be made, is anything written.
  for (const DrawnFile& picture : pictures) {
    std::filesystem::create_directories((root / picture.name).parent_path(), error);
    write_file(root / picture.name, picture.content);
    fmt::print("wrote {}\n", picture.name);
  }
  for (const auto& [document, content] : changed) {
    write_file(document->path, content);
    fmt::print("wrote {}\n", document->name);
  }
  fmt::print("{} tables and figures, {} changed\n", parts, different);
  return 0;
}

}  // namespace clcook::tool::report
