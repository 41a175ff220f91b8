// A problem without an operation, for tests of what asks problems: variants that offer everything.
#pragma once

#include <clcook/core/operation.hpp>
#include <string>
#include <utility>
#include <vector>

namespace clcook::testing {

class ToyProblem : public AnyProblem {
 public:
  ToyProblem(const char* name, std::vector<VariantInfo> variants)
      : all(std::move(variants)), name_(name) {}

  const char* operation() const override { return name_; }
  std::vector<const VariantInfo*> variants() const override { return infos_of(all); }
  double bytes() const override { return 1024; }
  std::vector<std::string> tuning_names() const override { return {"toy"}; }
  Params close(const VariantInfo&, const Params& tune, const DeviceInfo&) const override {
    return tune;
  }
  Offer offer(const Runtime&, const VariantInfo&, const Params&) const override { return {}; }
  std::vector<CompileUnit> units(const VariantInfo&, const Params&,
                                 const DeviceInfo&) const override {
    return {};
  }

  std::vector<VariantInfo> all;

 private:
  const char* name_;
};

}  // namespace clcook::testing
