// What git knows of the commits of results.
#include <clcook/core/source.hpp>

#include "report/report.hpp"
#include "tool/process.hpp"

namespace clcook::tool::report {

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// What `git describe --always` calls a commit, as a name that no branch has: "abc1234",
// "v1.0-5-gabc1234" or the tag "v1.0".
std::string revision_of(const std::string& commit) {
  const std::size_t mark = commit.rfind("-g");
  const std::string hash = mark == std::string::npos ? commit : commit.substr(mark + 2);
  const bool is_hash =
      hash.size() >= 4 && hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_hash ? hash : "refs/tags/" + commit;
}

}  // namespace

History::History(const std::filesystem::path& root) : root_(root), git_(find_program("git")) {
  if (git_.empty()) {
    silence_ = "there is no git";
    return;
  }
  const Finished asked =
      run_tool({git_, "-C", root_, "rev-parse", "--is-shallow-repository", "--show-toplevel"});
  std::error_code error;
  const std::size_t line = asked.out.find('\n');
  if (asked.code != 0)
    silence_ = first_line(asked.err);
  else if (!std::filesystem::equivalent(first_line(asked.out.substr(line + 1)), root, error))
    silence_ = root_ + " is not the top folder of a git repository";
  shallow_ = asked.out.rfind("true", 0) == 0;
}

History::Has History::has(const std::string& commit) {
  if (!silence_.empty()) return Has::unknown;
  const auto [found, is_new] = known_.try_emplace(commit, Has::yes);
  if (is_new &&
      run_tool({git_, "-C", root_, "merge-base", "--is-ancestor", revision_of(commit), "HEAD"})
              .code != 0)
    found->second = shallow_ ? Has::unknown : Has::no;
  return found->second;
}

const isa::Gate* History::gate_at(const std::string& commit) {
  const auto [found, is_new] = gates_.try_emplace(commit);
  if (is_new && has(commit) == Has::yes) {
    const Finished asked =
        run_tool({git_, "-C", root_, "show", revision_of(commit) + ":bench/isa_gate.json"});
    try {
      if (asked.code == 0) found->second = isa::read_gate(asked.out, commit);
    } catch (const Error&) {  // of another version: nothing is known
    }
  }
  return found->second ? &*found->second : nullptr;
}

const isa::Gate* History::gate() {
  const auto [found, is_new] = gates_.try_emplace("");
  const std::filesystem::path path = std::filesystem::path(root_) / "bench" / "isa_gate.json";
  std::error_code error;
  if (is_new && std::filesystem::exists(path, error))
    found->second = isa::read_gate(read_text_file(path.string()), path.string());
  return found->second ? &*found->second : nullptr;
}

std::string History::note() const {
  if (!silence_.empty()) return "note: no commit of a result was looked for: " + silence_;
  std::string missing;
  for (const auto& [commit, has] : known_)
    if (has == Has::unknown) missing += (missing.empty() ? "" : ", ") + commit;
  if (missing.empty()) return "";
  return "note: the clone is shallow; not looked for were " + missing;
}

}  // namespace clcook::tool::report
