// Device memory with guard bands, for tests.
#pragma once

#include <algorithm>
#include <clcook/core/error.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/view.hpp>
#include <clcook/registry/diff.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace clcook {

// Rows on a device with a pattern around them: before the first byte, between the rows, and behind
// the last one.
//
// The operation under test sees a sub-buffer, so that it can neither use an offset of its own to
// find the guard bands nor be excused from staying within its rows. Rows begin at `offset` inside
// the sub-buffer and are `pitch` bytes apart.
//
// Guard bands show what is written out of bounds, and hide what is read there from those who look at
// the bounds of buffers. With CLCOOK_GUARD_BANDS=0 there are none: the buffer begins with `offset`
// and ends with the last row. Oclgrind's lanes set it.
class GuardedBuffer {
 public:
  static constexpr std::size_t kGuard = 4096;

  // `fill` is the byte of the pattern: 0xFF makes every float a NaN, 0xCD is an unlikely integer.
  // Inputs and outputs need different ones, else a copy that runs past both is not seen.
  GuardedBuffer(const Runtime& runtime, std::size_t row_bytes, std::size_t rows,
                std::size_t offset = 0, std::size_t pitch = 0, unsigned char fill = 0xCD)
      : runtime_(runtime),
        row_bytes_(row_bytes),
        rows_(rows),
        offset_(offset),
        pitch_(pitch == 0 ? row_bytes : pitch),
        fill_(fill) {
    if (row_bytes == 0 || rows == 0 || pitch_ < row_bytes) {
      fail(Errc::invalid_argument, "GuardedBuffer",
           text(rows, " rows of ", row_bytes, " bytes at a pitch of ", pitch_));
    }
    const std::size_t body = offset_ + (rows_ - 1) * pitch_ + row_bytes_;
    total_ = guard_ + body + guard_;
    parent_ = create_buffer(runtime_, total_);
    if (plain() || guard_ == 0) {
      body_ = parent_;
      return;
    }
    const cl_buffer_region region{guard_, body};
    cl_int status = CL_SUCCESS;
    body_ = cl::Buffer(clCreateSubBuffer(parent_(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                         &region, &status));
    clcook::check(status, "clCreateSubBuffer");
  }

  BufferView view() const { return BufferView(body_, (plain() ? guard_ : 0) + offset_, pitch_); }
  const cl::Buffer& buffer() const { return body_; }
  std::size_t row_bytes() const { return row_bytes_; }
  std::size_t rows() const { return rows_; }

  // Writes the pattern over everything. Blocks.
  void poison() {
    // In parts, so that no pattern of gigabytes has to be made.
    const std::vector<unsigned char> pattern(std::min(total_, std::size_t{16} << 20), fill_);
    for (std::size_t at = 0; at < total_; at += pattern.size()) {
      clcook::check(clEnqueueWriteBuffer(runtime_.queue()(), parent_(), CL_TRUE, at,
                                         std::min(pattern.size(), total_ - at), pattern.data(), 0,
                                         nullptr, nullptr),
                    "clEnqueueWriteBuffer");
    }
  }

  // Enqueues the upload of rows that lie without gaps at `data`, which must stay alive until the
  // event is complete.
  cl::Event upload(const void* data, const std::vector<cl::Event>& wait) const {
    const WaitHandles waits(wait);
    const std::size_t to[3] = {guard_ + offset_, 0, 0};
    const std::size_t from[3] = {0, 0, 0};
    const std::size_t region[3] = {row_bytes_, rows_, 1};
    cl_event done = nullptr;
    cl_int status = CL_SUCCESS;
    if (plain()) {
      whole_.assign(total_, fill_);
      for (std::size_t row = 0; row < rows_; ++row) {
        std::memcpy(whole_.data() + guard_ + offset_ + row * pitch_,
                    static_cast<const unsigned char*>(data) + row * row_bytes_, row_bytes_);
      }
      status = clEnqueueWriteBuffer(runtime_.queue()(), parent_(), CL_FALSE, 0, total_,
                                    whole_.data(), waits.count(), waits.data(), &done);
    } else if (pitch_ == row_bytes_) {
      status = clEnqueueWriteBuffer(runtime_.queue()(), parent_(), CL_FALSE, guard_ + offset_,
                                    row_bytes_ * rows_, data, waits.count(), waits.data(), &done);
    } else {
      status = clEnqueueWriteBufferRect(runtime_.queue()(), parent_(), CL_FALSE, to, from, region,
                                        pitch_, 0, row_bytes_, 0, data, waits.count(), waits.data(),
                                        &done);
    }
    clcook::check(status, "clEnqueueWriteBuffer");
    return cl::Event(done);
  }

  // Reads the rows without their gaps, and reports the first guard byte that changed to `diff`.
  // Blocks.
  std::vector<unsigned char> read(const std::vector<cl::Event>& wait, Diff& diff,
                                  const std::string& name) const {
    const WaitHandles waits(wait);
    std::vector<unsigned char> all(total_);
    clcook::check(clEnqueueReadBuffer(runtime_.queue()(), parent_(), CL_TRUE, 0, total_, all.data(),
                                      waits.count(), waits.data(), nullptr),
                  "clEnqueueReadBuffer");
    std::size_t guard_begin = 0;
    bool damaged = false;
    for (std::size_t row = 0; row <= rows_; ++row) {
      const std::size_t begin = row < rows_ ? guard_ + offset_ + row * pitch_ : total_;
      for (std::size_t i = guard_begin; i < begin && !damaged; ++i) {
        if (all[i] == fill_) continue;
        damaged = true;
        diff.damaged(
            text(name, ": the byte at ",
                 static_cast<std::int64_t>(i) - static_cast<std::int64_t>(guard_ + offset_),
                 " relative to the first row lies outside the rows and was changed"));
      }
      if (row == rows_) break;
      // To the front, over what was looked at.
      std::memmove(all.data() + row * row_bytes_, all.data() + begin, row_bytes_);
      guard_begin = begin + row_bytes_;
    }
    all.resize(row_bytes_ * rows_);
    return all;
  }

  // The same as values of a trivially copyable type.
  template <class T>
  std::vector<T> read_as(const std::vector<cl::Event>& wait, Diff& diff,
                         const std::string& name) const {
    const std::vector<unsigned char> bytes = read(wait, diff, name);
    std::vector<T> out(bytes.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
    return out;
  }

 private:
  // Oclgrind 21.10 loses track of what is written through sub-buffers, as rectangles, or at an
  // offset, and would report every value read from there as uninitialised. Its lane for
  // uninitialised values sets CLCOOK_PLAIN_BUFFERS.
  static bool plain() {
    static const bool on = std::getenv("CLCOOK_PLAIN_BUFFERS") != nullptr;
    return on;
  }

  static std::size_t guard() {
    const char* bands = std::getenv("CLCOOK_GUARD_BANDS");
    return bands != nullptr && std::strcmp(bands, "0") == 0 ? 0 : kGuard;
  }

  Runtime runtime_;
  std::size_t guard_ = guard();  // bytes of each band
  std::size_t row_bytes_;
  std::size_t rows_;
  std::size_t offset_;
  std::size_t pitch_;
  unsigned char fill_;
  std::size_t total_ = 0;
  cl::Buffer parent_;
  cl::Buffer body_;
  mutable std::vector<unsigned char> whole_;  // with plain(): what the last upload() writes
};

}  // namespace clcook
