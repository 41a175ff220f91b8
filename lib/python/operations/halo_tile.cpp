// clcook.HaloTile.
#include <clcook/halo_tile.hpp>

#include "../plan.hpp"

namespace clcook::python {

namespace {

ArrayOf array_of(const HaloTile::Problem& p) {
  ArrayOf out{dtype_of(p.pixel), {}};
  if (p.depth > 1) out.shape.push_back(static_cast<std::size_t>(p.depth));
  out.shape.push_back(static_cast<std::size_t>(p.height));
  out.shape.push_back(static_cast<std::size_t>(p.width));
  out.shape.push_back(static_cast<std::size_t>(channels_of(p.pixel)));
  return out;
}

}  // namespace

void bind_halo_tile(nb::module_& m) {
  using Problem = HaloTile::Problem;
  plan_class<HaloTile>(
      m, "A filter of neighbourhoods, a plan on a queue of pyopencl; see docs/halo_tile.md.",
      {field("filter", &Problem::filter, halo_tile::kFilters), field("width", &Problem::width),
       field("height", &Problem::height), field("depth", &Problem::depth),
       field("radius", &Problem::radius), field("pixel", &Problem::pixel, kPixelTypes),
       field("border", &Problem::border, kBorders), field("outside", &Problem::outside)})
      .def(
          "__call__",
          [](const Held<HaloTile>& self, nb::handle src, nb::handle dst, nb::handle wait_for,
             nb::handle history) {
            const HaloTile& filter = self.get();
            Call call(HaloTile::Spec::kName, wait_for);
            if (call.is_image(src) && call.is_image(dst)) {
              const ImageView from = call.image(src, "src");
              const ImageView to = call.image(dst, "dst");
              return call.run([&](const auto& wait) { return filter(from, to, wait); });
            }
            const auto as = [&] { return array_of(filter.problem()); };
            const BufferView from = call.buffer(src, "src", Access::read, as);
            const BufferView to = call.buffer(dst, "dst", Access::write, as);
            if (history.is_none())
              return call.run([&](const auto& wait) { return filter(from, to, wait); });
            const BufferView past = call.buffer(history, "history", Access::read, as);
            return call.run([&](const auto& wait) { return filter(from, past, to, wait); });
          },
          "src"_a.none(), "dst"_a.none(), "wait_for"_a.none() = nb::none(), nb::kw_only(),
          "history"_a.none() = nb::none(),
          nb::sig("def __call__(self, src: object, dst: object, wait_for: "
                  "collections.abc.Sequence[pyopencl.Event] | None = None, *, history: object | "
                  "None = None) -> pyopencl.Event"),
          "Enqueues the filter from src to dst, two buffers, arrays or images, behind the events "
          "of "
          "wait_for, and returns its pyopencl.Event. history: of the filters that look at a second "
          "picture.");
}

}  // namespace clcook::python
