// clcook isa --show and --diff.

#include "isa/show.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace clcook::isa {

namespace {

// The table of an alignment has a cell for each pair of lines.
constexpr std::size_t kAlignmentCells = 40'000'000;

struct Shown {
  Listing listing;
  std::string heading;
};

Shown list_job(const Job& job, const Toolchain& tools, const DiskCache& cache) {
  const Compiled compiled = compile(job, tools, cache);
  if (!compiled.problem.empty()) {
    fail(Errc::build_failed, job.name() + " for " + job.target.name, "does not compile", CL_SUCCESS,
         compiled.log);
  }
  Shown out;
  const bool sass = !compiled.sass.empty();
  const Dialect dialect = job.target.vendor == Vendor::amd   ? Dialect::amdgcn
                          : job.target.vendor == Vendor::x86 ? Dialect::x86
                          : sass                             ? Dialect::sass
                                                             : Dialect::ptx;
  out.listing = read_listing(dialect, sass ? compiled.sass : compiled.assembly, job.kernel);
  const char* language = dialect == Dialect::ptx   ? "PTX, not yet machine code"
                         : dialect == Dialect::x86 ? "one work-item"
                                                   : "machine code";
  out.heading =
      fmt::format("{} {} ({}, {})", job.name(), job.target.name, language, job.language());
  return out;
}

// The text of source lines, through the marks "#line 3 "file"" of a flattened source, or "# 3
// "file"" of a preprocessed one.
std::map<std::pair<std::string, unsigned>, std::string> source_lines(std::string_view source) {
  std::map<std::pair<std::string, unsigned>, std::string> out;
  std::string file;
  unsigned number = 0;
  while (!source.empty()) {
    const std::string_view line = detail::take_line(source);
    const std::size_t mark = line.substr(0, 6) == "#line " ? 6 : 2;
    if (mark == 6 || (line.substr(0, 2) == "# " && line.size() > 2 && detail::is_digit(line[2]))) {
      number = detail::to_unsigned(line.substr(mark));
      const std::size_t open = line.find('"');
      const std::size_t close = line.rfind('"');
      if (close > open) file = std::string(line.substr(open + 1, close - open - 1));
      continue;
    }
    const std::string code(detail::trim(line));
    out[{file, number}] = code;
    // Line tables name a file apart from its folder.
    out.emplace(std::make_pair(file.substr(file.rfind('/') + 1), number++), code);
  }
  return out;
}

// Tabs as single blanks, cut to a width.
std::string cell(const std::string& text, std::size_t width) {
  std::string out = text;
  std::replace(out.begin(), out.end(), '\t', ' ');
  if (out.size() > width) out = out.substr(0, width > 0 ? width - 1 : 0) + (width > 0 ? "~" : "");
  return out;
}

// Pairs of positions; -1 where the other side has a line of its own. Equal mnemonics align.
std::vector<std::pair<int, int>> align(const std::vector<Line>& a, const std::vector<Line>& b) {
  const auto key = [](const Line& line) -> const std::string& { return line.mnemonic; };
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && key(a[head]) == key(b[head])) ++head;
  std::size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         key(a[a.size() - 1 - tail]) == key(b[b.size() - 1 - tail]))
    ++tail;
  const std::size_t n = a.size() - head - tail;
  const std::size_t m = b.size() - head - tail;
  std::vector<std::pair<int, int>> out;
  for (std::size_t i = 0; i < head; ++i) out.emplace_back(static_cast<int>(i), static_cast<int>(i));
  if ((n + 1) * (m + 1) > kAlignmentCells) {
    for (std::size_t i = 0; i < std::max(n, m); ++i) {
      out.emplace_back(i < n ? static_cast<int>(head + i) : -1,
                       i < m ? static_cast<int>(head + i) : -1);
    }
  } else {
    // Longest common subsequence, from the end.
    std::vector<unsigned short> length((n + 1) * (m + 1), 0);
    const auto at = [&](std::size_t i, std::size_t j) -> unsigned short& {
      return length[i * (m + 1) + j];
    };
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = m; j-- > 0;) {
        at(i, j) = key(a[head + i]) == key(b[head + j])
                       ? static_cast<unsigned short>(at(i + 1, j + 1) + 1)
                       : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < n || j < m) {
      if (i < n && j < m && key(a[head + i]) == key(b[head + j])) {
        out.emplace_back(static_cast<int>(head + i++), static_cast<int>(head + j++));
      } else if (j == m || (i < n && at(i + 1, j) >= at(i, j + 1))) {
        out.emplace_back(static_cast<int>(head + i++), -1);
      } else {
        out.emplace_back(-1, static_cast<int>(head + j++));
      }
    }
  }
  for (std::size_t k = tail; k > 0; --k)
    out.emplace_back(static_cast<int>(a.size() - k), static_cast<int>(b.size() - k));
  return out;
}

}  // namespace

