// clcook isa: running clang, ptxas and nvdisasm.

#include "isa/tools.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <clcook/core/source.hpp>

#include "tool/code.hpp"
#include "tool/process.hpp"
#include "tool/scratch_folder.hpp"
#include "tool/words.hpp"

namespace clcook::isa {

namespace {

namespace fs = std::filesystem;
using tool::find_program;
using tool::Finished;
using tool::run_tool;

// Changed when what is stored, or how it is made, changes.
constexpr const char* kCacheFormat = "clcook-isa 2";

// x86 has no work-item functions of its own: an implementation gives a work-item its ids in memory
// or registers. Here they are loads from an array. A barrier keeps the order of memory accesses and
// nothing else.
constexpr const char* kX86Prelude = R"(extern __constant size_t clcook_isa_ids[19];
#define CLCOOK_ISA_FN static inline __attribute__((overloadable, always_inline))
CLCOOK_ISA_FN size_t get_group_id(uint d) { return d < 3 ? clcook_isa_ids[d] : 0; }
CLCOOK_ISA_FN size_t get_local_id(uint d) { return d < 3 ? clcook_isa_ids[3 + d] : 0; }
CLCOOK_ISA_FN size_t get_local_size(uint d) { return d < 3 ? clcook_isa_ids[6 + d] : 1; }
CLCOOK_ISA_FN size_t get_num_groups(uint d) { return d < 3 ? clcook_isa_ids[9 + d] : 1; }
CLCOOK_ISA_FN size_t get_global_offset(uint d) { return d < 3 ? clcook_isa_ids[12 + d] : 0; }
CLCOOK_ISA_FN size_t get_global_size(uint d) { return d < 3 ? clcook_isa_ids[15 + d] : 1; }
CLCOOK_ISA_FN uint get_work_dim(void) { return (uint)clcook_isa_ids[18]; }
CLCOOK_ISA_FN size_t get_global_id(uint d) {
  return get_group_id(d) * get_local_size(d) + get_local_id(d) + get_global_offset(d);
}
CLCOOK_ISA_FN void barrier(cl_mem_fence_flags f) { __asm__ volatile("" ::: "memory"); }
CLCOOK_ISA_FN void mem_fence(cl_mem_fence_flags f) { __asm__ volatile("" ::: "memory"); }
CLCOOK_ISA_FN void read_mem_fence(cl_mem_fence_flags f) { __asm__ volatile("" ::: "memory"); }
CLCOOK_ISA_FN void write_mem_fence(cl_mem_fence_flags f) { __asm__ volatile("" ::: "memory"); }
#undef CLCOOK_ISA_FN
)";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The first "19.1.7" behind the word.
std::string version_after(const std::string& text, const std::string& word) {
  std::size_t at = text.find(word);
  if (at == std::string::npos) return "";
  at = text.find_first_of("0123456789", at + word.size());
  if (at == std::string::npos) return "";
  const std::size_t end = text.find_first_not_of("0123456789.", at);
  return text.substr(at, end == std::string::npos ? end : end - at);
}

void write_text(const std::string& path, const std::string& content) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) fail(Errc::io, "write " + path, "cannot write the file (is the disk full?)");
}

std::string bitcode_file(const Target& target, const Toolchain& tools) {
  // libclc has no library for x86. The one for nvptx64 without an operating system is plain LLVM
  // code but for the work-item functions, which the prelude replaces.
  const std::string name = target.vendor == Vendor::amd      ? target.name + "-amdgcn--.bc"
                           : target.vendor == Vendor::nvidia ? "nvptx64--nvidiacl.bc"
                                                             : "nvptx64--.bc";
  return tools.libclc + "/" + name;
}

