"""A plugin of pytest that puts clcook.ndimage's functions in the place of scipy.ndimage's, for scipy's own
tests, which test_ndimage.py runs in a process of their own. It counts the tests that call one of them."""

import functools
import os

import clcook.ndimage
import pytest
from scipy import ndimage
from scipy._lib._array_api import xp_capabilities_table

called = False
count = {"passed": 0, "failed": 0}


def counted(function):
    @functools.wraps(function)
    def call(*args, **more):
        global called
        called = True
        return function(*args, **more)

    return call


for name in clcook.ndimage.__all__:
    ours = counted(getattr(clcook.ndimage, name))
    xp_capabilities_table[ours] = xp_capabilities_table[getattr(ndimage, name)]
    setattr(ndimage, name, ours)


def pytest_collection_modifyitems(items):
    if os.environ.get("CLCOOK_TEST_GRID") == "short":
        items[:] = items[int(os.environ.get("CLCOOK_TEST_SLICE", "0")) % 299 :: 299]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    global called
    called, outcome = False, "failed"
    try:
        result = yield
        outcome = "passed"
        return result
    finally:
        count[outcome] += called


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"of clcook: {count['passed']} passed, {count['failed']} failed")
