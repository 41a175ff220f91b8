#include "counters/ncu.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include <clcook/core/source.hpp>

#include "counters/cuda.hpp"
#include "counters/recording.hpp"
#include "tool/process.hpp"

namespace clcook::counters {

namespace {

bool contains(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

// "1,234.5": as the profiler writes numbers; NaN for "n/a" and whatever else is no number.
double number_of(std::string field) {
  field.erase(std::remove(field.begin(), field.end(), ','), field.end());
  const char* const end = field.data() + field.size();
  double value = 0;
  const auto read = std::from_chars(field.data(), end, value);
  return read.ec != std::errc() || read.ptr != end ? std::nan("") : value;
}

}  // namespace

const std::vector<Metric>& metrics() {
  using Combine = Metric::Combine;
  static const std::vector<Metric> all = [] {
    std::vector<Metric> list = {
        {"time_ns", "gpu__time_duration.sum", Combine::sum, "", "time under the profiler"},
        {"instructions", "smsp__inst_executed.sum", Combine::sum, "", "instructions of warps"},
        {"lanes", "smsp__thread_inst_executed_per_inst_executed.ratio", Combine::mean,
         "instructions", "active lanes of 32 per instruction"},
        {"divergent", "smsp__sass_branch_targets_threads_divergent.sum", Combine::sum, "",
         "branches whose lanes part"},
        {"bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", Combine::sum, "",
         "of local memory"},
        {"local_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", Combine::sum, "",
         "passes through local memory"},
        {"l1_wavefronts", "l1tex__data_pipe_lsu_wavefronts.sum", Combine::sum, "",
         "passes through the first cache's memory, of which local memory is a part"},
        {"l1_sectors", "l1tex__t_sectors.sum", Combine::sum, "", "of 32 bytes"},
        {"l1_hit_pct", "l1tex__t_sector_hit_rate.pct", Combine::mean, "l1_sectors", ""},
        {"l2_sectors", "lts__t_sectors.sum", Combine::sum, "", "of 32 bytes"},
        {"l2_hit_pct", "lts__t_sector_hit_rate.pct", Combine::mean, "l2_sectors", ""},
        {"dram_read_bytes", "dram__bytes_read.sum", Combine::sum, "", ""},
        {"dram_write_bytes", "dram__bytes_write.sum", Combine::sum, "", ""},
        {"loads", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", Combine::sum, "",
         "requests of warps to global memory"},
        {"load_sectors", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
         Combine::mean, "loads", "sectors of 32 bytes per request"},
        {"stores", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", Combine::sum, "",
         "requests of warps to global memory"},
        {"store_sectors", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
         Combine::mean, "stores", "sectors of 32 bytes per request"},
        {"constant_requests", "idc__requests.sum", Combine::sum, "",
         "to the cache of indexed constants; one for each address of a warp"},
        {"constant_hits", "idc__requests_lookup_hit.sum", Combine::sum, "", ""},
        {"issue_pct", "smsp__issue_active.avg.pct_of_peak_sustained_active", Combine::mean,
         "time_ns", "cycles in which a scheduler issues"},
        {"warps_pct", "sm__warps_active.avg.pct_of_peak_sustained_active", Combine::mean, "time_ns",
         "resident warps of those that fit"},
        {"registers", "launch__registers_per_thread", Combine::most, "", ""},
    };
    // Why a warp waits, in cycles for each instruction that is issued.
    static constexpr const char* kStalls[][2] = {
        {"stall_barrier", "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"},
        {"stall_branch",
         "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio"},
        {"stall_constant", "smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio"},
        {"stall_dispatch",
         "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio"},
        {"stall_drain", "smsp__average_warps_issue_stalled_drain_per_issue_active.ratio"},
        {"stall_fetch", "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio"},
        {"stall_global",
         "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"},
        {"stall_local",
         "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio"},
        {"stall_global_queue",
         "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio"},
        {"stall_local_queue",
         "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio"},
        {"stall_math",
         "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio"},
        {"stall_fence", "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio"},
        {"stall_not_chosen",
         "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio"},
        {"stall_fixed", "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"},
    };
    for (const auto& one : kStalls)
      list.push_back({one[0], one[1], Combine::mean, "instructions", ""});
    return list;
  }();
  return all;
}

std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1);
  rows.back().emplace_back();
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& field = rows.back().back();
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += c;
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\n') {
      rows.emplace_back();
      rows.back().emplace_back();
    } else if (c != '\r') {
      field += c;
    }
  }
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [](const std::vector<std::string>& row) {
                              return row.size() == 1 && row.front().empty();
                            }),
             rows.end());
  return rows;
}