// The command line of clang, without input and output.
std::vector<std::string> clang_arguments(const Job& job, const Toolchain& tools) {
  std::vector<std::string> out = {"-x", "cl"};
  bool correct_division = false;
  for (const std::string& option : tool::words_of(job.options)) {
    if (option.rfind("-cl-nv-", 0) == 0) continue;  // NVIDIA's own
    correct_division = correct_division || option == "-cl-fp32-correctly-rounded-divide-sqrt";
    out.push_back(option);
  }
  const auto add = [&](std::initializer_list<const char*> more) {
    out.insert(out.end(), more.begin(), more.end());
  };
  add({"-O3", "-nogpulib", "-gline-directives-only", "-fdebug-compilation-dir=.", "-Xclang",
       "-finclude-default-header", "-Wno-unused-command-line-argument"});
  switch (job.target.vendor) {
    case Vendor::amd:
      add({"-target", "amdgcn--", "-Rpass-analysis=kernel-resource-usage"});
      out.push_back("-mcpu=" + job.target.name);
      break;
    case Vendor::nvidia:
      add({"-target", "nvptx64--nvidiacl", "-Xclang", "-target-cpu", "-Xclang"});
      out.push_back(job.target.name);
      // OpenCL allows 2.5 ulp for a division and 3 for a square root, unless the host asks for
      // more.
      if (!correct_division)
        add({"-mllvm", "-nvptx-prec-divf32=1", "-mllvm", "-nvptx-prec-sqrtf32=0"});
      break;
    case Vendor::x86:
      add({"-target", "x86_64-unknown-linux-gnu", "-mprefer-vector-width=512",
           "-Wno-linker-warnings", "-DCLCOOK_BUILTIN_PREFETCH", "-Xclang",
           "-ffake-address-space-map", "-Xclang", "-faddress-space-map-mangling=yes"});
      out.push_back(job.target.name == "x86-64" ? "-march=x86-64-v4" : "-march=" + job.target.name);
      break;
  }
  add({"-Xclang", "-mlink-builtin-bitcode", "-Xclang"});
  out.push_back(bitcode_file(job.target, tools));
  return out;
}

