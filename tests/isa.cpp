// The offline analyser: classes of instructions, reading assembly and compilers' messages, the gate, and the command itself where clang-19 is installed.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <nlohmann/json.hpp>

#include "bench/cookbook/recipes.hpp"
#include "bench/isa/gate.hpp"
#include "bench/isa/jobs.hpp"
#include "bench/isa/listing.hpp"
#include "bench/isa/resources.hpp"
#include "bench/isa/targets.hpp"
#include "bench/isa/tokens.hpp"
#include "bench/tool/process.hpp"
#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using isa::Dialect;
using isa::Kind;

namespace {

std::string data(const std::string& name) {
  return read_bytes(std::string(CLCOOK_SOURCE_DIR) + "/tests/data/isa/" + name);
}

void check_class(Dialect dialect, Kind kind, const std::string& mnemonics,
                 const std::string& operands = "") {
  std::istringstream in(mnemonics);
  for (std::string one; in >> one;) {
    CAPTURE(one);
    const isa::Classified found = isa::classify(dialect, one, operands);
    CHECK(found.known);
    CHECK(isa::kKindNames[static_cast<std::size_t>(found.kind)] ==
          std::string(isa::kKindNames[static_cast<std::size_t>(kind)]));
  }
}

// Counts in the order of isa::Kind.
void check_counts(const isa::Counts& counts, const std::vector<unsigned>& expected) {
  unsigned total = 0;
  for (std::size_t i = 0; i < isa::kKinds; ++i) {
    CAPTURE(isa::kKindNames[i]);
    CHECK(counts.by_kind[i] == expected[i]);
    total += expected[i];
  }
  CHECK(counts.total == total);
  CHECK(counts.unknown.empty());
}

}  // namespace

TEST_CASE("AMD mnemonics") {
  const Dialect d = Dialect::amdgcn;
  check_class(d, Kind::vector_alu,
              "v_mul_f32_e32 v_cmpx_gt_i32_e64 v_mfma_f32_32x32x1f32 v_readfirstlane_b32 "
              "v_dual_mul_f32 v_accvgpr_read_b32 v_wmma_f32_16x16x16_f16 v_swap_b32");
  check_class(
      d, Kind::scalar_alu,
      "s_add_u32 s_mov_b32 s_cmp_lt_i32 s_cselect_b32 s_lshl_b64 s_getpc_b64 s_and_saveexec_b64 "
      "s_bfe_u32 s_movk_i32 s_addk_i32 s_bitcmp1_b32 s_fmac_f32 s_ctz_i32_b32 s_sub_co_u32");
  check_class(d, Kind::branch,
              "s_branch s_cbranch_execz s_cbranch_scc1 s_setpc_b64 s_swappc_b64 s_call_b64");
  check_class(d, Kind::vector_memory,
              "global_load_dwordx4 buffer_store_dword flat_load_b32 image_sample scratch_load_b32 "
              "global_atomic_add_u32 tbuffer_load_format_x");
  check_class(
      d, Kind::scalar_memory,
      "s_load_dwordx4 s_load_b128 s_buffer_load_dword s_memtime s_dcache_inv s_prefetch_data");
  check_class(d, Kind::local_memory, "ds_read_b32 ds_load_b128 ds_bpermute_b32 lds_direct_load");
  check_class(
      d, Kind::wait,
      "s_waitcnt s_waitcnt_vscnt s_wait_loadcnt s_wait_kmcnt s_barrier s_barrier_signal s_nop "
      "s_delay_alu buffer_gl0_inv buffer_wbinvl1_vol global_inv s_sleep");
  check_class(d, Kind::other, "s_endpgm s_clause s_inst_prefetch v_nop s_sendmsg s_setprio");
  const isa::Classified unknown = isa::classify(d, "q_new_thing");
  CHECK_FALSE(unknown.known);
  CHECK(unknown.kind == Kind::other);
  CHECK_FALSE(isa::classify(d, "s_unheard_of").known);
}

TEST_CASE("PTX mnemonics") {
  const Dialect d = Dialect::ptx;
  check_class(
      d, Kind::vector_alu,
      "fma.rn.f32 mov.u32 setp.lt.s32 selp.f32 cvt.rn.f32.s32 mad.lo.s32 shl.b64 min.s32 "
      "ex2.approx.f32 shfl.sync.bfly.b32 mul.wide.u32 redux.sync.add.s32 cvta.to.global.u64");
  check_class(d, Kind::branch, "bra bra.uni brx.idx call.uni call");
  check_class(
      d, Kind::vector_memory,
      "ld.global.v4.f32 ld.global.nc.f32 st.global.f32 atom.global.add.u32 red.global.add.f32 "
      "ld.local.f32 st.local.f32 tex.2d.v4.f32.s32 ld.f32 cp.async.ca.shared.global");
  check_class(d, Kind::scalar_memory,
              "ld.param.u64 st.param.b32 ld.const.f32 ld.volatile.const.f32");
  check_class(
      d, Kind::local_memory,
      "ld.shared.f32 st.shared.v4.f32 atom.shared.add.u32 ld.volatile.shared.f32 ldmatrix.sync");
  check_class(d, Kind::wait, "bar.sync barrier.sync membar.gl fence.acq_rel.gpu cp.async.wait_all");
  check_class(d, Kind::other, "ret exit trap");
  CHECK_FALSE(isa::classify(d, "zzz.f32").known);
}

TEST_CASE("NVIDIA machine code mnemonics") {
  const Dialect d = Dialect::sass;
  check_class(
      d, Kind::vector_alu,
      "FFMA IMAD.WIDE.U32 ISETP.GE.AND MUFU.RCP LOP3.LUT IADD3.X S2R I2FP.F32.S32 SHFL.BFLY "
      "REDUX VIADD HFMA2.MMA MOV P2R SHF.R.U32.HI F2I.TRUNC.NTZ BREV FCHK");
  check_class(d, Kind::scalar_alu, "UIADD3 ULEA.HI.X UMOV S2UR R2UR UISETP.GE.AND USEL VOTEU.ANY");
  check_class(d, Kind::branch, "BRA BRA.DIV CALL.REL.NOINC RET.REL.NODEC BRX");
  check_class(d, Kind::vector_memory,
              "LDG.E.128.CONSTANT STG.E ATOMG.E.ADD RED.E.ADD LDL STL.64 LD.E ST.E TEX LDGSTS.E");
  check_class(d, Kind::scalar_memory, "LDC.64 ULDC LDCU.64");
  check_class(d, Kind::local_memory, "LDS.128 STS ATOMS.ADD LDSM.16.M88.4 STSM");
  check_class(d, Kind::wait,
              "BAR.SYNC.DEFER_BLOCKING BSSY BSYNC DEPBAR.LE LDGDEPBAR NOP WARPSYNC MEMBAR.SC.GPU");
  check_class(d, Kind::other, "EXIT");
  CHECK_FALSE(isa::classify(d, "ZZTOP").known);
}

