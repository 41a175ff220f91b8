// What holds for every operation, asked of each from its recipe. What callers do wrong, from one table:
// each call with each of its buffers spoilt in each way, each wait list, tune and number of a shape
// that breaks a rule. Each time an Error that names what is wrong, with nothing enqueued; afterwards
// the same plan works. And what plans share: their programs, and themselves between threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/core/error.hpp>
#include <clcook/registry/recipe.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "bench/cookbook/recipes.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"
#include "support/threads.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();

// The runtime of a second context, for objects that do not belong to the first.
const Runtime& stranger() {
  static const Runtime* one = [] {
    PickOptions options;
    options.runtime.disk_cache = DiskCache();
    return new Runtime(Runtime::pick({}, options));
  }();
  return *one;
}

// A view of memory made with these flags that would fit in every other way.
BufferView like(const Runtime& on, const BufferView& view, cl_mem_flags flags, std::size_t end) {
  return {create_buffer(on, end, flags), view.offset, view.pitch};
}

// A way to spoil one operand. `made` returns nothing where the way does not fit the operand.
struct Abuse {
  const char* what;
  const char*
      says;  // what the message must hold beside the operand's name; N: the bytes to its end
  std::function<std::optional<BufferView>(const Operand&, const BufferView&, std::size_t end)> made;
};

std::vector<Abuse> abuses() {
  const auto moved = [](const BufferView& view, std::size_t offset, std::size_t pitch) {
    return BufferView(view.buffer, offset, pitch);
  };
  return {
      {"null", "is null",
       [](const Operand&, const BufferView&, std::size_t) { return BufferView(cl::Buffer()); }},
      {"a byte short", "bytes, needs N",
       [](const Operand&, const BufferView& view, std::size_t end) -> std::optional<BufferView> {
         if (end == 1) return std::nullopt;
         return like(runtime(), view, CL_MEM_READ_WRITE, end - 1);
       }},
      {"begins at the end", "bytes",
       [=](const Operand&, const BufferView& view, std::size_t end) {
         return moved(view, (end + 255) / 256 * 256, view.pitch);
       }},
      {"an offset past all memory", "",
       [=](const Operand&, const BufferView& view, std::size_t) {
         return moved(view, kHuge / 4096 * 4096, view.pitch);
       }},
      {"a pitch past all memory", "",
       [=](const Operand& one, const BufferView& view, std::size_t) -> std::optional<BufferView> {
         if (one.buffer->rows() == 1) return std::nullopt;
         return moved(view, view.offset, kHuge / 4096 * 4096);
       }},
      {"rows that overlap", "16 bytes",
       [=](const Operand& one, const BufferView& view, std::size_t) -> std::optional<BufferView> {
         if (one.buffer->rows() == 1 || one.buffer->row_bytes() <= 16) return std::nullopt;
         return moved(view, view.offset, 16);
       }},
      {"another context's", "context",
       [](const Operand&, const BufferView& view, std::size_t end) {
         return like(stranger(), view, CL_MEM_READ_WRITE, end);
       }},
      {"of the wrong access", "CL_MEM_",
       [](const Operand& one, const BufferView& view, std::size_t end) {
         return like(runtime(), view,
                     one.access == Access::read ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY, end);
       }},
      {"an image", "",
       [](const Operand&, const BufferView&, std::size_t) -> std::optional<BufferView> {
         if (!runtime().info().images) return std::nullopt;
         cl_image_desc shape{};
         shape.image_type = CL_MEM_OBJECT_IMAGE2D;
         shape.image_width = 512;
         shape.image_height = 512;
         const cl_image_format kind{CL_RGBA, CL_FLOAT};
         cl_int status = CL_SUCCESS;
         const cl_mem image = clCreateImage(runtime().context()(), CL_MEM_READ_WRITE, &kind, &shape,
                                            nullptr, &status);
         REQUIRE(status == CL_SUCCESS);
         BufferView view(image);
         clReleaseMemObject(image);  // the view has a reference of its own
         return view;
       }},
  };
}

