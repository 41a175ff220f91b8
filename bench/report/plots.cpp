// Plots by gnuplot, as SVG that takes its colours from the page: text and axes are currentColor,
// data has the CSS variables of report/style.hpp.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "report/report.hpp"

extern char** environ;

namespace clcook::tool::report {

namespace {

// gnuplot knows no CSS variables: it draws in these colours, which paint() replaces.
struct Ink {
  const char* code;
  const char* variable;
};
constexpr std::array<Ink, 14> kInks{{{"#0a0a01", "--base"},
                                     {"#0a0a02", "--faster"},
                                     {"#0a0a03", "--tie"},
                                     {"#0a0a04", "--slower"},
                                     {"#0a0a05", "--soft-text"},
                                     {"#0a0a06", "--grid"},
                                     {"#0a0a07", "--s1"},
                                     {"#0a0a08", "--s2"},
                                     {"#0a0a09", "--s3"},
                                     {"#0a0a0a", "--s4"},
                                     {"#0a0a0b", "--s5"},
                                     {"#0a0a0c", "--s6"},
                                     {"#0a0a0d", "--s7"},
                                     {"#0a0a0e", "--s8"}}};
constexpr const char* kText = "#000000";
constexpr const char* kSoft = kInks[4].code;
constexpr const char* kGrid = kInks[5].code;

const char* ink_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return kInks[1].code;
    case Verdict::tie:
      return kInks[2].code;
    case Verdict::slower:
      return kInks[3].code;
    case Verdict::baseline:
    case Verdict::none:
      break;
  }
  return kInks[0].code;
}

struct Descriptor {
  int value = -1;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

// Runs gnuplot on a script and returns what it writes. Its init files are not read.
std::string run_gnuplot(const std::string& script) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  return "<g id=\"gnuplot_canvas\">" + script + "</svg>";
#endif
  // Files in memory: no pipe that could fill up, nothing left behind.
  Descriptor in{memfd_create("clcook-plot", MFD_CLOEXEC)};
  Descriptor out{memfd_create("clcook-svg", MFD_CLOEXEC)};
  Descriptor err{memfd_create("clcook-log", MFD_CLOEXEC)};
  if (in.value < 0 || out.value < 0 || err.value < 0 ||
      write(in.value, script.data(), script.size()) != static_cast<ssize_t>(script.size()) ||
      lseek(in.value, 0, SEEK_SET) != 0) {
    fail(Errc::io, "gnuplot", "cannot hand over the plot");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.value, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.value, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.value, STDERR_FILENO);
  std::array<std::string, 3> words{"gnuplot", "-d", "-"};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    fail(Errc::unsupported, "report",
         error == ENOENT || error == EACCES
             ? "the plots need gnuplot, which was not found. On Debian: apt-get install gnuplot-nox"
             : std::string("cannot start gnuplot: ") + std::strerror(error));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const auto content = [](int file) {
    std::string text;
    std::array<char, 4096> part{};
    lseek(file, 0, SEEK_SET);
    for (ssize_t got = 0; (got = read(file, part.data(), part.size())) > 0;)
      text.append(part.data(), static_cast<std::size_t>(got));
    return text;
  };
  std::string svg = content(out.value);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || svg.find("</svg>") == std::string::npos)
    fail(Errc::io, "gnuplot", "could not draw a plot: " + content(err.value));
  return svg;
}

// A string that gnuplot takes as it is: between single quotes it looks for nothing but quotes.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= ' ') out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

// At most `limit` characters of UTF-8 text.
std::string shortened(const std::string& text, std::size_t limit) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80) starts.push_back(i);
  }
  return starts.size() <= limit ? text : text.substr(0, starts[limit - 1]) + "…";
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Cuts every part that begins with `first` and ends with `last`.
void cut_all(std::string& text, std::string_view first, std::string_view last) {
  for (std::size_t at = text.find(first); at != std::string::npos; at = text.find(first, at)) {
    const std::size_t end = text.find(last, at + first.size());
    if (end == std::string::npos) return;
    text.erase(at, end + last.size() - at);
  }
}

