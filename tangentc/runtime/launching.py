"""Launches of kernels on a device."""


def launch(kernel, trips, given, written):
    """Run a kernel whose threads share up to three loops with so many trips, those that run along memory first; the
    first ``written`` arrays of what it is given are written into."""
    if min(trips) > 0:
        block = ((256,), (32, 8), (32, 4, 2))[len(trips) - 1]
        most = (2**31 - 1, 65535, 65535)
        grid = tuple(min(-(-n // threads), limit) for n, threads, limit in zip(trips, block, most, strict=False))
        in_order(kernel, grid, block, given, written)


def launch_rows(kernel, trips, given, written):
    """Run a kernel of which a block of threads shares each row: ``trips`` are how long a row is, then how many there
    are."""
    width, *rows = trips
    if min(rows) > 0:
        block = min(max(-(-width // 32) * 32, 32), 256)
        most = (2**31 - 1, 65535, 65535)
        in_order(kernel, tuple(map(min, rows, most)), (block,), given, written)


def in_order(kernel, grid, block, given, written):
    """Run a kernel on arrays that lie in memory row by row; others are copied so first, and back if they are
    written."""
    own = [x if not getattr(x, "shape", ()) or x.flags.c_contiguous else x.copy(order="C") for x in given]
    kernel(grid, block, tuple(own))
    for x, y in zip(given[:written], own, strict=False):
        if x is not y:
            x[...] = y
