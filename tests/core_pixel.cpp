// Types of pixels: what the host's tables say of them, and that pixel.clh says the same.
#include <clcook/core/pixel.hpp>

#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <clcook/core/launch.hpp>
#include <clcook/registry/pixels.hpp>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

// Runs a kernel whose body follows pixel.clh, and returns what it wrote.
template <class T>
std::vector<T> run(const Defines& defines, const std::string& parameters, const std::string& body,
                   std::size_t count, const cl::Buffer& in) {
  const std::string source =
      "#include <clcook/pixel.clh>\n__kernel void k(" + parameters + ") {\n" + body + "}\n";
  const cl::Program program = runtime().build(Source("pixel.cl", source), defines, "test/pixel");
  const std::vector<T> blank(count);
  const cl::Buffer out =
      create_buffer(runtime(), count * sizeof(T), CL_MEM_READ_WRITE, blank.data());
  Kernel kernel(runtime(), program, "k");
  const cl::Event done = kernel(Launch{}, {}, in, out);
  return read_buffer<T>(runtime(), out, count, {done});
}

}  // namespace

TEST_CASE("a type of pixels is what its name says") {
  std::set<std::string> names;
  for (const PixelRow& row : kPixelTypes) {
    CAPTURE(row.name);
    const std::string channel = row_of(kChannels, row.channel).name;
    const char* const letters[] = {"r", "rg", "rgb", "rgba"};
    CHECK(row.name ==
          letters[row.channels - 1] + channel.substr(1) + (channel[0] == 'f' ? "f" : ""));
    CHECK(names.insert(row.name).second);
    CHECK(channel_of(row.value) == row.channel);
    CHECK(channels_of(row.value) == row.channels);
    CHECK(pixel_bytes(row.value) ==
          channel_bytes(row.channel) * static_cast<std::size_t>(row.channels));
    CHECK(parse_pixel_type(row.name, "test") == row.value);
    CHECK(pixel_type_name(row.value, "test") == std::string(row.name));
  }
  for (const PixelRow& row : kPixelTypes) {
    CHECK(pixel_type(row.channel, row.channels) == row.value);
    CHECK(pixel_step(row.value) ==
          (row.channels == 3 ? 1U : static_cast<std::size_t>(row.channels)) *
              channel_bytes(row.channel));
  }
  CHECK(row_of(kPixelTypes, PixelType::rgba16f).channel == Channel::f16);
  static_assert(pixel_bytes(PixelType::r16) == 2 && pixel_bytes(PixelType::rgba32f) == 16);
}

TEST_CASE("a type of channels is what its name says") {
  for (const ChannelRow& row : kChannels) {
    CAPTURE(row.name);
    const std::string name = row.name;
    CHECK(8 * row.bytes == std::stoul(name.substr(1)));
    CHECK(is_integer(row.value) == (name[0] == 'u'));
    CHECK(static_cast<double>(top_of(row.value)) ==
          (is_integer(row.value) ? std::ldexp(1.0, static_cast<int>(8 * row.bytes)) - 1 : 1.0));
    CHECK((row.normalized != 0) == is_integer(row.value));
  }
}

TEST_CASE("images of pixels have the format that OpenCL gives them") {
  const auto is = [](const cl_image_format& format, cl_channel_order order, cl_channel_type type) {
    return format.image_channel_order == order && format.image_channel_data_type == type;
  };
  CHECK(is(image_format(PixelType::r8), CL_R, CL_UNSIGNED_INT8));
  CHECK(is(image_format(PixelType::rgba16), CL_RGBA, CL_UNSIGNED_INT16));
  CHECK(is(image_format(PixelType::rgba16f), CL_RGBA, CL_HALF_FLOAT));
  CHECK(is(image_format(PixelType::r32f), CL_R, CL_FLOAT));
  CHECK(is(image_format(PixelType::rg16f), CL_RG, CL_HALF_FLOAT));
  CHECK(is(float_image_format(PixelType::rgba8), CL_RGBA, CL_UNORM_INT8));
  CHECK(is(float_image_format(PixelType::rg16), CL_RG, CL_UNORM_INT16));
  CHECK(is(float_image_format(PixelType::rgba16f), CL_RGBA, CL_HALF_FLOAT));
  const auto bytes = stored_formats(PixelType::rgba8);
  REQUIRE(bytes.size() == 4);
  CHECK(is(bytes[1], CL_RGBA, CL_UNORM_INT8));
  CHECK(is(bytes[2], CL_BGRA, CL_UNSIGNED_INT8));
  CHECK(stored_formats(PixelType::r16f).size() == 1);
  CHECK(stored_formats(PixelType::rgb8).empty());
}

