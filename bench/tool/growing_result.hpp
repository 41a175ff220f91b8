// The result file of a long command: valid at every moment, and what --resume goes on with.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <string>

#include "results.hpp"

namespace clcook::tool {

// Where the rows of a command go: --out FILE, --resume FILE, or nowhere.
class GrowingResult {
 public:
  // `out` is "" for nowhere and "-" for standard output, at the end. `head` has everything of the
  // result but its rows; `list` gives those, the member `key`, as they are by now, until this is
  // destroyed.
  GrowingResult(std::string out, std::string resume, Json head, std::string key,
                std::function<Json()> list);
  GrowingResult(const GrowingResult&) = delete;
  GrowingResult& operator=(const GrowingResult&) = delete;
  // Writes the file when finish() did not: an error is on its way.
  ~GrowingResult();

  // The earlier result that --resume goes on with; null where there is none: no such file, or one
  // of another build, device, seed or whatever else of the head but the date. That file is kept as
  // FILE.old, and standard error says so. Throws Error(io) for a file that is no such result.
  const Json& earlier() const { return earlier_; }

  // For what is known later, such as a summary. In the file it is before the list.
  Json& head() { return head_; }

  // There are more rows. Writes the file when the last time was more than a second ago; a result
  // that takes long to write is written less often.
  void keep();

  // Writes the file, or prints it, with what else there is behind the list.
  void finish(const Json& more = Json::object());

  // What a command that was asked to end says: where the `what` that it has are, and how it goes
  // on.
  std::string kept(const std::string& what) const;

 private:
  using Clock = std::chrono::steady_clock;

  bool is_file() const { return !path_.empty() && path_ != "-"; }
  std::string text(const Json& more) const;

  std::string path_;
  Json head_;
  std::string key_;
  std::function<Json()> list_;
  Json earlier_;
  bool begun_ = false;  // keep() was called
  bool finished_ = false;
  Clock::time_point next_ = Clock::now();
};

// Adds the options --out and --resume, of which a command takes one.
void add_result_options(CLI::App& command, std::string& out, std::string& resume);

}  // namespace clcook::tool