// A recipe's smallest problem, with its input on the device.
struct Subject {
  explicit Subject(const Recipe& recipe)
      : counted(
            runtime().with_observer([this](const std::string&, const cl::Event&) { ++kernels; })),
        shape(smallest(recipe)),
        problem(recipe.make(counted, shape, 7)) {}

  static Params smallest(const Recipe& recipe) {
    for (const Params& one : recipe.test_shapes) {
      if (one.integer("tiny", 0) != 0) return one;
    }
    return recipe.test_shapes.front();
  }

  // Whether the variant can serve the problem here.
  bool prepare(const std::string& variant) {
    try {
      problem->prepare(variant, {});
      return true;
    } catch (const Error& error) {
      CHECK(error.code == Errc::unsupported);
      return false;
    }
  }

  std::string works() {
    problem->poison();
    const cl::Event uploaded = problem->upload({});
    const cl::Event done = problem->run({uploaded});
    return problem->check({done}).first();
  }

  int kernels = 0;
  Runtime counted;
  Params shape;
  std::unique_ptr<Case> problem;
};

// Expects an Error of bad input that holds the texts, and nothing enqueued.
void refused(Subject& subject, const std::vector<BufferView>& views,
             const std::vector<cl::Event>& wait, const std::vector<std::string>& says) {
  const int before = subject.kernels;
  const Error error = error_of([&] { subject.problem->call(views, wait); });
  INFO(error.what());
  CHECK(error.code == Errc::invalid_argument);
  for (const std::string& text : says) {
    CAPTURE(text);
    CHECK(contains(error.what(), text));
  }
  CHECK(subject.kernels == before);
}

// A variant that can serve the smallest problem of its recipe.
struct Prepared {
  const Recipe& recipe;
  const VariantInfo& variant;
  Subject& subject;
  std::vector<Operand> operands;
  std::vector<BufferView> views;  // of the operands
};

// Calls what(prepared) for each of them: of all recipes, of an eighth of them on the short grid.
template <class What>
void for_each_prepared(const What& what) {
  for (const Recipe& recipe : cookbook::recipes()) {
    if (left_out(number_of(recipe.name), 8)) continue;
    CAPTURE(recipe.name);
    Subject subject(recipe);
    for (const VariantInfo& variant : recipe.variants) {
      CAPTURE(variant.name);
      if (!subject.prepare(variant.name)) continue;
      Prepared one{recipe, variant, subject, subject.problem->operands(), {}};
      REQUIRE(!one.operands.empty());
      for (const Operand& operand : one.operands) one.views.push_back(operand.buffer->view());
      what(one);
    }
  }
}

// What the offset of an operand must be a multiple of, in bytes, at the smallest shapes; of some operands
// that depends on the variant.
const std::map<std::string, std::string> kAlignments = {
    {"argument_swap", "a=8 b=8 x=4 y=4"},
    {"bc6h_decode", "blocks=16 texels=8"},
    {"bc6h_mode", "headers=4 modes=1"},
    {"folded_switch", "positions=16 control_points=16"},
    {"gaussian_blur", "src=16 dst=16"},
    {"gbuffer_shade", "gbuffer=16 colours=4"},
    {"group_size", "src=4 dst=4"},
    {"group_swizzle", "src=16 dst=16"},
    {"halo_tile", "src=16 dst=16"},
    {"line_blur", "src=16 dst=16"},
    {"local_multipass", "src=16 dst=16"},
    {"rank_filter", "src=1 dst=1"},
    {"regroup", "keys=1 items=16 results=16"},
    {"stream_compaction", "src=4 dst=4 kept=4"},
    {"threshold_count", "values=4 slots=1"},
    {"vertex_transform",
     "vertices=2 vertices=4 vertices=16 skin=8 world=16 bones=16 result=4 result=16"},
};

