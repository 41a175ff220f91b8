// Skinning of a crowd: every instance of one mesh has its own pose and its own place.
//
//   clcook::VertexTransform transform{runtime, {1000, 64, 32}};  // vertices, instances, bones
//   // Upload clcook::VertexTransform::pack_vertices(transform.vertex_format(), ...),
//   // clcook::VertexTransform::pack_matrices(transform.matrix_rows(), ...) and the skin, then:
//   cl::Event done = transform({vertices, skin, world, bones}, result, {uploaded});
//
// For instance i and vertex v with joints j and weights w:
//   skin     = sum over 4 joints of w_k bones[i][j_k]
//   position = world[i] skin (x, y, z, 1)        normal = world[i] skin (x, y, z, 0)
// That is result number i vertices + v. Normals are not normalised again.
//
// All matrices are affine: their fourth row is 0 0 0 1. Weights are bytes, 255 is 1, and the four
// of a vertex sum to 255. A joint beyond the last bone counts as the last bone.
#pragma once

#include <clcook/core/half.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/vertex_transform.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace clcook {
namespace vertex_transform {

constexpr int kMaxVertices = 1 << 30;
constexpr int kMaxInstances = 65535;
constexpr int kMaxBones = 256;

struct Problem {
  int vertices = 0;   // of the mesh, 1 to kMaxVertices
  int instances = 0;  // 1 to kMaxInstances; vertices x instances must be less than 2^32
  int bones = 0;      // of the skeleton, 1 to kMaxBones
};

// How to run, for tuning; 0 is open.
struct Tune {
  int group = 0;  // work-items per work-group; cpu_columns: 1
};

// How vectors lie in memory: position, then normal of each vertex.
enum class Format {
  float4,  // two float4: x y z 1, x y z 0
  float3,  // six floats
  half3,   // six halfs
};

inline std::size_t bytes_per_vertex(Format format) {
  return format == Format::float4 ? 32 : format == Format::float3 ? 24 : 12;
}

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

struct Spec : PlainSpec {
  struct Traits {
    int matrix_rows = 4;
    Format vertices = Format::float4;
    Format results = Format::float4;
    bool flat = false;            // one dimension of results; else vertices x instances
    bool constant_world = false;  // the world matrices are in constant memory
    bool typed_world = false;     // the world matrices are read through an image over the buffer
    bool local_bones = false;     // the bones' matrices are in local memory
  };
  using Problem = vertex_transform::Problem;
  using Tune = vertex_transform::Tune;
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "VertexTransform";
  static constexpr const char* kRecipe = "vertex_transform";
  static constexpr int kCpuStrip = 4096;  // vertices per work-item of cpu_columns

  static const std::vector<Row>& variants() {
    static const std::vector<Row> all{
        Row("per_item", "the instance's 4 x 4 matrix by an address of each item; float4 everywhere")
            .with(&Traits::flat)
            .baseline()
            .tunes(),
        Row("uniform", "against per_item: one instance per group, its matrix by a uniform address")
            .against("per_item", "one instance per group: its matrix by a uniform address"),
        Row("constant", "against uniform: the instances' matrices in constant memory")
            .with(&Traits::constant_world)
            .against("uniform", "matrices in constant memory"),
        Row("typed", "against uniform: the instances' matrices through a typed buffer")
            .with(&Traits::typed_world)
            .against("uniform", "matrices through a typed buffer")
            .by_name()
            .need("images over buffers"),
        Row("affine", "against uniform: 3 rows of each matrix instead of 4",
            {3, Format::float4, Format::float4})
            .against("uniform", "3 rows of each matrix instead of 4"),
        Row("no_w", "against affine: vectors of three floats instead of float4",
            {3, Format::float3, Format::float3})
            .against("affine", "three floats instead of float4"),
        Row("rolled", "against no_w: a loop over the joints instead of straight-line code",
            {3, Format::float3, Format::float3})
            .against("no_w", "a loop over the joints")
            .tunes(),
        Row("constant_trips",
            "against rolled: whether the loop stays is left to the compiler, which knows its trips",
            {3, Format::float3, Format::float3})
            .against("rolled", "the compiler decides whether the loop stays"),
        Row("run_time_trips", "against constant_trips: the number of trips is known at run time",
            {3, Format::float3, Format::float3})
            .against("constant_trips", "the number of trips is known at run time"),
        Row("early", "against rolled: the next joint's matrix is loaded a turn early",
            {3, Format::float3, Format::float3})
            .against("rolled", "the next joint's matrix is loaded a turn early"),
        Row("local_palette",
            "against no_w: the instance's matrix multiplied into each bone's, in local memory",
            {3, Format::float3, Format::float3})
            .with(&Traits::local_bones)
            .against("no_w",
                     "the instance's matrix in each bone's, once per group, in local memory")
            .preferred(),
        Row("half3", "against rolled: vertices as halfs, unpacked at the use (an approximation)",
            {3, Format::half3, Format::float3})
            .against("rolled", "vertices as halfs")
            .approximate(),
        Row("cpu_columns",
            "for CPUs: the instance's matrix in each bone's, a matrix as one vector, a strip of "
            "vertices per work-item",
            {3, Format::float3, Format::float3})
            .against("rolled", "a matrix as one vector, a strip of vertices per work-item")
            .for_cpus_only(),
    };
    return all;
  }

  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{
        axis("group", &Tune::group, {256, 64, 1024}).on_cpus(1).defined()};
    return all;
  }

