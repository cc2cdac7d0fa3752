"""The files of well-known data sets, read into arrays: MNIST, CIFAR-10, and texts for models of characters.

The programs beside this one use data that are made by a seed or come with scikit-learn. Who has the real files gives
their paths to these functions; nothing is fetched. Images come as a network takes them: float32 numbers from 0 to 1 of
shape ``(n, channels, height, width)``, and labels as integers of shape ``(n,)``.
"""

import gzip
from pathlib import Path

import numpy as np

IDX = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
RECORD = 1 + 3 * 32 * 32  # of CIFAR-10: a label, and the pixels of three channels


def idx(path):
    """The array in an idx file, the format of MNIST; a name that ends in .gz is of a compressed one.

    Two zeros, the type, the rank, and each length in four bytes stand in front of the entries; all is big-endian.
    """
    data = gzip.decompress(Path(path).read_bytes()) if str(path).endswith(".gz") else Path(path).read_bytes()
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in IDX:
        raise ValueError(f"{path} is no idx file: it begins with {data[:4]!r}")
    dtype, start = np.dtype(IDX[data[2]]), 4 + 4 * data[3]
    shape = tuple(np.frombuffer(data[4:start], ">i4").tolist())
    wanted = start + dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    if len(shape) != data[3] or len(data) != wanted:
        raise ValueError(f"{path} has {len(data)} bytes, and an array of shape {shape} has {wanted}")
    return np.frombuffer(data, dtype, offset=start).reshape(shape).astype(dtype.newbyteorder("="))


def mnist(folder):
    """``(images, labels)`` for training, and for testing, from the four files of MNIST under their own names.

    Fashion-MNIST, and whatever else comes in four files of these names, is read as well.
    """
    return tuple(_pair(Path(folder), part) for part in ("train", "t10k"))


def cifar10(*paths):
    """``(images, labels)`` from files of CIFAR-10's binary version, such as ``data_batch_1.bin``, in their order."""
    parts = []
    for path in paths:
        data = np.fromfile(path, np.uint8)
        if data.size == 0 or data.size % RECORD or data[::RECORD].max() > 9:
            raise ValueError(
                f"{path} is no file of CIFAR-10: that has images of {RECORD} bytes, with labels from 0 to 9"
            )
        parts.append(data.reshape(-1, RECORD))
    records = np.concatenate(parts)
    return _scaled(records[:, 1:].reshape(-1, 3, 32, 32)), records[:, 0].astype(np.int64)


def characters(path):
    """A text as numbers, such as Tiny Shakespeare's ``input.txt`` or ``text8``, and the characters they stand for."""
    with open(path, encoding="utf-8", newline="") as file:
        points = np.frombuffer(file.read().encode("utf-32-le"), "<u4")
    if points.size == 0:
        raise ValueError(f"{path} is empty")
    alphabet, numbers = np.unique(points, return_inverse=True)
    return numbers, [chr(point) for point in alphabet]


def _pair(folder, part):
    images, labels = (idx(_found(folder, f"{part}-{kind}")) for kind in ("images-idx3-ubyte", "labels-idx1-ubyte"))
    if images.ndim != 3 or labels.shape != images.shape[:1]:
        raise ValueError(f"{folder} has images of shape {images.shape} and labels of shape {labels.shape} for {part}")
    return _scaled(images[:, np.newaxis]), labels.astype(np.int64)


def _found(folder, name):
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            return path
    raise FileNotFoundError(f"there is neither {name} nor {name}.gz in {folder}")


def _scaled(pixels):
    return pixels.astype(np.float32) / 255