TEST_CASE("x86 mnemonics, whose operands matter") {
  const Dialect d = Dialect::x86;
  check_class(d, Kind::vector_alu, "vmulps vfmadd231ps vmovaps vpaddd vxorps kmovd vcvttps2dq",
              "%xmm0, %xmm1");
  check_class(d, Kind::vector_alu, "vaddps vfmadd213ss", "(%rdi,%r9,4), %xmm1, %xmm0");
  check_class(d, Kind::vector_memory, "vmovups vmovss vbroadcastss vgatherdps vpmovzxbd",
              "(%rdi), %zmm0");
  check_class(d, Kind::scalar_alu,
              "addq imulq cmpl leaq movslq cltq setg cmovgel shlq sarl xorl incq movl",
              "%eax, %ecx");
  check_class(d, Kind::scalar_alu, "addq leaq cmovgel", "8(%rdi), %rcx");
  check_class(d, Kind::scalar_memory, "movq movslq movzbl", "8(%rdi), %rcx");
  check_class(d, Kind::scalar_memory, "pushq popq lock", "%rbx");
  check_class(d, Kind::branch, "jmp jle jne callq", ".LBB0_1");
  check_class(d, Kind::wait, "mfence pause");
  check_class(d, Kind::other, "retq vzeroupper nop ud2");
  CHECK_FALSE(isa::classify(d, "zzz").known);
}

TEST_CASE("a kernel in AMD assembly") {
  const std::string text = data("gfx1030.s");
  const isa::Listing listing = isa::read_listing(Dialect::amdgcn, text, "sample");
  //                            valu salu bran vmem smem lmem wait other
  check_counts(listing.counts, {18, 5, 2, 2, 4, 2, 5, 2});
  CHECK(listing.counts.loops == 1);
  CHECK(listing.counts.calls.empty());
  isa::Resources resources;
  isa::read_amd_comments(text, "sample", resources);
  isa::read_amd_remarks(data("gfx1030.remarks"), "sample", resources);
  CHECK(resources.bytes == 220);
  CHECK(resources.registers == 7);
  CHECK(resources.scalar_registers == 13);
  CHECK(resources.scratch == 0);
  CHECK(resources.spills == 0);
  CHECK(resources.local_bytes == 0);
  CHECK(resources.occupancy == 16);
  // Source lines: the load in the loop comes from line 7.
  bool found = false;
  for (const isa::Line& line : listing.lines) {
    if (line.mnemonic != "global_load_dword") continue;
    found = true;
    CHECK(line.file == "sample.cl");
    CHECK(line.line == 7);
  }
  CHECK(found);
}

TEST_CASE("built-ins left as calls are found in every language") {
  CHECK(isa::read_listing(Dialect::amdgcn, data("gfx1030.s"), "calls").counts.calls ==
        std::set<std::string>{"_Z3expf"});
  CHECK(isa::read_listing(Dialect::ptx, data("sm_90.ptx"), "calls").counts.calls ==
        std::set<std::string>{"_Z3expf"});
  CHECK(isa::read_listing(Dialect::x86, data("x86-64.s"), "calls").counts.calls ==
        std::set<std::string>{"_Z3expf"});
  isa::Resources resources;
  isa::read_amd_comments(data("gfx1030.s"), "calls", resources);
  CHECK(resources.registers == 41);  // its own block, not the first one
}

TEST_CASE("a kernel in PTX") {
  const isa::Listing listing = isa::read_listing(Dialect::ptx, data("sm_90.ptx"), "sample");
  check_counts(listing.counts, {24, 0, 3, 2, 4, 2, 1, 1});
  CHECK(listing.counts.loops == 1);
  CHECK(listing.counts.calls.empty());
}

TEST_CASE("a kernel in NVIDIA machine code") {
  const std::string text = data("sm_90.sass");
  const isa::Listing listing = isa::read_listing(Dialect::sass, text, "sample");
  check_counts(listing.counts, {17, 1, 2, 2, 8, 2, 1, 1});  // without the padding
  CHECK(listing.counts.loops == 1);
  // The slow path of the division belongs to the kernel and has no loop.
  const isa::Listing division = isa::read_listing(Dialect::sass, text, "calls");
  CHECK(division.counts.loops == 0);
  CHECK(division.counts.total == 145);
  CHECK(division.counts.unknown.empty());
}

TEST_CASE("a kernel in x86 assembly") {
  const isa::Listing listing = isa::read_listing(Dialect::x86, data("x86-64.s"), "sample");
  check_counts(listing.counts, {3, 13, 3, 4, 3, 0, 0, 1});
  CHECK(listing.counts.loops == 1);
  CHECK(listing.counts.vector_registers == 2);
  CHECK(listing.counts.spill_bytes == 0);
  const std::string spilling =
      "\nk:\n\tsubq\t$120, %rsp\n\tmovq\t%rsi, (%rsp)   # 8-byte Spill\n"
      "\tvmovaps\t%zmm31, 64(%rsp)  # 64-byte Spill\n\tmovq\t(%rsp), %rax  # 8-byte Reload\n"
      "\tcallq\tmemcpy@PLT\n\tfancyop\t%rax\n\tretq\n.Lfunc_end0:\n";
  const isa::Counts counts = isa::read_listing(Dialect::x86, spilling, "k").counts;
  CHECK(counts.spill_bytes == 72);
  CHECK(counts.frame_bytes == 120);
  CHECK(counts.calls.empty());  // the C library's copies are the compiler's own
  CHECK(counts.unknown == std::set<std::string>{"fancyop"});
  CHECK(counts.of(Kind::other) == 2);  // counted, not dropped
  CHECK(counts.total == 7);
}

