// A result's fingerprint: what a variant compiled and enqueued when it was measured, and what it would
// now. Changes of comments, layout and host code that leave both alone change no fingerprint.
#pragma once

#include <clcook/registry/recipe.hpp>
#include <limits>
#include <string>
#include <vector>

#include "results.hpp"
#include "tool/record.hpp"

namespace clcook::tool {

// The recipe's file in bench/record as this program was built with it; empty for one of a description.
const std::vector<RecordedCase>& record_of(const std::string& recipe);

// The fingerprint of a variant with a tuning on problems of these shapes on a device. The kernels'
// headers, definitions, options, groups and local memory are those of the problem. Sizes and arguments of
// launches are those of the first `cases` recorded ones of the variant: they can be had again without the
// device, and a change of the host shows in them. Throws Error for a variant, tune or shape that the
// recipe does not know.
Fingerprint fingerprint_of(const Recipe& recipe, const std::string& variant, const Params& tune,
                           const std::vector<Params>& shapes, const DeviceInfo& device,
                           const std::vector<RecordedCase>& record,
                           std::size_t cases = std::numeric_limits<std::size_t>::max());
// The same of the recipe's own record.
Fingerprint fingerprint_of(const Recipe& recipe, const std::string& variant, const Params& tune,
                           const std::vector<Params>& shapes, const DeviceInfo& device);

// Of all that `clcook check` runs of a variant: each tuning on each test shape.
Fingerprint fingerprint_of_check(const Recipe& recipe, const std::string& variant,
                                 const DeviceInfo& device,
                                 std::size_t cases = std::numeric_limits<std::size_t>::max());
// Of what `clcook isa` compiles of a variant for a target, which enqueues nothing. `tune` is as its rows
// have it: empty for the default one.
Fingerprint fingerprint_of_isa(const Recipe& recipe, const std::string& variant,
                               const std::string& tune, const std::string& target);

// The device of a result as far as fingerprints depend on it.
DeviceInfo info_of(const Device& device);

// Eight hexadecimal digits.
std::string short_hash(const std::string& text);

// What differs: "the text of its kernels, its options", "its launches"; "" for equal ones.
std::string difference(const Fingerprint& then, const Fingerprint& now);

}  // namespace clcook::tool
