// Skinning of a crowd: every instance of one mesh in a pose of its own, at a place of its own.
//
//   clcook::VertexTransform transform{runtime, {1000, 64, 32}};  // vertices, instances, bones
//   using T = clcook::VertexTransform;
//   // upload T::pack_vertices(transform.vertex_format(), ...), T::pack_matrices(
//   // transform.matrix_rows(), ...) and the skin, then
//   cl::Event done = transform({vertices, skin, world, bones}, result, {uploaded});
//
// For instance i and vertex v with joints j and weights w:
//   skin     = sum over 4 joints of w_k bones[i][j_k]
//   position = world[i] skin (x, y, z, 1)        normal = world[i] skin (x, y, z, 0)
// Result number i vertices + v. Normals are not made unit again.
//
// All matrices are affine: their fourth row is 0 0 0 1. Weights are bytes, 255 is 1, and the four
// of a vertex sum to 255. A joint beyond the last bone counts as the last bone.
#pragma once

#include <algorithm>
#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/half.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/vertex_transform.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {

// A plan: constructed once, called often. All const member functions may be called from several
// threads.
class VertexTransform {
 public:
  struct Problem {
    int vertices = 0;   // of the mesh, 1 to kMaxVertices
    int instances = 0;  // 1 to kMaxInstances; vertices x instances must be less than 2^32
    int bones = 0;      // of the skeleton, 1 to kMaxBones
  };

  enum class Variant {
    automatic,  // what was measured to be fastest; without that rolled
    per_item,   // one dimension of results, 4 x 4 matrices, float4 everywhere
    uniform,    // one instance per work-group: its world matrix has a uniform address
    constant,   // uniform with the world matrices in constant memory
    affine,     // uniform with 3 rows of each matrix
    no_w,       // affine with three floats per vector
    rolled,     // no_w with one joint at a time
    early,      // rolled with the next joint's matrix loaded early
    half3,      // rolled with halfs as vertices: positions and normals are rounded
  };

  // How vectors lie in memory: position, then normal of each vertex.
  enum class Format {
    float4,  // two float4: x y z 1, x y z 0
    float3,  // six floats
    half3,   // six halfs
  };

  // How to run, for tuning.
  struct Tune {
    int group = 0;  // work-items per work-group, 0 for the default
  };

  // The inputs, each as one row: vertices in vertex_format(); skin, 8 bytes per vertex: 4 joints,
  // 4 weights; world, a matrix per instance; bones, Problem::bones matrices per instance; matrices
  // as matrix_rows() rows of 4 floats. Offsets are multiples of 8 bytes for skin, 16 for matrices
  // and float4, 4 for float3, 2 for half3.
  struct Input {
    BufferView vertices;
    BufferView skin;
    BufferView world;
    BufferView bones;
  };

  static constexpr int kMaxVertices = 1 << 30;
  static constexpr int kMaxInstances = 65535;
  static constexpr int kMaxBones = 256;
  static constexpr int kDefaultGroup = 256;

  // Throws Error: invalid_argument for a value out of range, unsupported where the device cannot
  // run the variant, build_failed.
  VertexTransform(const Runtime& runtime, const Problem& problem, Variant variant, Tune tune)
      : runtime_(runtime), problem_(problem) {
    check_problem(problem);
    to_string(variant);  // refuses a value that is no variant
    if (tune.group < 0)
      fail(Errc::invalid_argument, kName, text("group must not be negative, got ", tune.group));
    choose(variant, tune);
    variant_ = variant;
    group_ = static_cast<std::size_t>(tune.group);
    program_ = runtime.build(Source(embedded::vertex_transform), defines(variant_, tune.group),
                             std::string("vertex_transform/") + to_string(variant_));
    Kernel(runtime_, program_, kernel_name(variant_)).check_launch(launch());
    if (variant_ == Variant::constant) check_constant(matrix_bytes(instances()), "world");
  }
  explicit VertexTransform(const Runtime& runtime, const Problem& problem,
                           Variant variant = Variant::automatic)
      : VertexTransform(runtime, problem, variant, Tune{}) {}