TEST_CASE("a kernel that is not in the text") {
  CHECK_THROWS_WITH(isa::read_listing(Dialect::ptx, data("sm_90.ptx"), "absent"),
                    "the assembly does not hold a kernel 'absent'");
}

TEST_CASE("loops are back edges, not backward jumps") {
  // Blocks out of order: the jump back to .LBB0_2 closes no cycle.
  const std::string text =
      "\nk:\n\ts_branch .LBB0_3\n.LBB0_2:\n\ts_endpgm\n.LBB0_3:\n\ts_cbranch_scc0 .LBB0_2\n"
      "\ts_endpgm\n.Lfunc_end0:\n";
  CHECK(isa::read_listing(Dialect::amdgcn, text, "k").counts.loops == 0);
  const std::string nested =
      "\nk:\n.LBB0_1:\n\tv_nop\n.LBB0_2:\n\ts_cbranch_scc0 .LBB0_2\n\ts_cbranch_scc1 .LBB0_1\n"
      "\ts_endpgm\n.Lfunc_end0:\n";
  CHECK(isa::read_listing(Dialect::amdgcn, nested, "k").counts.loops == 2);
}

TEST_CASE("the messages of ptxas") {
  const auto said = isa::read_ptxas_log(data("ptxas.log"));
  REQUIRE(said.count("sample") == 1);
  CHECK(said.at("sample").registers == 12);
  CHECK(said.at("sample").spills == 0);
  CHECK(said.at("sample").scratch == 0);
  CHECK(said.at("sample").local_bytes == 0);
  CHECK(said.at("calls").registers == 18);
  const auto shared = isa::read_ptxas_log(
      "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
      "ptxas info    : Function properties for k\n"
      "    3376 bytes stack frame, 6436 bytes spill stores, 5336 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 3376 bytes cumulative stack size, "
      "16384 bytes smem, 388 bytes cmem[0]\n"
      "ptxas info    : Function properties for helper\n"
      "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n");
  CHECK(shared.size() == 1);
  CHECK(shared.at("k").registers == 255);
  CHECK(shared.at("k").spills == 6436);
  CHECK(shared.at("k").scratch == 3376);
  CHECK(shared.at("k").local_bytes == 16384);
  CHECK(isa::read_ptxas_log("").empty());
  CHECK(isa::read_ptxas_log("nothing of use\n").empty());
}

TEST_CASE("the build log of NVIDIA's OpenCL compiler") {
  // Three programs on an H200, driver 580; the last with two kernels and at most 32 registers.
  const auto said = isa::read_ptxas_log(data("nv_verbose.log"));
  CHECK(said.size() == 4);
  CHECK(said.at("line_blur_naive").registers == 32);
  CHECK(said.at("line_blur_naive").spills == 0);
  CHECK(said.at("line_blur_coalesced").registers == 87);
  CHECK(said.at("second").registers == 10);
  CHECK(said.at("second").local_bytes == 0);
  CHECK(said.at("spill").registers == 32);
  CHECK(said.at("spill").local_bytes == 2052);
  CHECK(said.at("spill").scratch == 0);
}

TEST_CASE("spills in the remarks for AMD") {
  isa::Resources resources;
  isa::read_amd_remarks(
      "k.cl:1:1: remark: Function Name: k2 [-R]\nremark:     SGPRs Spill: 1 [-R]\nremark:     "
      "VGPRs Spill: 1 [-R]\n"
      "k.cl:1:1: remark: Function Name: k [-R]\nremark:     SGPRs Spill: 3 [-R]\nremark:     VGPRs "
      "Spill: 40 [-R]\n",
      "k", resources);
  CHECK(resources.spills == 43);
}

TEST_CASE("function sizes in ELF files") {
  CHECK(isa::elf_function_size("", "k") == -1);
  CHECK(isa::elf_function_size("not an ELF file", "k") == -1);
  // This very program has a main function.
  CHECK(isa::elf_function_size(read_bytes(self_path()), "main") > 0);
  CHECK(isa::elf_function_size(read_bytes(self_path()), "no_such_function_anywhere") == -1);
  const std::string whole = read_bytes(self_path());
  for (const std::size_t size : {64U, 100U, 1000U}) {
    CHECK(isa::elf_function_size(whole.substr(0, size), "main") == -1);
  }
}

TEST_CASE("functions of a preprocessed text") {
  const std::vector<isa::Token> tokens = isa::tokens_of(
      "struct S { int a; };\n__constant int t[2] = {1, 2};\n#pragma something {\n"
      "float half_of(float x) { return x / 2; }\n"
      "__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void k(__global int* kernel) {\n"
      "  if (kernel[0] > 0) { return; }\n}\n"
      "void declared(int);\nkernel void any(void) {}\n");
  const std::vector<isa::Function> functions = isa::functions_of(tokens);
  REQUIRE(functions.size() == 3);
  CHECK(functions[0].name == "half_of");
  CHECK_FALSE(functions[0].is_kernel);
  CHECK(functions[1].name == "k");
  CHECK(functions[1].is_kernel);
  CHECK(functions[1].group == 32);
  CHECK(tokens[functions[1].body].text == "{");
  CHECK(functions[2].name == "any");
  CHECK(functions[2].is_kernel);
  CHECK(functions[2].group == 0);
  CHECK(isa::functions_of(isa::tokens_of("")).empty());
}