// A message without addresses of the compiler's memory, which differ each time.
std::string without_addresses(const std::string& message) {
  std::string out;
  for (const std::string& word : tool::words_of(message)) {
    if (word.rfind("0x", 0) != 0) out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

// One string of several, and back.
void put(std::string& out, const std::string& part) {
  out += std::to_string(part.size()) + ":" + part;
}

bool take(std::string_view& in, std::string& part) {
  const std::size_t colon = in.find(':');
  if (colon == std::string_view::npos || colon > 20) return false;
  const std::size_t size = detail::to_unsigned(in.substr(0, colon));
  if (in.size() - colon - 1 < size) return false;
  part = std::string(in.substr(colon + 1, size));
  in.remove_prefix(colon + 1 + size);
  return true;
}

std::string library_hash(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = known.find(path);
  if (found != known.end()) return found->second;
  const std::string content = read_text_file(path);
  return known[path] = text(content.size(), "-", fnv1a(content));
}

void assemble_x86(const Toolchain& tools, const tool::ScratchFolder& folder,
                  const std::string& kernel, Compiled& out) {
  const Finished done = run_tool({tools.clang, "-target", "x86_64-unknown-linux-gnu", "-c",
                                  folder / "kernel.s", "-o", folder / "kernel.o"});
  if (done.code == 0) out.bytes = elf_function_size(read_text_file(folder / "kernel.o"), kernel);
}

void assemble_nvidia(const Toolchain& tools, const tool::ScratchFolder& folder, const Job& job,
                     Compiled& out) {
  if (tools.ptxas.empty()) return;
  // Line directives as LLVM writes them, and their labels, are not always what ptxas reads.
  std::string plain;
  std::string_view rest = out.assembly;
  while (!rest.empty()) {
    const std::string_view line = detail::take_line(rest);
    const std::string_view word = detail::trim(line);
    if (word.substr(0, 5) == ".loc\t" || word.substr(0, 5) == ".loc " ||
        word.substr(0, 6) == ".file\t" || word.substr(0, 7) == "$L__tmp")
      continue;
    plain.append(line);
    plain += '\n';
  }
  write_text(folder / "kernel.ptx", plain);
  const std::string cubin = folder / "kernel.cubin";
  const Finished done =
      run_tool({tools.ptxas, "-v", "-arch=" + job.target.name, folder / "kernel.ptx", "-o", cubin});
  if (done.code != 0) {
    out.ptxas_problem = first_error(done.err.empty() ? done.out : done.err);
    // "ptxas /tmp/.../kernel.ptx, line 63; fatal : ..."
    const std::size_t line = out.ptxas_problem.find(", line ");
    if (line != std::string::npos) out.ptxas_problem.erase(0, line + 2);
    return;
  }
  out.ptxas_log = done.out + done.err;
  out.bytes = elf_function_size(read_text_file(cubin), job.kernel);
  if (tools.nvdisasm.empty()) return;
  const Finished listed = run_tool({tools.nvdisasm, "-c", cubin});
  if (listed.code == 0) out.sass = listed.out;
}

}  // namespace

std::string first_error(const std::string& log) {
  std::size_t at = log.find("error: ");
  if (at == std::string::npos) {
    const std::size_t end = log.find('\n');
    return log.empty() ? "the compiler failed without a message" : log.substr(0, end);
  }
  const std::size_t begin = log.rfind('\n', at) == std::string::npos ? 0 : log.rfind('\n', at) + 1;
  return log.substr(begin, log.find('\n', at) - begin);
}

Toolchain find_toolchain() {
  Toolchain out;
  const std::string install = "; on Debian: apt-get install clang-19 libclc-19";
  const std::string wanted = environment("CLCOOK_CLANG");
  out.clang = find_program(wanted.empty() ? "clang-19" : wanted);
  if (out.clang.empty()) {
    fail(Errc::unsupported, "clcook isa",
         wanted.empty() ? "needs the compiler clang-19, which is not in PATH" + install +
                              " (CLCOOK_CLANG may name another clang)"
                        : "CLCOOK_CLANG names '" + wanted + "', which is no program");
  }
  const Finished version = run_tool({out.clang, "--version"});
  out.clang_line = version.out.substr(0, version.out.find('\n'));
  out.clang_version = version_after(version.out, "clang version");
  if (version.code != 0 || out.clang_version.empty()) {
    fail(Errc::unsupported, "clcook isa",
         "'" + out.clang + " --version' does not answer like clang");
  }
  const std::string folder = environment("CLCOOK_LIBCLC");
  std::string tried;
  for (const std::string& candidate :
       folder.empty()
           ? std::vector<std::string>{"/usr/lib/clc", "/usr/share/clc", "/usr/local/share/clc"}
           : std::vector<std::string>{folder}) {
    std::error_code error;
    tried += " " + candidate;
    if (!fs::exists(fs::path(candidate) / "nvptx64--nvidiacl.bc", error)) continue;
    out.libclc = candidate;
    break;
  }
  if (out.libclc.empty()) {
    fail(Errc::unsupported, "clcook isa",
         "needs libclc, the OpenCL built-ins as LLVM bitcode: without it every built-in would be a "
         "call; looked in" +
             tried + install + " (CLCOOK_LIBCLC may name another folder)");
  }
  const std::vector<std::string> cuda = {"/usr/local/cuda/bin"};
  const auto nvidia = [&](const char* variable, const char* name, std::string& path,
                          std::string& number) {
    const std::string other = environment(variable);
    if (other == "0") return;  // as if it were not installed
    path = find_program(other.empty() ? name : other, cuda);
    if (path.empty()) return;
    const Finished answer = run_tool({path, "--version"});
    number = version_after(answer.out, ", V");
    if (number.empty()) path.clear();
  };
  nvidia("CLCOOK_PTXAS", "ptxas", out.ptxas, out.ptxas_version);
  if (!out.ptxas.empty()) nvidia("CLCOOK_NVDISASM", "nvdisasm", out.nvdisasm, out.nvdisasm_version);
  return out;
}

Target parse_target(const std::string& name, const Toolchain& tools) {
  Target target;
  target.name = name;
  target.vendor = vendor_of(name);
  target.label = family(name);
  const auto in = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  std::error_code error;
  if (in(nvidia_targets()) || in(x86_targets())) return target;
  const bool plain =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos;
  if (plain && name.rfind("gfx", 0) == 0 &&
      fs::exists(fs::path(tools.libclc) / (name + "-amdgcn--.bc"), error))
    return target;

  std::vector<std::string> amd;
  for (fs::directory_iterator file(tools.libclc, error), end; !error && file != end;
       file.increment(error)) {
    const std::string base = file->path().filename().string();
    const std::string tail = "-amdgcn--.bc";
    if (base.rfind("gfx", 0) == 0 && base.size() > tail.size() &&
        base.substr(base.size() - tail.size()) == tail) {
      amd.push_back(base.substr(0, base.size() - tail.size()));
    }
  }
  std::sort(amd.begin(), amd.end());
  std::string known;
  for (const auto* list :
       {static_cast<const std::vector<std::string>*>(&amd), &nvidia_targets(), &x86_targets()}) {
    known += "\n ";
    for (const std::string& one : *list) known += " " + one;
  }
  fail(Errc::invalid_argument, "clcook isa",
       "there is no target '" + name + "'; known are" + known);
}

std::string Job::name() const {
  std::string out = recipe + "/" + variant;
  if (units > 1) out += "#" + std::to_string(unit + 1);
  return tune.empty() ? out : out + " " + tune;
}

std::string Job::language() const {
  const std::string option = "-cl-std=";
  const std::size_t begin = options.find(option);
  if (begin == std::string::npos) return "";
  const std::string rest = options.substr(begin + option.size());
  return rest.substr(0, rest.find(' '));
}

std::string library_of(const Target& target, const Toolchain& tools) {
  return library_hash(bitcode_file(target, tools));
}

std::string job_key(const Job& job, const Toolchain& tools, const std::string& library) {
  std::string all;
  put(all, tools.clang_version);
  put(all, library.empty() ? library_of(job.target, tools) : library);
  put(all, job.kernel);
  for (const std::string& argument : clang_arguments(job, tools)) put(all, argument);
  if (job.target.vendor == Vendor::x86) put(all, kX86Prelude);
  put(all, tool::code_of(job.source));
  return fmt::format("{:x}", fnv1a(all));
}

Compiled compile(const Job& job, const Toolchain& tools, const DiskCache& cache) {
  const std::vector<std::string> arguments = clang_arguments(job, tools);
  const bool nvidia = job.target.vendor == Vendor::nvidia;
  std::string key = std::string(kCacheFormat) + "\n";
  put(key, tools.clang_line);
  put(key, library_hash(bitcode_file(job.target, tools)));
  put(key, nvidia ? tools.ptxas_version + "/" + tools.nvdisasm_version : "");
  // Only a function's size depends on the kernel: a file of many compiles once.
  const bool sized = job.target.vendor == Vendor::x86 || (nvidia && !tools.ptxas.empty());
  put(key, sized ? job.kernel : "");
  for (const std::string& argument : arguments) put(key, argument);
  if (job.target.vendor == Vendor::x86) put(key, kX86Prelude);
  put(key, job.source);

  Compiled out;
  if (const auto stored = cache.load(key)) {
    std::string_view rest = *stored;
    std::string bytes;
    if (take(rest, out.log) && take(rest, out.assembly) && take(rest, out.sass) &&
        take(rest, out.ptxas_log) && take(rest, out.ptxas_problem) && take(rest, bytes) &&
        rest.empty()) {
      out.bytes = bytes == "-" ? -1 : static_cast<long>(detail::to_unsigned(bytes));
      out.cached = true;
      return out;
    }
    out = Compiled();
  }

  const tool::ScratchFolder folder("isa");
  write_text(folder / "kernel.cl", job.source);
  std::vector<std::string> command = {tools.clang};
  command.insert(command.end(), arguments.begin(), arguments.end());
  if (job.target.vendor == Vendor::x86) {
    write_text(folder / "prelude.h", kX86Prelude);
    command.insert(command.end(), {"-include", folder / "prelude.h"});
  }
  command.insert(command.end(), {"-S", folder / "kernel.cl", "-o", folder / "kernel.s"});
  const Finished done = run_tool(command);
  out.log = done.err;
  if (done.code != 0) {
    if (done.code > 127)
      out.log += text("\nerror: the compiler ended with signal ", done.code - 128);
    if (out.log.find("No space left") != std::string::npos)
      fail(Errc::io, "clcook isa", first_error(out.log));
    out.problem = first_error(out.log);
    // Is it the text, or the code of it?
    std::replace(command.begin(), command.end(), std::string("-S"), std::string("-fsyntax-only"));
    out.lacks_code = run_tool(command).code == 0;
    if (out.lacks_code)
      out.problem = "clang " + tools.clang_version + " makes no code of it for " + job.target.name +
                    ": " + without_addresses(out.problem);
    return out;
  }
  out.assembly = read_text_file(folder / "kernel.s");
  if (job.target.vendor == Vendor::x86) assemble_x86(tools, folder, job.kernel, out);
  if (nvidia) assemble_nvidia(tools, folder, job, out);

  std::string value;
  put(value, out.log);
  put(value, out.assembly);
  put(value, out.sass);
  put(value, out.ptxas_log);
  put(value, out.ptxas_problem);
  put(value, out.bytes < 0 ? "-" : std::to_string(out.bytes));
  cache.store(key, value);
  return out;
}

std::string preprocess(const Job& job, const Toolchain& tools, const DiskCache& cache,
                       bool places) {
  std::vector<std::string> arguments = {"-x", "cl", "-E"};
  if (!places) arguments.push_back("-P");
  arguments.insert(arguments.end(), job.arguments.begin(), job.arguments.end());
  for (const std::string& option : tool::words_of(job.options)) {
    if (option.rfind("-cl-nv-", 0) != 0) arguments.push_back(option);
  }
  switch (job.target.vendor) {
    case Vendor::amd:
      arguments.insert(arguments.end(), {"-target", "amdgcn--", "-mcpu=" + job.target.name});
      break;
    case Vendor::nvidia:
      arguments.insert(arguments.end(), {"-target", "nvptx64--nvidiacl", "-Xclang", "-target-cpu",
                                         "-Xclang", job.target.name});
      break;
    case Vendor::x86:
      arguments.insert(arguments.end(), {"-target", "x86_64-unknown-linux-gnu"});
      break;
  }
  std::string key = std::string(kCacheFormat) + " text\n";
  put(key, tools.clang_line);
  for (const std::string& argument : arguments) put(key, argument);
  put(key, job.source);
  if (const auto stored = cache.load(key)) return *stored;
  const tool::ScratchFolder folder("isa");
  write_text(folder / "kernel.cl", job.source);
  arguments.insert(arguments.begin(), tools.clang);
  arguments.push_back(folder / "kernel.cl");
  const Finished done = run_tool(arguments);
  if (done.code != 0) {
    fail(Errc::build_failed, job.variant.empty() ? job.recipe : job.name(),
         "does not compile for " + job.target.name, CL_SUCCESS, done.err);
  }
  cache.store(key, done.out);
  return done.out;
}

Measured measure(const Job& job, const Toolchain& tools, const DiskCache& cache) {
  Measured out;
  out.job = job;
  const Compiled compiled = compile(job, tools, cache);
  out.cached = compiled.cached;
  out.problem = compiled.problem;
  if (!out.problem.empty()) return out;
  try {
    switch (job.target.vendor) {
      case Vendor::amd:
        out.dialect = Dialect::amdgcn;
        out.counts = read_listing(Dialect::amdgcn, compiled.assembly, job.kernel).counts;
        read_amd_comments(compiled.assembly, job.kernel, out.resources);
        read_amd_remarks(compiled.log, job.kernel, out.resources);
        break;
      case Vendor::nvidia: {
        out.dialect = Dialect::ptx;
        out.counts = out.ptx = read_listing(Dialect::ptx, compiled.assembly, job.kernel).counts;
        const auto said = read_ptxas_log(compiled.ptxas_log);
        if (const auto found = said.find(job.kernel); found != said.end())
          out.resources = found->second;
        out.resources.bytes = compiled.bytes;
        if (!compiled.ptxas_problem.empty())
          out.notes.push_back("ptxas: " + compiled.ptxas_problem);
        if (!compiled.sass.empty()) {
          out.dialect = Dialect::sass;
          out.counts = read_listing(Dialect::sass, compiled.sass, job.kernel).counts;
          out.counts.calls = out.ptx.calls;
        }
        break;
      }
      case Vendor::x86:
        out.dialect = Dialect::x86;
        out.counts = read_listing(Dialect::x86, compiled.assembly, job.kernel).counts;
        out.resources.registers = out.counts.vector_registers;
        out.resources.spills = out.counts.spill_bytes;
        out.resources.scratch = out.counts.frame_bytes;
        out.resources.bytes = compiled.bytes;
        break;
    }
  } catch (const std::runtime_error& error) {
    out.problem = error.what();
  }
  return out;
}

std::vector<Measured> measure_all(const std::vector<Job>& jobs, const Toolchain& tools,
                                  const DiskCache& cache, const std::function<bool()>& stop) {
  std::vector<std::optional<Measured>> done(jobs.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr problem;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size() && !stop(); i = next++) {
      try {
        done[i] = measure(jobs[i], tools, cache);
        // Ctrl-C on a terminal ends the compilers too.
        if (!done[i]->problem.empty() && stop()) done[i].reset();
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!problem) problem = std::current_exception();
        next = jobs.size();
      }
    }
  };
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  if (problem && !stop()) std::rethrow_exception(problem);
  std::vector<Measured> out;
  for (std::optional<Measured>& one : done) {
    if (one) out.push_back(std::move(*one));
  }
  return out;
}

}  // namespace clcook::isa