// Points of a curve, which are most of its file, in fewer words.
void round_points(std::string& svg) {
  static constexpr std::string_view kHead =
      "<circle r='1' fill='currentColor' stroke='none' transform='translate(";
  for (std::size_t at = svg.find(kHead); at != std::string::npos; at = svg.find(kHead, at + 1)) {
    const std::size_t x = at + kHead.size();
    const std::size_t comma = svg.find(',', x);
    const std::size_t scale = svg.find(") scale(", comma);
    const std::size_t colour = svg.find(")' color='", scale);
    const std::size_t end = svg.find("/>", x);
    if (end == std::string::npos || comma > end || scale > end || colour > end) continue;
    svg.replace(at, end - at,
                fmt::format("<circle cx='{}' cy='{}' r='{}' stroke='none' fill={}",
                            svg.substr(x, comma - x), svg.substr(comma + 1, scale - comma - 1),
                            svg.substr(scale + 8, colour - scale - 8),
                            svg.substr(colour + 9, end - colour - 9)));
  }
}

// Makes gnuplot's SVG part of the page: one element without identifiers, titles and fixed colours.
std::string paint(std::string svg, int width, int height, const std::string& title) {
  svg.erase(0, svg.find("<g id=\"gnuplot_canvas\">"));
  cut_all(svg, "<defs>", "</defs>");
  cut_all(svg, "<title>", "</title>");
  cut_all(svg, " id=\"", "\"");
  cut_all(svg, " font-family=\"", "\"");
  for (const char* colour : {" color=\"black\"", " color=\"#FFFFFF\"", " color=\"white\""})
    replace_all(svg, colour, "");
  // The one point type in use: a filled circle.
  replace_all(svg, "<use xlink:href='#gpPt6'", "<circle r='1' fill='currentColor' stroke='none'");
  // What is so without being said, and empty lines.
  for (const char* idle :
       {" stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", " class=\"gridline\"", "\t"})
    replace_all(svg, idle, "");
  replace_all(svg, "\n\n", "\n");
  round_points(svg);
  const auto both = [&](const std::string& code, const std::string& with) {
    const auto part = [&](std::size_t at) { return std::stoi(code.substr(at, 2), nullptr, 16); };
    replace_all(svg, fmt::format("rgb({:3},{:4},{:4})", part(1), part(3), part(5)), with);
    replace_all(svg, fmt::format("rgb({},{},{})", part(1), part(3), part(5)), with);
  };
  for (const Ink& ink : kInks) both(ink.code, fmt::format("var({})", ink.variable));
  both(kText, "currentColor");
  replace_all(svg, "stroke=\"black\"", "stroke=\"currentColor\"");
  // gnuplot opens many groups in which it then draws nothing.
  for (std::size_t at = svg.find("<g fill=\"none\""); at != std::string::npos;
       at = svg.find("<g fill=\"none\"", at)) {
    const std::size_t end = svg.find('>', at) + 1;
    const std::size_t next = svg.find_first_not_of(" \t\n", end);
    if (svg.compare(next, 4, "</g>") == 0) {
      svg.erase(at, next + 5 - at);
    } else {
      at = end;
    }
  }
  return fmt::format(
      "<svg class=\"plot\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"{}\">\n{}",
      width, height, escape(title), svg);
}

constexpr int kWidth = 420;

std::string head(int width, int height) {
  return fmt::format(
      "set terminal svg size {},{} dynamic noenhanced font 'sans-serif,13'\nset encoding utf8\n"
      "unset key\nset tics nomirror textcolor rgb '{}'\nset format '%g'\n"
      "set style fill solid 1 noborder\n",
      width, height, kSoft);
}

std::string plot(const std::string& script, int height, const std::string& title,
                 int width = kWidth) {
  return paint(run_gnuplot(head(width, height) + script), width, height, title);
}