TEST_CASE("the gate") {
  isa::Gate gate;
  gate.clang = "19.1.7";
  gate.ptxas = "13.0.88";
  gate.rows["r/a"]["gfx1030"] = {100, 5, 20, 30, 0, 0, 500};
  gate.rows["r/a"]["sm_90"] = {90, 4, 32, -1, 0, 0, 1024};

  SUBCASE("is written and read") {
    const std::string content = isa::write_gate(gate);
    const isa::Gate again = isa::read_gate(content, "gate.json");
    CHECK(isa::write_gate(again) == content);
    CHECK(again.rows.at("r/a").at("gfx1030").bytes == 500);
    CHECK(again.rows.at("r/a").at("sm_90").scalar_registers == -1);
    CHECK(isa::compare_gate(again, gate, true).failures.empty());
    CHECK(isa::compare_gate(again, gate, true).notes.empty());
  }
  SUBCASE("fails for registers, branches, spills, scratch and bytes") {
    for (const isa::GateField& field : isa::kGateFields) {
      isa::Gate now = gate;
      ++(now.rows["r/a"]["gfx1030"].*field.value);
      const isa::GateResult result = isa::compare_gate(gate, now, true);
      CAPTURE(field.name);
      CHECK(result.failures.size() == (field.fails ? 1U : 0U));
      CHECK(result.notes.size() == (field.fails ? 0U : 1U));
    }
  }
  SUBCASE("notes what became better") {
    isa::Gate now = gate;
    now.rows["r/a"]["gfx1030"].branches = 3;
    const isa::GateResult result = isa::compare_gate(gate, now, true);
    CHECK(result.failures.empty());
    REQUIRE(result.notes.size() == 1);
    CHECK(result.notes[0] == "r/a gfx1030: branches 5 -> 3");
  }
  SUBCASE("fails for a kernel that it does not have, notes one that is gone") {
    isa::Gate now = gate;
    now.rows["r/b"]["gfx1030"] = {1, 1, 1, 1, 0, 0, 1};
    now.rows.erase("r/a");
    const isa::GateResult result = isa::compare_gate(gate, now, true);
    REQUIRE(result.failures.size() == 1);
    CHECK(contains(result.failures[0], "r/b gfx1030: not in the gate"));
    CHECK(result.notes.size() == 2);
    CHECK(isa::compare_gate(gate, now, false).notes.empty());
  }
  SUBCASE("another ptxas: its figures are not compared, and a note says so") {
    isa::Gate now = gate;
    now.ptxas = "";
    now.rows["r/a"]["sm_90"] = {90, 4, -1, -1, -1, -1, -1};
    const isa::GateResult result = isa::compare_gate(gate, now, true);
    CHECK(result.failures.empty());
    REQUIRE(result.notes.size() == 1);
    CHECK(contains(result.notes[0], "were not compared"));
    now.rows["r/a"]["sm_90"].branches = 5;  // PTX counts still are
    CHECK(isa::compare_gate(gate, now, true).failures.size() == 1);
  }
  SUBCASE("broken files are named") {
    for (const char* content :
         {"", "{", "[]", "{\"format\": 99}", "{\"format\": 1}",
          "{\"format\": 1, \"clang\": 3, \"ptxas\": \"\", \"kernels\": {}}"}) {
      CAPTURE(content);
      const Error error = error_of([&] { isa::read_gate(content, "some/gate.json"); });
      CHECK(error.code == Errc::io);
      CHECK(contains(error.what(), "some/gate.json"));
      CHECK(contains(error.what(), "--update-gate"));
    }
  }
}

TEST_CASE("a live device is asked about the kernels that a plan builds there") {
  const Runtime& rt = runtime();
  std::size_t same = 0;
  for (const char* name : {"line_blur", "rank_filter", "stream_compaction", "threshold_count"}) {
    const Recipe& recipe = find_recipe(cookbook::recipes(), name);
    const Params& shape = recipe.bench_shapes.front();
    for (const VariantInfo& variant : recipe.variants) {
      CAPTURE(recipe.name + "/" + variant.name);
      const Params tune = combinations(variant.axes).front();
      const Offer offer = recipe.offer(rt, variant.name, tune, shape);
      std::map<std::string, std::vector<std::string>> built;
      for (const CompileUnit& unit : offer.units) {
        built[unit.kernel].push_back(Runtime::build_options(rt.info(), unit.defines, unit.options) +
                                     "\n" + unit.source.flatten());
      }
      for (const isa::Job& job : isa::jobs_of(recipe, variant, tune, false, rt.info(), {})) {
        const std::vector<std::string>& texts = built[job.kernel];
        if (texts.empty()) continue;
        // Only NVIDIA's are known without a runtime, and no other driver is asked.
        if (contains(texts.front(), "-DCLCOOK_SUB_GROUP_NATIVE")) continue;
        CHECK(std::count(texts.begin(), texts.end(), job.options + "\n" + job.source) > 0);
        ++same;
      }
    }
  }
  CHECK(same > 20);
}