// What the offset of an operand must be a multiple of, a power of two, which the message names for each
// other offset. The calls have a wait list that is refused once all views are right.
std::size_t alignment(const Operand& one, Subject& subject, std::vector<BufferView>& views,
                      std::size_t i, std::size_t end) {
  const BufferView right = views[i];
  std::vector<std::string> said;
  std::size_t step = 1;
  for (; step <= 32; step *= 2) {
    views[i] = {create_buffer(runtime(), end + step), right.offset + step, right.pitch};
    said.push_back(error_of([&] { subject.problem->call(views, {cl::Event()}); }).what());
    if (!contains(said.back(), "multiples of")) break;
  }
  // And so must the pitch.
  if (step > 1 && one.buffer->rows() > 1) {
    views[i] = {create_buffer(runtime(), 2 * end), right.offset,
                one.buffer->row_bytes() + step / 2};
    refused(subject, views, {}, {one.name, "multiples of " + std::to_string(step)});
  }
  views[i] = right;
  CHECK(contains(said.back(), "wait"));
  said.pop_back();
  for (const std::string& one_said : said) {
    INFO(one_said);
    CHECK(contains(one_said, one.name));
    CHECK(contains(one_said, "multiples of " + std::to_string(step)));
  }
  return step;
}

}  // namespace

TEST_CASE("abuse: buffers") {
  int calls = 0;
  for_each_prepared([&](Prepared& prepared) {
    auto& [recipe, variant, subject, operands, views] = prepared;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Operand& one = operands[i];
      CAPTURE(one.name);
      const BufferView right = views[i];
      const std::size_t pitch = right.pitch == 0 ? one.buffer->row_bytes() : right.pitch;
      const std::size_t end =
          right.offset + (one.buffer->rows() - 1) * pitch + one.buffer->row_bytes();
      for (const Abuse& abuse : abuses()) {
        CAPTURE(abuse.what);
        const std::optional<BufferView> wrong = abuse.made(one, right, end);
        if (!wrong) continue;
        views[i] = *wrong;
        std::string says = abuse.says;
        if (const std::size_t at = says.find('N'); at != std::string::npos)
          says.replace(at, 1, std::to_string(end));
        refused(subject, views, {}, {one.name, says});
        ++calls;
      }
      views[i] = right;
      const std::size_t aligned = alignment(one, subject, views, i, end);
      const auto known = kAlignments.find(recipe.name);
      if (known != kAlignments.end())
        CHECK(contains(known->second + " ", text(one.name, "=", aligned, " ")));
    }
    // A buffer that is read and written, unless the call works in place, or written twice.
    for (std::size_t i = 0; i < operands.size(); ++i) {
      for (std::size_t k = 0; k < operands.size(); ++k) {
        const bool both_written = operands[i].access == Access::write && i < k;
        if (operands[k].access != Access::write) continue;
        if (operands[i].access != Access::read && !both_written) continue;
        if (operands[i].buffer == operands[k].buffer) continue;
        std::vector<BufferView> same = views;
        const std::size_t most = std::max(operands[i].buffer->buffer().getInfo<CL_MEM_SIZE>(),
                                          operands[k].buffer->buffer().getInfo<CL_MEM_SIZE>());
        const cl::Buffer both = create_buffer(runtime(), most);
        same[i] = BufferView(both, 0, views[i].pitch);
        same[k] = BufferView(both, 0, views[k].pitch);
        if (!both_written && recipe.offer(runtime(), variant.name, {}, subject.shape).in_place) {
          subject.problem->call(same, {}).wait();
        } else {
          refused(subject, same, {}, {operands[i].name, operands[k].name, "overlap"});
        }
        ++calls;
      }
    }
    CHECK(subject.works() == "");
  });
  CHECK((short_grid() || calls > 1000));
}

TEST_CASE("abuse: wait lists") {
  const cl::Event none;
  const cl::UserEvent foreign(stranger().context());
  for_each_prepared([&](Prepared& one) {
    refused(one.subject, one.views, {none}, {"wait"});
    refused(one.subject, one.views, {foreign}, {"wait"});
    CHECK(one.subject.works() == "");
  });
}

TEST_CASE("abuse: plans that were moved from") {
  for_each_prepared([&](Prepared& one) {
    one.subject.problem->move_plan();
    refused(one.subject, one.views, {}, {"moved from"});
    CHECK(one.subject.prepare(one.variant.name));
  });
}

