// What the cases of all operations have in common.
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/pixel.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/recipe.hpp>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace clcook {

// A problem, its buffers and the plan that was prepared. The recipe's case makes its buffers in its
// constructor, uploads the input, and checks the result. With one buffer to read and one to write
// it makes src_ and dst_ and gives the input; with others it says its operands and the call.
template <class Operation>
class PlanCase : public Case {
 public:
  using Problem = typename Operation::Problem;
  using Tune = typename Operation::Tune;
  using Row = typename Operation::Row;
  using Posed = typename Operation::Posed;

  // The names are those that the operation has for what it reads and writes.
  PlanCase(const Runtime& runtime, const Problem& problem, const char* src_name = "src",
           const char* dst_name = "dst")
      : runtime_(runtime), problem_(problem), src_name_(src_name), dst_name_(dst_name) {}

  void prepare(const std::string& variant, const Params& tune) override {
    const typename Operation::Variant one = variant;
    const Row& row = one.is_automatic() ? Posed::baseline() : *one.row();
    // An unknown name is an error even where nothing is tuned.
    const Tune with = tune_of_ ? tune_of_(row, tune) : Posed::parse_tune(tune);
    if constexpr (std::is_constructible_v<Operation, const Runtime&, const Problem&,
                                          const typename Operation::Variant&, const Tune&>) {
      plan_.emplace(runtime_, problem_, one, with);
    } else {
      plan_.emplace(runtime_, problem_, one);
    }
  }

  void poison() override {
    for (const Operand& one : operands()) one.buffer->poison();
  }

  cl::Event upload(const std::vector<cl::Event>& wait) override {
    return src_->upload(input(), wait);
  }

  cl::Event run(const std::vector<cl::Event>& wait) override {
    std::vector<BufferView> views;
    for (const Operand& one : operands()) views.push_back(one.buffer->view());
    return call(views, wait);
  }

  // Without dst_ the operation works in place.
  std::vector<Operand> operands() override {
    return {{src_name_, &*src_, Access::read}, {dst_name_, &result(), Access::write}};
  }

  cl::Event call(const std::vector<BufferView>& views,
                 const std::vector<cl::Event>& wait) override {
    if constexpr (std::is_invocable_v<const Operation&, const BufferView&, const BufferView&,
                                      const std::vector<cl::Event>&>) {
      return plan()(views[0], views[1], wait);
    } else {
      return Case::call(views, wait);
    }
  }

  void move_plan() override {
    if (plan_) const Operation elsewhere = std::move(*plan_);
  }

  Work work() const override { return plan().offer().work; }

  // What the case was made for.
  const Problem& stated() const { return problem_; }

  // Where the shape says something of the tune: makes it of a row and the tuning's values.
  using TuneOf = std::function<Tune(const Row&, const Params& tune)>;
  void set_tune_of(TuneOf tune_of) { tune_of_ = std::move(tune_of); }

 protected:
  const Operation& plan() const {
    if (!plan_) fail(Errc::invalid_argument, Operation::Spec::kRecipe, "prepare() was not called");
    return *plan_;
  }
  // Makes a buffer of `rows` rows of a picture: by the shape's `offset` and `pad`, in steps of a pixel,
  // and so many later. Sources begin later than results, so that an exchange of offsets shows.
  void make_rows(std::optional<GuardedBuffer>& buffer, const Params& shape, std::size_t rows,
                 std::size_t later, unsigned char poison) {
    const std::size_t row = static_cast<std::size_t>(problem_.width) * pixel_bytes(problem_.pixel);
    const std::size_t step = pixel_step(problem_.pixel);
    const std::size_t offset = shape.as<std::size_t>("offset");
    buffer.emplace(runtime_, row, rows, (offset == 0 ? 0 : offset + later) * step,
                   row + shape.as<std::size_t>("pad") * step, poison);
  }

  // The rows of src_ without gaps; they stay where they are.
  virtual const void* input() { return nullptr; }

  Runtime runtime_;
  Problem problem_;
  std::optional<GuardedBuffer> src_;
  std::optional<GuardedBuffer> dst_;

  GuardedBuffer& result() { return dst_ ? *dst_ : *src_; }

 private:
  const char* src_name_;
  const char* dst_name_;
  std::optional<Operation> plan_;
  TuneOf tune_of_;
};

}  // namespace clcook