LONG_TEST_CASE("the command", 16) {
  const std::string clcook = compiling_tool();
  if (clcook.empty()) return;
  const TempFolder folder;
  const std::string cache = (folder / "cache").string();
  using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;
  const auto run = [&](std::vector<std::string> arguments, Variables more = {}) {
    arguments.insert(arguments.begin(), {clcook, "isa"});
    more.insert(more.begin(), {{"CLCOOK_CACHE_DIR", cache}, {"CLCOOK_DEVICE", std::nullopt}});
    return run_program(arguments, more);
  };
  const std::vector<std::string> some = {"line_blur", "--variant", "symmetric", "--target",
                                         "gfx1030,sm_90,x86-64"};
  const auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> all = some;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };

  // Cold, warm, and JSON that says the same.
  const Ran cold = run(some);
  CHECK(cold.code == 0);
  CHECK(contains(cold.out, "6 kernels, 0 from the cache"));
  CHECK_FALSE(contains(cold.out, "CALLS"));
  CHECK_FALSE(contains(cold.out, "not classified"));
  const std::string file = (folder / "isa.json").string();
  const Ran warm = run(with({"--json", file}));
  CHECK(warm.code == 0);
  CHECK(contains(warm.out, "6 kernels, 6 from the cache"));
  const nlohmann::json json = nlohmann::json::parse(read_bytes(file));
  CHECK(json.at("kind") == "isa");
  CHECK(json.at("kernels").size() == 6);
  CHECK(json.at("kernels")[0].at("counts").at("instructions").get<int>() > 50);

  // The gate: recorded, held, broken, foreign.
  const std::string gate = (folder / "gate.json").string();
  CHECK(run(with({"--gate=" + gate})).code == 2);
  CHECK(run(with({"--update-gate=" + gate})).code == 0);
  const Ran held = run(with({"--gate=" + gate}));
  CHECK(held.code == 0);
  CHECK(contains(held.out, "0 compiled, 6 are unchanged"));
  isa::Gate recorded = isa::read_gate(read_bytes(gate), gate);
  {
    // A kernel that is not the recorded one is compiled.
    isa::Gate other = recorded;
    isa::GateRow& row = other.rows.at("line_blur/symmetric").at("gfx1030");
    row.key = "0";
    row.branches -= 1;
    other.rows.at("line_blur/symmetric").at("sm_90").branches -= 1;
    write_bytes(gate, isa::write_gate(other));
    const Ran changed = run(with({"--gate=" + gate}));
    CHECK(changed.code == 1);
    CHECK(contains(changed.out, "WORSE  line_blur/symmetric gfx1030: branches"));
    CHECK_FALSE(contains(changed.out, "WORSE  line_blur/symmetric sm_90"));
    // Figures that nobody measured do not survive recording.
    CHECK(run(with({"--update-gate=" + gate})).code == 0);
    CHECK(read_bytes(gate) == isa::write_gate(recorded));
    const std::filesystem::path kernels = folder / "kernels";
    std::filesystem::copy(CLCOOK_SOURCE_DIR "/kernels", kernels,
                          std::filesystem::copy_options::recursive);
    const std::filesystem::path edit = kernels / "line_blur.cl";
    const std::string before = read_bytes(edit);
    for (const auto& [more, says] :
         {std::pair("// changed\n", "0 compiled, 6 are unchanged"),
          std::pair("#define CHANGED\n", "6 compiled, 0 are unchanged")}) {
      write_bytes(edit, before + "\n" + more);
      const Ran edited = run(with({"--gate=" + gate}), {{"CLCOOK_KERNEL_DIR", kernels.string()}});
      CHECK(edited.code == 0);
      CHECK(contains(edited.out, says));
    }
  }
  {
    // Keys go with the build of libclc that was recorded, not with the one that is here.
    isa::Gate other = recorded;
    other.libraries.at("gfx1030") = "another build";
    write_bytes(gate, isa::write_gate(other));
    CHECK(contains(run(with({"--gate=" + gate})).out, "2 compiled, 4 are unchanged"));
    CHECK(run(with({"--update-gate=" + gate})).code == 0);
    CHECK(isa::read_gate(read_bytes(gate), gate).libraries == other.libraries);
    CHECK(contains(run(with({"--gate=" + gate})).out, "0 compiled, 6 are unchanged"));
  }
  recorded.rows.at("line_blur/symmetric").at("gfx1030").branches -= 1;
  recorded.rows.at("line_blur/symmetric").at("gfx1030").key = "0";
  write_bytes(gate, isa::write_gate(recorded));
  const Ran worse = run(with({"--gate=" + gate}));
  CHECK(worse.code == 1);
  CHECK(contains(worse.out, "WORSE  line_blur/symmetric gfx1030: branches"));
  CHECK(contains(worse.out, "clcook isa --update-gate"));
  recorded.clang = "18.0.0";
  write_bytes(gate, isa::write_gate(recorded));
  const Ran foreign = run(with({"--gate=" + gate}));
  CHECK(foreign.code == 77);
  CHECK(contains(foreign.out, "SKIPPED"));
  CHECK(run(with({"--update-gate=" + gate})).code == 2);  // a part may not mix two compilers
  CHECK(isa::read_gate(read_bytes(gate), gate).clang == "18.0.0");

  // Assembly.
  const Ran shown = run({"--show", "line_blur/naive", "--target", "gfx1030"});
  CHECK(shown.code == 0);
  CHECK(contains(shown.out, "-- line_blur.cl:"));
  CHECK(contains(shown.out, "vmem      global_store"));
  const Ran beside =
      run({"--diff", "line_blur/naive", "line_blur/symmetric"}, {{"COLUMNS", "100"}});
  CHECK(beside.code == 0);
  std::istringstream lines(beside.out);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);

  // Bad input: a message that helps, exit code 2.
  const auto refuses = [&](const std::vector<std::string>& arguments, const std::string& message,
                           const Variables& more = {}) {
    const Ran ran = run(arguments, more);
    CAPTURE(message);
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(contains(ran.err, message));
  };
  refuses({"nothing"}, "known are");
  refuses({"line_blur", "--variant", "nothing"}, "known are");
  refuses({"--target", "gfx9999"}, "gfx1030");
  refuses({"--target", "../../x"}, "there is no target");
  refuses({"--show", "naive"}, "RECIPE/VARIANT");
  refuses({"--show", "line_blur/naive#9"}, "the variant has");
  refuses({}, "apt-get install clang-19 libclc-19", {{"PATH", "/nowhere"}});
  refuses({}, "no program", {{"CLCOOK_CLANG", "/nowhere/clang"}});
  refuses({}, "libclc", {{"CLCOOK_LIBCLC", "/nowhere"}});
  refuses(with({"--json", "/proc/isa.json"}), "/proc/isa.json");

  // A damaged cache is a miss.
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(cache) / "isa")) {
    std::filesystem::resize_file(entry.path(), 40);
  }
  CHECK(contains(run({"line_blur", "--variant", "symmetric", "--target", "gfx1030"}).out,
                 "2 kernels, 0 from the cache"));
}

namespace {

// A folder for a user's kernels, and the command, whose cache is there too.
struct OwnKernels {
  std::string clcook = compiling_tool();  // empty: it cannot compile here
  TempFolder folder;

  std::string file(const std::string& name, const std::string& content) const {
    write_bytes(folder / name, content);
    return (folder / name).string();
  }
  Ran run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), clcook);
    return run_program(arguments, {{"CLCOOK_CACHE_DIR", (folder / "cache").string()},
                                   {"CLCOOK_DEVICE", std::nullopt}});
  }
};

}  // namespace

