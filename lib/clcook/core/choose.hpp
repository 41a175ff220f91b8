// Which variant, with which tune, a plan of a problem becomes: an ordered list of candidates, of which
// the first that builds is taken. What operations differ in stands behind AnyProblem.
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/rates.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/tuning.hpp>
#include <clcook/core/variant.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {

// A checked problem, as it is the same for all operations.
class AnyProblem {
 public:
  virtual ~AnyProblem() = default;

  virtual const char* operation() const = 0;  // its class, for messages
  virtual std::vector<const VariantInfo*> variants() const = 0;
  virtual double bytes() const = 0;  // of inputs and outputs: what tunings are filed under
  // The name that its winners are filed under, and behind it where else to look for a variant's
  // factor, the nearest kind of problem first.
  virtual std::vector<std::string> tuning_names() const = 0;
  // Whether automatic goes by cost even where a winner was measured, since winners depend on more
  // than on the number of bytes. What was measured then counts as each variant's factor.
  virtual bool by_cost() const { return false; }
  // A tune with the variant's defaults for what is open. Throws Error(invalid_argument) for an
  // unknown name or a value of another kind.
  virtual Params close(const VariantInfo& variant, const Params& tune,
                       const DeviceInfo& device) const = 0;
  // What a variant offers; an open tune is closed. Throws Error(invalid_argument) for a tune that the
  // variant does not take.
  virtual Offer offer(const Runtime& runtime, const VariantInfo& variant,
                      const Params& tune) const = 0;
  // The kernels of a variant, for tools that have no such device. Throws as offer() does.
  virtual std::vector<CompileUnit> units(const VariantInfo& variant, const Params& tune,
                                         const DeviceInfo& device) const = 0;
};

// What choose() asks of a problem on a device, and what the caller has fixed.
struct Question {
  const AnyProblem& problem;
  const VariantInfo* wanted = nullptr;  // null: automatic
  Params tune{};
  std::function<Offer(const VariantInfo&, const Params& tune)> offer;  // AnyProblem::offer()
};
CLCOOK_INLINE Question question_of(const AnyProblem& problem, const Runtime& runtime,
                                   const VariantInfo* wanted = nullptr, const Params& tune = {});

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
  bool may_take = true;  // by automatic
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

// What a plan would try first. Throws Error as a plan does.
CLCOOK_INLINE Candidate choice(const AnyProblem& problem, const Runtime& runtime,
                               const VariantInfo* wanted = nullptr);

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/choose.hpp>
#endif
