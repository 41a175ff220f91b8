// The clcook side of bench/peers/run: makes problems of recipes, times them as it is told to on
// standard input, and judges the results of others. So rounds of the library and of its peers can
// alternate. Answers are JSON, a line each; {"error": ...} where something failed.
//
//   head    the head of a result file: commit, date, device
//   make RECIPE VARIANT FOLDER SHAPE
//           a case of the recipe, run once and checked; VARIANT may be automatic. Into FOLDER go its
//           buffers, as they are before and after the call, and the constants of the problem.
//           {"not_this_case": why} where the device has no such variant for the shape
//   sample  from then on the reference of a case computes some of its rows where all take seconds
//   run COUNT
//           seconds of COUNT runs: on a CPU on the clock, elsewhere by events, from the first kernel's
//           start to the last one's end
//   variants SECONDS
//           seconds of a run of each variant that automatic may take for the case, in two rounds,
//           those that should be fastest first, as many as the time allows; the case is then prepared
//           anew
//   check FOLDER
//           whether the results there are as right as the recipe's own must be
//   set_sigma WIDTH HEIGHT
//           microseconds on the host's clock of another sigma on a plan of gaussian_blur
#include <algorithm>
#include <chrono>
#include <clcook/error.hpp>
#include <clcook/folded_switch.hpp>
#include <clcook/gaussian_blur.hpp>
#include <clcook/gbuffer_shade.hpp>
#include <clcook/group_size.hpp>
#include <clcook/group_swizzle.hpp>
#include <clcook/local_multipass.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/threshold_count.hpp>
#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "measure/fingerprint.hpp"
#include "measure/measure.hpp"
#include "tool/command.hpp"

namespace {

using clcook::tool::Json;

std::vector<char> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  std::vector<char> bytes(in ? static_cast<std::size_t>(in.tellg()) : 0);
  in.seekg(0);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!in) throw std::runtime_error("cannot read " + path);
  return bytes;
}

