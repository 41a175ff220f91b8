// Figures of explorations: several curves on one plot.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report.hpp"
#include "report/style.hpp"

namespace clcook::tool::report {

namespace {

// Curves of one variant that agree to this everywhere are drawn once.
constexpr double kSame = 0.03;

// The parameters that curves of one recipe and axis do not have in common, the first first.
std::vector<std::string> varying(const std::vector<const Json*>& curves) {
  std::vector<std::string> out;
  if (curves.empty() || !curves[0]->contains("shape")) return out;
  for (const auto& [key, value] : (*curves[0])["shape"].items()) {
    for (const Json* curve : curves) {
      if (curve->contains("shape") && (*curve)["shape"].contains(key) &&
          (*curve)["shape"][key] == value)
        continue;
      out.push_back(key);
      break;
    }
  }
  return out;
}

// A number with its name, a word alone.
std::string said(const Json& curve, const std::string& key) {
  if (!curve["shape"].contains(key)) return key + " -";
  const Json& value = curve["shape"][key];
  return value.is_string() ? value.get<std::string>() : key + " " + value.dump();
}

std::vector<std::pair<double, double>> points_of(const Json& curve, const Json& times) {
  std::vector<std::pair<double, double>> out;
  if (!times.is_array()) return out;
  for (std::size_t i = 0; i < std::min(times.size(), curve["points"].size()); ++i) {
    if (times[i].is_number())
      out.emplace_back(curve["points"][i].get<double>(), times[i].get<double>());
  }
  return out;
}

bool same(const std::vector<std::pair<double, double>>& a,
          const std::vector<std::pair<double, double>>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const auto& one, const auto& two) {
           return one.first == two.first &&
                  std::abs(one.second - two.second) <= kSame * std::max(one.second, two.second);
         });
}

// The prediction that is drawn: for 32 lanes where it is there, else the first.
const Json* drawn_prediction(const Json& variant) {
  if (!variant.contains("predicted_us")) return nullptr;
  const Json& all = variant["predicted_us"];
  if (!all.is_object() || all.empty()) return nullptr;
  return all.contains("32 lanes") ? &all["32 lanes"] : &all.front();
}

bool is_baseline(const Json& curve, std::size_t variant) {
  const Json& one = curve["variants"][variant];
  return one.contains("baseline") ? one["baseline"].get<bool>() : variant == 0;
}

}  // namespace

std::vector<Figure> figures_of(const Result& explore, const std::string& recipe) {
  std::vector<std::string> axes;
  std::map<std::string, std::vector<const Json*>> of_axis;
  for (const Json& curve : explore.json["curves"]) {
    if (curve["recipe"] != recipe) continue;
    const std::string axis = word(curve, "axis");
    if (of_axis[axis].empty()) axes.push_back(axis);
    of_axis[axis].push_back(&curve);
  }
  std::vector<Figure> out;
  for (const std::string& axis : axes) {
    const std::vector<std::string> keys = varying(of_axis[axis]);
    // The lines of a figure differ in the parameter with the most values.
    std::string lines;
    std::size_t most = 0;
    for (const std::string& key : keys) {
      std::set<std::string> values;
      for (const Json* curve : of_axis[axis]) values.insert(said(*curve, key));
      if (values.size() > most) {
        most = values.size();
        lines = key;
      }
    }
    std::map<std::string, std::size_t> place;
    const std::size_t first = out.size();
    for (const Json* curve : of_axis[axis]) {
      std::string title;
      for (const std::string& key : keys) {
        if (key != lines) title += (title.empty() ? "" : ", ") + said(*curve, key);
      }
      if (place.count(title) == 0) {
        place[title] = out.size() - first;
        out.push_back({title, lines, {}});
      }
      out[first + place[title]].curves.push_back(curve);
    }
  }
  return out;
}