TEST_CASE("a type without a row is refused by its number") {
  check_refused([] { pixel_type_name(static_cast<PixelType>(99), "test"); },
                "there is no pixel type of the value 99");
  check_refused([] { parse_pixel_type("rgba9", "test"); }, "there is no pixel type 'rgba9'");
}

LONG_TEST_CASE("pixel.clh has the same types of channels, with any number of them", 16) {
  for (const ChannelRow& row : kChannels) {
    for (int channels = 1; channels <= 4; ++channels) {
      CAPTURE(row.name);
      CAPTURE(channels);
      Defines defines;
      set_pixel(defines, row.value, channels);
      // Beyond both ends of the type, halfway between two integers, and ordinary.
      const double top = static_cast<double>(top_of(row.value));
      std::vector<float> given;
      for (const double value :
           {-1.0, -0.4, 0.5, 1.5, 2.5, top / 2, top - 0.5, top, 2 * top + 9, 0.25, 3.0, 7.0})
        given.push_back(static_cast<float>(value));
      const std::string name = row.name;
      const std::string body =
          "  const ulong i = get_global_id(0);\n"
          "  for (ulong k = 0; k < 12 / CLCOOK_CHANNELS; ++k)\n"
          "    clcook_store_pixel((__global clcook_channel_t*)out, k,\n"
          "                       clcook_first((float4)(in[CLCOOK_CHANNELS * k],\n"
          "                         in[min(CLCOOK_CHANNELS * k + 1, 11ul)],\n"
          "                         in[min(CLCOOK_CHANNELS * k + 2, 11ul)],\n"
          "                         in[min(CLCOOK_CHANNELS * k + 3, 11ul)])));\n"
          "  for (ulong k = 0; k < 12 / CLCOOK_CHANNELS; ++k) {\n"
          "    __global clcook_stored_t* p = (__global clcook_stored_t*)out + k;\n"
          "    clcook_write_pixel(p, clcook_read_pixel(p));\n"
          "  }\n"
          "  out[12 * sizeof(float)] = sizeof(clcook_channel_t) * 8 == CLCOOK_CHANNEL_BITS;\n"
          "  out[12 * sizeof(float) + 1] = sizeof(clcook_pixel_t) / sizeof(clcook_floats_t) == 1;\n"
          "#ifdef CLCOOK_CHANNEL_TOP\n"
          "  out[12 * sizeof(float) + 2] = CLCOOK_CHANNEL_TOP == (1 << CLCOOK_CHANNEL_BITS) - 1;\n"
          "#else\n"
          "  out[12 * sizeof(float) + 2] = 2;\n"
          "#endif\n"
          "  (void)i;\n";
      const cl::Buffer in =
          create_buffer(runtime(), given.size() * 4, CL_MEM_READ_ONLY, given.data());
      const auto got = run<unsigned char>(defines, "__global const float* in, __global uchar* out",
                                          body, 12 * 4 + 4, in);
      const std::vector<unsigned char> expected = store_channels(row.value, given);
      for (std::size_t i = 0; i < expected.size(); ++i) CHECK(got[i] == expected[i]);
      CHECK(got[48] == 1);
      CHECK(got[49] == (is_integer(row.value) ? 0 : 1));
      CHECK(got[50] == (is_integer(row.value) ? 1 : 2));
    }
  }
}

// Of the types that pixel.clh knows by name, one pixel and four at a time.
LONG_TEST_CASE("pixel.clh reads and writes the named types as they are stored", 8) {
  for (const PixelRow& row : kPixelTypes) {
    if (row.channels == 1) continue;
    CAPTURE(row.name);
    const auto channels = static_cast<std::size_t>(row.channels);
    const std::string name = row.name;
    std::vector<float> values;
    for (std::size_t i = 0; i < 6 * channels; ++i) values.push_back(static_cast<float>(3 * i + 1));
    const std::vector<unsigned char> stored = store_channels(row.channel, values);
    const cl::Buffer in = create_buffer(runtime(), stored.size(), CL_MEM_READ_ONLY, stored.data());
    const std::string type = "clcook_" + name + "_t";
    // The last pixels first, so that none is where it was.
    const auto got = run<unsigned char>(
        {}, "__global const " + type + "* in, __global " + type + "* out",
        "  clcook_store4_" + name + "(out + 2, clcook_load4_" + name + "(in));\n" +
            "  clcook_store_" + name + "(out, 0, clcook_load_" + name + "(in, 4));\n" +
            "  clcook_store_" + name + "(out, 1, clcook_load_" + name + "(in, 5));\n",
        stored.size(), in);
    const std::size_t pixel = pixel_bytes(row.value);
    std::vector<unsigned char> expected(stored.begin() + static_cast<std::ptrdiff_t>(4 * pixel),
                                        stored.end());
    expected.insert(expected.end(), stored.begin(),
                    stored.begin() + static_cast<std::ptrdiff_t>(4 * pixel));
    CHECK(got == expected);
  }
}