// The names of lines that are drawn as one, "tiled, run 1", "tiled, run 8" and "plain" as "tiled, run 1, 8;"
// and "plain", in rows of at most `limit` characters where words are not longer.
std::vector<std::string> rows_of(const std::vector<std::string>& names, std::size_t limit) {
  struct Entry {
    std::string variant;
    std::string values;  // empty: all
  };
  std::vector<Entry> entries;
  for (const std::string& name : names) {
    const std::size_t comma = std::min(name.find(", "), name.size());
    const std::string variant = name.substr(0, comma);
    const std::string values = comma < name.size() ? name.substr(comma + 2) : "";
    const auto same = std::find_if(entries.begin(), entries.end(),
                                   [&](const Entry& one) { return one.variant == variant; });
    if (same == entries.end())
      entries.push_back({variant, values});
    else if (values.empty() || same->values.empty())
      same->values.clear();
    else
      same->values += ", " + values.substr(values.find(' ') + 1);
  }
  std::string text;
  for (const Entry& one : entries)
    text +=
        (text.empty() ? "" : "; ") + one.variant + (one.values.empty() ? "" : ", " + one.values);
  std::vector<std::string> rows;
  while (text.size() > limit) {
    std::size_t at = text.rfind(' ', limit);
    if (at == std::string::npos || at == 0) at = text.find(' ');
    if (at == std::string::npos) break;
    rows.push_back(text.substr(0, at));
    text.erase(0, at + 1);
  }
  rows.push_back(text);
  return rows;
}

// A number as gnuplot reads it.
std::string exact(double value) { return fmt::format("{:.9g}", value); }

}  // namespace

bool needs_log(const std::vector<Bar>& bars) {
  double low = HUGE_VAL;
  double high = 0;
  for (const Bar& bar : bars) {
    if (bar.value.value > 0) low = std::min(low, bar.value.value);
    high = std::max(high, bar.value.value);
  }
  return high > 20 * low;
}

std::string bar_plot(const std::vector<Bar>& bars, const std::string& unit,
                     const std::string& title) {
  const int count = static_cast<int>(bars.size());
  const int height = 38 * count + 40;
  const bool log = needs_log(bars);
  double low = HUGE_VAL;
  double high = 0;
  for (const Bar& bar : bars) {
    low = std::min(low, bar.value.low > 0 ? bar.value.low : bar.value.value);
    if (log && bar.copy) low = std::min(low, *bar.copy);
    high = std::max({high, bar.value.value, bar.value.high});
  }
  const double left = log ? low / 1.3 : 0;
  // Each bar lies under its own label, so that neither needs a margin: this fits a phone.
  std::string script = fmt::format(
      "set lmargin at screen 0.012\nset rmargin at screen 0.985\nset tmargin at screen {}\n"
      "set bmargin at screen {}\nset border 1 lc rgb '{}'\nunset ytics\n"
      "set xrange [{}:{}]\nset yrange [{}:-0.5]\n{}"
      "set xtics out scale 0.6 offset 0,0.4\nset grid xtics lc rgb '{}' lt 1 lw 0.7\n"
      "set label {} at graph 1, screen {} right tc rgb '{}' font ',12'\n",
      exact(1 - 2.0 / height), exact(38.0 / height), kSoft, exact(left),
      exact(high * (log ? 1.1 : 1.02)), count - 0.5, log ? "set logscale x\n" : "", kGrid,
      quoted(unit + (log ? ", logarithmic" : "")), exact(9.0 / height), kSoft);
  std::string data = "$bars << END_OF_DATA\n";
  std::string plots;
  for (int i = 0; i < count; ++i) {
    const Bar& bar = bars[static_cast<std::size_t>(i)];
    script += fmt::format(
        "set label {} at graph 0, first {:.2f} left tc rgb '{}' front\n"
        "set label {} at graph 1, first {:.2f} right tc rgb '{}' font ',12' front\n",
        quoted(shortened(bar.label, 30)), i - 0.25, kText, quoted(shortened(bar.note, 32)),
        i - 0.25, kText);
    data += fmt::format("{} {} {} {}\n", exact(bar.value.value), i + 0.22, exact(bar.value.low),
                        exact(bar.value.high));
    if (bar.copy && *bar.copy <= high)
      script += fmt::format(
          "set arrow from first {0}, first {1:.2f} to first {0}, first {2:.2f} nohead front lc rgb "
          "'{3}' lw 1.4 dt (3,3)\n",
          exact(*bar.copy), i - 0.02, i + 0.46, kText);
    plots += i == 0 ? "plot " : ", ";
    plots +=
        log ? fmt::format("$bars every ::{0}::{0} using 1:2 with points pt 7 ps 0.9 lc rgb '{1}'",
                          i, ink_of(bar.verdict))
            : fmt::format(
                  "$bars every ::{0}::{0} using 1:2:(0):1:($2-0.16):($2+0.16) with "
                  "boxxyerror lc rgb '{1}'",
                  i, ink_of(bar.verdict));
  }
  return plot(
      script + data + "END_OF_DATA\n" + plots +
          fmt::format(", $bars using 1:2:3:4 with xerrorbars lc rgb '{}' lw 1.3 pt -1\n", kText),
      height, title);
}

