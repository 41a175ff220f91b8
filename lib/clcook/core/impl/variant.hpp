// The definitions of clcook/core/variant.hpp.
#pragma once

#include <clcook/core/variant.hpp>
#include <utility>

namespace clcook {

CLCOOK_INLINE Offer completed(Offer offer, const DeviceInfo& device, double bytes) {
  for (const CompileUnit& unit : offer.units) {
    if (unit.group[0] == 0) continue;
    const std::size_t items = unit.group[0] * unit.group[1] * unit.group[2];
    if (items > device.max_group) {
      return Offer::no(Lacks::work_group,
                       text("a work-group of ", items, " work-items exceeds the device's limit of ",
                            device.max_group));
    }
    for (std::size_t d = 0; d < 3; ++d) {
      if (unit.group[d] > device.max_items[d]) {
        return Offer::no(Lacks::work_group,
                         text("work-group dimension ", d, " of ", unit.group[d],
                              " exceeds the device's limit of ", device.max_items[d]));
      }
    }
    if (unit.local_bytes > device.local_mem) {
      return Offer::no(
          Lacks::local_memory,
          text(unit.local_bytes, " bytes of local memory exceed the device's limit of ",
               device.local_mem));
    }
  }
  Work& work = offer.work;
  if (work.bytes_read + work.bytes_written + work.operations == 0) work.bytes_read = bytes;
  if (work.launches == 0) work.launches = static_cast<double>(offer.units.size());
  return offer;
}

CLCOOK_INLINE const VariantInfo* find_variant(const char* operation,
                                              const std::vector<const VariantInfo*>& variants,
                                              std::string_view name) {
  if (name == "automatic") return nullptr;
  std::string known = "automatic";
  for (const VariantInfo* one : variants) {
    if (one->name == name) return one;
    known += ", " + one->name;
  }
  fail(Errc::invalid_argument, operation,
       text("there is no variant '", name, "'; known are ", known));
}

}  // namespace clcook
