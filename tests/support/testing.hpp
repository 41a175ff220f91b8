// What several test programs need: temporary folders, environment variables, subprocesses, a
// device.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <clcook/core/runtime.hpp>
#include <clcook/registry/random.hpp>

namespace clcook::testing {

// A new empty folder that is removed at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "clcook-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed: " + pattern);
    path_ = pattern;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Sets or removes an environment variable and restores it at the end. Not for tests with threads.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::optional<std::string>& value)
      : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    put(value);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { put(old_); }

 private:
  void put(const std::optional<std::string>& value) {
    if (value) {
      setenv(name_.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> old_;
};

inline void write_bytes(const std::filesystem::path& path, const std::string& content) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// The Error that a call throws. A call that throws nothing, or something else, fails the test.
template <class Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  FAIL("an Error was expected and none was thrown");
  throw std::logic_error("not reached");
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Expects an Error of a call, with this text in its message.
template <class Call>
void check_refused(const Call& call, const std::string& says, Errc code = Errc::invalid_argument) {
  const Error error = error_of(call);
  INFO(error.what());
  CHECK(error.code == code);
  CHECK(contains(error.what(), says));
}

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

// How a program ended and what it printed. `code` is -1 when a signal ended it.
struct Ran {
  int code = -1;
  std::string out;
  std::string err;
};

// Runs a program to its end. `variables` are set for it; a value of nullopt removes the variable.
// `meanwhile` is called with its process number while it runs.
inline Ran run_program(
    const std::vector<std::string>& command,
    const std::vector<std::pair<std::string, std::optional<std::string>>>& variables = {},
    const std::function<void(pid_t)>& meanwhile = {}) {
  const TempFolder folder;
  const std::string out = (folder / "out").string();
  const std::string err = (folder / "err").string();
  std::vector<char*> arguments;
  for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    for (const auto& [name, value] : variables) {
      if (value) {
        setenv(name.c_str(), value->c_str(), 1);
      } else {
        unsetenv(name.c_str());
      }
    }
    const int to_out = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int to_err = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (to_out < 0 || to_err < 0) _exit(126);
    dup2(to_out, STDOUT_FILENO);
    dup2(to_err, STDERR_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  if (meanwhile) meanwhile(child);
  int status = 0;
  waitpid(child, &status, 0);
  Ran ran;
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  ran.out = read_bytes(out);
  ran.err = read_bytes(err);
  return ran;
}

// The running program.
inline std::string self_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

// A program of this build, such as "clcook".
inline std::string built_program(const std::string& name) {
  if (const char* folder = std::getenv("CLCOOK_BIN_DIR")) {
    return (std::filesystem::path(folder) / name).string();
  }
  return (std::filesystem::path(self_path()).parent_path().parent_path() / name).string();
}

// Builds without the program (the sanitizer's) skip what needs it, visibly.
inline bool not_built(const std::string& name) {
  if (std::filesystem::exists(built_program(name))) return false;
  MESSAGE("SKIPPED: there is no ", built_program(name));
  return true;
}

// The tool built beside the tests, when it and the compiler that it calls are there; else empty, with
// a message.
inline std::string compiling_tool() {
  if (not_built("clcook")) return "";
  if (!std::filesystem::exists("/usr/bin/clang-19") ||
      !std::filesystem::exists("/usr/lib/clc/gfx1030-amdgcn--.bc")) {
    MESSAGE("skipped: clang-19 and libclc-19 are not installed");
    return "";
  }
  return built_program("clcook");
}

// Runs one test case of this very program, also one that is marked doctest::skip().
inline Ran run_self(
    const std::string& test_case,
    const std::vector<std::pair<std::string, std::optional<std::string>>>& variables = {}) {
  return run_program({self_path(), "--no-skip", "--test-case=" + test_case}, variables);
}

// A runtime on the default device without a disk cache. Made once; lives until the process ends,
// because some drivers do not survive the order of static destructors.
inline const Runtime& runtime() {
  static const Runtime* one = [] {
    PickOptions options;
    options.runtime.disk_cache = DiskCache();
    return new Runtime(Runtime::pick({}, options));
  }();
  return *one;
}

// Expects an Error of the constructor of a plan: `constexpr PlanRefused<LineBlur> refused;`
template <class Operation>
struct PlanRefused {
  using Problem = typename Operation::Problem;
  void operator()(const Problem& problem, typename Operation::Variant variant,
                  typename Operation::Tune tune, const std::string& says,
                  Errc code = Errc::invalid_argument) const {
    check_refused([&] { Operation(runtime(), problem, variant, tune); }, says, code);
  }
  void operator()(const Problem& problem, const std::string& says,
                  Errc code = Errc::invalid_argument) const {
    (*this)(problem, {}, {}, says, code);
  }
};

// A buffer that holds these values.
template <class T>
cl::Buffer upload(const std::vector<T>& values, cl_mem_flags flags = CL_MEM_READ_WRITE) {
  return create_buffer(runtime(), values.size() * sizeof(T), flags, values.data());
}

// Random numbers from `low` to 1.
inline std::vector<float> noise(std::size_t count, std::uint64_t seed = 1, float low = -1) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = random.uniform(low, 1.0f);
  return values;
}

// A finished copy of a buffer's content.
template <class T>
std::vector<T> read_buffer(const Runtime& on, const cl::Buffer& buffer, std::size_t count,
                           const std::vector<cl::Event>& wait = {}) {
  const WaitHandles waits(wait);
  std::vector<T> values(count);
  check(clEnqueueReadBuffer(on.queue()(), buffer(), CL_TRUE, 0, count * sizeof(T), values.data(),
                            waits.count(), waits.data(), nullptr),
        "clEnqueueReadBuffer");
  return values;
}

}  // namespace clcook::testing
