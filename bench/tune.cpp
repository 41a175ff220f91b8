// clcook tune: measure every tuning of a recipe and remember the winners for this device.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <map>

#include <fmt/format.h>

#include <clcook/core/file.hpp>
#include <clcook/core/rates.hpp>
#include <clcook/core/tuning.hpp>

#include "measure/measure.hpp"
#include "measure/rates.hpp"
#include "measure/statistics.hpp"
#include "tool/command.hpp"
#include "tool/interrupt.hpp"

namespace clcook::tool {

namespace {

struct TuneArguments {
  std::string recipe;
  std::vector<std::string> shapes;
  std::string device;
  std::string out;
  std::string resume;
  int samples = 15;
  bool dry_run = false;
};

// The fastest of some measured subjects, and those that are within the noise of it.
struct Winner {
  const Subject* best = nullptr;
  std::vector<const Subject*> ties;
};

Winner fastest(const std::vector<const Subject*>& subjects) {
  Winner winner;
  for (const Subject* one : subjects) {
    if (winner.best == nullptr || median(one->samples()) < median(winner.best->samples()))
      winner.best = one;
  }
  for (const Subject* one : subjects) {
    if (one != winner.best && bootstrap_ratio(one->blocks, winner.best->blocks).tie())
      winner.ties.push_back(one);
  }
  return winner;
}

// An entry of this device without a result.
TuningEntry entry_of(const std::string& name, const DeviceInfo& info) {
  TuningEntry entry;
  entry.recipe = name;
  entry.device = info.name;
  entry.platform = info.platform;
  entry.vendor = info.vendor;
  entry.driver = info.driver;
  entry.type = Tuning::type_of(info);
  entry.compute_units = info.compute_units;
  return entry;
}

TuningEntry entry_of(const std::string& name, const DeviceInfo& info, double bytes,
                     const Winner& winner, bool best) {
  TuningEntry entry = entry_of(name, info);
  entry.size_class = size_class(bytes);
  entry.best = best;
  entry.variant = winner.best->variant;
  entry.tune = winner.best->tune.str();
  for (const Subject* tie : winner.ties)
    entry.ties += (entry.ties.empty() ? "" : ", ") + tie->name();
  return entry;
}

// Puts entries of the file that are about the same thing aside for the new ones.
std::vector<TuningEntry> merge(std::vector<TuningEntry> old,
                               const std::vector<TuningEntry>& fresh) {
  const auto same = [](const TuningEntry& a, const TuningEntry& b) {
    return a.recipe == b.recipe && a.device == b.device && a.platform == b.platform &&
           a.size_class == b.size_class && a.best == b.best && (a.best || a.variant == b.variant);
  };
  old.erase(std::remove_if(old.begin(), old.end(),
                           [&](const TuningEntry& entry) {
                             return std::any_of(
                                 fresh.begin(), fresh.end(),
                                 [&](const TuningEntry& one) { return same(one, entry); });
                           }),
            old.end());
  old.insert(old.end(), fresh.begin(), fresh.end());
  return old;
}

// Keeps other `clcook tune` from a file while one of them reads and writes it: a lock on FILE.lock,
// which goes with the last of them. Where the file system knows no locks nobody waits.
class FileLock {
 public:
  explicit FileLock(const std::string& file) : name_(file + ".lock") {
    for (;;) {
      handle_ = open(name_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
      if (handle_ < 0) return;
      while (flock(handle_, LOCK_EX) != 0 && errno == EINTR) {
      }
      struct stat ours {};
      struct stat there {};
      if (fstat(handle_, &ours) != 0 ||
          (lstat(name_.c_str(), &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino))
        return;
      close(handle_);  // the one before has removed it
    }
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() {
    if (handle_ < 0) return;
    unlink(name_.c_str());
    close(handle_);
  }

 private:
  std::string name_;
  int handle_ = -1;
};

// Where the result goes. Throws Error(io), with the way out, where nothing can be written there.
std::string place_of(const TuneArguments& arguments, const DiskCache& cache) {
  const std::string& given = arguments.resume.empty() ? arguments.out : arguments.resume;
  const std::string file = given.empty() ? Tuning::user_file(cache.folder()) : given;
  if (arguments.dry_run) return file;
  const std::string way_out = "set CLCOOK_TUNING_FILE or give --out FILE";
  if (file.empty()) fail(Errc::io, "tune", "there is no place for the result: " + way_out);
  // The cache's folder is made when it is needed first, which may be here.
  const std::string folder = clcook::detail::folder_of(file);
  if (folder == cache.folder() && !clcook::detail::is_folder(folder)) {
    const clcook::detail::FolderTrust trust = clcook::detail::trust_of(folder, true);
    if (!trust.trusted)
      fail(Errc::io, "tune", "there is no place for the result: " + trust.wrong + "; " + way_out);
  }
  try {
    std::error_code error;
    if (!std::filesystem::is_other(file, error)) io::WholeFile trial(file);
  } catch (const Error& error) {
    fail(Errc::io, "tune",
         std::string("there is no place for the result: ") + error.what() + "; " + way_out);
  }
  return file;
}

// The entries of a file. One that cannot be read is kept under another name, unless nothing is to be
// written.
std::vector<TuningEntry> entries_of(const std::string& file, bool dry_run) {
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) return {};
  try {
    return Tuning::parse(read_text_file(file), file);
  } catch (const Error& unreadable) {
    const std::string kept = file + ".old";
    if (!dry_run)
      std::filesystem::copy_file(file, kept, std::filesystem::copy_options::overwrite_existing);
    fmt::print(stderr, "{}; {}\n", unreadable.what(),
               dry_run ? "it would be kept and replaced" : "kept as " + kept);
    return {};
  }
}

// Puts entries into a file that another `clcook tune` may write to at the same time.
void add_to(const std::string& file, const std::vector<TuningEntry>& fresh) {
  const FileLock lock(file);
  write_file(file, Tuning::format(merge(entries_of(file, false), fresh)));
}

std::vector<Params> shapes_of(const Recipe& recipe, const TuneArguments& arguments) {
  std::vector<Params> shapes = recipe.bench_shapes;
  if (!arguments.shapes.empty()) {
    shapes.clear();
    for (const std::string& shape : arguments.shapes) shapes.push_back(Params::parse(shape));
  }
  for (const Params& shape : shapes) recipe.check_shape(shape);
  return shapes;
}

// Of the device, which the factors are relative to.
TuningEntry rates_entry(const Rates& rates, const DeviceInfo& info) {
  TuningEntry out = entry_of(kRatesRecipe, info);
  out.best = true;
  out.variant = "rates";
  out.tune = to_params(rates).str();
  return out;
}

// Whether there are winners of this device and driver for problems of this size.
bool has_winner(const std::vector<TuningEntry>& entries, const Recipe& recipe, const Params& shape,
                const DeviceInfo& info) {
  const TuningEntry wanted = entry_of(recipe.tuning_name(shape), info);
  return std::any_of(entries.begin(), entries.end(), [&](const TuningEntry& entry) {
    return entry.best && entry.recipe == wanted.recipe && entry.device == wanted.device &&
           entry.platform == wanted.platform && entry.driver == wanted.driver &&
           entry.size_class == size_class(recipe.problem_bytes(shape));
  });
}

// The winners of a problem: of each variant, then of all that are exact. Prints them.
std::vector<TuningEntry> winners_of(const Recipe& recipe, const Params& shape,
                                    const std::vector<Subject>& subjects, const Runtime& runtime,
                                    const Rates& rates) {
  std::map<std::string, std::vector<const Subject*>> by_variant;
  std::vector<const Subject*> exact;
  for (const Subject& subject : subjects) {
    if (subject.blocks.empty()) {
      fmt::print("  dropped {}: {}\n", subject.name(),
                 subject.problem.empty() ? "not run" : subject.problem);
      continue;
    }
    by_variant[subject.variant].push_back(&subject);
    if (!recipe.variant(subject.variant).is_approximate) exact.push_back(&subject);
  }
  const std::string name = recipe.tuning_name(shape);
  const double bytes = recipe.problem_bytes(shape);
  std::vector<TuningEntry> entries;
  for (const VariantInfo& variant : recipe.variants) {
    if (by_variant[variant.name].empty()) continue;
    const Winner winner = fastest(by_variant[variant.name]);
    entries.push_back(entry_of(name, runtime.info(), bytes, winner, false));
    const double seconds = median(winner.best->samples());
    const Offer offer = recipe.offer(runtime, variant.name, winner.best->tune, shape);
    const double modelled = microseconds(rates, offer.work);
    if (offer.can() && modelled > 0) entries.back().factor = 1e6 * seconds / modelled;
    fmt::print("  {:<16} {:<12} {:>10.1f} us{}{}\n", variant.name, winner.best->tune.str(),
               1e6 * seconds, entries.back().ties.empty() ? "" : "   ties: ", entries.back().ties);
  }
  if (!exact.empty()) {
    entries.push_back(entry_of(name, runtime.info(), bytes, fastest(exact), true));
    fmt::print("  best: {} {}{}{}\n", entries.back().variant, entries.back().tune,
               entries.back().ties.empty() ? "" : ", ties: ", entries.back().ties);
  }
  return entries;
}

int tune(const TuneArguments& arguments) {
  const Recipe& recipe = find_recipe(recipes(), arguments.recipe);
  const std::vector<Params> shapes = shapes_of(recipe, arguments);
  Meter meter(arguments.device);
  const Runtime& runtime = meter.runtime();
  const DeviceInfo& info = runtime.info();
  inspect_descriptions({arguments.recipe}, runtime);
  const std::string file = place_of(arguments, DiskCache::standard());
  const std::vector<TuningEntry> old = entries_of(file, arguments.dry_run);

  fmt::print("{}, {}, driver {}\n", info.platform, info.name, info.driver);
  const Interrupt interrupt("the problem that is being measured");
  const Rates rates = measure_rates(runtime);
  std::vector<TuningEntry> fresh{rates_entry(rates, info)};
  fmt::print("{:.0f} GB/s, {:.0f} GFLOP/s, {:.1f} us per launch\n", rates.bytes / 1e3,
             rates.operations / 1e3, rates.launch);
  MeasureOptions options;
  options.blocks = 3;
  options.most_blocks = 9;
  options.samples = std::max(1, arguments.samples / options.blocks);
  options.progress = isatty(STDERR_FILENO) != 0;
  std::size_t problems = 0;
  std::size_t measured_earlier = 0;
  for (const Params& shape : shapes) {
    if (Interrupt::asked()) break;
    if (!arguments.resume.empty() && has_winner(old, recipe, shape, info)) {
      fmt::print("\n{}/{}\nmeasured before\n", recipe.name, shape.str());
      ++measured_earlier;
      continue;
    }
    std::vector<Subject> subjects = subjects_of(recipe, "", true);
    meter.measure(recipe, shape, 1, subjects, options);
    fmt::print("\n{}/{}\n", recipe.name, shape.str());
    const std::vector<TuningEntry> entries = winners_of(recipe, shape, subjects, runtime, rates);
    // The first shape of a size class is the recipe's more typical one.
    const bool known =
        !entries.empty() && std::any_of(fresh.begin(), fresh.end(), [&](const TuningEntry& entry) {
          return entry.recipe == entries.front().recipe &&
                 entry.size_class == entries.front().size_class;
        });
    if (!known) fresh.insert(fresh.end(), entries.begin(), entries.end());
    std::fflush(stdout);
    ++problems;
    if (!arguments.dry_run && fresh.size() > 1) add_to(file, fresh);
  }
  if (Interrupt::asked()) {
    fmt::print(stderr, "clcook: ended early after {} problems", problems);
    if (!arguments.dry_run && fresh.size() > 1)
      fmt::print(stderr, "; they are in {0}, --resume {0} goes on", file);
    fmt::print(stderr, "\n");
    return kInterrupted;
  }
  if (fresh.size() == 1 && measured_earlier == 0)
    fail(Errc::unsupported, "tune", "no variant of '" + recipe.name + "' could be measured");
  if (!arguments.dry_run) fmt::print("\nwritten to {}\n", file);
  return 0;
}

}  // namespace

const Command add_tune(8, [](CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "tune", "Measure every tuning of a recipe and remember the winners for this device");
  auto arguments = std::make_shared<TuneArguments>();
  command->add_option("RECIPE", arguments->recipe, "The recipe, or FILE.toml: see clcook try")
      ->required();
  command
      ->add_option(
          "--shape", arguments->shapes,
          "Use this shape instead of the recipe's bench shapes; clcook list names its values")
      ->allow_extra_args(false);
  command->add_option("--device", arguments->device,
                      "Device specification; default CLCOOK_DEVICE, else any");
  CLI::Option* to = command->add_option(
      "--out", arguments->out,
      "The file to update, after each problem; default CLCOOK_TUNING_FILE, else tuning.txt in the "
      "cache folder");
  command
      ->add_option(
          "--resume", arguments->resume,
          "Continue this file: leave out problems of the sizes that it has winners for, of "
          "this device and driver")
      ->excludes(to);
  command
      ->add_option("--samples", arguments->samples,
                   "Timed runs of each tuning; more while they are noisy")
      ->check(CLI::Range(3, 100000))
      ->capture_default_str();
  command->add_flag("--dry-run", arguments->dry_run, "Print the winners, write nothing");
  command->callback([arguments, &exit_code] {
    exit_code = with_descriptions(arguments->recipe, [&] { return tune(*arguments); });
  });
});

}  // namespace clcook::tool