  // Enqueues the transformation behind the events of `wait` and returns its event. Results are in
  // result_format(), one row; they must not overlap the inputs. Throws Error, with nothing
  // enqueued: invalid_argument when a view breaks a rule, unsupported when the variant constant
  // gets a buffer that the device cannot have as constant memory.
  cl::Event operator()(const Input& input, const BufferView& result,
                       const std::vector<cl::Event>& wait = {}) const {
    const auto vertices = static_cast<std::size_t>(problem_.vertices);
    const Format from = vertex_format();
    const Format to = result_format();
    const std::size_t matrix = matrix_bytes(1);
    const auto in = [&](const BufferView& view, std::size_t bytes, std::size_t alignment,
                        const char* name) {
      return check_view(runtime_, view, {bytes, 1, alignment}, Access::read, kName, name);
    };
    const CheckedView a =
        in(input.vertices, vertices * bytes_per_vertex(from), unit(from), "vertices");
    const CheckedView b = in(input.skin, vertices * 8, 8, "skin");
    const CheckedView c = in(input.world, instances() * matrix, 16, "world");
    const CheckedView d = in(
        input.bones, instances() * static_cast<std::size_t>(problem_.bones) * matrix, 16, "bones");
    const CheckedView out =
        check_view(runtime_, result, {vertices * instances() * bytes_per_vertex(to), 1, unit(to)},
                   Access::write, kName, "result");
    check_disjoint(a, out, kName, "vertices", "result");
    check_disjoint(b, out, kName, "skin", "result");
    check_disjoint(c, out, kName, "world", "result");
    check_disjoint(d, out, kName, "bones", "result");
    if (variant_ == Variant::constant)
      check_constant(detail::mem_value<std::size_t>(c.buffer(), CL_MEM_SIZE),
                     "the buffer of world");
    Kernel kernel(runtime_, program_, kernel_name(variant_));
    return kernel(
        launch(), wait, a.buffer, static_cast<cl_ulong>(a.offset / unit(from)), b.buffer,
        static_cast<cl_ulong>(b.offset / 8), c.buffer, static_cast<cl_ulong>(c.offset / 16),
        d.buffer, static_cast<cl_ulong>(d.offset / 16), out.buffer,
        static_cast<cl_ulong>(out.offset / unit(to)), static_cast<cl_int>(problem_.vertices),
        static_cast<cl_int>(problem_.bones), static_cast<cl_ulong>(vertices * instances()));
  }

  const Problem& problem() const { return problem_; }
  // The variant that runs; never automatic.
  Variant variant() const { return variant_; }
  // The work-group size that runs.
  int group() const { return static_cast<int>(group_); }

  Format vertex_format() const { return vertex_format(variant_); }
  Format result_format() const { return result_format(variant_); }
  int matrix_rows() const { return matrix_rows(variant_); }

  static Format vertex_format(Variant variant) {
    if (variant == Variant::half3) return Format::half3;
    return result_format(variant);
  }
  static Format result_format(Variant variant) {
    return variant == Variant::no_w || variant == Variant::rolled || variant == Variant::early ||
                   variant == Variant::half3
               ? Format::float3
               : Format::float4;
  }
  static int matrix_rows(Variant variant) {
    return variant == Variant::per_item || variant == Variant::uniform ||
                   variant == Variant::constant
               ? 4
               : 3;
  }
  static std::size_t bytes_per_vertex(Format format) {
    return format == Format::float4 ? 32 : format == Format::float3 ? 24 : 12;
  }

  // The bytes of a mesh in a format, from six floats per vertex: position, normal. Halfs are
  // rounded to nearest even. Throws Error(invalid_argument) for a number of floats that is no
  // multiple of 6.
  static std::vector<unsigned char> pack_vertices(Format format, const std::vector<float>& six) {
    if (six.size() % 6 != 0) {
      fail(Errc::invalid_argument, kName,
           text("a mesh has six floats per vertex, got ", six.size(), " floats"));
    }
    std::vector<unsigned char> out(six.size() / 6 * bytes_per_vertex(format));
    unsigned char* at = out.data();
    const auto put = [&](const auto& value) {
      std::memcpy(at, &value, sizeof value);
      at += sizeof value;
    };
    for (std::size_t i = 0; i < six.size(); ++i) {
      if (format == Format::half3) {
        put(to_half(six[i]));
      } else {
        put(six[i]);
      }
      if (format == Format::float4 && i % 3 == 2) put(i % 6 == 2 ? 1.0f : 0.0f);
    }
    return out;
  }

  // The first `rows` rows, 3 or 4, of matrices of 16 floats, row by row.
  static std::vector<float> pack_matrices(int rows, const std::vector<float>& sixteen) {
    if ((rows != 3 && rows != 4) || sixteen.size() % 16 != 0) {
      fail(Errc::invalid_argument, kName,
           text("3 or 4 rows of matrices of 16 floats, got ", rows, " rows of ", sixteen.size(),
                " floats"));
    }
    std::vector<float> out;
    out.reserve(sixteen.size());
    for (std::size_t i = 0; i < sixteen.size(); ++i) {
      if (i % 16 < static_cast<std::size_t>(rows) * 4) out.push_back(sixteen[i]);
    }
    return out;
  }

  // The half nearest to a float; ties to even, too large becomes infinity, NaN stays NaN.
  static std::uint16_t to_half(float value) { return clcook::to_half(static_cast<double>(value)); }