LONG_TEST_CASE("kernel files of a user", 32) {
  const OwnKernels own;
  if (own.clcook.empty()) return;
  // Known faults: 200 values that live at once, a store of which each lane takes a line of its own,
  // a branch on data with a loop in it.
  own.file("mine.h", "#define STRIDE 32\n");
  const std::string mine = own.file(
      "mine.cl",
      "#include \"mine.h\"\n"
      "#include <clcook/pixel.clh>\n"
      "__kernel __attribute__((reqd_work_group_size(1024, 1, 1)))\n"
      "void spills(__global float* x) {\n"
      "  float v[200];\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 200; ++i) v[i] = x[i * 1024 + get_local_id(0)];\n"
      "  float s = 1.0f;\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 200; ++i) s = s * v[i] + v[(i * 7) % 200] * v[199 - i];\n"
      "  x[get_local_id(0)] = s;\n"
      "}\n"
      "__kernel void strided(__global float* x) { x[get_global_id(0) * STRIDE] = SCALE; }\n"
      "__kernel void diverges(__global float* x, int n) {\n"
      "  float v = x[get_global_id(0)];\n"
      "  if (v > 0.5f) {\n"
      "    for (int i = 0; i < n; ++i) v = v * v + 1.0f;\n"
      "  }\n"
      "  x[get_global_id(0)] = v;\n"
      "}\n");
  const Ran all = own.run({"isa", mine, "-DSCALE=2.0f", "--target", "gfx1030,sm_90,x86-64",
                           "--json", (own.folder / "isa.json").string()});
  CAPTURE(all.err);
  REQUIRE(all.code == 0);
  CHECK(contains(all.out, "mine.cl  gfx1030"));
  CHECK(contains(all.out, "limited by registers"));
  CHECK(contains(all.out, "groups of 1024"));
  CHECK(contains(all.out, "groups of 256"));
  CHECK_FALSE(contains(all.out, "baseline"));
  const nlohmann::json json = nlohmann::json::parse(read_bytes((own.folder / "isa.json").string()));
  CHECK(json.at("kernels").size() == 9);
  for (const nlohmann::json& row : json.at("kernels")) {
    if (row.at("target") != "gfx1030") continue;
    CAPTURE(row.dump());
    const nlohmann::json& counts = row.at("counts");
    const nlohmann::json& resources = row.at("resources");
    if (row.at("variant") == "spills") CHECK(resources.at("spills").get<long>() > 0);
    if (row.at("variant") == "strided") {
      CHECK(resources.at("spills") == 0);
      CHECK(counts.at("vector_memory") == 1);
      CHECK(counts.at("branch") == 0);
    }
    if (row.at("variant") == "diverges") {
      CHECK(counts.at("loops") == 1);
      CHECK(counts.at("branch").get<int>() >= 2);
    }
  }

  const std::string other = own.file(
      "other.cl", "__kernel void k(__global float* x) { x[get_global_id(0) * 32] = 1.0f; }\n");
  const std::string twice =
      own.file("twice.cl",
               "__kernel void k(__global float* x) {\n"
               "  x[get_global_id(0) * 32] = sqrt(x[get_global_id(0)]);\n}\n");
  CHECK(
      contains(own.run({"isa", "--diff", other, twice}).out, "  vector memory            1 -> 2"));
  CHECK(contains(own.run({"isa", "--diff", other, other}).out, "no count differs"));
  CHECK(contains(own.run({"isa", "-DSCALE=1.0f", "--diff", other, mine + ":diverges"}).out,
                 "  loops                    0 -> 1"));
  const Ran shown = own.run({"isa", "--show", twice + "@gfx900"});
  CHECK(contains(shown.out, "twice.cl:2  x[get_global_id(0) * 32] = sqrt"));
  CHECK(contains(shown.out, "vmem      global_store"));
  const Ran occupancy = own.run({"occupancy", mine, "-D", "SCALE=1", "--kernel", "spills"});
  CHECK(occupancy.code == 0);
  CHECK(contains(occupancy.out, "groups of 1024"));
  CHECK(contains(occupancy.out, "limited by registers"));
  CHECK(contains(occupancy.out, "compiler spilled"));

  const auto refuses = [&](const std::vector<std::string>& arguments, const std::string& message) {
    const Ran ran = own.run(arguments);
    CAPTURE(message);
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    const std::size_t at = ran.err.find(message);
    CHECK(at != std::string::npos);
    CHECK(ran.err.find(message, at + 1) == std::string::npos);  // once
  };
  const std::string absent = (own.folder / "absent.cl").string();
  for (const char* command : {"isa", "occupancy"}) {
    refuses({command, absent}, "there is no file '" + absent + "'");
    refuses({command, mine}, "mine.cl:13:");
    refuses({command, own.file("lost.cl", "\n#include \"lost.h\"\n")},
            "lost.cl:2: header 'lost.h' file not found");
    refuses({command, other, "--kernel", "nothing"}, "there is no kernel 'nothing'; known are k");
    refuses({command, own.file("empty.cl", "")}, "the file has no kernel");
  }
  refuses({"isa", other, "--target", "gfx0"}, "there is no target 'gfx0'");
  refuses({"isa", other, "line_blur"}, "is a file");
  refuses({"isa", other, "--gate"}, "is a file");
  refuses({"isa", "--diff", mine, other}, "error: use of undeclared identifier 'SCALE'");
  refuses({"isa", "-DSCALE=1", "--diff", mine, other}, "has several kernels");
  refuses({"occupancy", other, "--recipe", "line_blur"}, "is a file");
}

TEST_CASE("a kernel that one target has no code for hides neither the others nor other targets") {
  const OwnKernels own;
  if (own.clcook.empty()) return;
  const std::string kernels =
      "__kernel void fine(__global float* x) {\n  x[get_global_id(0)] = 1.0f;\n}\n"
      "__kernel void lacks(__global float* x) {\n"
      "  x[get_global_id(0)] = native_exp(x[get_global_id(0)]);\n}\n";
  const std::string both = own.file("both.cl", kernels + "// the end\n");
  const std::string only = own.file("only.cl", kernels.substr(kernels.find("__kernel", 1)));
  const std::string about =
      own.file("about.toml",
               "program = \"both.cl\"\n[sizes]\ncheck = [{ n = 64 }]\n"
               "[[argument]]\nname = \"x\"\nbuffer = \"float\"\ncount = \"n\"\n"
               "access = \"read_write\"\nfill = { constant = 1 }\n"
               "[[kernel]]\nname = \"fine\"\nbaseline = true\nglobal = \"n\"\n"
               "[[kernel]]\nname = \"lacks\"\nglobal = \"n\"\n[compare]\nabsolute = 0.0\n");
  const std::string out = (own.folder / "isa.json").string();
  const auto rows = [&](const std::string& file) {
    const Ran ran = own.run({"isa", file, "--target", "sm_80,gfx1030", "--json", out});
    CAPTURE(file);
    CAPTURE(ran.err);
    CHECK(ran.code == 1);
    CHECK(contains(ran.out, "does not compile: clang 19"));
    std::map<std::string, std::string> problems;
    const nlohmann::json json = nlohmann::json::parse(read_bytes(out));
    for (const nlohmann::json& row : json.at("kernels")) {
      const auto name =
          row.at("kernel").get<std::string>() + "@" + row.at("target").get<std::string>();
      problems[name] = row.at("problem").get<std::string>();
      CHECK(row.contains("counts") == problems[name].empty());
    }
    CHECK(contains(problems.at("lacks@sm_80"), "makes no code of it for sm_80: error: "));
    CHECK(problems.at("lacks@gfx1030").empty());
    return problems;
  };
  for (const std::string& file : {both, about}) {
    const auto problems = rows(file);
    CHECK(problems.size() == 4);
    CHECK(problems.at("fine@sm_80").empty());
    CHECK(problems.at("fine@gfx1030").empty());
  }
  CHECK(rows(only).size() == 2);
  // Where nothing is left to show, it is an error.
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"isa", only, "--target", "sm_80"},
           {"isa", both, "--kernel", "lacks", "--target", "sm_80"},
           {"isa", "--show", both + ":lacks@sm_80"},
           {"occupancy", only, "--arch", "sm_80"}}) {
    const Ran ran = own.run(arguments);
    CHECK(ran.code == 2);
    CHECK(contains(ran.err, "makes no code of it for sm_80"));
    CHECK(ran.out.empty());
  }
  const Ran shown = own.run({"isa", "--show", both + ":lacks", "--target", "sm_80,gfx1030"});
  CHECK(shown.code == 1);
  CHECK(contains(shown.out, "both.cl/lacks gfx1030"));
  CHECK(contains(shown.out, "makes no code of it for sm_80"));
  // The lines are those of the file.
  CHECK(contains(own.run({"isa", "--show", both + ":fine@sm_80"}).out, "both.cl:2  x[get"));
}

