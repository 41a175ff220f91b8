#!/usr/bin/env python3
"""Blurs a volume that no memory holds, from one zarr array into another, on two worker processes.

    python3 examples/python/dask_zarr.py --shape 1024 2048 2048 --sigma 3 /tmp/volume

The first run makes FOLDER/source.zarr, a noisy volume of float32, block by block. dask hands its blocks to
the workers, each of which has an OpenCL runtime of its own; each block comes with as much of its
neighbours as the filter reaches. No worker may hold more than --memory. --check compares the result
with scipy's, which needs the whole volume in memory.

Needs: pip install 'clcook[dask]' zarr
"""

import argparse
import pathlib
import time

import clcook.dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, progress


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path, help="where source.zarr and soft.zarr lie")
    parser.add_argument("--shape", type=int, nargs=3, default=(256, 512, 512), help="of the volume")
    parser.add_argument("--blocks", type=int, default=128, help="a block's edge, in voxels")
    parser.add_argument("--sigma", type=float, default=3)
    parser.add_argument("--memory", default="1GB", help="of a worker, at most")
    parser.add_argument("--check", action="store_true", help="compare with scipy")
    arguments = parser.parse_args()
    source, soft = arguments.folder / "source.zarr", arguments.folder / "soft.zarr"

    made = da.from_zarr(str(source)).shape if source.exists() else tuple(arguments.shape)
    if made != tuple(arguments.shape):
        parser.error(f"{source} has the shape {made}, not {tuple(arguments.shape)}")

    # One thread each: a device works on one block at a time.
    with LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit=arguments.memory, dashboard_address=None
    ) as cluster, Client(cluster) as client:
        if not source.exists():
            noise = da.random.default_rng(1).random(arguments.shape, chunks=arguments.blocks)
            noise.astype("float32").to_zarr(str(source))
        volume = da.from_zarr(str(source))
        begin = time.perf_counter()
        running = clcook.dask.gaussian_blur(volume, arguments.sigma).to_zarr(
            str(soft), compute=False, overwrite=True
        )
        running = client.persist(running)
        progress(running, notebook=False)
        running.compute()
        seconds = time.perf_counter() - begin
        print(f"\n{volume.nbytes / 1e6:.0f} MB, {volume.npartitions} blocks: {seconds:.1f} s")

    if arguments.check:
        from scipy.ndimage import gaussian_filter

        expected = gaussian_filter(
            np.asarray(da.from_zarr(str(source)), np.float64), arguments.sigma, mode="nearest"
        )
        error = np.abs(np.asarray(da.from_zarr(str(soft))) - expected).max()
        print(f"The largest distance to scipy's result is {error:.1e}")
        assert error < 1e-3


if __name__ == "__main__":
    main()
