// The definitions of clcook/core/choose.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/choose.hpp>
#include <clcook/core/math.hpp>
#include <cstdlib>
#include <utility>

namespace clcook {

namespace detail {

// `tune` with the entries of `with` for names that it does not have.
inline Params merged(Params tune, const Params& with) {
  for (const Params::Entry& entry : with.entries()) {
    if (tune.find(entry.name) == nullptr) tune.set(entry.name, entry.value);
  }
  return tune;
}

// Tries candidates one after the other, and keeps what is to be said of those that were passed over.
class Attempts {
 public:
  Attempts(const Question& of, const DeviceInfo& device,
           const std::function<void(Candidate)>& accept)
      : of_(of), device_(device), accept_(accept) {}

  void note(const std::vector<std::string>& lines) {
    notes_.insert(notes_.end(), lines.begin(), lines.end());
  }
  void rank(const std::vector<RankedCandidate>& ranking) { ranking_ = &ranking; }
  const std::optional<Error>& refused() const { return refused_; }

  // Whether it was taken.
  bool take(Candidate one) {
    for (const auto& [variant, tune] : tried_) {
      if (variant == one.variant && tune == one.tune) return false;
    }
    tried_.emplace_back(one.variant, one.tune);
    const std::string name = one.text();
    try {
      if (!one.offer) one.offer = of_.offer(*one.variant, one.tune);
    } catch (const Error& error) {
      if (error.code != Errc::invalid_argument) throw;
      return refuse(name, error);
    }
    if (!one.offer->can()) {
      return refuse(name, Error(Errc::unsupported, of_.problem.operation(),
                                "the variant " + one.variant->name + ": " + one.offer->why, 0, {},
                                one.offer->lacks));
    }
    one.notes = notes_;
    if (ranking_ != nullptr) {
      for (const RankedCandidate& other : *ranking_) {
        if (other.candidate.variant != one.variant) one.notes.push_back(other.line);
      }
    }
    try {
      accept_(std::move(one));
      return true;
    } catch (const Error& error) {
      if (error.code != Errc::unsupported) throw;
      return refuse(name, error);
    }
  }

  // The same with the variant's other tunes behind.
  bool take_any(const Candidate& one) {
    if (take(one)) return true;
    const VariantInfo& variant = *one.variant;
    if (variant.axes.empty()) return false;
    for (const Params& values : combinations(variant.axes)) {
      if (take({&variant, of_.problem.close(variant, merged(of_.tune, values), device_),
                "the first of its tunes that fits the device"}))
        return true;
    }
    return false;
  }

 private:
  bool refuse(const std::string& name, const Error& error) {
    notes_.push_back(name + ": " + error.what());
    if (!refused_) refused_ = error;
    return false;
  }

  const Question& of_;
  const DeviceInfo& device_;
  const std::function<void(Candidate)>& accept_;
  std::vector<std::string> notes_;
  const std::vector<RankedCandidate>* ranking_ = nullptr;
  std::vector<std::pair<const VariantInfo*, Params>> tried_;
  std::optional<Error> refused_;
};

inline bool ranks_before(const RankedCandidate& a, const RankedCandidate& b, bool by_cost) {
  const auto can = [](const RankedCandidate& one) {
    return one.candidate.offer && one.candidate.offer->can();
  };
  if (can(a) != can(b)) return can(a);
  if (!a.may_take || !b.may_take) return a.may_take && !b.may_take;
  const auto last = [](const RankedCandidate& one) {
    return one.candidate.offer && one.candidate.offer->last;
  };
  if (last(a) != last(b)) return last(b);
  const VariantInfo& one = *a.candidate.variant;
  const VariantInfo& other = *b.candidate.variant;
  if (!by_cost && one.is_for_cpus != other.is_for_cpus) return one.is_for_cpus;
  if (can(a)) {
    const double ours = a.candidate.offer->cost;
    const double theirs = b.candidate.offer->cost;
    if (ours < theirs || theirs < ours) return ours < theirs;
  }
  return one.is_preferred && !other.is_preferred;
}

// Sorted and stable. There are at most some twenty, and they are large: sorts their numbers, by
// insertion.
inline std::vector<RankedCandidate> ranked(std::vector<RankedCandidate> all, bool by_cost) {
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t at = i;
    for (; at > 0 && ranks_before(all[i], all[order[at - 1]], by_cost); --at)
      order[at] = order[at - 1];
    order[at] = i;
  }
  std::vector<RankedCandidate> out(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) out[i] = std::move(all[order[i]]);
  return out;
}

}  // namespace detail

CLCOOK_INLINE Question question_of(const AnyProblem& problem, const Runtime& runtime,
                                   const VariantInfo* wanted, const Params& tune) {
  return {problem, wanted, tune, [&](const VariantInfo& variant, const Params& closed) {
            return problem.offer(runtime, variant, closed);
          }};
}

CLCOOK_INLINE Candidate choice(const AnyProblem& problem, const Runtime& runtime,
                               const VariantInfo* wanted) {
  Candidate out;
  choose(question_of(problem, runtime, wanted), runtime.info(), runtime.tuning(),
         [&](Candidate one) { out = std::move(one); });
  return out;
}