std::string roofline_plot(const std::vector<Dot>& dots, const Ceilings& ceilings,
                          const std::string& title) {
  const double copy = ceilings.copy_gbs;
  const double cached = ceilings.cached_copy_gbs;
  const double fma = ceilings.fma_gops;
  const int height = std::max(250, static_cast<int>(dots.size()) * 16 + 60);
  double x_low = fma / copy / 30;
  double x_high = fma / copy * 5;
  double y_low = HUGE_VAL;
  double y_high = fma * 1.6;
  for (const Dot& dot : dots) {
    x_low = std::min(x_low, dot.x / 2);
    x_high = std::max(x_high, dot.x * 2);
    y_low = std::min(y_low, dot.y / 2);
    y_high = std::max(y_high, dot.y * 1.6);
  }
  y_low = std::min(y_low, fma / 30);
  // The labels stand in a column at the right, in the order of their dots, with a line to each.
  constexpr double kPlotLeft = 0.16;
  constexpr double kPlotRight = 0.60;
  const double bottom = 46.0 / height;
  const double top = 1 - 28.0 / height;
  std::vector<Dot> sorted = dots;
  std::sort(sorted.begin(), sorted.end(), [](const Dot& a, const Dot& b) { return a.y < b.y; });
  std::vector<double> at(sorted.size());
  const double gap = 16.0 / height;
  double edge = bottom;
  const auto screen_y = [&](double y) {
    return bottom + (top - bottom) * std::log(y / y_low) / std::log(y_high / y_low);
  };
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    at[i] = std::max(screen_y(sorted[i].y), edge);
    edge = at[i] + gap;
  }
  edge = 1 - 8.0 / height;
  for (std::size_t i = sorted.size(); i-- > 0;) {
    at[i] = std::min(at[i], edge);
    edge = at[i] - gap;
  }
  std::string script = fmt::format(
      "set lmargin at screen {}\nset rmargin at screen {}\nset bmargin at screen {}\n"
      "set tmargin at screen {}\nset border 3 lc rgb '{}'\nset logscale xy\n"
      "set xrange [{}:{}]\nset yrange [{}:{}]\nset tics out scale 0.6\nset xtics offset 0,0.4\n"
      "set grid xtics ytics lc rgb '{}' lt 1 lw 0.7\nset samples 200\n"
      "set label 'Gop/s' at screen 0.012, screen {} left tc rgb '{}' font ',12'\n"
      "set label 'operations per byte' at graph 1, screen {} right tc rgb '{}' font ',12'\n",
      kPlotLeft, kPlotRight, exact(bottom), exact(top), kSoft, exact(x_low), exact(x_high),
      exact(y_low), exact(y_high), kGrid, exact(1 - 10.0 / height), kSoft, exact(10.0 / height),
      kSoft);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Dot& dot = sorted[i];
    script += fmt::format(
        "set arrow from first {}, first {} to screen 0.625, screen {} nohead lc rgb '{}' lw 0.6\n"
        "set label {} at screen 0.635, screen {} left tc rgb '{}' font ',12'\n",
        exact(dot.x), exact(dot.y), exact(at[i]), kSoft, quoted(shortened(dot.label, 22)),
        exact(at[i]), kText);
  }
  std::string data = "$dots << END_OF_DATA\n";
  std::string plots;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    data += fmt::format("{} {}\n", exact(sorted[i].x), exact(sorted[i].y));
    plots += fmt::format(", $dots every ::{}::{} with points pt 7 ps 0.75 lc rgb '{}'", i, i,
                         ink_of(sorted[i].verdict));
  }
  const auto roof = [&](double bandwidth, const char* style) {
    return fmt::format("(x*{0} < {1} ? x*{0} : {1}) with lines lc rgb '{2}' lw 1.6 {3}",
                       exact(bandwidth), exact(fma), kText, style);
  };
  script += data + "END_OF_DATA\nplot " + roof(copy, "");
  if (cached > copy) script += ", " + roof(cached, "dt (6,4)");
  return plot(script + plots + "\n", height, title);
}

