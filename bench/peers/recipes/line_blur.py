"""The blur by lines: the peers of gaussian_blur, which all but torchvision have its border."""
import blur


def cases(width, height, radii):
    return [(f"{width} x {height} RGBA {name}, radius {radius}",
             f"width={width} height={height} radius={radius} sigma=0.5 pixel={pixel}")
            for name, pixel in (("float", "rgba32f"), ("8-bit", "rgba8")) for radius in radii]


CASES = {"cpu": cases(1920, 1080, (8, 64)), "gpu": cases(3840, 2160, (8, 64))}
QUICK = "width=161 height=119 radius=8 sigma=0.5 pixel=rgba32f"


def draw(of):
    pixel = of.pick("rg", "rgb", "rgba") + of.pick("8", "16", "16f", "32f")
    return f"{of.picture()} radius={of.whole(1, 64)} sigma={of.real(0.3, 1)} pixel={pixel}"


def judge(case, folder, who):
    return blur.judge(case, folder, False, False)


blur.declare()