CLCOOK_INLINE MeasuredCandidates measured_candidates(const Question& of, const DeviceInfo& device,
                                                     const Tuning& tuning) {
  MeasuredCandidates out;
  const VariantInfo* variant = of.wanted;
  std::string reason = "as was asked for";
  if (!of.problem.by_cost()) {
    const TuningChoice measured =
        tuning.choose(device, of.problem.tuning_names().front(), of.problem.bytes(),
                      variant == nullptr ? "" : variant->name);
    const bool any = measured.match != TuningChoice::Match::none;
    reason = any ? "the built-in default" : measured.where;
    if (any) {
      const std::string tune = measured.entry.tune.empty() ? "" : " " + measured.entry.tune;
      const std::string what = "what was measured, '" + measured.entry.variant + tune + "', ";
      try {
        const VariantInfo* winner =
            find_variant(of.problem.operation(), of.problem.variants(), measured.entry.variant);
        if (winner == nullptr || (variant == nullptr && !winner->may_take(device))) {
          out.notes.push_back(what + "automatic does not take");
        } else {
          const Params with = Params::parse(measured.entry.tune);
          of.problem.close(*winner, with, device);  // refuses what is not of this version
          Candidate one{winner, of.problem.close(*winner, detail::merged(of.tune, with), device),
                        measured.where};
          one.offer = of.offer(*winner, one.tune);
          const int away = measured.entry.size_class - size_class(of.problem.bytes());
          if (variant == nullptr && one.offer->last && std::abs(away) > 1) {
            out.notes.push_back(what + "is slow at this size, which was not measured");
          } else {
            variant = winner;
            out.list.push_back(std::move(one));
          }
        }
      } catch (const Error& error) {
        if (error.code != Errc::invalid_argument) throw;
        out.notes.push_back(what + "is not of this version: " + error.what());
      }
    }
  }
  if (variant != nullptr)
    out.list.push_back({variant, of.problem.close(*variant, of.tune, device), reason});
  return out;
}

CLCOOK_INLINE std::vector<RankedCandidate> ranked_candidates(const Question& of,
                                                             const DeviceInfo& device,
                                                             const Tuning& tuning,
                                                             const Rates& rates) {
  std::vector<RankedCandidate> out;
  std::vector<TuningFactor> factors;
  double largest = 0;  // of the measured factors
  const std::vector<std::string> names = of.problem.tuning_names();
  const double bytes = of.problem.bytes();
  for (const VariantInfo* variant : of.problem.variants()) {
    RankedCandidate one;
    one.candidate = {variant, of.problem.close(*variant, of.tune, device), "the built-in default"};
    std::optional<Offer>& offer = one.candidate.offer;
    TuningFactor factor;
    one.may_take = variant->may_take(device);
    if (!one.may_take) {
      one.line = variant->name +
                 (variant->is_by_name ? ": only where it is asked for" : ": for CPUs only");
    } else {
      try {
        offer = of.offer(*variant, one.candidate.tune);
      } catch (const Error& error) {
        if (error.code != Errc::invalid_argument) throw;
        one.line = variant->name + ": " + error.what();
      }
      if (offer && !offer->can()) one.line = variant->name + ": " + offer->why;
      if (offer && offer->can()) {
        factor = tuning.factor(device, names, bytes, variant->name);
        if (factor.value == 0 && variant->costs_as != nullptr)
          factor = tuning.factor(device, names, bytes, variant->costs_as);
      }
    }
    largest = std::max(largest, factor.value);
    factors.push_back(factor);
    out.push_back(std::move(one));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    RankedCandidate& one = out[i];
    Candidate& candidate = one.candidate;
    if (!candidate.offer || !candidate.offer->can()) continue;
    Offer& offer = *candidate.offer;
    std::string where = "by what was measured of its parts";
    if (offer.cost <= 0) {
      TuningFactor factor = factors[i];
      // Next to measured variants one that was not measured counts as the worst of them.
      if (factor.value == 0 && largest > 0)
        factor = {largest, "by its work, as badly as the worst that was measured"};
      if (factor.value == 0) factor.value = 1;
      offer.cost = microseconds(rates, offer.work) * factor.value;
      where = factor.where;
    }
    const std::string about = "about " + three_digits(offer.cost) + " us";
    one.line = candidate.variant->name + ": " + about;
    if (math::isfinite(offer.psnr)) one.line += " and " + three_digits(offer.psnr) + " dB";
    candidate.reason = about + ", " + where;
  }
  return detail::ranked(std::move(out), of.problem.by_cost());
}

CLCOOK_INLINE void choose(const Question& of, const DeviceInfo& device, const Tuning& tuning,
                          const std::function<void(Candidate)>& accept) {
  detail::Attempts attempts(of, device, accept);
  attempts.note(tuning.notes());
  const MeasuredCandidates measured = measured_candidates(of, device, tuning);
  attempts.note(measured.notes);
  for (const Candidate& one : measured.list) {
    const bool defaults = &one == &measured.list.back();
    if (defaults ? attempts.take_any(one) : attempts.take(one)) return;
  }
  std::vector<RankedCandidate> ranking;
  if (of.wanted == nullptr) {
    ranking = ranked_candidates(of, device, tuning, device_rates(device, tuning));
    attempts.rank(ranking);
    for (const RankedCandidate& one : ranking) {
      if (one.may_take && attempts.take_any(one.candidate)) return;
    }
  }
  const std::optional<Error>& refused = attempts.refused();
  if (refused && (of.wanted != nullptr || refused->code != Errc::unsupported))
    throw Error(*refused);
  std::string all;
  double best = 0;  // dB
  for (const RankedCandidate& one : ranking) {
    all += "; " + one.line;
    const std::optional<Offer>& offer = one.candidate.offer;
    if (offer && offer->lacks == Lacks::quality) best = std::max(best, offer->psnr);
  }
  if (best > 0) all = "; the best that can be had is " + three_digits(best) + " dB" + all;
  throw Error(Errc::unsupported, of.problem.operation(), "no variant can serve this problem" + all,
              0, {}, refused ? refused->lacks : Lacks::nothing);
}

}  // namespace clcook