std::string show(const Job& job, const Toolchain& tools, const DiskCache& cache) {
  const Shown shown = list_job(job, tools, cache);
  const auto sources = source_lines(job.source);
  std::string out = shown.heading + "\n";
  std::string file;
  unsigned number = 0;
  for (const Line& line : shown.listing.lines) {
    if (!line.label.empty()) {
      out += line.text + "\n";
      continue;
    }
    if (line.line > 0 && (line.file != file || line.line != number)) {
      file = line.file;
      number = line.line;
      const auto found = sources.find({file, number});
      out += fmt::format("            -- {}:{}  {}\n", file, number,
                         found == sources.end() ? "" : found->second);
    }
    out += fmt::format("  {:<4}      {}\n", kKindTags[static_cast<std::size_t>(line.kind)],
                       cell(line.text, 1000));
  }
  const Counts& counts = shown.listing.counts;
  for (const std::string& call : counts.calls)
    out += "CALLS " + call + ", so that the numbers mean nothing\n";
  out += fmt::format("{} instructions:", counts.total);
  for (std::size_t i = 0; i < kKinds; ++i)
    out += fmt::format(" {} {}", counts.by_kind[i], kKindTags[i]);
  return out + fmt::format("; {} {}\n", counts.loops, counts.loops == 1 ? "loop" : "loops");
}

std::string diff(const Job& left, const Job& right, const Toolchain& tools, const DiskCache& cache,
                 std::size_t width) {
  const Shown a = list_job(left, tools, cache);
  const Shown b = list_job(right, tools, cache);
  const auto instructions = [](const Listing& listing) {
    std::vector<Line> out;
    for (const Line& line : listing.lines) {
      if (!line.mnemonic.empty()) out.push_back(line);
    }
    return out;
  };
  const std::vector<Line> one = instructions(a.listing);
  const std::vector<Line> two = instructions(b.listing);
  const std::size_t column = std::max<std::size_t>(20, (std::max<std::size_t>(width, 40) - 3) / 2);
  const auto side = [&](const Line& line) {
    return cell(fmt::format("{:<4} {}", kKindTags[static_cast<std::size_t>(line.kind)], line.text),
                column);
  };
  std::string out =
      fmt::format("{:<{}}   {}\n", cell(a.heading, column), column, cell(b.heading, column));
  for (const auto& [i, j] : align(one, two)) {
    const Line* l = i < 0 ? nullptr : &one[static_cast<std::size_t>(i)];
    const Line* r = j < 0 ? nullptr : &two[static_cast<std::size_t>(j)];
    const char mark = l == nullptr                 ? '>'
                      : r == nullptr               ? '<'
                      : l->mnemonic != r->mnemonic ? '|'
                                                   : ' ';
    std::string row = fmt::format("{:<{}} {} {}", l == nullptr ? "" : side(*l), column, mark,
                                  r == nullptr ? "" : side(*r));
    while (!row.empty() && row.back() == ' ') row.pop_back();
    out += row + "\n";
  }
  const auto count = [&](const char* name, unsigned from, unsigned to) {
    if (from != 0 || to != 0) out += fmt::format("{:<16} {:>6} -> {:<6}\n", name, from, to);
  };
  count("instructions", a.listing.counts.total, b.listing.counts.total);
  for (std::size_t i = 0; i < kKinds; ++i)
    count(kKindNames[i], a.listing.counts.by_kind[i], b.listing.counts.by_kind[i]);
  count("loops", a.listing.counts.loops, b.listing.counts.loops);
  return out;
}

}  // namespace clcook::isa