  static void check(const Problem& p) {
    check_range(kName, "vertices", p.vertices, 1, kMaxVertices);
    check_range(kName, "instances", p.instances, 1, kMaxInstances);
    check_range(kName, "bones", p.bones, 1, kMaxBones);
    const auto count =
        static_cast<std::uint64_t>(p.vertices) * static_cast<std::uint64_t>(p.instances);
    if (count > 0xFFFFFFFFu) {
      fail(Errc::invalid_argument, kName,
           text("vertices ", p.vertices, " times instances ", p.instances,
                " must be less than 2^32, got ", count));
    }
  }

  static double bytes(const Problem& p) { return 48.0 * p.vertices * p.instances; }

  static Offer offer(const Runtime& runtime, const Setup<Spec>& s) {
    const Problem& p = s.problem;
    const Traits& traits = s.row.traits;
    if (traits.constant_world) {
      const std::string why = beyond_constant(
          runtime, s.row, "world", matrix_bytes(s.row, static_cast<std::size_t>(p.instances)));
      if (!why.empty()) return Offer::no(Lacks::memory, why);
    }
    if (traits.typed_world) {
      const std::string why = beyond_image(runtime, 4 * static_cast<std::size_t>(p.instances));
      if (!why.empty()) return Offer::no(Lacks::feature, why);
    }
    if (traits.local_bones) {
      const auto bytes = palette(s.row, p).bytes;
      if (runtime.info().local_mem != 0 && bytes > runtime.info().local_mem) {
        return Offer::no(Lacks::local_memory,
                         text(p.bones, " bones take ", bytes,
                              " bytes of local memory, the device has ", runtime.info().local_mem));
      }
    }
    Offer out;
    const double results = static_cast<double>(p.vertices) * p.instances;
    out.work.bytes_read =
        p.vertices * (static_cast<double>(bytes_per_vertex(traits.vertices)) + 8) +
        p.instances * (p.bones + 1.0) * static_cast<double>(matrix_bytes(s.row, 1));
    out.work.bytes_written = results * static_cast<double>(bytes_per_vertex(traits.results));
    // The blend, and two vectors through two matrices, which some make one.
    const double products = s.row.is_for_cpus || traits.local_bones ? 4 + 2 : 4 + 4;
    out.work.operations = results * traits.matrix_rows * 4 * 2 * products;
    return out;
  }

  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    CompileUnit unit = variant_unit(s, embedded::vertex_transform);
    if (s.row.is_for_cpus) unit.defines.set("CLCOOK_VERTEX_TRANSFORM_STRIP", kCpuStrip);
    return {unit};
  }

  // The matrices of an instance's bones, in local memory.
  static LocalBytes palette(const Row& row, const Problem& p) {
    return {matrix_bytes(row, static_cast<std::size_t>(p.bones))};
  }

  // Of `count` matrices.
  static std::size_t matrix_bytes(const Row& row, std::size_t count) {
    return count * static_cast<std::size_t>(row.traits.matrix_rows) * 16;
  }

  // Why the device cannot have so many bytes as constant memory; empty where it can.
  static std::string beyond_constant(const Runtime& runtime, const Row& row, const char* what,
                                     std::size_t bytes) {
    const DeviceInfo& info = runtime.info();
    if (bytes <= info.constant_buffer) return {};
    return text(what, " has ", bytes, " bytes; the variant ", row.name, " can have ",
                info.constant_buffer, " of constant memory on ", info.name);
  }

  // Why the device cannot have so many rows of matrices as an image over a buffer; empty where it
  // can.
  static std::string beyond_image(const Runtime& runtime, std::size_t rows) {
    if (!runtime.info().images) return "the device has no images";
    const auto most =
        detail::device_value<std::size_t>(runtime.device()(), CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
    if (rows <= most) return {};
    return text("an image over a buffer of ", rows, " float4 exceeds the device's limit of ", most);
  }

  // The image of a view's float4, and where in it the view begins.
  struct Typed {
    cl::Image1DBuffer image;
    std::size_t first = 0;
  };
  // `rows` float4 of a buffer from number `first` on. PoCL makes no image of a sub-buffer, so that
  // it is one of the whole.
  static Typed typed(const Runtime& runtime, const cl::Buffer& buffer, std::size_t first,
                     std::size_t rows) {
    constexpr std::size_t kRow = 16;
    cl_mem whole = detail::mem_value<cl_mem>(buffer(), CL_MEM_ASSOCIATED_MEMOBJECT);
    std::size_t before = 0;
    if (whole == nullptr) {
      whole = buffer();
    } else {
      before = detail::mem_value<std::size_t>(buffer(), CL_MEM_OFFSET);
    }
    if (before % kRow != 0) {
      unsupported(Lacks::feature, kName,
                  text("typed needs a sub-buffer at a multiple of ", kRow, " bytes, got ", before));
    }
    Typed out;
    out.first = before / kRow + first;
    const std::string why = beyond_image(runtime, out.first + rows);
    if (!why.empty()) unsupported(Lacks::feature, kName, why);
    const cl_image_format format{CL_RGBA, CL_FLOAT};
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
    desc.image_width = out.first + rows;
    desc.buffer = whole;
    out.image = cl::Image1DBuffer(create_image(runtime, format, desc, CL_MEM_READ_ONLY));
    return out;
  }

  // Keeps the image until `done`: PoCL 3.1 holds the memory behind it for a call that is enqueued,
  // but not the image.
  static void keep_until(const cl::Event& done, const cl::Image1DBuffer& image) {
    clcook::check(clRetainMemObject(image()), "clRetainMemObject");
    const cl_int status = clSetEventCallback(done(), CL_COMPLETE, let_go, image());
    if (status == CL_SUCCESS) return;
    // To wait for `done` would have no end where it is behind an event that the caller sets later.
    clReleaseMemObject(image());
    clcook::check(status, "clSetEventCallback");
  }
  static void CL_CALLBACK let_go(cl_event, cl_int, void* image) {
    clReleaseMemObject(static_cast<cl_mem>(image));
  }

  // What offsets of a format are counted in: float4, float, half.
  static std::size_t unit(Format format) {
    return format == Format::float4 ? 16 : format == Format::float3 ? 4 : 2;
  }
};

}  // namespace vertex_transform