std::vector<Profiled> read_profile(const std::string& log) {
  const char* const where = "output of ncu";
  std::string table;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("==", 0) != 0) table += line + "\n";
  }
  const std::vector<std::vector<std::string>> rows = parse_csv(table);
  if (rows.empty()) fail(Errc::io, where, "has no table");
  const std::vector<std::string>& names = rows.front();
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const std::size_t kernel = column("Kernel Name");
  if (names.front() != "ID" || kernel == names.size())
    fail(Errc::io, where, "has no columns 'ID' and 'Kernel Name'");
  std::vector<Profiled> out;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::vector<std::string>& row = rows[i];
    if (row.size() != names.size())
      fail(Errc::io, where,
           text("row ", i, " has ", row.size(), " fields, its header ", names.size()));
    if (row.front().empty()) continue;  // the units
    Profiled& one = out.emplace_back();
    one.kernel = row[kernel];
    for (const Metric& metric : metrics()) {
      const std::size_t at = column(metric.name);
      one.counters.emplace_back(metric.key, at == names.size() ? std::nan("") : number_of(row[at]));
    }
  }
  return out;
}

std::string complaint_of(const std::string& log) {
  static constexpr const char* kMark = "==ERROR==";
  std::size_t at = log.find(kMark);
  if (at == std::string::npos) return {};
  at = std::min(log.find_first_not_of(' ', at + std::char_traits<char>::length(kMark)), log.size());
  return log.substr(at, log.find_first_of("\r\n", at) - at);
}

Counters combine(const std::vector<Profiled>& launches) {
  Counters out;
  const std::vector<Metric>& list = metrics();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Metric& metric = list[i];
    const std::size_t weight = static_cast<std::size_t>(
        std::find_if(list.begin(), list.end(),
                     [&](const Metric& one) { return std::string(one.key) == metric.weight; }) -
        list.begin());
    double sum = 0;
    double weights = 0;
    double most = 0;
    for (const Profiled& one : launches) {
      const double value = one.counters[i].second;
      // What weighs nothing has no value either: the ratio of no requests.
      const double weighs = one.times * (weight < list.size() ? one.counters[weight].second : 1);
      if (weighs == 0) continue;
      sum += value * weighs;  // one NaN makes it NaN
      weights += weighs;
      most = std::max(most, value);
    }
    const double all = metric.combine == Metric::Combine::mean                     ? sum / weights
                       : metric.combine == Metric::Combine::sum || std::isnan(sum) ? sum
                                                                                   : most;
    out.emplace_back(metric.key, all);  // NaN also where all weighs nothing
  }
  return out;
}

std::string time_spent() { return text("the time of a recipe, ", kRecipeSeconds, " s, was spent"); }

Ncu::Ncu() {
  const char* const wanted = std::getenv("CLCOOK_NCU");
  program_ = tool::find_program(wanted == nullptr ? "ncu" : wanted, {"/usr/local/cuda/bin"});
  if (program_.empty()) {
    fail(Errc::unsupported, "clcook counters",
         wanted == nullptr ? "needs NVIDIA's profiler ncu (Nsight Compute), which is not in PATH; "
                             "CLCOOK_NCU may name it"
                           : std::string("CLCOOK_NCU names '") + wanted + "', which is no program");
  }
  if (const std::string lack = lack_of_cuda(); !lack.empty())
    fail(Errc::unsupported, "clcook counters", "needs NVIDIA's CUDA driver: " + lack);
  const tool::Finished said = tool::run_tool({program_, "--version"});
  const std::size_t at = said.out.find("Version ");
  if (said.code != 0 || at == std::string::npos) {
    fail(Errc::unsupported, "clcook counters",
         "'" + program_ + " --version' does not answer like ncu");
  }
  version_ = "ncu " + said.out.substr(at + 8, said.out.find_first_of(" \n", at + 8) - at - 8);
}

void Ncu::profile(const std::filesystem::path& folder, std::vector<Call>& calls,
                  Clock::time_point deadline, const std::function<bool()>& stop) {
  std::vector<Calls> left(1);
  for (Call& one : calls) left.front().push_back(&one);
  while (!left.empty()) {
    const Calls some = left.back();
    left.pop_back();
    if (some.empty()) continue;
    // One that does not end leaves half of the time to the others.
    const std::chrono::duration<double> rest = deadline - Clock::now();
    const double seconds = some.size() == 1 && left.empty() ? rest.count() : rest.count() / 2;
    constexpr double kLeast = 1;  // the profiler alone takes longer
    if (seconds < kLeast || stop()) {
      for (Call* one : some) one->reason = stop() ? "ended early" : time_spent();
      continue;
    }
    for (Calls& again : profile_together(folder, some, seconds, stop))
      left.push_back(std::move(again));
  }
}