std::string figure_svg(const Figure& figure) {
  std::vector<Line> lines;
  std::vector<Mark> marks;
  struct Drawn {
    std::string variant;
    std::vector<std::pair<double, double>> points;
    std::size_t line;
  };
  std::vector<Drawn> others;
  // Where there is one curve, colours tell the variants apart.
  const bool alone = figure.curves.size() == 1;
  for (std::size_t c = 0; c < figure.curves.size(); ++c) {
    const Json& curve = *figure.curves[c];
    const std::string which = figure.varies.empty() ? "" : ", " + said(curve, figure.varies);
    for (std::size_t v = 0; v < curve["variants"].size(); ++v) {
      const Json& one = curve["variants"][v];
      Line line;
      line.colour = alone ? v : c;
      line.points = points_of(curve, one["measured_us"]);
      if (line.points.empty()) continue;
      line.label = word(one, "variant") + which;
      // Of many variants the predictions would hide the measurements.
      const Json* predicted = drawn_prediction(one);
      if (predicted != nullptr &&
          (is_baseline(curve, v) || (alone && curve["variants"].size() <= 3))) {
        Line model;
        model.colour = line.colour;
        model.style = Line::Style::predicted;
        model.points = points_of(curve, *predicted);
        if (!model.points.empty()) lines.push_back(std::move(model));
      }
      if (!is_baseline(curve, v)) {
        if (!alone) line.style = Line::Style::other;
        const auto twin = std::find_if(others.begin(), others.end(), [&](const Drawn& drawn) {
          return drawn.variant == word(one, "variant") && same(drawn.points, line.points);
        });
        if (one.contains("pays")) {
          for (const Json& range : one["pays"]) {
            for (const Json& end : range) {
              const double x = end.get<double>();
              if (x <= line.points.front().first || x >= line.points.back().first) continue;
              auto right = std::find_if(line.points.begin(), line.points.end(),
                                        [&](const auto& point) { return point.first >= x; });
              const auto left = right - 1;
              marks.push_back(
                  {x, left->second + (right->second - left->second) * (x - left->first) /
                                         (right->first - left->first)});
            }
          }
        }
        if (twin != others.end()) {
          lines[twin->line].label = word(one, "variant");
          continue;
        }
        others.push_back({word(one, "variant"), line.points, lines.size()});
      }
      lines.push_back(std::move(line));
    }
  }
  const Json& first = *figure.curves[0];
  if (alone && first.contains("copy_us") && !lines.empty()) {
    Line limit;
    limit.label = "copy";
    limit.style = Line::Style::limit;
    limit.points = points_of(first, first["copy_us"]);
    // Where nothing comes near it, it would only squeeze the others together.
    const auto lowest = [](const Line& line) {
      double out = HUGE_VAL;
      for (const auto& point : line.points) out = std::min(out, point.second);
      return out;
    };
    double low = HUGE_VAL;
    for (const Line& line : lines) low = std::min(low, lowest(line));
    if (low < 5 * lowest(limit)) lines.push_back(std::move(limit));
  }
  if (lines.empty()) return "";
  const std::string axis = word(*figure.curves[0], "axis");
  return curve_plot(
      lines, marks, axis,
      "Curves: time against " + axis + (figure.title.empty() ? "" : ", ") + figure.title);
}

std::string curves_file(const Result& explore, const std::string& recipe) {
  constexpr int kWidth = 640;
  constexpr int kHeight = 360;
  constexpr int kTitle = 24;
  std::string body;
  int y = 0;
  for (const Figure& figure : figures_of(explore, recipe)) {
    std::string svg = figure_svg(figure);
    if (svg.empty()) continue;
    if (!figure.title.empty()) {
      body +=
          fmt::format("<text x=\"8\" y=\"{}\" font-size=\"14\" fill=\"currentColor\">{}</text>\n",
                      y + 17, escape(figure.title));
      y += kTitle;
    }
    svg.replace(0, 4, fmt::format("<svg y=\"{}\" width=\"{}\" height=\"{}\"", y, kWidth, kHeight));
    body += svg + "\n";
    y += kHeight;
  }
  if (body.empty())
    fail(Errc::invalid_argument, "report",
         fmt::format("'{}' has no curves of '{}'", explore.stem, recipe));
  std::string file = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" color=\"var(--text)\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"var(--back)\"/>\n{2}</svg>\n",
      kWidth, y, body);
  // The page's light colours by value: not every viewer of pictures knows variables.
  const std::string style(kStyle);
  const std::string light = style.substr(0, style.find('}'));
  for (std::size_t at = light.find("--"); at != std::string::npos; at = light.find("--", at + 1)) {
    const std::size_t colon = light.find(':', at);
    const std::size_t end = light.find(';', colon);
    if (colon == std::string::npos || end == std::string::npos) break;
    const std::string variable = "var(" + light.substr(at, colon - at) + ")";
    const std::string value = light.substr(colon + 2, end - colon - 2);
    for (std::size_t use = file.find(variable); use != std::string::npos;
         use = file.find(variable, use))
      file.replace(use, variable.size(), value);
  }
  return file;
}

}  // namespace clcook::tool::report