TEST_CASE("abuse: names of variants and tunes") {
  for (const Recipe& recipe : cookbook::recipes()) {
    CAPTURE(recipe.name);
    Subject subject(recipe);
    const auto says = [&](const std::string& variant, const Params& tune, const std::string& part) {
      const Error error = error_of([&] { subject.problem->prepare(variant, tune); });
      INFO(error.what());
      CHECK((error.code == Errc::invalid_argument || error.code == Errc::unsupported));
      CHECK(contains(error.what(), part));
    };
    const std::string& first = recipe.variants.front().name;
    for (const std::string& name : {std::string("fastest"), std::string(), first + " ",
                                    std::string(100000, 'x'), std::string("\n"), "A" + first}) {
      says(name, {}, "known are");
    }
    for (const VariantInfo& variant : recipe.variants) {
      CAPTURE(variant.name);
      says(variant.name, Params{{"grup", std::int64_t{64}}}, "grup");
      for (const TuneAxis& axis : variant.axes) {
        CAPTURE(axis.name);
        for (const std::int64_t value :
             {std::int64_t{-1}, std::int64_t{1} << 30, std::int64_t{1} << 40,
              std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
          Params tune;
          tune.set(axis.name, value);
          // A word or another kind of number may be meant: then the kind is what is wrong.
          says(variant.name, tune, "");
        }
        Params word;
        word.set(axis.name, std::string("much"));
        says(variant.name, word, "much");
      }
    }
  }
}

TEST_CASE("abuse: numbers of problems") {
  for (const Recipe& recipe : cookbook::recipes()) {
    CAPTURE(recipe.name);
    const Params good = Subject::smallest(recipe);
    for (const Parameter& one : recipe.parameters) {
      CAPTURE(one.name);
      const std::vector<Value> wrong{Value(std::string("much")),
                                     Value(std::string()),
                                     Value(std::numeric_limits<std::int64_t>::min()),
                                     Value(std::numeric_limits<std::int64_t>::max()),
                                     Value(std::int64_t{-1}),
                                     Value(std::nan("")),
                                     Value(HUGE_VAL),
                                     Value(-HUGE_VAL),
                                     Value(-1e308),
                                     Value(1e308),
                                     Value(one.least - 1),
                                     Value(one.most + 1)};
      for (const Value& value : wrong) {
        if (one.takes(value)) continue;
        const std::string shown = to_string(value);
        CAPTURE(shown);
        Params shape = good;
        shape.set(one.name, value);
        const Error error = error_of([&] {
          recipe.check_shape(shape);
          recipe.make(runtime(), shape, 7);
        });
        INFO(error.what());
        CHECK(error.code == Errc::invalid_argument);
        CHECK(contains(error.what(), one.name));
      }
    }
  }
}

// The parameters whose range the operation knows too: what it refuses below the least value (-) and
// above the largest (+). The others are of the data, or the operation takes more than the recipe. Of a
// recipe that is not here every end is tried, and the operation must refuse at least one.
const std::map<std::string, std::string> kOwnRanges = {
    {"argument_swap", "count- cost- cost+ steps- steps+"},
    {"bc6h_decode", "width- width+ height- height+"},
    {"bc6h_mode", "count- stride- stride+"},
    {"folded_switch", "patches- valence- valence+"},
    {"gaussian_blur",
     "width- width+ height- height+ sigma- sigma+ sigma_x- sigma_x+ sigma_y- sigma_y+ sigma_z- "
     "sigma_z+ truncate- truncate+ quality- quality+ peak- batch- depth- depth+"},
    {"gbuffer_shade", "texels- lights+"},
    {"group_size", "count- width- width+ height- height+ spheres- spheres+ steps- steps+"},
    {"group_swizzle", "width- width+ height- height+ taps- taps+ radius- radius+"},
    {"halo_tile", "width- width+ height- height+ depth- depth+ radius- radius+"},
    {"line_blur", "width- width+ height- height+ radius- radius+ sigma-"},
    {"local_multipass", "islands- width- height- iterations- iterations+"},
    {"rank_filter", "width- width+ height- height+ radius- radius+ rank- rank+"},
    {"regroup", "items- items+ paths- paths+ key_bytes- key_bytes+"},
    {"stream_compaction", "pixels- pixels+ height- height+"},
    {"threshold_count", "count- n- n+"},
    {"vertex_transform", "vertices- vertices+ instances- instances+ bones- bones+"},
};

// What the operation says to a shape whose number lies behind that end of its range; empty: it takes it.
std::string said_behind(const Recipe& recipe, const std::string& end) {
  const std::string name = end.substr(0, end.size() - 1);
  const auto one = std::find_if(recipe.parameters.begin(), recipe.parameters.end(),
                                [&](const Parameter& of) { return of.name == name; });
  REQUIRE(one != recipe.parameters.end());
  const double number = end.back() == '-' ? one->least - 1 : one->most + 1;
  const Value wrong = one->whole ? Value(static_cast<std::int64_t>(number)) : Value(number);
  std::string said;
  for (const Params& shape : recipe.test_shapes) {  // some kinds of problems do not have it
    if (shape.integer("tiny", 0) == 0) continue;
    try {
      recipe.pose(recipe.check_shape(shape).set(name, wrong));
    } catch (const Error& error) {
      CHECK(error.code == Errc::invalid_argument);
      said = error.what();
    }
  }
  CAPTURE(end);
  if (!said.empty()) CHECK(contains(said, to_string(wrong)));
  return said;
}

TEST_CASE("abuse: ranges of problems that the operation knows too") {
  for (const Recipe& recipe : cookbook::recipes()) {
    CAPTURE(recipe.name);
    const auto known = kOwnRanges.find(recipe.name);
    if (known == kOwnRanges.end()) {
      bool any = false;
      for (const Parameter& one : recipe.parameters) {
        if (one.least > one.most) continue;
        for (const char* end : {"-", "+"}) any |= !said_behind(recipe, one.name + end).empty();
      }
      CHECK(any);
      continue;
    }
    std::istringstream ends(known->second);
    for (std::string end; ends >> end;) {
      CAPTURE(end);
      CHECK_FALSE(said_behind(recipe, end).empty());
    }
  }
}

// Two shapes of each recipe that have the same programs, whatever the data are.
const std::map<std::string, std::array<const char*, 2>> kSamePrograms = {
    {"argument_swap", {"count=9", "count=500 share=20 cost=7"}},
    {"bc6h_decode", {"width=9 height=5", "width=40 height=33 modes=texture"}},
    {"bc6h_mode", {"count=9", "count=500 modes=texture"}},
    {"folded_switch", {"patches=4", "patches=9 order=random"}},
    {"gaussian_blur", {"width=40 height=30 sigma=2", "width=77 height=21 sigma=2.1"}},
    {"gbuffer_shade", {"texels=100 lights=1", "texels=5000 lights=2"}},
    {"group_size", {"work=barriers count=9", "work=barriers count=5000"}},
    {"group_swizzle",
     {"work=gather width=40 height=30", "work=gather width=77 height=20 taps=9 radius=3"}},
    {"halo_tile", {"width=40 height=30", "width=77 height=21 border=wrap"}},
    {"line_blur",
     {"width=40 height=30 radius=9 sigma=0.5", "width=77 height=20 radius=33.5 sigma=0.4"}},
    {"local_multipass",
     {"islands=3 width=9 height=1 iterations=2", "islands=77 width=40 height=1 iterations=31"}},
    {"rank_filter",
     {"width=40 height=30 radius=2 rank=0.5", "width=77 height=21 radius=2 rank=0.5 border=wrap"}},
    {"regroup", {"items=100 paths=4", "items=5000 paths=4 random=50"}},
    {"stream_compaction", {"pixels=100 threshold=30000", "pixels=5000 threshold=20000"}},
    {"threshold_count", {"count=1 n=3", "count=500 n=3"}},
    {"vertex_transform", {"vertices=9 instances=2 bones=3", "vertices=77 instances=5 bones=9"}},
};

TEST_CASE("another size, another filter of that kind and other data build no program") {
  for (const Recipe& recipe : cookbook::recipes()) {
    if (left_out(number_of(recipe.name), 8)) continue;
    const auto known = kSamePrograms.find(recipe.name);
    if (known == kSamePrograms.end()) continue;
    CAPTURE(recipe.name);
    const auto one = recipe.make(runtime(), Params::parse(known->second[0]), 1);
    const auto other = recipe.make(runtime(), Params::parse(known->second[1]), 2);
    int prepared = 0;
    for (const VariantInfo& variant : recipe.variants) {
      CAPTURE(variant.name);
      // Another size may have another tuning, which is another program.
      const Params tune = combinations(variant.axes).front();
      try {
        one->prepare(variant.name, tune);
        const ProgramCache::Stats before = runtime().cache().stats();
        other->prepare(variant.name, tune);
        const ProgramCache::Stats after = runtime().cache().stats();
        CHECK(after.from_source == before.from_source);
        CHECK(after.from_disk == before.from_disk);
        CHECK(after.from_memory > before.from_memory);
        ++prepared;
      } catch (const Error& error) {
        if (error.code != Errc::unsupported) throw;
      }
    }
    CHECK(prepared > 1);
  }
}

TEST_CASE("threads that call one plan get what one call gets") {
  for (const Recipe& recipe : cookbook::recipes()) {
    if (left_out(number_of(recipe.name), 8)) continue;
    CAPTURE(recipe.name);
    // The largest of the small ones, so that calls meet.
    Params shape = recipe.test_shapes.front();
    for (const Params& next : recipe.test_shapes) {
      if (next.integer("ordered", 1) == 0) continue;  // results in any order
      const double bytes = recipe.problem_bytes(next);
      if (bytes > recipe.problem_bytes(shape) && bytes < 300000) shape = next;
    }
    CAPTURE(shape.str());
    // One plan, called on the data of two problems.
    const std::unique_ptr<Case> problems[2] = {recipe.make(runtime(), shape, 7),
                                               recipe.make(runtime(), shape, 8)};
    std::vector<cl::Event> uploaded;
    for (const auto& one : problems) {
      one->poison();
      uploaded.push_back(one->upload({}));
    }
    // What a call writes, into memory of its own.
    const auto result = [&](std::size_t data) {
      const std::vector<Operand> operands = problems[data]->operands();
      std::vector<BufferView> views;
      for (const Operand& one : operands) {
        views.push_back(one.buffer->view());
        if (one.access == Access::read) continue;
        const std::size_t bytes = views.back().buffer.getInfo<CL_MEM_SIZE>();
        const std::vector<unsigned char> pattern(bytes, 0xCD);
        views.back().buffer = create_buffer(runtime(), bytes, CL_MEM_READ_WRITE, pattern.data());
      }
      const cl::Event done = problems[0]->call(views, uploaded);
      std::vector<unsigned char> out;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].access == Access::read) continue;
        const auto more = read_buffer<unsigned char>(
            runtime(), views[i].buffer, views[i].buffer.getInfo<CL_MEM_SIZE>(), {done});
        out.insert(out.end(), more.begin(), more.end());
      }
      return out;
    };
    int prepared = 0;
    for (const VariantInfo& variant : recipe.variants) {
      CAPTURE(variant.name);
      if (variant.is_by_name) continue;  // it may read the case's image, not these views
      try {
        for (const auto& one : problems) one->prepare(variant.name, {});
      } catch (const Error& error) {
        if (error.code != Errc::unsupported) throw;
        continue;
      }
      ++prepared;
      const std::vector<unsigned char> want[2] = {result(0), result(1)};
      CHECK(want[0] != want[1]);
      std::atomic<int> wrong{0};
      in_threads([&](int t) {
        const auto data = static_cast<std::size_t>(t % 2);
        for (int round = 0; round < 2; ++round) wrong += result(data) != want[data] ? 1 : 0;
      });
      CHECK(wrong == 0);
    }
    CHECK(prepared > 1);
  }
}