// All but the names of the calls.
std::vector<std::string> Ncu::command_of(const std::filesystem::path& folder,
                                         const std::filesystem::path& log_file,
                                         double seconds) const {
  std::string names;
  for (const Metric& metric : metrics()) {
    if (contains(unknown_, metric.name)) continue;
    names += (names.empty() ? "" : ",") + std::string(metric.name);
  }
  // The clock is left as it is; the caches are empty before each launch.
  return {"/usr/bin/env",
          "LC_ALL=C",
          "timeout",
          "--kill-after=5",
          std::to_string(seconds),
          program_,
          "--csv",
          "--page",
          "raw",
          "--print-units",
          "base",
          "--clock-control",
          "none",
          "--cache-control",
          "all",
          "--profile-from-start",
          "off",
          "--target-processes",
          "application-only",
          "--log-file",
          log_file.string(),
          "--metrics",
          names,
          std::filesystem::read_symlink("/proc/self/exe").string(),
          "counters",
          "--replay",
          folder.string()};
}

std::vector<Ncu::Calls> Ncu::profile_together(const std::filesystem::path& folder,
                                              const Calls& calls, double seconds,
                                              const std::function<bool()>& stop) {
  namespace fs = std::filesystem;
  const fs::path log_file = folder / "ncu.log";
  const auto verdict_of = [&](const Call& call) { return folder / (call.name + ".verdict"); };
  const Clock::time_point begin = Clock::now();
  while (true) {
    std::error_code error;
    fs::remove(log_file, error);
    std::vector<std::string> command = command_of(folder, log_file, seconds);
    for (Call* one : calls) {
      fs::remove(verdict_of(*one), error);
      command.push_back(one->name);
    }
    const tool::Finished ended = tool::run_tool(command, {{}, stop});
    std::string log = ended.out + ended.err;
    if (fs::exists(log_file)) log += read_text_file(log_file.string());
    const std::string complaint = complaint_of(log);
    // A GPU of another generation has not all of them.
    const std::size_t before = unknown_.size();
    for (const Metric& metric : metrics()) {
      if (complaint.find("metric") != std::string::npos &&
          complaint.find(metric.name) != std::string::npos && !contains(unknown_, metric.name))
        unknown_.emplace_back(metric.name);
    }
    if (unknown_.size() > before) continue;
    if (complaint.find("ERR_NVGPUCTRPERM") != std::string::npos) {
      fail(Errc::unsupported, "clcook counters",
           "the system keeps the GPU's counters from this user (ERR_NVGPUCTRPERM): run it as root, "
           "or see https://developer.nvidia.com/ERR_NVGPUCTRPERM");
    }
    const std::chrono::duration<double> took = Clock::now() - begin;
    const std::string why =
        stop()                    ? "ended early"
        : took.count() >= seconds ? text("took longer than ", std::lround(seconds), " s under ncu")
        : complaint.empty()       ? text("the replay ended early, ncu with code ", ended.code)
                                  : "ncu: " + complaint;
    std::size_t expected = 0;
    Calls good;
    Calls missing;
    for (Call* one : calls) {
      one->reason.clear();
      one->launches.clear();
      expected += one->chosen.size();
      if (!fs::exists(verdict_of(*one))) {
        missing.push_back(one);
        continue;
      }
      one->reason = read_text_file(verdict_of(*one).string());
      if (one->reason.empty()) good.push_back(one);
    }
    // What the profiler saw cannot be told apart now: the good ones run once more, without those
    // that are not. Behind a kernel that the driver ended none has run.
    const bool any_refused = good.size() + missing.size() < calls.size();
    if (any_refused || !missing.empty()) {
      const bool is_first_to_blame = !any_refused;
      if (is_first_to_blame) missing.front()->reason = why;
      good.insert(good.end(), missing.begin() + (is_first_to_blame ? 1 : 0), missing.end());
      return {good};
    }
    std::vector<Profiled> launches;
    std::string wrong;
    try {
      if (complaint.empty()) launches = read_profile(log);
      if (launches.size() != expected)
        wrong =
            complaint.empty() ? text("ncu saw ", launches.size(), " launches of ", expected) : why;
    } catch (const Error& refusal) {
      wrong = refusal.what();
    }
    if (!wrong.empty()) {
      std::vector<Calls> alone;
      for (Call* one : calls) {
        one->reason = wrong;
        if (calls.size() > 1) alone.insert(alone.begin(), {one});
      }
      return alone;
    }
    auto next = launches.begin();
    for (Call* one : calls) {
      for (const Chosen& chosen : one->chosen) {
        one->launches.push_back(*next++);
        one->launches.back().times = chosen.times;
      }
    }
    return {};
  }
}

}  // namespace clcook::counters
