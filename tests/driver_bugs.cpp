// What implementations do wrong and the library works around: tests/driver_bugs/*.cl shows each bug
// in a few lines, by a wrong value or an error. None ends a process, here or elsewhere. A bug that its
// file expects of this version and that does not show any more fails the test, which names the
// workaround that can go; so does one that shows where it is not expected. docs/driver_bugs.md is
// made of the files and of what was seen, tests/driver_bugs/seen.json.
//
// To run them on another implementation and to take down what was seen:
//   CLCOOK_DRIVER_BUGS_SEEN=FILE bin/tests/driver_bugs --no-skip -tc="child: take down*"
// and, with that FILE in the place of seen.json, to write the page anew:
//   bin/tests/driver_bugs --no-skip -tc="child: write the page"
//
// A reproducer is a kernel `reproduce(__global int* out)` that must build, run and leave the
// numbers of `// expect:` in out. Comments at its top say the rest:
//   bug, workaround   one line each
//   fails             the versions that have it, separated by ";": the beginnings of their names
//   needs             CL3.0 (in the list of languages) or images: else it says nothing
//   options           for the compiler
//   items             size of the one work-group, 1 unless said
//   group limit, local bytes   the least CL_KERNEL_WORK_GROUP_SIZE, the CL_KERNEL_LOCAL_MEM_SIZE
//   build log         the kernel must not build and the log must hold this
//   arguments         of a kernel that takes others: out, `ones` (a buffer of floats), `image`
//                     (4 x 4 texels of CL_RGBA and CL_FLOAT, all 1), local=BYTES and ints
//   written at        the bytes of `out` from there on are written by the host before
//   oclgrind          only for Oclgrind, with these options; it must have no complaint
// A .cpp must compile.
#include <clcook/core/quirks.hpp>
#include <clcook/core/runtime.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
namespace fs = std::filesystem;

namespace {

const fs::path kFolder = fs::path(CLCOOK_SOURCE_DIR) / "tests" / "driver_bugs";
const fs::path kPage = fs::path(CLCOOK_SOURCE_DIR) / "docs" / "driver_bugs.md";

struct Reproducer {
  fs::path path;
  std::map<std::string, std::string> says;  // the comments at the top
  int lines = 0;

  std::string name() const { return path.stem().string(); }
  bool has(const std::string& key) const { return says.count(key) != 0; }
  std::string get(const std::string& key) const { return has(key) ? says.at(key) : ""; }
  std::size_t number(const std::string& key, std::size_t otherwise) const {
    return has(key) ? std::stoul(says.at(key)) : otherwise;
  }
  bool expected_on(const std::string& implementation) const {
    std::istringstream all(get("fails"));
    for (std::string one; std::getline(all, one, ';');) {
      one.erase(0, one.find_first_not_of(' '));
      if (!one.empty() && implementation.rfind(one, 0) == 0) return true;
    }
    return false;
  }
};

Reproducer load(const fs::path& path) {
  Reproducer out;
  out.path = path;
  std::istringstream text(read_bytes(path));
  bool top = true;
  for (std::string line; std::getline(text, line); ++out.lines) {
    top = top && line.rfind("// ", 0) == 0;
    const std::size_t colon = line.find(": ");
    if (top && colon != std::string::npos)
      out.says[line.substr(3, colon - 3)] = line.substr(colon + 2);
  }
  return out;
}

std::vector<Reproducer> reproducers(const std::string& ending) {
  std::vector<Reproducer> out;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ending) out.push_back(load(entry.path()));
  std::sort(out.begin(), out.end(),
            [](const Reproducer& a, const Reproducer& b) { return a.path < b.path; });
  return out;
}

// Short and the same everywhere: "PoCL 6.0+debian".
std::string implementation(const DeviceInfo& info) {
  if (quirks::is_pocl(info)) {
    const std::string& version = info.platform_version;
    const std::size_t at = version.find("PoCL ");
    return at == std::string::npos ? "PoCL" : version.substr(at, version.find(' ', at + 5) - at);
  }
  if (quirks::is_nvidia(info)) return "NVIDIA " + info.driver;
  if (quirks::is_intel_cpu(info)) return "Intel CPU " + info.driver;
  if (info.platform == "Oclgrind") return info.driver;
  return info.platform + " " + info.driver;
}

struct NameVersion {
  cl_uint version;
  char name[64];
};

