// Classes of machine instructions, by mnemonic. std only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "isa/counts.hpp"

namespace clcook::isa {

// For columns of four characters.
constexpr std::array<const char*, kKinds> kKindTags = {"valu", "salu", "bran", "vmem",
                                                       "smem", "lmem", "wait", "oth"};

// The language of an assembly text.
enum class Dialect { amdgcn, ptx, sass, x86 };

struct Classified {
  Kind kind = Kind::other;
  bool known = false;  // false: no table has the mnemonic; it counts as other and is reported
};

namespace detail {

struct Prefix {
  std::string_view text;
  Kind kind;
};

// The longest matching prefix decides. A prefix that ends in '$' must be the whole mnemonic.
using PrefixTable = std::vector<Prefix>;

inline void add(PrefixTable& table, Kind kind, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (end > 0) table.push_back({words.substr(0, end), kind});
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

inline PrefixTable amdgcn_table() {
  PrefixTable t;
  add(t, Kind::vector_alu, "v_");
  add(t, Kind::other, "v_nop$ v_clrexcp$");
  add(t, Kind::scalar_alu,
      "s_add s_sub s_mul s_and s_or s_xor s_not s_nand s_nor s_xnor s_lsh s_ash s_bfe s_bfm s_mov "
      "s_cmov s_cmp "
      "s_cselect s_min s_max s_abs s_bcnt s_ff s_flb s_brev s_bit s_sext s_pack s_quadmask s_wqm "
      "s_getpc s_getreg "
      "s_setreg s_cls s_clz s_ctz s_fma s_cvt s_ceil s_floor s_trunc s_rndne s_set_gpr_idx "
      "s_swap_b32$");
  add(t, Kind::branch,
      "s_branch s_cbranch s_setpc s_swappc s_call_b64 s_subvector_loop s_rfe s_add_pc");
  add(t, Kind::vector_memory, "buffer_ tbuffer_ global_ flat_ image_ scratch_");
  add(t, Kind::scalar_memory,
      "s_load_ s_buffer_ s_scratch_ s_store_ s_atomic_ s_dcache s_memtime s_memrealtime s_prefetch "
      "s_atc_probe");
  add(t, Kind::local_memory, "ds_ lds_");
  add(t, Kind::wait,
      "s_wait s_delay_alu s_nop s_sleep s_barrier s_wakeup s_gl1_inv buffer_gl0_inv buffer_gl1_inv "
      "buffer_wb buffer_inv "
      "global_inv global_wb s_get_barrier_state");
  add(t, Kind::other,
      "s_endpgm s_clause s_inst_prefetch s_set_inst_prefetch s_setprio s_sendmsg s_icache_inv "
      "s_trap s_code_end "
      "s_version s_sethalt s_setkill s_incperflevel s_decperflevel s_ttracedata s_denorm_mode "
      "s_round_mode exp$ export$");
  return t;
}

inline PrefixTable ptx_table() {
  PrefixTable t;
  add(t, Kind::vector_alu,
      "add sub mul mad sad div rem abs neg min max popc clz bfind fns brev bfe bfi bmsk szext dp4a "
      "dp2a fma rcp sqrt "
      "rsqrt sin cos lg2 ex2 tanh set slct selp and or xor not cnot lop3 shf shl shr mov cvt prmt "
      "isspacep shfl vote "
      "match redux activemask elect testp copysign mma wmma wgmma vadd vsub vabsdiff vmin vmax "
      "vshl vshr vmad vset "
      "mapa getctarank");
  add(t, Kind::branch, "bra brx call");
  add(t, Kind::vector_memory,
      "ld st ldu atom red tex tld4 txq suld sust sured suq prefetch cp applypriority discard "
      "createpolicy");
  add(t, Kind::local_memory, "ldmatrix stmatrix");
  add(t, Kind::wait,
      "bar barrier membar fence mbarrier griddepcontrol nanosleep cp.async.wait cp.async.commit "
      "cp.async.mbarrier "
      "cp.async.bulk.wait cp.async.bulk.commit");
  add(t, Kind::other, "ret exit trap brkpt pmevent setmaxnreg");
  return t;
}

inline PrefixTable sass_table() {
  PrefixTable t;
  add(t, Kind::vector_alu,
      "FADD FMUL FFMA FMNMX FSEL FSET FCHK FSWZ MUFU IADD IMAD IMUL IMNMX VIMNMX VIADD ISETP "
      "ISCADD LEA LOP SHF SHL SHR "
      "SEL PRMT POPC FLO BREV I2F F2I F2F I2I F2FP F2IP FRND MOV CS2R S2R P2R R2P PLOP3 PSETP VOTE "
      "SHFL HADD HFMA HMUL "
      "HSET HMNMX DADD DMUL DFMA DSETP DMNMX IDP BMSK SGXT IABS VABSDIFF LEPC MATCH ISAD HMMA IMMA "
      "BMMA DMMA QMMA HGMMA "
      "IGMMA BGMMA QGMMA CSMTEST R2B PIXLD BMOV ICMP ELECT GETLMEMBASE CREATEPOLICY MOVM VHMNMX "
      "REDUX FADD2 FFMA2 FMUL2");
  add(t, Kind::scalar_alu,
      "UIADD UIMAD ULEA ULOP UMOV USEL USHF UPRMT UFLO UPOPC UISETP USETP UPLOP3 UP2UR UR2UP UBREV "
      "UBMSK USGXT VOTEU "
      "R2UR S2UR UIMNMX UVIMNMX UI2F UF2F UFADD UFMUL UFFMA UFSEL UFSETP UIABS USHL USHR CS2UR "
      "UCLEA USTUR UVIADD UVOTE");
  add(t, Kind::branch, "BRA BRX JMP JMX CALL RET KILL");
  add(t, Kind::vector_memory,
      "LD$ LDG LDL ST$ STG STL ATOM ATOMG RED$ REDG SULD SUST SUATOM SURED TEX TLD TXQ TXD TMML "
      "LDGSTS PREFETCH UTMA UBLK "
      "CCTLT SUQUERY QSPC");
  add(t, Kind::scalar_memory, "LDC ULDC LDCU");
  add(t, Kind::local_memory, "LDS STS ATOMS LDSM STSM REDS");
  add(t, Kind::wait,
      "BAR MEMBAR DEPBAR ERRBAR LDGDEPBAR WARPSYNC NANOSLEEP NOP YIELD SYNCS FENCE B2R BSSY BSYNC "
      "BREAK CCTL WARPGROUP "
      "UCGABAR ACQBULK ARRIVES UTMACMDFLUSH PREEXIT CGAERRBAR ENDCOLLECTIVE");
  add(t, Kind::other, "EXIT BPT RTT PMTRIG");
  return t;
}

// Mnemonics with operands in general registers; vector instructions all begin with v or k.
inline PrefixTable x86_table() {
  PrefixTable t;
  add(t, Kind::vector_alu, "v k");
  add(t, Kind::other, "vzeroupper vzeroall ret nop ud2 endbr int3 cld$ std$ cpuid rdtsc");
  add(t, Kind::scalar_alu,
      "mov add sub imul mul idiv div inc dec neg not and or xor test cmp lea sal sar shl shr rol "
      "ror rcl rcr bt bsf bsr "
      "bswap lzcnt tzcnt popcnt bls bextr bzhi pdep pext rorx set cmov clt cqt cwt cbt cld cqo cdq "
      "adc sbb adcx adox "
      "xchg xadd cmpxchg sahf lahf crc32 stc clc cmc");
  add(t, Kind::branch, "j call loop");
  add(t, Kind::scalar_memory,
      "push pop lock rep prefetch leave stos movs$ movsb$ movsq$ clflush movnti");
  add(t, Kind::wait, "mfence lfence sfence pause");
  return t;
}

inline Classified longest(const PrefixTable& table, std::string_view mnemonic) {
  Classified result;
  std::size_t best = 0;
  for (const Prefix& prefix : table) {
    std::string_view text = prefix.text;
    const bool whole = text.back() == '$';
    if (whole) text.remove_suffix(1);
    if (mnemonic.substr(0, text.size()) != text || (whole && mnemonic.size() != text.size()))
      continue;
    const std::size_t weight = 2 * text.size() + (whole ? 1 : 0);
    if (weight > best) {
      best = weight;
      result = {prefix.kind, true};
    }
  }
  return result;
}

inline bool starts_with_any(std::string_view text,
                            std::initializer_list<std::string_view> prefixes) {
  for (std::string_view prefix : prefixes) {
    if (text.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

}  // namespace detail

// The class of a mnemonic such as "v_mul_f32_e32", "ld.global.v4.f32", "IMAD.WIDE.U32" or
// "vmovups". The operands matter on x86 alone: there a move is a memory instruction when it has a
// memory operand, while an operand folded into arithmetic leaves it arithmetic.
inline Classified classify(Dialect dialect, std::string_view mnemonic,
                           std::string_view operands = {}) {
  static const detail::PrefixTable tables[] = {detail::amdgcn_table(), detail::ptx_table(),
                                               detail::sass_table(), detail::x86_table()};
  // The modifiers of SASS say nothing about the class: IADD3.X is IADD3, LDG.E.128 is LDG.
  if (dialect == Dialect::sass) mnemonic = mnemonic.substr(0, mnemonic.find('.'));
  Classified found = detail::longest(tables[static_cast<std::size_t>(dialect)], mnemonic);
  if (dialect == Dialect::ptx && found.kind == Kind::vector_memory &&
      detail::starts_with_any(mnemonic, {"ld", "st", "atom", "red"})) {
    // The state space stands anywhere among the modifiers: ld.volatile.shared.f32.
    if (mnemonic.find(".shared") != std::string_view::npos) found.kind = Kind::local_memory;
    if (mnemonic.find(".param") != std::string_view::npos ||
        mnemonic.find(".const") != std::string_view::npos) {
      found.kind = Kind::scalar_memory;
    }
  }
  if (dialect == Dialect::x86 && found.known && operands.find('(') != std::string_view::npos) {
    if (found.kind == Kind::vector_alu &&
        detail::starts_with_any(mnemonic, {"vmov", "vbroadcast", "vpbroadcast", "vlddqu", "vgather",
                                           "vpgather", "vscatter", "vpscatter", "vmaskmov",
                                           "vpmaskmov", "vpmov", "vextract", "vpextr", "kmov"})) {
      found.kind = Kind::vector_memory;
    } else if (found.kind == Kind::scalar_alu &&
               detail::starts_with_any(mnemonic, {"mov", "xchg", "xadd", "cmpxchg"})) {
      found.kind = Kind::scalar_memory;
    }
  }
  return found;
}

}  // namespace clcook::isa