TEST_CASE("figures of kernels in which calls remain are not given for registers") {
  const OwnKernels own;
  if (own.clcook.empty()) return;
  const std::string file = own.file(
      "calls.cl",
      "__kernel void texel(__read_only image2d_t from, __write_only image2d_t to, sampler_t s) {\n"
      "  const int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
      "  write_imagef(to, at, read_imagef(from, s, at));\n}\n"
      "__kernel void says(__global float* x) { printf(\"%f\\n\", x[0]); }\n"
      "__kernel void fine(__global float* x) { x[get_global_id(0)] = 1.0f; }\n");
  for (const char* arch : {"gfx1030", "sm_80"}) {
    CAPTURE(arch);
    const Ran all = own.run({"occupancy", file, "--arch", arch});
    if (contains(all.err, "ptxas, which was not found")) continue;
    CAPTURE(all.err);
    CHECK(all.code == 1);
    CHECK(contains(all.out, "calls.cl/fine: figures"));
    CHECK(contains(all.out, "calls.cl/texel: calls remain"));
    CHECK(contains(all.out, "read_imagef"));
    CHECK(contains(all.out, "calls.cl/says: calls remain"));
    CHECK_FALSE(contains(all.out, "calls.cl/texel: figures"));
    const nlohmann::json json =
        nlohmann::json::parse(own.run({"occupancy", file, "--arch", arch, "--json"}).out);
    CHECK(json.at("kernels").size() == 1);
    CHECK(json.at("missing").size() == 2);
    const Ran one = own.run({"occupancy", file, "--arch", arch, "--kernel", "says"});
    CHECK(one.code == 2);
    CHECK(contains(one.err, "calls.cl/says: calls remain"));
    const Ran given =
        own.run({"occupancy", file, "--arch", arch, "--kernel", "texel", "--vgpr", "20"});
    CHECK(given.code == 0);
    CHECK(contains(given.out, "20 registers"));
    CHECK_FALSE(
        contains(own.run({"isa", file, "--kernel", "texel", "--target", arch}).out, "waves per"));
  }
}

TEST_CASE("isa compiles the branch that __has_include and macros of includes choose") {
  const OwnKernels own;
  if (own.clcook.empty()) return;
  own.file("inc/there.clh", "#define SUM a + b\n");
  const std::string file =
      own.file("k.cl",
               "#define S_(x) #x\n#define S(x) S_(x)\n"
               "#if __has_include(\"inc/there.clh\")\n#include S(inc/NAME.clh)\n"
               "#else\n#define SUM a\n#endif\n"
               "#if !__has_include(<clcook/pixel.clh>)\n#error\n#endif\n"
               "__kernel void k(__global float* x, float a, float b) {\n"
               "  x[0] = SUM;\n}\n");
  const Ran good = own.run({"isa", "--show", file, "-DNAME=there"});
  CHECK(good.code == 0);
  CHECK(contains(good.out, "v_add_f32"));
  const Ran bad = own.run({"isa", "--show", file});
  CHECK(bad.code == 2);
  CHECK(contains(bad.err, "k.cl:4: header 'inc/NAME.clh' file not found"));
}