void write_bytes(const std::string& path, const void* data, std::size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

// What a problem holds beside its buffers, for those who compute it in another way.
class Constants {
 public:
  Constants(const clcook::Case& problem, std::string folder) : folder_(std::move(folder)) {
    if (const auto* p = of<clcook::ThresholdCount>(problem)) write("thresholds", p->thresholds);
    if (const auto* p = of<clcook::GroupSwizzle>(problem)) write("matrix", p->matrix);
    if (const auto* p = of<clcook::GroupSize>(problem))
      write("line", std::vector<float>{p->factor, p->summand});
    if (const auto* p = of<clcook::LocalMultipass>(problem))
      write("constraints", p->island.constraints);
    if (const auto* p = of<clcook::GbufferShade>(problem)) {
      write("lights", p->lights);
      write("fog", std::vector<std::uint32_t>{p->fog_colour});
    }
    if (const auto* p = of<clcook::FoldedSwitch>(problem)) {
      write("valences", p->valences);
      write("indices", p->indices);
    }
  }

  const Json& names() const { return names_; }

 private:
  template <class Operation>
  static const typename Operation::Problem* of(const clcook::Case& problem) {
    const auto* one = dynamic_cast<const clcook::PlanCase<Operation>*>(&problem);
    return one == nullptr ? nullptr : &one->stated();
  }

  template <class List>
  void write(const char* name, const List& list) {
    write_bytes(folder_ + "/" + name, list.data(), list.size() * sizeof list[0]);
    names_.push_back(name);
  }

  std::string folder_;
  Json names_ = Json::array();
};

class Server {
 public:
  Server() : runtime_(clcook::Runtime::pick({}, options())) {}

  Json answer(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "head") return clcook::tool::result_head("peers", runtime_.info());
    if (command == "make") return make(words);
    if (command == "set_sigma") return set_sigma(words);
    if (command == "sample") return is_sampled_ = true;
    if (!case_) throw std::runtime_error("there is no case");
    if (command == "run") return run(words);
    if (command == "variants") return variants(words);
    if (command == "check") return check(words);
    throw std::runtime_error("no such command: " + command);
  }

 private:
  clcook::PickOptions options() {
    clcook::PickOptions out;
    out.profiling = true;
    out.runtime.on_launch = timer_.observer();
    return out;
  }

  Json make(std::istream& words) {
    std::string name;
    std::string variant;
    std::string folder;
    std::string text;
    words >> name >> variant >> folder;
    std::getline(words >> std::ws, text);
    const clcook::Recipe& recipe = clcook::find_recipe(clcook::tool::recipes(), name);
    const clcook::Params shape = clcook::Params::parse(text);
    recipe.check_shape(shape);
    clcook::Params tune;
    clcook::Offer offer;
    try {
      if (variant == "automatic") {
        const clcook::Candidate choice = recipe.choose(runtime_, shape);
        variant = choice.variant->name;
        tune = choice.tune;
      } else {
        tune = recipe.whole_tune(variant, {}, shape, runtime_.info());
      }
      offer = recipe.offer(runtime_, variant, tune, shape);
    } catch (const clcook::Error& error) {
      if (error.code != clcook::Errc::unsupported) throw;
      return {{"not_this_case", error.what()}};
    }
    if (!offer.can()) return {{"not_this_case", offer.why}};
    case_.reset();
    case_ = recipe.make(runtime_, shape, 1);
    if (is_sampled_) case_->sample();
    case_->prepare(variant, tune);
    chosen_ = {variant, tune};
    asked_ = {name, shape};
    case_->poison();
    const cl::Event uploaded = case_->upload({});
    clcook::wait_for(uploaded);
    const auto begin = std::chrono::steady_clock::now();
    const cl::Event done = case_->run({});
    clcook::wait_for(done);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    const clcook::Diff diff = case_->check({done});
    if (!diff.ok()) throw std::runtime_error("clcook's result is wrong: " + diff.first());
    const clcook::tool::Fingerprint ran =
        clcook::tool::fingerprint_of(recipe, variant, tune, {shape}, runtime_.info());
    Json out{{"variant", variant},
             {"tune", clcook::tool::to_json(tune)},
             {"shape", clcook::tool::to_json(shape)},
             {"ran", clcook::tool::to_json(ran)},
             {"max_error", diff.max_error()},
             {"seconds", seconds.count()}};
    if (std::isfinite(offer.psnr)) out["promise"] = offer.psnr;
    for (const char* list : {"inputs", "outputs"}) out[list] = Json::array();
    for (const clcook::Operand& one : case_->operands()) {
      clcook::Diff guards;
      const std::vector<unsigned char> bytes = one.buffer->read({}, guards, one.name);
      write_bytes(folder + "/" + one.name, bytes.data(), bytes.size());
      out[one.access == clcook::Access::read ? "inputs" : "outputs"].push_back(one.name);
    }
    const Constants constants(*case_, folder);
    for (const Json& constant : constants.names()) out["inputs"].push_back(constant);
    return out;
  }

  double seconds_of_run() {
    const auto begin = std::chrono::steady_clock::now();
    const double span = timer_.time([&] { return case_->run({}); }).span;
    const std::chrono::duration<double> clock = std::chrono::steady_clock::now() - begin;
    return runtime_.info().cpu ? clock.count() : span;
  }

  Json run(std::istream& words) {
    int count = 0;
    if (!(words >> count)) throw std::runtime_error("run takes a number");
    Json out = Json::array();
    for (int i = 0; i < count; ++i) out.push_back(seconds_of_run());
    return out;
  }

  Json variants(std::istream& words) {
    double left = 0;
    if (!(words >> left)) throw std::runtime_error("variants takes a number");
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(left);
    const auto problem =
        clcook::find_recipe(clcook::tool::recipes(), asked_.first).problem(asked_.second);
    const clcook::DeviceInfo& device = runtime_.info();
    const clcook::Tuning& tuning = runtime_.tuning();
    const std::vector<clcook::RankedCandidate> all =
        clcook::ranked_candidates(clcook::question_of(*problem, runtime_), device, tuning,
                                  clcook::device_rates(device, tuning));
    std::map<std::string, std::vector<double>> times;
    // In two rounds, since caches and clocks are not yet as they will be when the first are timed.
    for (int round = 0; round < 2; ++round) {
      for (const clcook::RankedCandidate& one : all) {
        const std::string& name = one.candidate.variant->name;
        if (!one.may_take || !one.candidate.offer || !one.candidate.offer->can()) continue;
        if (std::chrono::steady_clock::now() > end) break;
        if (round > 0 && times.count(name) == 0) continue;
        // With the tune that automatic takes.
        const bool is_chosen = name == chosen_.first;
        try {
          case_->prepare(name, is_chosen ? chosen_.second : one.candidate.tune);
          const double first = seconds_of_run();
          std::vector<double>& some = times[name];
          some.push_back(first < 3 ? seconds_of_run() : first);  // the first may have compiled
          for (int i = 0; i < 8 && first * i < 0.1; ++i) some.push_back(seconds_of_run());
        } catch (const clcook::Error& error) {
          if (error.code != clcook::Errc::unsupported) throw;
        }
      }
    }
    case_->prepare(chosen_.first, chosen_.second);
    Json out = Json::object();
    for (auto& [name, some] : times) out[name] = clcook::tool::median(some);
    return out;
  }

  // The buffers of the case take the others' result.
  Json check(std::istream& words) {
    std::string folder;
    words >> folder;
    for (const clcook::Operand& one : case_->operands()) {
      if (one.access == clcook::Access::read) continue;
      const std::vector<char> bytes = read_file(folder + "/" + one.name);
      if (bytes.size() != one.buffer->row_bytes() * one.buffer->rows())
        throw std::runtime_error(std::string(one.name) + " has another size");
      clcook::wait_for(one.buffer->upload(bytes.data(), {}));
    }
    const clcook::Diff diff = case_->check({});
    Json out{{"same", diff.ok()}, {"max_error", diff.max_error()}};
    if (!diff.ok()) {
      out["first"] =
          clcook::text(diff.mismatches(), " of ", diff.compared(), " values, ", diff.first());
    }
    return out;
  }

  Json set_sigma(std::istream& words) {
    clcook::GaussianBlur::Problem p;
    words >> p.width >> p.height;
    p.sigma_x = p.sigma_y = 32;
    p.truncate = 2;
    p.quality = 60;
    p.peak = 1;
    clcook::GaussianBlur blur(runtime_, p);
    std::vector<double> times;
    for (int i = 0; i < 20; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      blur.set_sigma(20 + i, 20 + i);
      const std::chrono::duration<double, std::micro> time =
          std::chrono::steady_clock::now() - begin;
      times.push_back(time.count());
    }
    return clcook::tool::median(times);
  }

  clcook::tool::EventTimer timer_;
  clcook::Runtime runtime_;
  std::unique_ptr<clcook::Case> case_;
  std::pair<std::string, clcook::Params> asked_;   // the recipe and the shape
  std::pair<std::string, clcook::Params> chosen_;  // the variant and its tune
  bool is_sampled_ = false;
};

}  // namespace

int main() {
  try {
    Server server;
    for (std::string line; std::getline(std::cin, line);) {
      Json said;
      try {
        said = server.answer(line);
      } catch (const std::exception& error) {
        said = {{"error", error.what()}};
      }
      std::cout << said.dump() << std::endl;
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
