// clcook.GaussianBlur, and what clcook.gaussian_blur stands on.
#include <clcook/gaussian_blur.hpp>

#include "../plan.hpp"

namespace clcook::python {

namespace {

using Problem = GaussianBlur::Problem;

std::vector<Field<Problem>> fields() {
  return {field("width", &Problem::width),
          field("height", &Problem::height),
          field("sigma_x", &Problem::sigma_x),
          field("sigma_y", &Problem::sigma_y),
          field("pixel", &Problem::pixel, kChannels),
          field("channels", &Problem::channels),
          field("border", &Problem::border, kBorders),
          field("outside", &Problem::outside),
          field("truncate", &Problem::truncate),
          field("quality", &Problem::quality),
          field("peak", &Problem::peak),
          field("batch", &Problem::batch),
          field("in_place", &Problem::in_place),
          field("depth", &Problem::depth),
          field("sigma_z", &Problem::sigma_z),
          field("alpha", &Problem::alpha, kAlphas)};
}

ArrayOf array_of(const Problem& p) {
  ArrayOf out{dtype_of(p.pixel), {}};
  if (p.batch > 1) out.shape.push_back(static_cast<std::size_t>(p.batch));
  if (p.depth > 1) out.shape.push_back(static_cast<std::size_t>(p.depth));
  out.shape.push_back(static_cast<std::size_t>(p.height));
  out.shape.push_back(static_cast<std::size_t>(p.width));
  out.shape.push_back(static_cast<std::size_t>(p.channels));
  return out;
}

// Numpy's way, with another sigma for each call; that along z is the plan's.
class BlurOnHost : public PictureOnHost<GaussianBlur> {
 public:
  explicit BlurOnHost(const Problem& problem)
      : PictureOnHost(
            problem, gaussian::pixel_bytes(problem) * static_cast<std::size_t>(problem.width),
            static_cast<std::size_t>(problem.height) * static_cast<std::size_t>(problem.depth)) {}

  void use_sigma(double x, double y) {
    const Problem& p = plan().problem();
    const std::equal_to<> equal;
    if (equal(p.sigma_x, x) && equal(p.sigma_y, y)) return;
    // Compiles only where another method is the best for this sigma, and its program was not built
    // yet: so that the result is that of a plan made for it.
    plan().build_for(x, y);
    plan().set_sigma(x, y);
  }
};

}  // namespace

void bind_gaussian_blur(nb::module_& m) {
  constexpr const char* kName = "GaussianBlur";
  auto plan = plan_class<GaussianBlur>(
      m, "A Gaussian blur as a plan on a queue of pyopencl; see docs/gaussian_blur.md.", fields());
  picture_call(plan, array_of);
  plan.def(
      "set_sigma",
      [](Held<GaussianBlur>& self, double x, double y) {
        const Unlocked unlocked;
        self.get().set_sigma(x, y);
      },
      "sigma_x"_a, "sigma_y"_a,
      "Another sigma from the next call on. Compiles nothing; no other call at the same time.");
  plan.def(
      "build_for",
      [](Held<GaussianBlur>& self, double x, double y) {
        const Unlocked unlocked;
        self.get().build_for(x, y);
      },
      "sigma_x"_a, "sigma_y"_a,
      "Builds what automatic would take for this sigma, so that set_sigma can choose it.");
  plan.def_prop_ro(
      "psnr", [](const Held<GaussianBlur>& self) { return self.get().psnr(); },
      "The PSNR that the method promises, in dB.");
  plan.def_prop_ro(
      "max_error", [](const Held<GaussianBlur>& self) { return self.get().max_error(); },
      "The largest distance to the exact filter that the method promises, in units of the pixel "
      "type, before rounding.");
  plan.def_prop_ro(
      "in_place", [](const Held<GaussianBlur>& self) { return self.get().in_place(); },
      "Whether src and dst of a call may overlap.");

  // Needs no device: whoever cuts a large array into blocks may have none.
  m.def(
      "_gaussian_halo",
      [](const nb::kwargs& values) {
        const Problem problem = problem_of(fields(), values, kName);
        gaussian::Spec::check(problem);
        const auto radius = [&](double sigma) {
          return gaussian::filter_radius(sigma, problem.truncate);
        };
        return nb::make_tuple(radius(problem.sigma_z), radius(problem.sigma_y),
                              radius(problem.sigma_x));
      },
      "values"_a, "How far a problem's filter reaches across slices, down and across, in pixels.");

  nb::class_<Held<BlurOnHost>>(m, "_GaussianBlurOnHost")
      .def(
          "__init__",
          [](Held<BlurOnHost>* self, const nb::kwargs& values) {
            const Problem problem = problem_of(fields(), values, kName);
            const Unlocked unlocked;
            new (self) Held<BlurOnHost>(std::in_place, problem);
          },
          "values"_a)
      .def("run",
           [](Held<BlurOnHost>& self, std::uintptr_t src, std::size_t src_pitch, std::uintptr_t dst,
              std::size_t dst_pitch, double x, double y) {
             BlurOnHost& host = self.get();
             const Unlocked unlocked;
             host.use_sigma(x, y);
             host.run(host_array(src, src_pitch), host_array(dst, dst_pitch));
           })
      .def_prop_ro("bytes", [](const Held<BlurOnHost>& self) { return self.get().bytes(); });
}

}  // namespace clcook::python
