// clcook.Bc6hDecode, and what clcook.bc6h_decode stands on.
#include <clcook/bc6h_decode.hpp>
#include <clcook/core/file.hpp>
#include <clcook/io/dds.hpp>

#include "../plan.hpp"

namespace clcook::python {

namespace {

using DecodeProblem = Bc6hDecode::Problem;

constexpr Named<bc6h_decode::Format> kFormats[] = {
    {bc6h_decode::Format::unsigned_float, "unsigned_float"},
    {bc6h_decode::Format::signed_float, "signed_float"}};

std::vector<Field<DecodeProblem>> decode_fields() {
  return {field("width", &DecodeProblem::width), field("height", &DecodeProblem::height),
          field("format", &DecodeProblem::format, kFormats),
          field("texel", &DecodeProblem::texel, kPixelTypes)};
}

// Numpy's way: a plan with its buffers. One thread at a time.
class DecodeOnHost {
 public:
  explicit DecodeOnHost(const DecodeProblem& problem)
      : decode_(standard_runtime(), problem),
        kept_(Bc6hDecode::block_bytes(problem), Bc6hDecode::texture_bytes(problem)) {}

  std::size_t bytes() const { return kept_.bytes(); }
  const DecodeProblem& problem() const { return decode_.problem(); }

  void run(const void* blocks, const HostArray& texels) {
    const DecodeProblem& p = problem();
    const auto height = static_cast<std::size_t>(p.height);
    const std::size_t from = Bc6hDecode::block_bytes(p);
    run_on_host(kept_, {blocks, from, from, 1},
                {texels.begin, texels.pitch, Bc6hDecode::texture_bytes(p) / height, height},
                decode_, {}, {});
  }

 private:
  Bc6hDecode decode_;
  KeptBuffers kept_;
};

// The bytes of a texture; throws where there are too few.
const void* blocks_of(const nb::bytes& blocks, const DecodeProblem& problem) {
  if (blocks.size() < Bc6hDecode::block_bytes(problem)) {
    fail(Errc::invalid_argument, Bc6hDecode::Spec::kName,
         text("blocks must be ", Bc6hDecode::block_bytes(problem), " bytes, got ", blocks.size()));
  }
  return blocks.c_str();
}

}  // namespace

void bind_bc6h_decode(nb::module_& m) {
  constexpr const char* kName = "Bc6hDecode";
  auto plan = plan_class<Bc6hDecode>(
      m, "A decoder of BC6H textures as a plan on a queue of pyopencl; see docs/bc6h_decode.md.",
      decode_fields());
  plan.def(
      "__call__",
      [](const Held<Bc6hDecode>& self, nb::handle blocks, nb::handle texels, nb::handle wait_for) {
        const Bc6hDecode& decode = self.get();
        const DecodeProblem& p = decode.problem();
        Call call(kName, wait_for);
        const BufferView from = call.buffer(blocks, "blocks", Access::read, [&] {
          return ArrayOf{"uint8",
                         {Bc6hDecode::blocks_high(p.height), Bc6hDecode::blocks_wide(p.width), 16}};
        });
        if (call.is_image(texels)) {
          const ImageView to = call.image(texels, "texels");
          return call.run([&](const auto& wait) { return decode(from, to, wait); });
        }
        const BufferView to = call.buffer(texels, "texels", Access::write, [&] {
          return ArrayOf{
              dtype_of(p.texel),
              {static_cast<std::size_t>(p.height), static_cast<std::size_t>(p.width), 4}};
        });
        return call.run([&](const auto& wait) { return decode(from, to, wait); });
      },
      "blocks"_a.none(), "texels"_a.none(), "wait_for"_a.none() = nb::none(),
      nb::sig("def __call__(self, blocks: object, texels: object, wait_for: "
              "collections.abc.Sequence[pyopencl.Event] | None = None) -> pyopencl.Event"),
      "Enqueues the decoding of blocks, a buffer or array, into texels, a buffer, array or image, "
      "behind the events of wait_for, and returns its pyopencl.Event.");

  // The layout of a DDS file from its beginning: format, of one mip of one slice width, height and
  // where its blocks lie, and the reader's warnings.
  m.def("_dds_level", [](const nb::bytes& head, std::uint64_t file_bytes, std::int64_t slice,
                         std::int64_t mip) {
    const io::Dds dds = io::parse_dds(std::string_view(head.c_str(), head.size()), file_bytes);
    if (slice < 0 || mip < 0) {
      throw io::FormatError("DDS",
                            text("slice and mip must be at least 0, got ", slice, " and ", mip));
    }
    const io::DdsLevel level =
        dds.level(static_cast<std::uint64_t>(slice), static_cast<std::size_t>(mip));
    nb::list warnings;
    for (const std::string& one : dds.warnings) warnings.append(nb::cast(one));
    return nb::make_tuple(
        dds.format == io::DdsFormat::bc6h_sf16 ? "signed_float" : "unsigned_float", level.width,
        level.height, level.offset, level.bytes, warnings);
  });
  nb::class_<Held<DecodeOnHost>>(m, "_Bc6hDecodeOnHost")
      .def("__init__",
           [](Held<DecodeOnHost>* self, const nb::kwargs& values) {
             const DecodeProblem problem = problem_of(decode_fields(), values, kName);
             const Unlocked unlocked;
             new (self) Held<DecodeOnHost>(std::in_place, problem);
           })
      .def("run",
           [](Held<DecodeOnHost>& self, const nb::bytes& blocks, std::uintptr_t texels,
              std::size_t pitch) {
             DecodeOnHost& host = self.get();
             const void* from = blocks_of(blocks, host.problem());
             const Unlocked unlocked;
             host.run(from, host_array(texels, pitch));
           })
      .def_prop_ro("bytes", [](const Held<DecodeOnHost>& self) { return self.get().bytes(); });
  m.def("_bc6h_by_strips", [](const nb::bytes& blocks, std::uintptr_t texels, std::size_t pitch,
                              const nb::kwargs& values) {
    const DecodeProblem problem = problem_of(decode_fields(), values, kName);
    const void* from = blocks_of(blocks, problem);
    const Unlocked unlocked;
    Bc6hDecode::by_strips(standard_runtime(), problem, from, 0, host_array(texels, pitch).begin,
                          pitch);
  });
}

}  // namespace clcook::python
