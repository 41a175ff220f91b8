// clcook.VertexTransform.
#include <clcook/vertex_transform.hpp>

#include "../plan.hpp"

namespace clcook::python {

namespace {

const char* name_of(VertexTransform::Format format) {
  using Format = VertexTransform::Format;
  return format == Format::float4 ? "float4" : format == Format::float3 ? "float3" : "half3";
}

}  // namespace

void bind_vertex_transform(nb::module_& m) {
  using Problem = VertexTransform::Problem;
  auto plan = plan_class<VertexTransform>(
      m, "Skinning of a crowd, a plan on a queue of pyopencl; see docs/vertex_transform.md.",
      {field("vertices", &Problem::vertices), field("instances", &Problem::instances),
       field("bones", &Problem::bones)});
  plan.def_prop_ro(
      "vertex_format",
      [](const Held<VertexTransform>& self) { return name_of(self.get().vertex_format()); },
      "How positions and normals are read: \"float4\" (x y z 1, x y z 0), \"float3\" or "
      "\"half3\".");
  plan.def_prop_ro(
      "result_format",
      [](const Held<VertexTransform>& self) { return name_of(self.get().result_format()); },
      "How they are written.");
  plan.def_prop_ro(
      "matrix_rows", [](const Held<VertexTransform>& self) { return self.get().matrix_rows(); },
      "Rows of four floats of a matrix: 4, or 3 without the last one.");
  plan.def(
      "__call__",
      [](const Held<VertexTransform>& self, nb::handle vertices, nb::handle skin, nb::handle world,
         nb::handle bones, nb::handle result, nb::handle wait_for) {
        const VertexTransform& transform = self.get();
        Call call(VertexTransform::Spec::kName, wait_for);
        const auto view = [&](nb::handle one, const char* name, Access access) {
          return call.buffer(one, name, access, [] { return ArrayOf{}; });
        };
        const VertexTransform::Input input{
            view(vertices, "vertices", Access::read), view(skin, "skin", Access::read),
            view(world, "world", Access::read), view(bones, "bones", Access::read)};
        const BufferView to = view(result, "result", Access::write);
        return call.run([&](const auto& wait) { return transform(input, to, wait); });
      },
      "vertices"_a.none(), "skin"_a.none(), "world"_a.none(), "bones"_a.none(), "result"_a.none(),
      "wait_for"_a.none() = nb::none(),
      nb::sig("def __call__(self, vertices: object, skin: object, world: object, bones: object, "
              "result: object, wait_for: collections.abc.Sequence[pyopencl.Event] | None = None) "
              "-> pyopencl.Event"),
      "Enqueues the transformation behind the events of wait_for and returns its pyopencl.Event. "
      "The arguments are buffers or arrays; skin has 4 joints and 4 weights of a byte each per "
      "vertex, world a matrix per instance, bones those of every bone per instance.");
}

}  // namespace clcook::python
