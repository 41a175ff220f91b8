// The mode index of every BC6H block header of a buffer.
//
//   clcook::Bc6hMode mode{runtime, {blocks, 4}};
//   cl::Event done = mode(texture, modes, {uploaded});
//
// A header is the first 32-bit word of a 16-byte block; its low bits are the mode code. The result
// is one byte per header: 0 to 13 in the order of the DirectX SDK, kReserved for the four reserved
// codes 0x13, 0x17, 0x1B and 0x1F. It is a byte because a result of four bytes would be most of
// what the kernel moves.
#pragma once

#include <clcook/core/map_row.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/bc6h_mode.hpp>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace clcook {
namespace bc6h_mode {

struct Problem {
  std::size_t count = 0;  // headers, at least 1; 32 bits need not hold it
  int stride = 1;         // words from one header to the next: 1, or 4 for whole blocks
};

struct Spec : MapRowSpec {
  using Problem = bc6h_mode::Problem;
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "Bc6hMode";
  static constexpr const char* kRecipe = "bc6h_mode";
  static constexpr std::size_t kWord = 4;

  static const std::vector<Row>& variants() {
    const std::vector<TuneAxis> few{{"per_item", {16, 1}}};
    const std::vector<TuneAxis> many{{"per_item", {16, 1, 4, 8, 32}}};
    static const std::vector<Row> all{
        Row("cascade", "one comparison after the other, up to fourteen").baseline().tunes(few),
        Row("switch", "one switch over the five bits")
            .against("cascade", "one switch over the code")
            .tunes(few),
        Row("constant_table", "32 entries in constant memory")
            .against("cascade", "a table in constant memory, no comparison")
            .tunes(few),
        Row("local_table", "32 entries in local memory, a bank each")
            .against("constant_table", "the table in local memory")
            .tunes(few),
        Row("packed_nibbles", "32 entries of 4 bits in four words of the code")
            .against("constant_table", "the table in four words of the code")
            .tunes(few),
        Row("arithmetic", "no table: shifts, a sum and two selects")
            .against("packed_nibbles", "a sum and two selects, no table")
            .tunes(many)
            .preferred(),
        Row("cpu_strip", "for CPUs: arithmetic on vectors of 16, a strip per work-item")
            .against("arithmetic", "vectors of 16, a strip per work-item")
            .for_cpus(),
    };
    return all;
  }

  static void check(const Problem& p) {
    if (p.count == 0) fail(Errc::invalid_argument, kName, "count must be at least 1, got 0");
    if (p.stride != 1 && p.stride != 4) {
      fail(Errc::invalid_argument, kName, text("stride must be 1 or 4 words, got ", p.stride));
    }
    // Half of the range, so that padding the global size cannot overflow either.
    if (p.count > std::numeric_limits<std::size_t>::max() / 2 / (4 * kWord)) {
      fail(Errc::invalid_argument, kName,
           text("count ", p.count, " of blocks of 16 bytes overflows the address range"));
    }
  }

  static double bytes(const Problem& p) {
    return static_cast<double>(p.count) * (static_cast<double>(p.stride) * kWord + 1);
  }

  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    CompileUnit unit = variant_unit(s, embedded::bc6h_mode);
    unit.defines.set("CLCOOK_BC6H_MODE_STRIDE", s.problem.stride);
    set_per_item(unit.defines, s, "CLCOOK_BC6H_MODE_PER_ITEM");
    return {unit};
  }
};

}  // namespace bc6h_mode

// A plan: constructed once, called often. Thread-safe as Plan says. The program does not depend on
// the number of headers.
class Bc6hMode : public Plan<bc6h_mode::Spec> {
 public:
  using Plan::Plan;

  static constexpr unsigned char kReserved = 15;  // the result for a reserved code

  // Enqueues the extraction behind the events of `wait` and returns its event. `headers` holds
  // count x stride words, its offset a multiple of 4 bytes; `modes` holds count bytes at any
  // offset. Offsets that are multiples of 16 and 4 bytes are faster on GPUs. The views must not
  // overlap. Throws Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& headers, const BufferView& modes,
                       const std::vector<cl::Event>& wait = {}) const {
    const Problem& p = problem();
    const std::size_t words = p.count * static_cast<std::size_t>(p.stride);
    const auto [from, to] = check_pair(runtime(), Spec::kName,
                                       {headers, {words * Spec::kWord, 1, Spec::kWord}, "headers"},
                                       {modes, {p.count, 1, 1}, "modes"});
    return kernel()(Spec::launch(setup(), p.count), wait, from.buffer,
                    static_cast<cl_ulong>(from.offset / Spec::kWord), to.buffer,
                    static_cast<cl_ulong>(to.offset), static_cast<cl_ulong>(p.count));
  }
};

CLCOOK_PLAN(bc6h_mode::Spec);

}  // namespace clcook
