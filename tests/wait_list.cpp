// Every operation takes {} and {event} as its wait list: braces that fit two overloads would not
// compile.
#include <clcook/clcook.hpp>

#include <type_traits>
#include <utility>

#include "support/testing.hpp"

using namespace clcook;

namespace {

template <class Operation, class... Arguments>
constexpr bool takes_braces =
    std::is_same_v<decltype(std::declval<const Operation&>()(std::declval<Arguments>()..., {})),
                   cl::Event>&&
        std::is_same_v<decltype(std::declval<const Operation&>()(std::declval<Arguments>()...,
                                                                 {std::declval<cl::Event>()})),
                       cl::Event>;

using B = const cl::Buffer&;
using I = const cl::Image2D&;

static_assert(takes_braces<ArgumentSwap, B, B, B, B>);
static_assert(takes_braces<Bc6hDecode, B, B>);
static_assert(takes_braces<Bc6hMode, B, B>);
static_assert(takes_braces<FoldedSwitch, B, B>);
static_assert(takes_braces<GaussianBlur, B, B>);
static_assert(takes_braces<GaussianBlur, B, B, GaussianBlur::Region>);
static_assert(takes_braces<GaussianBlur, I, I>);
static_assert(takes_braces<GbufferShade, B, B>);
static_assert(takes_braces<GroupSize, B, B>);
static_assert(takes_braces<GroupSwizzle, B, B>);
static_assert(takes_braces<HaloTile, B, B>);
static_assert(takes_braces<HaloTile, B, B, B>);
static_assert(takes_braces<HaloTile, I, B>);
static_assert(takes_braces<HaloTile, I, B, B>);
static_assert(takes_braces<LineBlur, B, B>);
static_assert(takes_braces<LineBlur, I, I>);
static_assert(takes_braces<LocalMultipass, B, B>);
static_assert(takes_braces<StreamCompaction, B, B, B, std::uint32_t>);
static_assert(takes_braces<ThresholdCount, B, B>);
static_assert(takes_braces<VertexTransform, const VertexTransform::Input&, B>);

}  // namespace

TEST_CASE("an empty wait list in braces blurs the whole picture, a region in braces its part") {
  const cl::Buffer src = create_buffer(testing::runtime(), 8 * 8 * 16);
  const cl::Buffer dst = create_buffer(testing::runtime(), 8 * 8 * 16);
  const GaussianBlur blur{testing::runtime(), {8, 8, 1.0, 1.0}};
  const cl::Event first = blur(src, dst, {});
  const cl::Event second = blur(src, dst, {first});
  const cl::Event third = blur(src, dst, {0, 0, 8, 4}, {first, second});
  CHECK_NOTHROW(testing::read_buffer<float>(testing::runtime(), dst, 256, {third}));
}
