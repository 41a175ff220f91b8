#include "counters/ncu.hpp"

#include <clcook/core/error.hpp>
#include <clcook/embedded/counters.hpp>
#include <cmath>

#include "tool/process.hpp"

namespace clcook::counters {

std::string time_spent() { return text("the time of a recipe, ", kRecipeSeconds, " s, was spent"); }

Ncu::Ncu() : scripts_("counters") {
  // Embedded, since a program without our checkout counts too.
  for (const embedded::File& file : embedded::counters) scripts_.write(file);
  version_ = ask({"version"}, {});
}

std::string Ncu::ask(const std::vector<std::string>& words,
                     const std::function<bool()>& stop) const {
  const char* const where = "clcook counters";
  std::vector<std::string> command = {tool::find_program("python3"), "-B",
                                      scripts_ / "__main__.py"};
  if (command.front().empty())
    fail(Errc::unsupported, where,
         "needs python3, which was not found. On Debian: apt-get install python3");
  command.insert(command.end(), words.begin(), words.end());
  const tool::Finished done = tool::run_tool(command, {{}, stop});
  if (stop && stop()) return "";
  if (done.code == 2) fail(Errc::unsupported, where, done.err);
  if (done.code != 0)
    fail(Errc::io, where, text("its scripts ended with code ", done.code, ": ", done.err));
  return done.out;
}

void Ncu::profile(const std::filesystem::path& folder, std::vector<Call>& calls,
                  Clock::time_point deadline, const std::function<bool()>& stop) {
  if (calls.empty()) return;
  const std::chrono::duration<double> rest = deadline - Clock::now();
  std::vector<std::string> words = {"profile", folder.string(), text(rest.count()), unknown_};
  for (const Call& one : calls) words.push_back(one.name);
  const std::string answer = ask(words, stop);
  if (answer.empty()) return;
  const tool::Json all = tool::Json::parse(answer);
  unknown_ = all.at("unknown").get<std::string>();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const tool::Json& about = all.at("calls").at(i);
    Call& one = calls[i];
    one.status = about.at("status").get<std::string>();
    one.reason = one.status == "skipped" ? time_spent() : about.at("reason").get<std::string>();
    one.profiled = about.at("profiled").get<std::uint64_t>();
    one.counters.clear();
    for (const auto& [key, value] : about.at("counters").items())
      one.counters.emplace_back(key, value.is_null() ? std::nan("") : value.get<double>());
  }
}

}  // namespace clcook::counters
