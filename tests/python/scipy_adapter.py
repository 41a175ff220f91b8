"""A plugin of pytest that puts clcook.gaussian_blur in the place of scipy.ndimage.gaussian_filter, for
scipy's own tests, which test_scipy.py runs in a process of their own."""

import clcook
import numpy as np
from scipy import ndimage


def gaussian_filter(input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0):
    assert order == 0
    narrow = input.astype(np.float32) if input.dtype == np.float64 else input
    result = clcook.gaussian_blur(narrow, sigma, mode=mode, cval=cval, truncate=truncate)
    if isinstance(output, np.ndarray):
        output[...] = result
        return output
    return result.astype(output or input.dtype)


def pytest_collection_finish():  # before, the tests ask what scipy's own can do
    ndimage.gaussian_filter = gaussian_filter
