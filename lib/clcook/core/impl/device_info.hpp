// The definitions of clcook/core/device_info.hpp.
#pragma once

#include <clcook/core/device_info.hpp>

namespace clcook {

CLCOOK_INLINE DeviceInfo::DeviceInfo() = default;
CLCOOK_INLINE DeviceInfo::DeviceInfo(const DeviceInfo&) = default;
CLCOOK_INLINE DeviceInfo::DeviceInfo(DeviceInfo&&) noexcept = default;
CLCOOK_INLINE DeviceInfo& DeviceInfo::operator=(const DeviceInfo&) = default;
CLCOOK_INLINE DeviceInfo& DeviceInfo::operator=(DeviceInfo&&) noexcept = default;
CLCOOK_INLINE DeviceInfo::~DeviceInfo() = default;

}  // namespace clcook
