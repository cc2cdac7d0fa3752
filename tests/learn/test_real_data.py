"""The readers of real files, on tiny files in their formats."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
import make_gallery

real_data = make_gallery.program("real_data", make_gallery.LESSONS)


def idx_bytes(array, kind):
    """An array as an idx file has it, by hand: two zeros, the type, the rank, the lengths, the entries."""
    lengths = b"".join(n.to_bytes(4, "big") for n in array.shape)
    return bytes([0, 0, kind, array.ndim]) + lengths + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.mark.parametrize(
    "kind, dtype", [(8, np.uint8), (9, np.int8), (11, np.int16), (12, np.int32), (13, np.float32), (14, np.float64)]
)
@pytest.mark.parametrize("name", ["a", "a.gz"])
def test_an_idx_file_of_each_type(tmp_path, kind, dtype, name):
    array = (np.arange(12).reshape(2, 3, 2) * 10 - (0 if dtype is np.uint8 else 50)).astype(dtype)
    data = idx_bytes(array, kind)
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    found = real_data.idx(tmp_path / name)
    assert found.dtype == dtype and found.dtype.isnative and np.array_equal(found, array) and found.flags.writeable


@pytest.mark.parametrize(
    "data, told",
    [
        (b"", "no idx file"),
        (b"\x89PNG....", "no idx file"),
        (b"\0\0\x07\1\0\0\0\1a", "no idx file"),
        (b"\0\0\x08\1\0\0\0\3ab", "has 10 bytes, and an array of shape \\(3,\\) has 11"),
        (b"\0\0\x08\1\0\0\0\1ab", "has 10 bytes"),
        (b"\0\0\x08\2\0\0\0\1", "has 8 bytes"),
    ],
)
def test_what_is_no_idx_file_is_refused(tmp_path, data, told):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(ValueError, match=told):
        real_data.idx(tmp_path / "a")


def write_mnist(folder, images, labels, part, pack=False):
    for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
        data = idx_bytes(array, 8)
        path = folder / f"{part}-{kind}-ubyte{'.gz' * pack}"
        path.write_bytes(gzip.compress(data) if pack else data)


def test_the_folder_of_mnist(tmp_path):
    images = np.random.default_rng(0).integers(256, size=(3, 28, 28)).astype(np.uint8)
    labels = np.array([5, 0, 9], np.uint8)
    write_mnist(tmp_path, images, labels, "train")
    with pytest.raises(FileNotFoundError, match="t10k-images-idx3-ubyte"):
        real_data.mnist(tmp_path)
    write_mnist(tmp_path, images[:2], labels[:2], "t10k", pack=True)
    (x, y), (x_test, y_test) = real_data.mnist(str(tmp_path))
    assert x.shape == (3, 1, 28, 28) and x.dtype == np.float32 and y.dtype == np.int64
    assert np.array_equal(np.rint(255 * x[:, 0]), images) and x.max() <= 1 and y.tolist() == [5, 0, 9]
    assert np.array_equal(x_test, x[:2]) and y_test.tolist() == [5, 0]
    write_mnist(tmp_path, images, labels[:2], "train")
    with pytest.raises(ValueError, match="images of shape \\(3, 28, 28\\) and labels of shape \\(2,\\) for train"):
        real_data.mnist(tmp_path)


def test_files_of_cifar10(tmp_path):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(256, size=(3, 3, 32, 32)).astype(np.uint8), [7, 0, 9]
    records = [bytes([label]) + image.tobytes() for label, image in zip(labels, images)]  # red, green, blue; by rows
    (tmp_path / "one.bin").write_bytes(records[0] + records[1])
    (tmp_path / "two.bin").write_bytes(records[2])
    x, y = real_data.cifar10(tmp_path / "one.bin", tmp_path / "two.bin")
    assert x.dtype == np.float32 and np.array_equal(np.rint(255 * x), images) and y.tolist() == labels
    for data in (b"", records[0][:-1], b"\x0a" + records[0][1:]):
        (tmp_path / "two.bin").write_bytes(data)
        with pytest.raises(ValueError, match="is no file of CIFAR-10"):
            real_data.cifar10(tmp_path / "two.bin")


def test_a_text(tmp_path):
    text = "First Citizen:\r\nSpeak, Zoë! \U0001f426\n"
    (tmp_path / "input.txt").write_bytes(text.encode())
    numbers, alphabet = real_data.characters(tmp_path / "input.txt")
    assert "".join(alphabet[k] for k in numbers) == text and alphabet == sorted(set(text))
    (tmp_path / "input.txt").write_bytes(b"")
    with pytest.raises(ValueError, match="is empty"):
        real_data.characters(tmp_path / "input.txt")