LONG_TEST_CASE("the language of files, and descriptions", 16) {
  const OwnKernels own;
  if (own.clcook.empty()) return;
  const auto run = [&](const std::vector<std::string>& arguments) {
    const Ran ran = own.run(arguments);
    CAPTURE(arguments.back());
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    return ran.out;
  };
  const auto refuses = [&](const std::vector<std::string>& arguments, const std::string& message) {
    const Ran ran = own.run(arguments);
    CAPTURE(message);
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(contains(ran.err, message));
  };
  const std::string plain =
      own.file("plain.cl", "__kernel void k(__global float* x) { x[get_global_id(0)] = 1.0f; }\n");
  const std::string two = own.file("two.cl",
                                   "int twice(int* p) { return 2 * *p; }\n"
                                   "__kernel void generic_pointer(__global int* x) {\n"
                                   "  __local int l[64];\n"
                                   "  l[get_local_id(0)] = x[get_global_id(0)];\n"
                                   "  int* p = x[0] > 3 ? (int*)&x[1] : (int*)&l[0];\n"
                                   "  x[get_global_id(0)] = twice(p);\n"
                                   "}\n");
  const std::string old = own.file("old.cl",
                                   "#if __OPENCL_C_VERSION__ != 120\n#error too new\n#endif\n"
                                   "__kernel void k(__global float* x) { x[0] = 1.0f; }\n");
  for (const auto& [path, language] :
       {std::pair(plain, "CL3.0"), std::pair(two, "CL2.0"), std::pair(old, "CL1.2")}) {
    const std::string out = (own.folder / "isa.json").string();
    CHECK(contains(run({"isa", path, "--target", "gfx1030", "--json", out}),
                   std::string(", ") + language + ": machine code"));
    const nlohmann::json row = nlohmann::json::parse(read_bytes(out)).at("kernels").at(0);
    CHECK(row.at("options") == std::string("-cl-std=") + language);
    CHECK(contains(run({"occupancy", path}), language));
    const nlohmann::json answer = nlohmann::json::parse(run({"occupancy", path, "--json"}));
    CHECK(contains(answer.at("kernels").at(0).at("source").get<std::string>(), language));
  }
  CHECK(contains(run({"isa", plain, "--cl-std", "CL1.1", "--target", "gfx1030"}), ", CL1.1: "));
  CHECK(contains(run({"isa", "--show", plain, "--cl-std", "CL2.0"}), "CL2.0"));
  for (const char* command : {"isa", "occupancy"}) {
    refuses({command, two, "--cl-std", "CL1.2"}, "changes address space of pointer");
    refuses({command, plain, "--cl-std", "CL4.0"}, "CL3.0");
  }
  refuses({"isa", "line_blur", "--cl-std", "CL2.0"}, "--cl-std is for files and descriptions");
  refuses({"isa", "line_blur", "-D", "A=1"}, "-D, -I and --kernel are for files");
  refuses({"occupancy", "--recipe", "line_blur", "--cl-std", "CL2.0"}, "--cl-std is for a file");

  // One program from one file: the header beside the header.
  own.file("w2.clh", "#define NAME wrong\n");
  own.file("sub/w2.clh", "#define NAME right\n");
  own.file("sub/w.clh", "#pragma once\n#include \"w2.clh\"\n");
  const std::string nested = own.file("nested.cl",
                                      "#include \"sub/w.clh\"\n#include \"sub/w.clh\"\n"
                                      "__kernel void NAME(__global float* x) { x[0] = 1.0f; }\n");
  CHECK(contains(run({"isa", nested, "--target", "gfx1030"}), "right"));
  CHECK(contains(run({"occupancy", nested}), "nested.cl/right"));

  const std::string about =
      own.file("mine.toml",
               "program = [\"nested.cl\", \"two.cl\"]\noptions = \"-DA=1\"\n"
               "[sizes]\ncheck = [{ n = 64 }]\n"
               "[[argument]]\nname = \"x\"\nbuffer = \"int\"\ncount = \"n\"\n"
               "access = \"read_write\"\nfill = { constant = 1 }\n"
               "[[kernel]]\nname = \"first\"\nfunction = \"right\"\n"
               "baseline = true\nglobal = \"n\"\nlocal = 32\n"
               "[[kernel]]\nname = \"second\"\nfunction = \"generic_pointer\"\n"
               "global = \"n\"\nlocal = 64\n"
               "[compare]\nabsolute = 0.0\n");
  const std::string table = run({"isa", about, "--target", "gfx1030"});
  CHECK(contains(table, "CL2.0: machine code"));
  CHECK(contains(table, "second"));
  CHECK(contains(run({"isa", about, "--show", about + ":second"}), "mine/second gfx1030"));
  CHECK(contains(run({"isa", "--diff", about + ":first", about + ":second@gfx900"}), "mine/first"));
  const std::string both = run({"occupancy", about});
  CHECK(contains(both, "mine/first: "));
  CHECK(contains(both, "groups of 32\n"));
  CHECK(contains(both, "mine/second: "));
  CHECK(contains(both, "groups of 64\n"));
  CHECK_FALSE(contains(run({"occupancy", about, "--kernel", "second"}), "mine/first"));
  refuses({"isa", "--show", about}, about + ":KERNEL; there are first second");
  refuses({"isa", "--show", about + ":third"}, "third");
  refuses({"occupancy", about, "--variant", "third"}, "third");
  refuses({"occupancy", about, "-D", "A=1"}, "is a description");
  refuses({"occupancy", (own.folder / "absent.toml").string()}, "absent.toml");
  refuses({"isa", about, "--cl-std", "CL3.0", "-D", "A"}, "-D, -I and --kernel are for files");
}

TEST_CASE("the command without ptxas counts PTX") {
  const std::string clcook = compiling_tool();
  if (clcook.empty()) return;
  const Ran ran =
      run_program({clcook, "isa", "line_blur", "--variant", "naive", "--target", "sm_80"},
                  {{"CLCOOK_CACHE", "0"}, {"CLCOOK_PTXAS", "0"}, {"CLCOOK_DEVICE", std::nullopt}});
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, "PTX counts, not yet machine code"));
  CHECK(contains(ran.out, "no ptxas here"));
}

TEST_CASE("a program runs without our open files, and what it began ends with it") {
  const auto shell = [](const std::string& script, const tool::RunOptions& options = {}) {
    return tool::run_tool({"/bin/sh", "-c", script}, options);
  };
  const int mine = dup(STDERR_FILENO);
  const tool::Finished files =
      shell("test -e /proc/self/fd/" + std::to_string(mine) + " && echo ours; cat; exit 3");
  close(mine);
  CHECK(files.code == 3);
  CHECK(files.out.empty());
  const tool::Finished left = shell("sleep 1000 >/dev/null 2>&1 & echo $!");
  const std::string process = "/proc/" + left.out.substr(0, left.out.find('\n')) + "/stat";
  REQUIRE(left.out.size() > 1);
  // What was sent SIGKILL is gone, or about to be.
  std::string state = "gone";
  for (int i = 0; i < 1000 && state != "Z" && std::filesystem::exists(process); ++i) {
    std::ifstream in(process);
    std::string skipped;
    in >> skipped >> skipped >> state;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK((state == "Z" || !std::filesystem::exists(process)));

  tool::RunOptions options;
  options.variables = {{"CLCOOK_A", "b"}, {"HOME", ""}};
  options.most_text = 4;
  CHECK(shell("echo $CLCOOK_A${HOME-none}", options).out == "bnon");
  options.stop = [] { return true; };
  CHECK(shell("sleep 1000", options).signal == SIGTERM);
  options.stop = {};
  options.seconds = 1;
  const tool::Finished late = shell("sleep 1000", options);
  CHECK(late.too_long);
  CHECK(late.code == 128 + SIGKILL);
  CHECK(contains(tool::run_tool({"/dev/null"}).err, "cannot run /dev/null"));
}
