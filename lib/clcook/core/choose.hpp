// Which variant, with which tune, a plan of a problem becomes: an ordered list of candidates, of which
// the first that builds is taken. What operations differ in stands behind a Question.
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/rates.hpp>
#include <clcook/core/tuning.hpp>
#include <clcook/core/variant.hpp>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {

// A problem, and what the caller has said already.
struct Question {
  const char* operation = "";  // its class, for messages
  std::vector<const VariantInfo*> variants;
  const VariantInfo* wanted = nullptr;  // null: automatic
  Params tune;                          // what the caller has fixed

  double bytes = 0;                       // of inputs and outputs: what tunings are filed under
  std::string tuning_name;                // the name that they are filed under
  std::vector<std::string> factor_names;  // the names to look for factors under, the nearest first
  // Whether automatic goes by cost even where a winner was measured: where winners depend on more
  // than on the number of bytes. What was measured then counts as each variant's factor.
  bool by_cost = false;

  // A tune with the variant's defaults for what is open. Throws Error(invalid_argument) for an
  // unknown name or a value of another kind.
  std::function<Params(const VariantInfo&, const Params& tune)> close;
  // What a variant with a closed tune offers. Throws Error(invalid_argument) for a tune that the
  // variant does not take.
  std::function<Offer(const VariantInfo&, const Params& tune)> offer;
};

// A variant with a closed tune, and how it comes to be tried.
struct Candidate {
  const VariantInfo* variant = nullptr;
  Params tune;
  std::string reason;            // one clause: "measured on this device and driver"
  std::optional<Offer> offer{};  // none: not asked for yet
  std::vector<std::string>
      notes{};  // of the chosen one, a line each: what was passed over, and why

  // "coalesced group=128"
  std::string text() const { return variant->name + (tune.empty() ? "" : " " + tune.str()); }
  // That with the reason, the variant's summary and the notes.
  std::string describe() const {
    std::string out = text() + ", " + reason + ": " + variant->summary;
    for (const std::string& note : notes) out += "\n" + note;
    return out;
  }
};

// The candidates that go by measurements and names, in the order in which they are tried: with a name
// that variant as it was measured, then with its defaults; without one the variant that was measured to
// be the fastest, in the same way. What a tuning file says is never an error: `notes` say what does not
// fit this version.
struct MeasuredCandidates {
  std::vector<Candidate> list;
  std::vector<std::string> notes;
};
CLCOOK_INLINE MeasuredCandidates measured_candidates(const Question& of, const DeviceInfo& device,
                                                     const Tuning& tuning);

// A variant with its defaults, as automatic sees it.
struct RankedCandidate {
  Candidate candidate;
  double cost = std::numeric_limits<double>::infinity();  // microseconds; infinite: it cannot
  bool may_take = true;                                   // by automatic
  std::string
      line;  // what it costs and promises, or why it cannot: "tensor: about 52.1 us and 91 dB"
};
// All variants, the one that should take the least time first; those that cannot come last.
CLCOOK_INLINE std::vector<RankedCandidate> ranked_candidates(const Question& of,
                                                             const DeviceInfo& device,
                                                             const Tuning& tuning,
                                                             const Rates& rates);

// Goes through measured_candidates(), then without a name through ranked_candidates(), until `accept`
// takes one. Behind a candidate with a variant's defaults come the variant's other tunes, as the way
// back to one that fits. Where `accept` throws Error(unsupported) the next one is tried: of a built
// kernel's limits nobody knows before. When none is left, throws the Error of the first that was
// refused, or one that names what each variant lacks.
CLCOOK_INLINE void choose(const Question& of, const DeviceInfo& device, const Tuning& tuning,
                          const std::function<void(Candidate)>& accept);

// The offer, or one that says which of the device's limits a unit of it exceeds.
CLCOOK_INLINE Offer within_limits(Offer offer, const DeviceInfo& device);

// The variant of that name; null for automatic. Throws Error(invalid_argument) that lists the names.
CLCOOK_INLINE const VariantInfo* find_variant(const char* operation,
                                              const std::vector<const VariantInfo*>& variants,
                                              std::string_view name);

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/choose.hpp>
#endif