bool lists_c30(cl_device_id device) {
  NameVersion found[32];
  std::size_t bytes = 0;
  if (clGetDeviceInfo(device, 0x1066, sizeof found, found, &bytes) != CL_SUCCESS) return false;
  return std::any_of(found, found + bytes / sizeof found[0],
                     [](const NameVersion& one) { return one.version >> 12 == 3U << 10; });
}

constexpr std::size_t kWords = 4096;

// A program of a reproducer, which did not build where `status` says so.
cl::Program built(const Reproducer& bug, cl_int& status) {
  const std::string text = read_bytes(bug.path);
  const char* source = text.c_str();
  const cl_device_id device = runtime().device()();
  const cl::Program program(
      clCreateProgramWithSource(runtime().context()(), 1, &source, nullptr, &status));
  check(status, "clCreateProgramWithSource");
  status = clBuildProgram(program(), 1, &device, bug.get("options").c_str(), nullptr, nullptr);
  return program;
}

// The memory of a reproducer's arguments.
struct Memory {
  cl::Buffer out = create_buffer(runtime(), kWords * sizeof(cl_int));
  cl::Buffer ones;
  cl::Image2D image;

  explicit Memory(const Reproducer& bug) {
    const std::vector<float> floats(2 * kWords, 1.0F);
    ones = create_buffer(runtime(), floats.size() * sizeof(float), CL_MEM_READ_ONLY, floats.data());
    if (!contains(bug.get("arguments"), "image")) return;
    const cl_image_format format{CL_RGBA, CL_FLOAT};
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = 4;
    desc.image_height = 4;
    std::vector<float> texels(64, 1.0F);
    cl_int status = CL_SUCCESS;
    image =
        cl::Image2D(clCreateImage(runtime().context()(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                  &format, &desc, texels.data(), &status));
    check(status, "clCreateImage");
  }
};

void set_arguments(const cl::Kernel& kernel, const Reproducer& bug, const Memory& memory) {
  std::istringstream arguments(bug.has("arguments") ? bug.get("arguments") : "out");
  cl_uint index = 0;
  cl_int status = CL_SUCCESS;
  for (std::string one; arguments >> one; ++index) {
    const std::size_t equals = one.find('=');
    const std::string word = one.substr(0, equals);
    const cl_mem object = word == "ones"    ? memory.ones()
                          : word == "image" ? memory.image()
                                            : memory.out();
    if (word == "out" || word == "ones" || word == "image") {
      status = clSetKernelArg(kernel(), index, sizeof object, &object);
    } else if (word == "local") {
      status = clSetKernelArg(kernel(), index, std::stoul(one.substr(equals + 1)), nullptr);
    } else {
      const cl_int integer = std::stoi(word);
      status = clSetKernelArg(kernel(), index, sizeof integer, &integer);
    }
    check(status, "clSetKernelArg");
  }
}

// Runs a reproducer here. "right", "does not apply", or what is wrong.
std::string outcome_here(const Reproducer& bug) {
  const DeviceInfo& info = runtime().info();
  const cl_device_id device = runtime().device()();
  const std::string needs = bug.get("needs");
  const std::size_t items = bug.number("items", 1);
  if ((needs == "images" && !info.images) || (needs == "CL3.0" && !lists_c30(device)) ||
      items > info.max_group)
    return "does not apply";
  cl_int status = CL_SUCCESS;
  const cl::Program program = built(bug, status);
  if (bug.has("build log")) {
    if (status == CL_SUCCESS) return "builds";
    return contains(build_log(program, runtime().device()), bug.get("build log"))
               ? "right"
               : "the log does not hold " + bug.get("build log");
  }
  if (status != CL_SUCCESS) return "does not build";
  const cl::Kernel kernel(clCreateKernel(program(), "reproduce", &status));
  if (status != CL_SUCCESS) return "does not build";
  std::size_t limit = 0;
  check(clGetKernelWorkGroupInfo(kernel(), device, CL_KERNEL_WORK_GROUP_SIZE, sizeof limit, &limit,
                                 nullptr),
        "clGetKernelWorkGroupInfo");
  if (limit < bug.number("group limit", 0)) return std::to_string(limit) + " items at most";
  cl_ulong local = 0;
  check(clGetKernelWorkGroupInfo(kernel(), device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local,
                                 nullptr),
        "clGetKernelWorkGroupInfo");
  if (bug.has("local bytes") && local != bug.number("local bytes", 0))
    return std::to_string(local) + " bytes of local memory";
  const Memory memory(bug);
  std::vector<cl_int> words(kWords);
  std::iota(words.begin(), words.end(), 0);
  const std::size_t at = bug.number("written at", 0);
  check(clEnqueueWriteBuffer(runtime().queue()(), memory.out(), CL_TRUE, at,
                             kWords * sizeof(cl_int) - at,
                             reinterpret_cast<const char*>(words.data()) + at, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  set_arguments(kernel, bug, memory);
  status = clEnqueueNDRangeKernel(runtime().queue()(), kernel(), 1, nullptr, &items, &items, 0,
                                  nullptr, nullptr);
  if (status != CL_SUCCESS) return std::string("the launch fails with ") + status_name(status);
  const std::vector<cl_int> got = read_buffer<cl_int>(runtime(), memory.out, kWords);
  std::istringstream expected(bug.get("expect"));
  std::size_t i = 0;
  for (cl_int one = 0; expected >> one; ++i) {
    if (got[i] != one) return std::to_string(got[i]) + " instead of " + std::to_string(one);
  }
  return i == 0 ? "expects nothing" : "right";
}

// Runs a reproducer under Oclgrind.
std::string outcome_in_oclgrind(const Reproducer& bug) {
  const TempFolder folder;
  const std::string log = folder / "log";
  write_bytes(log, "");
  std::vector<std::string> command = {"/usr/bin/oclgrind", "--log", log};
  std::istringstream options(bug.get("oclgrind"));
  for (std::string one; options >> one;) command.push_back(one);
  command.insert(command.end(), {self_path(), "--no-skip", "--test-case=child: reproduce"});
  const Ran ran = run_program(
      command, {{"CLCOOK_DRIVER_BUG", bug.path.string()}, {"CLCOOK_DEVICE", std::nullopt}});
  const std::string mark = "OUTCOME ";
  const std::size_t at = ran.out.find(mark);
  if (at == std::string::npos) return "nothing was said: " + ran.err;
  const std::size_t begin = at + mark.size();
  const std::string said = ran.out.substr(begin, ran.out.find('\n', begin) - begin);
  return said == "right" && !read_bytes(log).empty() ? "Oclgrind complains" : said;
}

bool have_oclgrind() { return fs::exists("/usr/bin/oclgrind"); }

// What every reproducer does, on the default device and, for those that are Oclgrind's, there.
nlohmann::json take_down() {
  nlohmann::json out = nlohmann::json::object();
  const std::string here = implementation(runtime().info());
  for (const Reproducer& bug : reproducers(".cl")) {
    if (bug.has("oclgrind") && !have_oclgrind()) continue;
    if (bug.has("oclgrind")) {
      out["Oclgrind 21.10"][bug.name()] = outcome_in_oclgrind(bug);
    } else {
      out[here][bug.name()] = outcome_here(bug);
    }
  }
  return out;
}

std::string page_table(const nlohmann::json& seen) {
  std::string out;
  for (const std::string ending : {".cl", ".cpp"}) {
    for (const Reproducer& bug : reproducers(ending)) {
      const std::string file = bug.path.filename().string();
      out += "### " + bug.name() + "\n\nIt " + bug.get("bug") + ".\n\n";
      out += "- Reproducer: [" + file + "](../tests/driver_bugs/" + file + ")\n";
      out += "- Workaround: " + bug.get("workaround") + "\n";
      std::string fails;
      std::string right;
      for (const auto& [name, outcomes] : seen.items()) {
        if (!outcomes.contains(bug.name())) continue;
        const std::string said = outcomes.at(bug.name());
        if (said == "does not apply") continue;
        std::string& list = said == "right" ? right : fails;
        list += (list.empty() ? "" : ", ") + name + (said == "right" ? "" : " (" + said + ")");
      }
      std::string not_tried;
      std::istringstream all(bug.get("fails"));
      for (std::string one; std::getline(all, one, ';');) {
        one.erase(0, one.find_first_not_of(' '));
        const bool tried =
            std::any_of(seen.items().begin(), seen.items().end(), [&](const auto& item) {
              return item.key().rfind(one, 0) == 0 && item.value().contains(bug.name());
            });
        if (!tried) not_tried += (not_tried.empty() ? "" : ", ") + one;
      }
      if (!fails.empty()) out += "- Fails: " + fails + "\n";
      if (!not_tried.empty()) out += "- Was seen with, and not tried again: " + not_tried + "\n";
      if (!right.empty()) out += "- Right: " + right + "\n";
      out += "\n";
    }
  }
  return out;
}

constexpr const char* kBegin = "<!-- made of tests/driver_bugs/ -->\n\n";
constexpr const char* kEnd = "<!-- /made -->";

nlohmann::json seen() { return nlohmann::json::parse(read_bytes(kFolder / "seen.json")); }

}  // namespace

TEST_CASE("child: reproduce" * doctest::skip()) {
  const Reproducer bug = load(std::getenv("CLCOOK_DRIVER_BUG"));
  std::cout << "OUTCOME " << outcome_here(bug) << std::endl;
}

TEST_CASE("child: take down what is seen here" * doctest::skip()) {
  const char* file = std::getenv("CLCOOK_DRIVER_BUGS_SEEN");
  REQUIRE(file != nullptr);
  nlohmann::json all = nlohmann::json::object();
  if (fs::exists(file)) all = nlohmann::json::parse(read_bytes(file));
  const nlohmann::json now = take_down();
  for (const auto& [name, outcomes] : now.items())
    for (const auto& [bug, said] : outcomes.items()) all[name][bug] = said;
  write_bytes(file, all.dump(1) + "\n");
}

TEST_CASE("child: write the page" * doctest::skip()) {
  std::string page = read_bytes(kPage);
  const std::size_t begin = page.find(kBegin) + std::string(kBegin).size();
  const std::size_t end = page.find(kEnd);
  write_bytes(kPage, page.substr(0, begin) + page_table(seen()) + page.substr(end));
}

LONG_TEST_CASE("driver bugs: what is expected here shows, and nothing else does", 32) {
  const nlohmann::json now = take_down();
  for (const auto& [name, outcomes] : now.items()) {
    for (const Reproducer& bug : reproducers(".cl")) {
      if (!outcomes.contains(bug.name())) continue;
      const std::string said = outcomes.at(bug.name());
      if (said == "does not apply") continue;
      if (bug.expected_on(name) && said == "right") {
        FAIL_CHECK("MENDED: ", bug.name(), " does not show on ", name,
                   ". If no version is left that has it, drop the workaround at ",
                   bug.get("workaround"), "; else take it out of 'fails' in ",
                   bug.path.filename().string());
      }
      if (!bug.expected_on(name) && said != "right") {
        FAIL_CHECK(bug.name(), " shows on ", name, ", which ", bug.path.filename().string(),
                   " does not say: ", said);
      }
    }
  }
}

TEST_CASE("driver bugs: headers of OpenCL") {
  for (const Reproducer& bug : reproducers(".cpp")) {
    const Ran ran = run_program(
        {"/usr/bin/env", "c++", "-std=c++17", "-fsyntax-only", "-w", bug.path.string()});
    CAPTURE(bug.name());
    CHECK((ran.code == 0 || ran.code == 1));
    if (ran.code == 0) {
      MESSAGE("MENDED in the headers here: ", bug.name(), "; seen with ", bug.get("fails"),
              ", for which ", bug.get("workaround"));
    }
  }
}

TEST_CASE("driver bugs: every reproducer is short and says what it must") {
  std::vector<Reproducer> all = reproducers(".cl");
  for (const Reproducer& bug : reproducers(".cpp")) all.push_back(bug);
  CHECK(all.size() >= 10);
  for (const Reproducer& bug : all) {
    CAPTURE(bug.name());
    CHECK(bug.lines < 30);
    CHECK(bug.has("bug"));
    CHECK(bug.has("fails"));
    // The workaround begins with a file of this project.
    const std::string where = bug.get("workaround");
    CHECK(fs::exists(fs::path(CLCOOK_SOURCE_DIR) / where.substr(0, where.find_first_of(",:; "))));
    if (bug.path.extension() == ".cl") CHECK((bug.has("expect") || bug.has("build log")));
  }
}

TEST_CASE("driver bugs: the page is made of the files and of what was seen") {
  const std::string page = read_bytes(kPage);
  CHECK(contains(page, kBegin + page_table(seen()) + kEnd));
  // What was seen is what the files expect.
  for (const auto& [name, outcomes] : seen().items()) {
    for (const auto& [bug, said] : outcomes.items()) {
      const std::string where = name + ": " + bug;
      CAPTURE(where);
      const fs::path path = kFolder / (bug + ".cl");
      REQUIRE(fs::exists(path));
      if (said != "does not apply") CHECK((said != "right") == load(path).expected_on(name));
    }
  }
}