std::string curve_plot(const std::vector<Line>& lines, const std::vector<Mark>& marks,
                       const std::string& x_title, const std::string& title) {
  constexpr int kCurveWidth = 640;
  constexpr int kHeight = 360;
  constexpr double kTop = 0.93;
  constexpr double kBottom = 0.13;
  double low = HUGE_VAL;
  double high = 0;
  double x_low = HUGE_VAL;
  double x_high = 0;
  for (const Line& line : lines) {
    for (const auto& point : line.points) {
      if (point.second > 0) low = std::min(low, point.second);
      high = std::max(high, point.second);
      x_low = std::min(x_low, point.first);
      x_high = std::max(x_high, point.first);
    }
  }
  // Powers of two read badly on a linear axis.
  const bool log_x = x_low > 0 && x_high >= 100 * x_low;
  const auto ink_of = [](const Line& line) {
    return line.style == Line::Style::other || line.style == Line::Style::limit
               ? kInks[0].code
               : kInks[6 + line.colour % 8].code;
  };
  const bool log = high > 20 * low;
  const double y_low = log ? low / 1.2 : 0;
  const double y_high = high * (log ? 1.2 : 1.08);
  const auto screen_y = [&](double y) {
    const double share = log ? std::log(std::max(y, y_low) / y_low) / std::log(y_high / y_low)
                             : (y - y_low) / (y_high - y_low);
    return kBottom + (kTop - kBottom) * share;
  };
  const auto near = [&](const Line& one, const Line& two, double share, double factor) {
    return one.label.empty() == two.label.empty() && one.points.size() == two.points.size() &&
           one.style != Line::Style::limit && two.style != Line::Style::limit &&
           std::equal(
               one.points.begin(), one.points.end(), two.points.begin(),
               [&](const auto& a, const auto& b) {
                 return a.first == b.first &&
                        (log ? std::max(a.second, b.second) <= factor * std::min(a.second, b.second)
                             : std::abs(a.second - b.second) <= share * y_high);
               });
  };
  // What lies on another line cannot be told from it and is drawn once. What goes along with one has
  // its name in that one's label.
  std::vector<const Line*> drawn;
  struct Label {
    double at;    // the middle of its rows
    double mean;  // of its line
    const Line* line;
    std::vector<std::string> names;
    bool several = false;  // lines
    std::vector<std::string> rows{};
  };
  std::vector<Label> labels;
  for (const bool other : {false, true}) {
    for (const Line& line : lines) {
      if (line.points.empty() || (line.style == Line::Style::other) != other) continue;
      const bool visible = std::none_of(drawn.begin(), drawn.end(), [&](const Line* one) {
        return near(*one, line, 0.01, 1.03);
      });
      if (visible) drawn.push_back(&line);
      if (line.label.empty()) continue;
      const auto same = std::find_if(labels.begin(), labels.end(), [&](const Label& one) {
        return near(*one.line, line, 0.035, 1.08);
      });
      if (same != labels.end()) {
        same->names.push_back(line.label);
        same->several |= visible;
        continue;
      }
      double mean = 0;
      for (const auto& point : line.points) mean += screen_y(point.second);
      labels.push_back({screen_y(line.points.back().second),
                        mean / static_cast<double>(line.points.size()),
                        &line,
                        {line.label}});
    }
  }
  for (Label& label : labels) label.rows = rows_of(label.names, 28);
  // Labels stand at the ends of their lines, from the top down, none over another. Of lines that end
  // at one point the one that lies higher stands first.
  std::stable_sort(labels.begin(), labels.end(),
                   [](const Label& a, const Label& b) { return a.at > b.at; });
  for (std::size_t turn = 0; turn < labels.size(); ++turn) {
    for (std::size_t i = 1; i < labels.size(); ++i) {
      if (labels[i - 1].at - labels[i].at < 0.02 && labels[i - 1].mean < labels[i].mean)
        std::swap(labels[i - 1], labels[i]);
    }
  }
  constexpr double kGap = 14.0 / kHeight;
  const auto half = [&](const Label& label) {
    return kGap * static_cast<double>(label.rows.size()) / 2;
  };
  double edge = kTop + kGap / 2;
  for (Label& label : labels) {
    label.at = std::min(label.at, edge - half(label));
    edge = label.at - half(label);
  }
  edge = kBottom - kGap / 2;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
    label->at = std::max(label->at, edge + half(*label));
    edge = label->at + half(*label);
  }

  // gnuplot labels powers of ten alone, of which a short axis may have one.
  std::string ticks;
  if (log && y_high < 100 * y_low) {
    for (double ten = std::pow(10, std::floor(std::log10(y_low))); ten <= y_high; ten *= 10) {
      for (const double at : {ten, 2 * ten, 5 * ten}) {
        if (at >= y_low && at <= y_high) ticks += (ticks.empty() ? "" : ", ") + exact(at);
      }
    }
  }
  std::string data;
  std::string plots;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const Line& line = *drawn[i];
    data += fmt::format("$s{} << END_OF_DATA\n", i);
    for (const auto& [x, y] : line.points) data += fmt::format("{} {}\n", exact(x), exact(y));
    data += "END_OF_DATA\n";
    const char* colour = ink_of(line);
    const char* with = line.style == Line::Style::predicted ? "lines lw 1.2 dt (6,4)"
                       : line.style == Line::Style::limit   ? "lines lw 1.6 dt (2,3)"
                       : line.style == Line::Style::other   ? "lines lw 2.6"
                                                            : "linespoints pt 7 ps 0.4 lw 1.8";
    plots += fmt::format("{}$s{} with {} lc rgb '{}'", i == 0 ? "plot " : ", ", i, with, colour);
  }
  data += "$marks << END_OF_DATA\n";
  for (const Mark& mark : marks) data += fmt::format("{} {}\n", exact(mark.x), exact(mark.y));
  data += "END_OF_DATA\n";
  if (!marks.empty())
    plots += fmt::format(", $marks with points pt 7 ps 0.8 lc rgb '{}'", kInks[3].code);
  std::string script = fmt::format(
      "set lmargin at screen 0.11\nset rmargin at screen 0.70\n"
      "set bmargin at screen {}\nset tmargin at screen {}\n"
      "set border 3 lc rgb '{}'\nset tics out scale 0.6\nset xtics offset 0,0.4\n"
      "set grid xtics ytics lc rgb '{}' lt 1 lw 0.7\n{}set yrange [{}:{}]\n"
      "set label {} at screen 0.008, screen 0.97 left tc rgb '{}' font ',12'\n"
      "set label {} at {}, screen 0.03 right tc rgb '{}' font ',12'\n",
      kBottom, kTop, kSoft, kGrid,
      fmt::format(
          "{}{}{}", log ? "set logscale y\n" : "",
          ticks.empty() ? "" : fmt::format("set ytics ({})\n", ticks),
          log_x ? fmt::format("set logscale x\nset xrange [{}:{}]\n", exact(x_low), exact(x_high))
                : ""),
      exact(y_low), exact(y_high), quoted(log ? "µs, logarithmic" : "µs"), kSoft,
      quoted(shortened(x_title, 96)),
      // A long title takes the room below the labels, too.
      x_title.size() <= 60 ? "graph 1" : "screen 0.985", kSoft);
  if (!marks.empty())
    script += fmt::format(
        "set label '● breaks even' at screen 0.985, screen 0.97 right tc rgb '{}' font ',12'\n",
        kInks[3].code);
  if (std::any_of(lines.begin(), lines.end(),
                  [](const Line& line) { return line.style == Line::Style::predicted; }))
    script += fmt::format(
        "set label '- - predicted' at screen 0.70, screen 0.97 right tc rgb '{}' font ',12'\n",
        kSoft);
  for (const Label& label : labels) {
    script += fmt::format(
        "set arrow from first {}, first {} to screen 0.715, screen {} nohead lc rgb '{}' lw 0.6\n",
        exact(label.line->points.back().first), exact(label.line->points.back().second),
        exact(label.at), kSoft);
    for (std::size_t i = 0; i < label.rows.size(); ++i)
      script += fmt::format("set label {} at screen 0.72, screen {} left tc rgb '{}' font ',12'\n",
                            quoted(shortened(label.rows[i], 32)),
                            exact(label.at + half(label) - kGap * (static_cast<double>(i) + 0.5)),
                            label.several ? kText : ink_of(*label.line));
  }
  return plot(script + data + plots + "\n", kHeight, title, kCurveWidth);
}

}  // namespace clcook::tool::report
