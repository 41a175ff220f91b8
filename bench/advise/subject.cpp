#include "advise/subject.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include <clcook/core/source.hpp>
#include <clcook/model/occupancy.hpp>

#include "isa/residency.hpp"
#include "results.hpp"

namespace clcook::advise {

namespace {

std::optional<Residency> residency_of(const isa::Job& job, const isa::Toolchain& tools,
                                      const DiskCache& cache) {
  const isa::Measured kernel = isa::measure(job, tools, cache);
  if (!kernel.problem.empty()) return std::nullopt;
  std::optional<isa::Held> held;
  try {
    held = isa::held(kernel);
  } catch (const std::invalid_argument&) {  // a group of it does not fit
  }
  if (!held) return std::nullopt;
  Residency out;
  out.target = job.target.name;
  out.spills = std::max(0L, kernel.resources.spills);
  out.waves = held->now.waves;
  out.max_waves = held->now.max_waves;
  if (held->step.possible && held->step.needs.group_size == held->needs.group_size &&
      held->step.needs.local_bytes == held->needs.local_bytes)
    out.fewer = held->needs.registers - held->step.needs.registers;
  out.step = model::describe(held->needs, held->now, held->step);
  return out;
}

}  // namespace

Subject subject_of(const std::vector<isa::Job>& jobs, const isa::Toolchain& tools,
                   const DiskCache& cache) {
  Subject out;
  const isa::Job& job = jobs.at(0);
  const isa::Compiled compiled = isa::compile(job, tools, cache);
  if (!compiled.problem.empty()) {
    fail(Errc::build_failed, job.name() + " for " + job.target.name, "does not compile", CL_SUCCESS,
         compiled.log);
  }
  out.facts = facts_of(isa::read_listing(isa::Dialect::ptx, compiled.assembly, job.kernel));
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    if (const auto one = residency_of(jobs[i], tools, cache)) out.residency.push_back(*one);
  }
  return out;
}

std::map<std::pair<std::string, std::string>, Results> read_results(
    const std::vector<std::string>& files) {
  std::map<std::pair<std::string, std::string>, Results> out;
  for (const std::string& file : files) {
    const tool::Json json = tool::Json::parse(read_text_file(file), nullptr, false);
    const std::string kind = json.is_object() ? json.value("kind", "") : "";
    if (kind != "bench" && kind != "counters") {
      fail(Errc::invalid_argument, file,
           "is no result of clcook bench or clcook counters" +
               (kind.empty() ? std::string() : "; its kind is '" + kind + "'"));
    }
    if (!json.contains("rows")) continue;
    for (const tool::Json& row : json["rows"]) {
      Results& to = out[{row.value("recipe", ""), row.value("variant", "")}];
      const std::string status = row.value("status", "");
      if (kind == "bench" && status == "measured" && to.share < 0 && row.contains("share") &&
          row["share"].is_number()) {
        to.share = row["share"].get<double>();
        to.limit = row.value("limit", "");
      }
      if (kind == "counters" && status == "counted" && to.counters.empty() &&
          row.contains("counters")) {
        for (const auto& [name, value] : row["counters"].items()) {
          if (value.is_number()) to.counters[name] = value.get<double>();
        }
      }
    }
  }
  return out;
}

}  // namespace clcook::advise
