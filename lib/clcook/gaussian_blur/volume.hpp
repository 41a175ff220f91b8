// Volumes: the slices one after the other, then along z, as the columns of one picture whose rows
// are whole slices. Between the two the slices are stored, as floats or as pixels.
#pragma once

#include <algorithm>
#include <clcook/core/call_order.hpp>
#include <clcook/core/math.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/rates.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clcook::gaussian {

// The slices of a volume as a batch of pictures.
inline Problem slices_of(const Problem& p) {
  Problem out = p;
  out.batch = p.batch * p.depth;
  out.depth = 1;
  out.sigma_z = 0;
  out.in_place = false;
  return out;
}
// What lies along z as the columns of a picture.
inline Problem columns_of(const Problem& p) {
  Problem out = p;
  out.width = p.width * p.height;
  out.height = p.depth;
  out.depth = 1;
  out.sigma_x = 0;
  out.sigma_y = p.sigma_z;
  out.sigma_z = 0;
  out.in_place = false;
  return out;
}
// The filters of both: the problems' own, as a sigma of 0 has one tap.
inline Axes slices_of(const Axes& axes) { return {axes.x, axes.y, make_axis(0, 1)}; }
inline Axes columns_of(const Axes& axes) {
  const FilterAxis none = make_axis(0, 1);
  return {none, axes.z, none};
}
// Which of the two change anything; the slices where nothing does.
inline bool has_columns(const Axes& axes) { return axes.z.radius > 0; }
inline bool has_slices(const Axes& axes) {
  return axes.x.radius > 0 || axes.y.radius > 0 || !has_columns(axes);
}

// Both, made; either may be missing.
class VolumeParts : public Method {
 public:
  cl::Event enqueue(const Call& call, Scratch& scratch,
                    const std::vector<cl::Event>& wait) override {
    const auto size = [](int value) { return static_cast<std::size_t>(value); };
    const std::size_t row = size(problem_.width) * pixel_bytes(problem_);
    const std::size_t height = size(problem_.height);
    const std::size_t depth = size(problem_.depth);
    const std::size_t batch = size(problem_.batch);
    const std::size_t out_depth = size(call.region.depth);
    // Rows of the result without gaps.
    const auto tight = [&](const cl::Buffer& buffer, std::size_t offset, std::size_t bytes,
                           std::size_t rows) {
      return CheckedView{buffer, offset, bytes, bytes, rows};
    };
    std::vector<cl::Event> after = wait;
    CheckedView from = call.src;
    if (slices_ != nullptr) {
      const bool is_last = columns_ == nullptr && out_depth == depth;
      CheckedView to = call.dst;
      if (!is_last) {
        const std::size_t bytes =
            size(problem_.width) * size(channels_of(problem_)) * channel_bytes(between_);
        const std::size_t rows = height * depth * batch;
        to = tight(scratch.get(runtime_, kBetween, bytes * rows), 0, bytes, rows);
      }
      after = {slices_->enqueue(
          {call.runtime, call.scope, from, to, {0, 0, problem_.width, problem_.height}}, scratch,
          after)};
      if (is_last) return after[0];
      from = to;
      if (columns_ == nullptr) return copy_slices(call, from, after);
    } else if (from.pitch != row) {
      const CheckedView to = tight(scratch.get(runtime_, kBetween, row * height * depth * batch), 0,
                                   row, height * depth * batch);
      after = {copy(call, from, from.offset, to, 0, height * depth * batch, after)};
      from = to;
    }
    // Rows that are slices.
    from = tight(from.buffer, from.offset, from.pitch * height, depth * batch);
    CheckedView to = call.dst;
    if (to.pitch != row) {
      to = tight(scratch.get(runtime_, kResult, row * height * out_depth * batch), 0, row,
                 height * out_depth * batch);
    }
    const CheckedView slices = tight(to.buffer, to.offset, row * height, out_depth * batch);
    const Region region{0, call.region.z, problem_.width * problem_.height, call.region.depth};
    const cl::Event done =
        columns_->enqueue({call.runtime, call.scope, from, slices, region}, scratch, after);
    if (call.dst.pitch == row) return done;
    return copy(call, to, 0, call.dst, call.dst.offset, height * out_depth * batch, {done});
  }

  std::string describe() const override {
    std::string out;
    if (slices_ != nullptr) out = "slices: " + slices_name_ + slices_->describe();
    if (columns_ != nullptr) {
      if (!out.empty()) {
        out += text(", stored as ", between_ == problem_.pixel ? "they are" : "floats", "; ");
      }
      out += "along z: " + columns_name_ + columns_->describe();
    }
    return out;
  }

  Cut cut() const override { return columns_ != nullptr ? columns_->cut() : Cut{}; }

 protected:
  VolumeParts(const Runtime& runtime, const Problem& problem, Pixel between)
      : runtime_(runtime), problem_(problem), between_(between) {}

