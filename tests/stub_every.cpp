// What holds for the plans and calls of every operation, from the recipes themselves, on the stub:
// sixteen threads with all plans from cold caches, wait events that fail, observers that call the plan
// or throw, hooks that see every launch or refuse it.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/cookbook/recipes.hpp"
#include "stub/runtime.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"
#include "support/threads.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

bool is_over(const cl::Event& event) { return stub::status_of(event) <= CL_COMPLETE; }
bool is_done(const cl::Event& event) { return stub::status_of(event) == CL_COMPLETE; }

const Params& smallest(const Recipe& recipe) {
  for (const Params& one : recipe.test_shapes) {
    if (one.integer("tiny", 0) == 1) return one;
  }
  return recipe.test_shapes.front();
}

// Prepares a variant; false where it does not serve the problem here.
bool prepared(Case& problem, const std::string& variant) {
  try {
    problem.prepare(variant, {});
    return true;
  } catch (const Error& error) {
    if (error.code != Errc::unsupported) throw;
    return false;
  }
}

void finish(const Runtime& runtime) { check(clFinish(runtime.queue()()), "clFinish"); }

// Calls use(runtime, problem) with each variant of each recipe prepared, on a GPU and a CPU, with both
// kinds of queue. The runtimes are those that `watched` makes of plain ones.
void every_plan(const std::function<void(const Runtime&, Case&)>& use,
                const std::function<Runtime(const Runtime&)>& watched = {}) {
  std::size_t plans = 0;
  for (const stub::Device& device : {stub::gpu(), stub::cpu()}) {
    stub::set_device(device);
    for (const bool out_of_order : {false, true}) {
      const stub::Counts before = stub::alive();
      for (const Recipe& recipe : cookbook::recipes()) {
        const Runtime plain = stub::make_runtime(out_of_order);
        const Runtime runtime = watched ? watched(plain) : plain;
        const auto problem = recipe.make(runtime, smallest(recipe), 1);
        problem->poison();
        problem->upload({});
        finish(runtime);
        for (const VariantInfo& variant : recipe.variants) {
          INFO(recipe.name, "/", variant.name, " on ", device.name, ", out of order ",
               out_of_order);
          if (!prepared(*problem, variant.name)) continue;
          ++plans;
          use(runtime, *problem);
          finish(runtime);
        }
      }
      CHECK(stub::alive() == before);
    }
  }
  CHECK(plans > 100);
}

}  // namespace

TEST_CASE("sixteen threads make and call every plan on one runtime, from cold caches") {
  stub::set_device(stub::gpu());
  const stub::Counts before = stub::alive();
  for (const bool out_of_order : {false, true}) {
    const TempFolder folder;
    const DiskCache disk((folder / "cache").string());
    // The second runtime finds on disk what the first stored.
    for (int pass = 0; pass < 2; ++pass) {
      const Runtime runtime = stub::make_runtime(out_of_order, disk);
      in_threads([&](int t) {
        const auto& recipes = cookbook::recipes();
        for (std::size_t i = 0; i < recipes.size(); ++i) {
          // The same order in half of the threads, another in each of the others.
          const auto from = static_cast<std::size_t>(t % 2 == 0 ? 0 : t);
          const Recipe& recipe = recipes[(i + from) % recipes.size()];
          const auto problem = recipe.make(runtime, smallest(recipe), 1);
          const cl::Event uploaded = problem->upload({});
          std::size_t number = i + static_cast<std::size_t>(t);
          for (const VariantInfo& variant : recipe.variants) {
            if (left_out(number++, 4) || !prepared(*problem, variant.name)) continue;
            problem->run({problem->run({uploaded})});
          }
        }
      });
      finish(runtime);
      const ProgramCache::Stats stats = runtime.cache().stats();
      CHECK(stats.from_memory > 0);
      CHECK((stats.from_source == 0) == (pass == 1));
      CHECK((stats.from_disk > 0) == (pass == 1));
    }
  }
  CHECK(stub::alive() == before);
}

