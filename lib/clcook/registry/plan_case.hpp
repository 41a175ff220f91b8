// What the cases of operations that read one buffer and write another have in common.
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/recipe.hpp>
#include <optional>
#include <string>
#include <vector>

namespace clcook {

// A problem, its buffers and the plan that was prepared. The recipe's case makes src_ and dst_ in
// its constructor, gives the input, and checks the result.
template <class Operation>
class PlanCase : public Case {
 public:
  using Problem = typename Operation::Problem;
  using Tune = typename Operation::Tune;
  using Row = typename Operation::Row;
  using Rules = typename Operation::Rules;

  PlanCase(const Runtime& runtime, const Problem& problem) : runtime_(runtime), problem_(problem) {}

  void prepare(const std::string& variant, const Params& tune) override {
    const typename Operation::Variant one = variant;
    const Row& row = one.is_automatic() ? Rules::baseline() : *one.row();
    plan_.emplace(runtime_, problem_, one, tune_of(row, tune));
  }

  void poison() override {
    src_->poison();
    dst_->poison();
  }

  cl::Event upload(const std::vector<cl::Event>& wait) override {
    return src_->upload(input(), wait);
  }

  cl::Event run(const std::vector<cl::Event>& wait) override {
    return plan()(src_->view(), dst_->view(), wait);
  }

  Work work() const override { return plan().offer().work; }

 protected:
  const Operation& plan() const {
    if (!plan_) fail(Errc::invalid_argument, Rules::kRecipe, "prepare() was not called");
    return *plan_;
  }
  // The rows of src_ without gaps; they stay where they are.
  virtual const void* input() = 0;
  // The tune that the tuning's values and the shape stand for.
  virtual Tune tune_of(const Row&, const Params& tune) const { return Rules::parse_tune(tune); }

  Runtime runtime_;
  Problem problem_;
  std::optional<GuardedBuffer> src_;
  std::optional<GuardedBuffer> dst_;

 private:
  std::optional<Operation> plan_;
};

}  // namespace clcook
