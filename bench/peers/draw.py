"""Problems that nobody chose: the rows of bench/peers/run --random. A seed gives the same on every
machine, whatever is installed there, and a recipe the same whichever others are asked for."""
import random


class Draw:
    """What recipes/*.py draw a problem with. random() alone is the same in every Python."""

    def __init__(self, text):
        self.random = random.Random(text).random

    def pick(self, *values):
        return values[int(self.random() * len(values))]

    def real(self, low, high):
        """Even in its logarithm; three digits."""
        return float(f"{low * (high / low) ** self.random():.3g}")

    def whole(self, low, high):
        """The same, every number from low to high."""
        return min(high, int(low * ((high + 1) / low) ** self.random()))

    def share(self):
        """Whole per cent."""
        return int(101 * self.random())

    def picture(self):
        """Each side by itself."""
        return f"width={self.whole(64, 8192)} height={self.whole(64, 8192)}"

    def border(self):
        """Those that others have, too; most have the first alone."""
        return "border=" + self.pick("clamp", "clamp", "clamp", "mirror", "reflect_101", "wrap")

    def pixel(self):
        return "pixel=" + self.pick("r", "rg", "rgb", "rgba") + self.pick("8", "16", "16f", "32f")


def shapes(draw, recipe, seed, count):
    """`count` shapes of a recipe by its function draw(Draw); more begin with those of fewer."""
    return [draw(Draw(f"{seed} {recipe} {i}")) for i in range(count)]
