#!/bin/bash
# Blocks of BC6H with a reserved mode become transparent, and signed blocks are read as unsigned ones.
#
# Versions: texture2ddecoder 1.0.6.
# Expected: a block with one of the four reserved modes is black with alpha 255, as Direct3D defines it and as all
#           other blocks of this format have it, which knows no alpha. Of a signed texture negative values become 0.
# Seen:     all 16 texels of such a block are 0, alpha too. decode_bc6 has no word for the signed format, so a texel
#           of -1.5 is white: 255, 255, 255.
# Matters:  damaged blocks show as holes where alpha is used, and black in other decoders; signed textures, such as
#           those of light probes, look plausible and are wrong where they are negative.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q texture2ddecoder==1.0.6
"$work/venv/bin/python" - <<'PYTHON'
import sys

import texture2ddecoder


def texel(block):
    """Blue, green, red and alpha of the first of 4 x 4."""
    return tuple(texture2ddecoder.decode_bc6(block, 4, 4)[:4])


some = int.from_bytes(bytes(range(1, 17)), "little") & ~31
reserved = {mode: texel((some | mode).to_bytes(16, "little")) for mode in (19, 23, 27, 31)}
usual = texel((some | 3).to_bytes(16, "little"))
# The mode of 16 bits, one colour: -16384, which is -1.5 in the signed format.
negative = texel(bytes([15, 0, 0, 0, 128, 1, 6, 24]) + bytes(8))
for mode, value in reserved.items():
    print(f"reserved mode {mode}: {value}")
print(f"another mode: {usual}; -1.5 of a signed texture: {negative}")
seen = set(reserved.values()) == {(0, 0, 0, 0)} and usual[3] == 255 and negative == (255, 255, 255, 255)
print("as described" if seen else "CHANGED: reserved modes are opaque, or signed blocks are told apart")
sys.exit(0 if seen else 1)
PYTHON
