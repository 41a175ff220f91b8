"""Pictures in the report: before, after, and where they differ."""

import base64
import math
import struct
import zlib

import numpy as np

from results import refuse

SHOWN_WIDTH = 960  # wider pictures are shown smaller


def png(pixels):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    height, width, channels = pixels.shape
    rows = np.full((height, 1 + width * channels), 2, np.uint8)  # each begins with its filter: less the row above
    rows[:, 1:] = np.diff(pixels.reshape(height, -1), axis=0, prepend=0)
    head = struct.pack(">IIBBBBB", width, height, 8, {3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")


def figure(caption, pixels, is_heat=False):
    """Reduced by a whole factor so that it is not too wide: the mean of each block of pixels, or of a heat map its largest
    value, so that a single wrong pixel stays visible."""
    height, width, _ = pixels.shape
    factor = -(-width // SHOWN_WIDTH)
    down, right = (np.arange(0, size, factor) for size in (height, width))
    if is_heat:
        pixels = np.maximum.reduceat(np.maximum.reduceat(pixels, down, 0), right, 1)
    else:
        counts = np.outer(np.diff(np.append(down, height)), np.diff(np.append(right, width)))[:, :, None]
        pixels = (np.add.reduceat(np.add.reduceat(pixels, down, 0), right, 1) + counts // 2) // counts
    return caption, pixels.shape[1], pixels.shape[0], base64.b64encode(png(pixels)).decode()


def figures_of(given):
    """The figures of a recipe and a note, from before, after and perhaps a reference."""
    files = given["pictures"]
    first = files[0]
    for one in files:
        if (one["width"], one["height"]) != (first["width"], first["height"]):
            refuse("{file} has {width} x {height} pixels and ".format(**first) + "{file} has {width} x {height}; ".format(**one)
                   + "only pictures of one size can be compared")  # fmt: skip
    shape = height, width, _ = first["height"], first["width"], 4
    pictures = [np.frombuffer(base64.b64decode(one["rgba"]), np.uint8).reshape(shape).astype(int) for one in files]
    against = "the reference" if len(files) == 3 else "before"
    errors = np.abs(pictures[2 if len(files) == 3 else 0] - pictures[1])[:, :, :3]
    worst, largest = errors.max(2), int(errors.max())
    # Black, red, yellow, white: brighter is worse in every step, for all eyes.
    heat = np.clip((765 * worst // max(1, largest))[:, :, None] - [0, 255, 510], 0, 255)
    caption = f"Error of after against {against}: " + (f"black none, white {largest} of 255, the largest" if largest else "none, every pixel is the same")
    figures = [figure(*one) for one in zip(("Before", "After", "Reference"), pictures)] + [figure(caption, heat, True)]
    psnr = f"{10 * math.log10(255**2 / np.mean(errors**2)):.1f} dB" if largest else "infinite (identical)"
    share = 100 * np.count_nonzero(worst) / worst.size
    note = f"After against {against}: PSNR {psnr}, largest difference {largest} of 255, {share:.3g} % of {width} × {height} pixels differ."
    return {"recipe": given["recipe"], "figures": figures, "note": note}