// A plan: constructed once, called often. Thread-safe as Plan says. The program depends on the
// variant and the group only.
class VertexTransform : public Plan<vertex_transform::Spec> {
 public:
  using Plan::Plan;
  using Format = vertex_transform::Format;
  using Input = vertex_transform::Input;

  // Enqueues the transformation behind the events of `wait` and returns its event. Results are in
  // result_format(), one row; they must not overlap the inputs. Throws Error, with nothing
  // enqueued: invalid_argument when a view breaks a rule, unsupported if the variant constant gets
  // a buffer that the device cannot use as constant memory, or typed one that it cannot use as an
  // image.
  cl::Event operator()(const Input& input, const BufferView& result,
                       const std::vector<cl::Event>& wait = {}) const {
    constexpr const char* kName = Spec::kName;
    const Problem& p = problem();
    const auto vertices = static_cast<std::size_t>(p.vertices);
    const auto instances = static_cast<std::size_t>(p.instances);
    const Format from = vertex_format();
    const Format to = result_format();
    const std::size_t matrix = Spec::matrix_bytes(row(), 1);
    const auto in = [&](const BufferView& view, std::size_t bytes, std::size_t alignment,
                        const char* name) {
      return check_view(runtime(), view, {bytes, 1, alignment}, Access::read, kName, name);
    };
    const CheckedView a =
        in(input.vertices, vertices * bytes_per_vertex(from), Spec::unit(from), "vertices");
    const CheckedView b = in(input.skin, vertices * 8, 8, "skin");
    const CheckedView c = in(input.world, instances * matrix, 16, "world");
    const CheckedView d =
        in(input.bones, instances * static_cast<std::size_t>(p.bones) * matrix, 16, "bones");
    const CheckedView out = check_view(
        runtime(), result, {vertices * instances * bytes_per_vertex(to), 1, Spec::unit(to)},
        Access::write, kName, "result");
    check_disjoint(a, out, kName, "vertices", "result");
    check_disjoint(b, out, kName, "skin", "result");
    check_disjoint(c, out, kName, "world", "result");
    check_disjoint(d, out, kName, "bones", "result");
    if (row().traits.constant_world) {
      // The whole buffer counts.
      const auto bytes = detail::mem_value<std::size_t>(c.buffer(), CL_MEM_SIZE);
      const std::string why = Spec::beyond_constant(runtime(), row(), "the buffer of world", bytes);
      if (!why.empty()) unsupported(Lacks::memory, kName, why);
    }
    const Launch::Sizes group{static_cast<std::size_t>(tune().group), 1, 1};
    const std::size_t strips = (vertices + Spec::kCpuStrip - 1) / Spec::kCpuStrip;
    const Launch launch =
        row().traits.flat
            ? Launch::cover({vertices * instances, 1, 1}, group)
            : Launch::cover({row().is_for_cpus ? strips : vertices, instances, 1}, group);
    cl::Memory world = c.buffer;
    std::size_t first = c.offset / 16;
    Spec::Typed typed;
    if (row().traits.typed_world) {
      typed = Spec::typed(runtime(), c.buffer, first, 4 * instances);
      world = typed.image;
      first = typed.first;
    }
    const auto run = [&](const auto&... more) {
      return kernel()(launch, wait, a.buffer, static_cast<cl_ulong>(a.offset / Spec::unit(from)),
                      b.buffer, static_cast<cl_ulong>(b.offset / 8), world,
                      static_cast<cl_ulong>(first), d.buffer, static_cast<cl_ulong>(d.offset / 16),
                      out.buffer, static_cast<cl_ulong>(out.offset / Spec::unit(to)),
                      static_cast<cl_int>(p.vertices), static_cast<cl_int>(p.bones),
                      static_cast<cl_ulong>(vertices * instances), more...);
    };
    cl::Event done = row().traits.local_bones ? run(Spec::palette(row(), p)) : run();
    if (row().traits.typed_world) Spec::keep_until(done, typed.image);
    return done;
  }

  Format vertex_format() const { return row().traits.vertices; }
  Format result_format() const { return row().traits.results; }
  int matrix_rows() const { return row().traits.matrix_rows; }

  static std::size_t bytes_per_vertex(Format format) {
    return vertex_transform::bytes_per_vertex(format);
  }

  // The bytes of a mesh in a format, from six floats per vertex: position, normal. Halfs are
  // rounded to nearest even. Throws Error(invalid_argument) for a number of floats that is no
  // multiple of 6.
  static std::vector<unsigned char> pack_vertices(Format format, const std::vector<float>& six) {
    if (six.size() % 6 != 0) {
      fail(Errc::invalid_argument, Spec::kName,
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
      fail(Errc::invalid_argument, Spec::kName,
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
};

CLCOOK_PLAN(vertex_transform::Spec);

}  // namespace clcook