TEST_CASE("a call of any plan whose wait events fail takes no later one with it") {
  // Of the plans in out-of-order queues: whether a call waits for the one before.
  std::size_t chained = 0;
  std::size_t alone = 0;
  every_plan([&](const Runtime& runtime, Case& problem) {
    stub::Gate gate(runtime);
    const cl::Event failing = problem.run({gate.event()});
    gate.set(-1);
    CHECK((is_over(failing) && !is_done(failing)));
    CHECK(is_done(problem.run({})));
    stub::Gate before(runtime);
    problem.run({before.event()});
    const bool waits = !is_over(problem.run({}));
    before.set(CL_COMPLETE);
    finish(runtime);
    if (runtime.out_of_order()) ++(waits ? chained : alone);
    CHECK((waits || runtime.out_of_order()));
    // With a call before the one that fails: what waits for calls waits for that one still.
    stub::Gate running(runtime);
    stub::Gate second(runtime);
    const cl::Event first = problem.run({running.event()});
    problem.run({second.event()});
    second.set(-1);
    const cl::Event last = problem.run({});
    CHECK(is_over(last) == !waits);
    running.set(CL_COMPLETE);
    CHECK(is_done(first));
    CHECK(is_done(last));
  });
  CHECK(chained > 10);
  CHECK(alone > 10);
}

TEST_CASE("an observer may call any plan, and throw") {
  std::function<void()> inner;
  every_plan(
      [&](const Runtime& runtime, Case& problem) {
        std::size_t calls = 0;
        inner = [&] {
          const std::function<void()> once = std::exchange(inner, nullptr);
          ++calls;
          CHECK(problem.run({})() != nullptr);
        };
        const cl::Event outer = problem.run({});
        finish(runtime);
        CHECK(calls == 1);
        CHECK(is_done(outer));
        inner = [&] { throw std::runtime_error("from the observer"); };
        stub::Gate gate(runtime);
        CHECK_THROWS_WITH(problem.run({gate.event()}), "from the observer");
        inner = nullptr;
        const cl::Event next = problem.run({});
        gate.set(CL_COMPLETE);
        CHECK(is_done(next));
      },
      [&](const Runtime& plain) {
        return plain.with_observer([&](const std::string&, const cl::Event&) {
          if (inner) inner();
        });
      });
}

TEST_CASE("a hook sees every launch of any plan before and after it, and may refuse it") {
  static constexpr auto kAll = static_cast<std::size_t>(-1);
  struct Hook : LaunchHook {
    std::vector<std::string> begun;
    std::vector<std::string> done;
    std::size_t allowed = kAll;

    long counted = 0;

    // Since start().
    std::size_t enqueued() const {
      return static_cast<std::size_t>(stub::calls("clEnqueueNDRangeKernel") - counted);
    }
    void before(const Kernel& kernel, const Launch& launch, const LaunchArgument* arguments,
                std::size_t count) override {
      if (begun.size() == allowed) throw std::runtime_error("from the hook");
      CHECK(begun.size() == enqueued());
      begun.push_back(kernel.name());
      CHECK(launch.group_size() > 0);
      CHECK(count > 0);
      for (std::size_t i = 0; i < count; ++i) {
        CHECK(arguments[i].bytes > 0);
        CHECK((arguments[i].value == nullptr) ==
              (arguments[i].kind == LaunchArgument::Kind::local));
      }
    }
    void after(const std::string& kernel, const cl::Event& event) override {
      CHECK(event() != nullptr);
      done.push_back(kernel);
    }
    void start(std::size_t most) {
      counted = stub::calls("clEnqueueNDRangeKernel");
      begun.clear();
      done.clear();
      allowed = most;
    }
  };
  Hook hook;
  std::size_t most = 0;
  stub::count_functions(true);
  every_plan(
      [&](const Runtime&, Case& problem) {
        hook.start(kAll);
        problem.run({});
        const std::size_t launches = hook.begun.size();
        CHECK(launches == hook.enqueued());
        CHECK(hook.done == hook.begun);
        most = std::max(most, launches);
        for (std::size_t i = 0; i < launches; ++i) {
          hook.start(i);
          CHECK_THROWS_WITH(problem.run({}), "from the hook");
          CHECK(hook.begun.size() == i);
          CHECK(hook.enqueued() == i);
          hook.start(kAll);
          CHECK(is_done(problem.run({})));
          CHECK(hook.done.size() == launches);
        }
      },
      [&](const Runtime& plain) {
        // The observer is replaced.
        return plain.with_observer([](const std::string&, const cl::Event&) { CHECK(false); })
            .with_hook(hook);
      });
  stub::count_functions(false);
  CHECK(most > 4);
}
