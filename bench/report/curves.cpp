// Figures of explorations: several curves on one plot.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/report.hpp"
#include "report/style.hpp"

namespace clcook::tool::report {

namespace {

// Curves of one variant that agree to this everywhere are drawn once.
constexpr double kSame = 0.03;

// The parameters that curves of one recipe and axis do not have in common, the first first.
std::vector<std::string> varying(const std::vector<const Curve*>& curves) {
  std::vector<std::string> out;
  if (curves.empty()) return out;
  for (const Params::Entry& entry : curves[0]->shape.entries()) {
    const bool common = std::all_of(curves.begin(), curves.end(), [&](const Curve* curve) {
      const Value* value = curve->shape.find(entry.name);
      return value != nullptr && to_json(*value) == to_json(entry.value);
    });
    if (!common) out.push_back(entry.name);
  }
  return out;
}

// A number with its name, a word alone.
std::string said(const Curve& curve, const std::string& key) {
  const Value* value = curve.shape.find(key);
  if (value == nullptr) return key + " -";
  if (const auto* word = std::get_if<std::string>(value)) return *word;
  return key + " " + to_json(*value).dump();
}

std::vector<std::pair<double, double>> points_of(const Curve& curve,
                                                 const std::vector<double>& times) {
  std::vector<std::pair<double, double>> out;
  for (std::size_t i = 0; i < std::min(times.size(), curve.points.size()); ++i) {
    if (!std::isnan(times[i])) out.emplace_back(to_json(curve.points[i]).get<double>(), times[i]);
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
const std::vector<double>* drawn_prediction(const CurveVariant& variant) {
  if (!variant.predicted_us || variant.predicted_us->empty()) return nullptr;
  for (const auto& [model, times] : *variant.predicted_us) {
    if (model == "32 lanes") return &times;
  }
  return &variant.predicted_us->front().second;
}

}  // namespace

std::vector<Figure> figures_of(const Result& result, const std::string& recipe) {
  std::vector<std::string> axes;
  std::map<std::string, std::vector<const Curve*>> of_axis;
  for (const Curve& curve : result.explore.curves) {
    if (curve.recipe != recipe) continue;
    if (of_axis[curve.axis].empty()) axes.push_back(curve.axis);
    of_axis[curve.axis].push_back(&curve);
  }
  std::vector<Figure> out;
  for (const std::string& axis : axes) {
    const std::vector<std::string> keys = varying(of_axis[axis]);
    // The lines of a figure differ in the parameter with the most values.
    std::string lines;
    std::size_t most = 0;
    for (const std::string& key : keys) {
      std::set<std::string> values;
      for (const Curve* curve : of_axis[axis]) values.insert(said(*curve, key));
      if (values.size() > most) {
        most = values.size();
        lines = key;
      }
    }
    std::map<std::string, std::size_t> place;
    const std::size_t first = out.size();
    for (const Curve* curve : of_axis[axis]) {
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
    const Curve& curve = *figure.curves[c];
    const std::string which = figure.varies.empty() ? "" : ", " + said(curve, figure.varies);
    for (std::size_t v = 0; v < curve.variants.size(); ++v) {
      const CurveVariant& one = curve.variants[v];
      Line line;
      line.colour = alone ? v : c;
      line.points = points_of(curve, one.measured_us);
      if (line.points.empty()) continue;
      line.label = one.variant + which;
      // Of many variants the predictions would hide the measurements.
      const std::vector<double>* predicted = drawn_prediction(one);
      if (predicted != nullptr && (one.baseline || (alone && curve.variants.size() <= 3))) {
        Line model;
        model.colour = line.colour;
        model.style = Line::Style::predicted;
        model.points = points_of(curve, *predicted);
        if (!model.points.empty()) lines.push_back(std::move(model));
      }
      if (!one.baseline) {
        if (!alone) line.style = Line::Style::other;
        const auto twin = std::find_if(others.begin(), others.end(), [&](const Drawn& drawn) {
          return drawn.variant == one.variant && same(drawn.points, line.points);
        });
        if (one.pays) {
          for (const auto& range : *one.pays) {
            for (const double x : {range.first, range.second}) {
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
          lines[twin->line].label = one.variant;
          continue;
        }
        others.push_back({one.variant, line.points, lines.size()});
      }
      lines.push_back(std::move(line));
    }
  }
  const Curve& first = *figure.curves[0];
  if (alone && first.copy_us && !lines.empty()) {
    Line limit;
    limit.label = "copy";
    limit.style = Line::Style::limit;
    limit.points = points_of(first, *first.copy_us);
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
  const std::string axis = first.axis;
  return curve_plot(
      lines, marks, axis,
      "Curves: time against " + axis + (figure.title.empty() ? "" : ", ") + figure.title);
}

std::string curves_file(const Result& result, const std::string& recipe) {
  constexpr int kWidth = 640;
  constexpr int kHeight = 360;
  constexpr int kTitle = 24;
  std::string body;
  int y = 0;
  for (const Figure& figure : figures_of(result, recipe)) {
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
         fmt::format("'{}' has no curves of '{}'", result.stem, recipe));
  std::string file = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" color=\"var(--text)\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"var(--back)\"/>\n{2}</svg>\n",
      kWidth, y, body);
  // The page's light colours by value: not every viewer of pictures knows variables. Where one knows
  // styles, its reader's dark setting replaces them.
  const std::string style(kStyle);
  const std::string light = style.substr(0, style.find('}'));
  const std::string dark = style.substr(style.find("prefers-color-scheme: dark"));
  const auto value_of = [](const std::string& of, const std::string& name) {
    const std::size_t at = of.find(name + ": ") + name.size() + 2;
    return of.substr(at, of.find(';', at) - at);
  };
  std::string rules;
  for (std::size_t at = light.find("--"); at != std::string::npos; at = light.find("--", at + 1)) {
    const std::size_t colon = light.find(':', at);
    if (colon == std::string::npos) break;
    const std::string name = light.substr(at, colon - at);
    const std::string variable = "var(" + name + ")";
    const std::string value = value_of(light, name);
    if (file.find(variable) == std::string::npos) continue;
    for (const char* what : {"fill", "stroke", "color"})
      rules += fmt::format("[{0}=\"{1}\"]{{{0}:{2}}}", what, value, value_of(dark, name));
    for (std::size_t use = file.find(variable); use != std::string::npos;
         use = file.find(variable, use))
      file.replace(use, variable.size(), value);
  }
  file.insert(file.find('\n') + 1,
              "<style>@media (prefers-color-scheme: dark) { " + rules + " }</style>\n");
  return file;
}

}  // namespace clcook::tool::report
