#include "measure/statistics.hpp"

#include <algorithm>
#include <array>
#include <clcook/registry/random.hpp>
#include <cmath>
#include <utility>

namespace clcook::tool {

namespace {

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
constexpr int kRounds = 40;
#else
constexpr int kRounds = 2000;
#endif

// Of this file alone: for std::less the linker may take the algorithms of another file, which is built
// without optimisation.
constexpr auto is_less = [](double a, double b) { return a < b; };

// How many standard errors a 95 % interval of the mean of so many values reaches to each side; of 0,
// of any number. One block says nothing of the spread of blocks, and is taken for the samples in it.
double student(std::size_t values) {
  constexpr std::array kOf{1.96,  1.96,  12.706, 4.303, 3.182, 2.776,
                           2.571, 2.447, 2.365,  2.306, 2.262};
  return values < kOf.size() ? kOf[values] : 1.96 + 2.72 / static_cast<double>(values - 1);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle),
                   values.end(), is_less);
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle)) +
          upper) /
         2;
}

double median_deviation(const std::vector<double>& values) {
  const double centre = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return median(std::move(distances));
}

double relative_error(const std::vector<double>& values) {
  if (values.size() < 2) return std::nan("");
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1) / count) / mean;
}

Blocks split(const std::vector<double>& samples, std::size_t count) {
  Blocks blocks(std::max<std::size_t>(1, std::min(count, samples.size())));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    blocks[i * blocks.size() / samples.size()].push_back(samples[i]);
  }
  return blocks;
}

std::vector<double> flat(const Blocks& blocks) {
  std::vector<double> out;
  for (const auto& block : blocks) out.insert(out.end(), block.begin(), block.end());
  return out;
}

Ratio bootstrap_ratio(const Blocks& above, const Blocks& below) {
  Ratio ratio;
  ratio.value = median(flat(above)) / median(flat(below));
  Random random(20);
  std::vector<double> drawn;
  const auto draw = [&](const Blocks& blocks) {
    drawn.clear();
    // One block fewer than there are: without that the interval of few blocks is too narrow (Rao
    // and Wu 1988).
    const std::size_t count = blocks.size() > 1 ? blocks.size() - 1 : 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<double>& block = blocks[random.below(blocks.size())];
      for (std::size_t k = 0; k < block.size(); ++k)
        drawn.push_back(block[random.below(block.size())]);
    }
    return median(drawn);
  };
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    const double a = draw(above);
    ratios.push_back(a / draw(below));
    // Not to be sorted.
    if (std::isnan(ratios.back())) return {std::nan(""), std::nan(""), std::nan("")};
  }
  std::sort(ratios.begin(), ratios.end(), is_less);
  const auto at = [&](double share) {
    return ratios[static_cast<std::size_t>(share * static_cast<double>(ratios.size() - 1))];
  };
  // Of few blocks the percentiles are too close to the middle as well, by as much as a normal
  // distribution's are to Student's.
  const double wider = student(std::min(above.size(), below.size())) / student(0);
  const auto widened = [&](double end) {
    return ratio.value > 0 && end > 0 ? ratio.value * std::pow(end / ratio.value, wider) : end;
  };
  ratio.low = widened(at(0.025));
  ratio.high = widened(at(0.975));
  return ratio;
}

}  // namespace clcook::tool