  void set(std::unique_ptr<Method> slices, std::unique_ptr<Method> columns) {
    slices_ = std::move(slices);
    columns_ = std::move(columns);
  }

  std::string slices_name_;
  std::string columns_name_;

 private:
  // Of the plan's memory; the parts take the first ones.
  static constexpr std::size_t kBetween = 6;
  static constexpr std::size_t kResult = 7;

  // The buffer that a sub-buffer is a part of, with the offset in it: PoCL 3.1 ends the process in
  // clEnqueueCopyBufferRect of sub-buffers.
  static cl_mem whole_buffer(const cl::Buffer& buffer, std::size_t& offset) {
    const auto parent = detail::mem_value<cl_mem>(buffer(), CL_MEM_ASSOCIATED_MEMOBJECT);
    if (parent == nullptr) return buffer();
    offset += detail::mem_value<std::size_t>(buffer(), CL_MEM_OFFSET);
    return parent;
  }

  // Enqueues a copy of rows of pixels from one pitch to another.
  cl::Event copy(const Call& call, const CheckedView& from, std::size_t from_offset,
                 const CheckedView& to, std::size_t to_offset, std::size_t rows,
                 const std::vector<cl::Event>& wait) const {
    const WaitHandles waits(wait);
    const cl_mem here_memory = whole_buffer(from.buffer, from_offset);
    const cl_mem there_memory = whole_buffer(to.buffer, to_offset);
    // As many whole rows as there are before it, and the rest.
    const std::size_t here[3] = {from_offset % from.pitch, from_offset / from.pitch, 0};
    const std::size_t there[3] = {to_offset % to.pitch, to_offset / to.pitch, 0};
    const std::size_t bytes = static_cast<std::size_t>(problem_.width) * pixel_bytes(problem_);
    const std::size_t size[3] = {bytes, rows, 1};
    cl_event done = nullptr;
    check(clEnqueueCopyBufferRect(runtime_.queue()(), here_memory, there_memory, here, there, size,
                                  from.pitch, 0, to.pitch, 0, waits.count(), waits.data(), &done),
          "clEnqueueCopyBufferRect");
    const cl::Event event(done);
    if (call.scope != nullptr) call.scope->enqueued(event);
    return event;
  }

  // The region's slices of blurred ones.
  cl::Event copy_slices(const Call& call, const CheckedView& from,
                        std::vector<cl::Event> after) const {
    const auto height = static_cast<std::size_t>(problem_.height);
    const auto count = static_cast<std::size_t>(call.region.depth) * height;
    for (std::size_t i = 0; i < static_cast<std::size_t>(problem_.batch); ++i) {
      const std::size_t first =
          (i * static_cast<std::size_t>(problem_.depth) + static_cast<std::size_t>(call.region.z)) *
          height;
      after = {copy(call, from, from.offset + first * from.pitch, call.dst,
                    call.dst.offset + i * count * call.dst.pitch, count, after)};
    }
    return after[0];
  }

  Runtime runtime_;
  Problem problem_;
  Pixel between_;
  std::unique_ptr<Method> slices_;
  std::unique_ptr<Method> columns_;
};

// The parts' promises together: for the weights e of each part, those of the exact filter t and
// roundings r of what is stored between them, in units of the peak, |e_z (e_xy + r) - t_z t_xy| is at
// most |e_z - t_z| |e_xy| + |t_z| |e_xy - t_xy| + |e_z| |r|.
inline double volume_error(double slices, double columns, double between) {
  return columns * (1 + slices) + slices + (1 + columns) * between;
}

// One method for both, whose passes have floats between them: M takes the types of what it reads and
// of what it writes.
template <class M>
class FloatVolume : public VolumeParts {
 public:
  using Design = NoDesign;

  static Offer offer(const Runtime& runtime, const Problem& p, const Axes& axes, NoDesign& none) {
    Offer out;
    Offer slices;
    Offer columns;
    if (has_slices(axes)) slices = M::offer(runtime, slices_of(p), slices_of(axes), none);
    if (has_columns(axes)) columns = M::offer(runtime, columns_of(p), columns_of(axes), none);
    out.max_error = volume_error(slices.max_error, columns.max_error,
                                 has_slices(axes) && has_columns(axes) ? 0x1p-24 : 0);
    out.work = slices.work;
    out.work += columns.work;
    out.in_place = true;  // src has been read when the last pass writes
    return out;
  }