  // The definitions that select a variant's program; `group` 0 means the default. For tools; plans
  // call it themselves.
  static Defines defines(Variant variant, int group = 0) {
    std::string upper = to_string(variant);
    for (char& c : upper) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    Defines out;
    out.flag("CLCOOK_VERTEX_TRANSFORM_ONLY").flag("CLCOOK_VERTEX_TRANSFORM_" + upper);
    out.set("CLCOOK_VERTEX_TRANSFORM_GROUP", group == 0 ? kDefaultGroup : group);
    return out;
  }

  static std::string kernel_name(Variant variant) {
    return std::string("vertex_transform_") + to_string(variant);
  }

  // Every variant that runs, in the order of the recipe.
  static constexpr Variant kVariants[] = {Variant::per_item, Variant::uniform, Variant::constant,
                                          Variant::affine,   Variant::no_w,    Variant::rolled,
                                          Variant::early,    Variant::half3};

  static const char* to_string(Variant variant) {
    switch (variant) {
      case Variant::automatic:
        return "automatic";
      case Variant::per_item:
        return "per_item";
      case Variant::uniform:
        return "uniform";
      case Variant::constant:
        return "constant";
      case Variant::affine:
        return "affine";
      case Variant::no_w:
        return "no_w";
      case Variant::rolled:
        return "rolled";
      case Variant::early:
        return "early";
      case Variant::half3:
        return "half3";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no variant of the value ", static_cast<int>(variant)));
  }

  // The variant of that name, automatic included. Throws Error(invalid_argument) that lists the
  // names.
  static Variant parse_variant(std::string_view name) {
    return parse_name<Variant>(kName, "variant", name, kVariants,
                               [](Variant variant) { return to_string(variant); },
                               {Variant::automatic});
  }

 private:
  static constexpr const char* kName = "VertexTransform";

  static void check_problem(const Problem& p) {
    const auto range = [](const char* name, int value, int most) {
      if (value < 1 || value > most)
        fail(Errc::invalid_argument, kName, text(name, " must be 1 to ", most, ", got ", value));
    };
    range("vertices", p.vertices, kMaxVertices);
    range("instances", p.instances, kMaxInstances);
    range("bones", p.bones, kMaxBones);
    const auto count =
        static_cast<std::uint64_t>(p.vertices) * static_cast<std::uint64_t>(p.instances);
    if (count > 0xFFFFFFFFu) {
      fail(Errc::invalid_argument, kName,
           text("vertices ", p.vertices, " times instances ", p.instances,
                " must be less than 2^32, got ", count));
    }
  }

  // Fills in what the caller left open: from what was measured, else the built-in defaults.
  void choose(Variant& variant, Tune& tune) const {
    const bool automatic = variant == Variant::automatic;
    const double bytes = 48.0 * problem_.vertices * problem_.instances;
    const TuningChoice choice = runtime_.tuning().choose(runtime_.info(), "vertex_transform", bytes,
                                                         automatic ? "" : to_string(variant));
    const bool measured = choice.match != TuningChoice::Match::none;
    if (automatic) {
      variant = measured ? parse_variant(choice.entry.variant) : Variant::rolled;
      if (variant == Variant::constant &&
          matrix_bytes(instances()) > runtime_.info().constant_buffer)
        variant = Variant::uniform;
    }
    if (tune.group == 0 && measured) {
      const int group = choice.entry.integer("group", 0);
      if (group > 0 && static_cast<std::size_t>(group) <= runtime_.info().max_group)
        tune.group = group;
    }
    if (tune.group == 0) tune.group = kDefaultGroup;
  }

  void check_constant(std::size_t bytes, const char* what) const {
    if (bytes > runtime_.info().constant_buffer) {
      fail(Errc::unsupported, kName,
           text(what, " has ", bytes, " bytes; the variant constant can have ",
                runtime_.info().constant_buffer, " of constant memory on ", runtime_.info().name));
    }
  }

  std::size_t instances() const { return static_cast<std::size_t>(problem_.instances); }
  std::size_t matrix_bytes(std::size_t count) const {
    return count * static_cast<std::size_t>(matrix_rows(variant_)) * 16;
  }
  // What offsets of a format are counted in: float4, float, half.
  static std::size_t unit(Format format) {
    return format == Format::float4 ? 16 : format == Format::float3 ? 4 : 2;
  }

  Launch launch() const {
    const auto vertices = static_cast<std::size_t>(problem_.vertices);
    if (variant_ == Variant::per_item)
      return Launch::cover({vertices * instances(), 1, 1}, {group_, 1, 1});
    return Launch::cover({vertices, instances(), 1}, {group_, 1, 1});
  }

  Runtime runtime_;
  Problem problem_;
  Variant variant_ = Variant::per_item;
  std::size_t group_ = 0;
  cl::Program program_;
};

}  // namespace clcook