  static std::vector<CompileUnit> units(const Problem& p, const Axes& axes,
                                        const DeviceInfo& device) {
    std::vector<CompileUnit> out;
    const Types types = types_of(p, axes);
    if (has_slices(axes)) {
      out = M::units_between(slices_of(p), slices_of(axes), device, stored_of(p), types.between);
    }
    if (has_columns(axes)) {
      const auto more =
          M::units_between(columns_of(p), columns_of(axes), device, types.columns, stored_of(p));
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }

  FloatVolume(const Runtime& runtime, const Problem& p, const Axes& axes, const NoDesign&,
              const std::vector<cl::Program>& programs)
      : VolumeParts(runtime, p, types_of(p, axes).between.pixel) {
    const Types types = types_of(p, axes);
    auto at = programs.begin();
    std::unique_ptr<Method> slices;
    std::unique_ptr<Method> columns;
    if (has_slices(axes)) {
      slices = std::make_unique<M>(runtime, slices_of(p), slices_of(axes), std::vector(at, at + 2),
                                   stored_of(p), types.between);
      at += 2;
    }
    if (has_columns(axes)) {
      columns = std::make_unique<M>(runtime, columns_of(p), columns_of(axes),
                                    std::vector(at, at + 2), types.columns, stored_of(p));
    }
    set(std::move(slices), std::move(columns));
  }

 private:
  // What the slices are stored as, and what the columns read.
  struct Types {
    Stored between;
    Stored columns;
  };
  static Types types_of(const Problem& p, const Axes& axes) {
    return {has_columns(axes) ? kBetweenPasses : stored_of(p),
            has_slices(axes) ? kBetweenPasses : stored_of(p)};
  }
};

// The best method for each part, with pixels between them: they take the least memory, and no method
// has to be made for them.
class BestOfVolume : public VolumeParts {
 public:
  struct Part {
    const VariantInfo* variant = nullptr;
    Offer offer;
  };
  struct Design {
    std::optional<Part> slices;
    std::optional<Part> columns;
  };

  static Offer offer(const Runtime& runtime, const Problem& p, const Axes& axes, Design& design) {
    if (!is_volume(p)) return Offer::no(Lacks::problem, "is for volumes");
    const double between = rounding_of(p) / peak_of(p);
    const bool both = has_slices(axes) && has_columns(axes);
    if (both && !holds_outside(p)) {
      return Offer::no(Lacks::quality,
                       "the slices between the passes are cut to the pixel type's "
                       "range, and what is outside of the volume lies beyond that");
    }
    // Half of the error for each part.
    const double error = math::exp(-p.quality * 0.11512925464970229);  // 10^(-quality / 20)
    const double rest = (both ? (error - between) / 2 : error) * 0.999;
    if (!(rest > 0)) {
      Offer out = Offer::no(
          Lacks::quality,
          text("the slices between the passes are rounded to the pixel type, ",
               three_digits(psnr_of(between)), " dB, for a floor of ", three_digits(p.quality)));
      out.psnr = psnr_of(between);
      return out;
    }
    const double quality = std::clamp(psnr_of(rest), 0.0, kMostQuality);
    Offer out;
    try {
      if (has_slices(axes)) design.slices = choose(runtime, slices_of(p), quality);
      if (has_columns(axes)) design.columns = choose(runtime, columns_of(p), quality);
    } catch (const Error& error_of_part) {
      if (error_of_part.code != Errc::unsupported) throw;
      return Offer::no(error_of_part.lacks, error_of_part.what());
    }
    const auto add = [&](const std::optional<Part>& part) {
      if (!part) return 0.0;
      out.work += part->offer.work;
      out.cost += part->offer.cost;
      out.units.insert(out.units.end(), part->offer.units.begin(), part->offer.units.end());
      return part->offer.max_error;
    };
    const double slices = add(design.slices);
    out.max_error = volume_error(slices, add(design.columns), both ? between : 0);
    if (between > 0 && both) {
      constexpr double kRounding = 8;  // operations that round a value, and make it a float again
      out.cost += microseconds(device_rates(runtime), {0, 0, kRounding * values_of(p), 0});
    }
    out.in_place = both;
    return out;
  }

  static std::vector<CompileUnit> units(const Problem&, const Axes&, const DeviceInfo&) {
    return {};  // the offer has them
  }

  BestOfVolume(const Runtime& runtime, const Problem& p, const Axes&, const Design& design,
               const std::vector<cl::Program>& programs)
      : VolumeParts(runtime, p, p.pixel) {
    auto at = programs.begin();
    const auto make = [&](const std::optional<Part>& part, std::string& name) {
      if (!part) return std::unique_ptr<Method>();
      const auto end = at + static_cast<std::ptrdiff_t>(part->offer.units.size());
      name = part->variant->name + ", ";
      std::unique_ptr<Method> out = made(part->offer, runtime, {at, end});
      at = end;
      return out;
    };
    std::unique_ptr<Method> slices = make(design.slices, slices_name_);
    set(std::move(slices), make(design.columns, columns_name_));
  }

 private:
  static Part choose(const Runtime& runtime, Problem p, double quality) {
    p.quality = quality;
    const Candidate best = choice(ProblemOf<Spec>(p), runtime);
    return {best.variant, *best.offer};
  }
};

}  // namespace clcook::gaussian
