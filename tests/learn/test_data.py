"""Sources of samples, and the batches of a loader."""

import json
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest

from tangentc.errors import BadArgument
from tangentc.learn.data import BadSample, Loader, cached, mapped, read_csv, split

X = np.random.default_rng(1).normal(size=(23, 3)).astype(np.float32)
Y = np.arange(23)


class Squares:
    """Samples by number."""

    def __init__(self, n=10):
        self.n, self.made = n, []

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        self.made.append(k)
        return {"x": np.full(2, float(k)), "y": k * k}


@dataclass
class Pictures:
    images: np.ndarray
    labels: np.ndarray


def noisy(sample, rng):
    x, y = sample
    return x + rng.normal(size=x.shape), y


def rows_of(loader):
    return [[np.asarray(part).tolist() for part in batch] for batch in loader]


# ---------------------------------------------------------- batches
def test_an_epoch_has_each_sample_once_and_rows_stay_together():
    loader = Loader((X, Y), batch=5, shuffle=True, seed=3)
    batches = list(loader)
    assert len(batches) == len(loader) == 5
    assert [len(y) for _, y in batches] == [5, 5, 5, 5, 3]
    assert sorted(np.concatenate([y for _, y in batches])) == list(range(23))
    for x, y in batches:
        assert x.dtype == np.float32
        np.testing.assert_array_equal(x, X[y])


def test_the_order_depends_on_seed_and_epoch_alone():
    first, second = Loader((X, Y), 5, shuffle=True, seed=3), Loader((X, Y), 7, shuffle=True, seed=3)
    one, two = [np.concatenate([y for _, y in loader]).tolist() for loader in (first, second)]
    assert one == two
    assert np.concatenate([y for _, y in first]).tolist() != one
    other = Loader((X, Y), 5, shuffle=True, seed=4)
    assert np.concatenate([y for _, y in other]).tolist() != one


def test_without_shuffling_the_order_is_that_of_the_data_in_each_epoch():
    loader = Loader(Y, batch=10)
    for _ in range(2):
        assert np.concatenate(list(loader)).tolist() == list(range(23))


@pytest.mark.parametrize("shuffle", [False, True])
def test_batches_may_be_changed_in_place(shuffle):
    data = np.ones((8, 2))
    for batch in Loader(data, 4, shuffle=shuffle):
        batch *= 0.0
    for batch in Loader(data, 4, shuffle=shuffle).map(lambda x: x.__imul__(0.0)):
        assert not batch.any()
    assert data.all()


def test_the_last_batch_is_dropped_or_filled_up():
    assert [len(y) for y in Loader(Y, 5, last="drop")] == [5, 5, 5, 5]
    batches = list(Loader(Y, 5, last="pad"))
    assert len(batches) == 5 and all(len(y) == len(real) == 5 for y, real in batches)
    assert batches[-1][0].tolist() == [20, 21, 22, 0, 1]
    assert batches[-1][1].tolist() == [True, True, True, False, False]
    assert all(real.all() for _, real in batches[:-1])
    ((y, real),) = Loader(np.arange(2), 5, last="pad")
    assert y.tolist() == [0, 1, 0, 1, 0] and real.tolist() == [True, True, False, False, False]


def test_padding_is_real_rows_of_the_shuffled_order_and_marked_in_shards_too():
    whole = list(Loader(Y, 6, shuffle=True, last="pad"))
    order = np.concatenate([y for y, _ in whole])
    assert order[23:].tolist() == order[:1].tolist()
    parts = [list(Loader(Y, 6, shuffle=True, last="pad").shard(rank, 3)) for rank in range(3)]
    for k, (y, real) in enumerate(whole):
        assert np.concatenate([part[k][0] for part in parts]).tolist() == y.tolist()
        assert np.concatenate([part[k][1] for part in parts]).tolist() == real.tolist()


# ---------------------------------------------------------- sources
def test_trees_of_arrays_keep_their_form():
    batch = next(iter(Loader({"x": X, "more": (Y, Y + 1)}, 4)))
    assert list(batch) == ["x", "more"] and batch["more"][1].tolist() == [1, 2, 3, 4]
    batch = next(iter(Loader(Pictures(X, Y), 4)))
    assert type(batch) is Pictures and batch.labels.tolist() == [0, 1, 2, 3]


def test_samples_by_number_are_stacked():
    data = Squares()
    batches = list(Loader(data, 4))
    assert batches[1]["x"].shape == (4, 2) and batches[1]["y"].tolist() == [16, 25, 36, 49]
    assert data.made == list(range(10)) and all(type(k) is int for k in data.made)
    pairs = [(np.ones(2) * k, k, {"z": 2.0 * k}) for k in range(5)]
    x, k, more = list(Loader(pairs, 3))[1]
    assert x.tolist() == [[3.0, 3.0], [4.0, 4.0]] and k.tolist() == [3, 4] and more["z"].tolist() == [6.0, 8.0]


@pytest.mark.parametrize(
    "samples, number, said",
    [
        ([np.ones(2), np.ones(3)], 1, r"float64\[3\]"),
        ([np.ones(2), np.ones(2, np.float32)], 1, "float32"),
        ([1, 2, 3.0], 2, "float64"),
        ([(1, 2), (1, 2), (1,)], 2, "tuple of 0"),
        ([{"a": 1}, {"b": 1}], 1, "dict of b"),
        ([None, None], 0, "no array"),
        ([np.ones(2), np.ma.masked_equal(np.ones(2), 0.0)], 1, "MaskedArray, which is no array"),
    ],
)
def test_samples_of_several_forms_are_refused_by_number(samples, number, said):
    with pytest.raises(BadSample, match=said) as caught:
        list(Loader(samples, 3))
    assert caught.value.index == number and f"sample {number} " in str(caught.value)


@pytest.mark.parametrize(
    "data, said",
    [
        ((X, Y[:-1]), "22 rows"),
        ((X, [1, 2]), "1.0 is .*int"),
        ((X, np.array(1.0)), "rank 0"),
        (np.array([None, 1]), "dtype object"),
        (np.ma.masked_equal(X, 0.0), "MaskedArray"),
        (np.ones((0, 2)), "no samples"),
        ([], "no samples"),
        ({}, "no array"),
        (3.0, "float"),
    ],
)
def test_what_is_no_source_is_refused(data, said):
    with pytest.raises(BadArgument, match=said):
        Loader(data, 4)


@pytest.mark.parametrize(
    "options, said",
    [
        ({"batch": 0}, "batch=0"),
        ({"batch": True}, "batch=True"),
        ({"batch": 4, "last": "fill"}, "keep"),
        ({"batch": 4, "seed": -1}, "seed=-1"),
        ({"batch": 24, "last": "drop"}, "only batch is dropped"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, said):
    with pytest.raises(BadArgument, match=said):
        Loader(Y, **options)


# ---------------------------------------------------------- files
def test_mapped_arrays_give_the_same_batches(tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "both.npz", x=np.asfortranarray(X), y=Y, none=np.ones((0, 2)))
    both = mapped(tmp_path / "both.npz")
    assert isinstance(both["x"], np.memmap) and sorted(both) == ["none", "x", "y"] and both["none"].shape == (0, 2)
    assert isinstance(mapped(tmp_path / "x.npy"), np.memmap)
    want = rows_of(Loader((X, Y), 5, shuffle=True))
    assert rows_of(Loader((mapped(tmp_path / "x.npy"), Y), 5, shuffle=True)) == want
    loader = Loader((both["x"], both["y"]), 5, shuffle=True)
    assert rows_of(loader) == want
    batch, _ = next(iter(loader))
    assert type(batch) is np.ndarray and batch.flags.writeable


def test_what_cannot_be_mapped_is_refused(tmp_path):
    np.savez_compressed(tmp_path / "small.npz", x=X)
    with pytest.raises(BadArgument, match="(?s)x.npy of .*compressed"):
        mapped(tmp_path / "small.npz")
    np.save(tmp_path / "objects.npy", np.array([None]), allow_pickle=True)
    with pytest.raises(BadArgument, match="objects of Python"):
        mapped(tmp_path / "objects.npy")
    np.save(tmp_path / "x.npy", X)
    whole = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(whole[:-40])
    with pytest.raises(BadArgument, match="cannot be mapped"):
        mapped(tmp_path / "x.npy")
    (tmp_path / "text.npy").write_text("1,2,3")
    with pytest.raises(BadArgument, match="magic"):
        mapped(tmp_path / "text.npy")


def test_columns_of_text(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b'\xef\xbb\xbfa,"b, c",kind\r\n1,2.5,x\r\n\r\n3,,"two\nlines"\r\n')
    data = read_csv(path, types={"a": np.int32, "kind": str, "b, c": np.float32}, missing=np.nan)
    assert data["a"].dtype == np.int32 and data["a"].tolist() == [1, 3]
    assert data["b, c"].dtype == np.float32 and np.isnan(data["b, c"][1]) and data["kind"][1] == "two\nlines"
    assert list(read_csv(path, columns=["a"])) == ["a"]
    path.write_text("1;2\n3;4\n")
    assert read_csv(path, names=["u", "v"], delimiter=";")["v"].tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    "text, options, said",
    [
        ("a,b\n1,2\n3\n", {}, "line 3 .* has 1 fields"),
        ("a,b\n1,2\n3,x\n", {}, "'x' in column 'b', line 3"),
        ("a,b\n1,2\n3,\n", {}, "'' in column 'b', line 3"),
        ("a,b\n1,1_0\n", {}, "'1_0' in column 'b', line 2"),
        ("a,b\n1,2.5\n", {"types": {"b": int}}, "'2.5' in column 'b', line 2"),
        ("a,b\n1,300\n", {"types": {"b": np.uint8}}, "'300' in column 'b', line 2"),
        ("a,b\n1,True\n", {"types": {"b": bool}}, "'True' in column 'b', line 2"),
        ("a,a\n1,2\n", {}, "twice column 'a'"),
        ("a,b\n1,2\n", {"columns": ["c"]}, "no column 'c'"),
        ("a,b\n1,2\n", {"types": {"c": int}}, "no column 'c'"),
        ('a,b\n1,"2\n', {}, "line 2 .* cannot be read"),
    ],
)
def test_text_that_is_no_table_is_refused_by_line(tmp_path, text, options, said):
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(BadArgument, match=said):
        read_csv(path, **options)


# ---------------------------------------------------------- parts
def test_a_split_shares_out_all_samples(tmp_path):
    for data in ((X, Y), Squares(23)):
        parts = split(data, [0.5, 0.3, 0.2], seed=1)
        assert [len(part[1] if isinstance(part, tuple) else part) for part in parts] == [12, 6, 5]
        labels = [
            np.concatenate([b[1] if isinstance(part, tuple) else np.sqrt(b["y"]) for b in Loader(part, 4)])
            for part in parts
        ]
        assert sorted(np.concatenate(labels).astype(int)) == list(range(23))
    again = split((X, Y), [0.5, 0.3, 0.2], seed=1)
    assert [a[1].tolist() for a in again] == [a[1].tolist() for a in split((X, Y), [0.5, 0.3, 0.2], seed=1)]
    assert split(Y, [0.5, 0.5], seed=None)[0].tolist() == list(range(12))
    np.savez(tmp_path / "both.npz", x=X, y=Y)
    some, rest = split(mapped(tmp_path / "both.npz"), [0.5, 0.5], seed=2)
    deeper, _ = split(some, [0.5, 0.5], seed=2)
    assert len(some) == 12 and len(deeper) == 6
    for batch in Loader(deeper, 4, shuffle=True):
        np.testing.assert_array_equal(batch["x"], X[batch["y"]])
    labels = np.concatenate([b["y"] for part in (some, rest) for b in Loader(part, 4)])
    assert sorted(labels) == list(range(23))


@pytest.mark.parametrize("fractions", [[0.5, 0.4], [1.5, -0.5], [], [0.999, 0.001]])
def test_fractions_that_do_not_share_out_are_refused(fractions):
    with pytest.raises(BadArgument):
        split(Y, fractions)


# ---------------------------------------------------------- shards
@pytest.mark.parametrize("last", ["drop", "pad"])
def test_shards_together_are_the_batch_of_one_process(last):
    whole = list(Loader((X, Y), 8, shuffle=True, last=last).map(noisy))
    parts = [list(Loader((X, Y), 8, shuffle=True, last=last).map(noisy).shard(rank, of=2)) for rank in range(2)]
    assert len(whole) == len(parts[0]) == len(parts[1]) == (2 if last == "drop" else 3)
    for k, batch in enumerate(whole):
        mine = [part[k][0] if last == "pad" else part[k] for part in parts]
        want = batch[0] if last == "pad" else batch
        for place in range(2):
            np.testing.assert_array_equal(np.concatenate([m[place] for m in mine]), want[place])
            assert len(mine[0][place]) == len(mine[1][place]) == 4


def test_shards_of_other_sizes_are_refused():
    with pytest.raises(BadArgument, match="3 equal parts"):
        Loader(Y, 8, last="drop").shard(0, 3)
    with pytest.raises(BadArgument, match="batch of 7 samples has no 2"):
        Loader(Y, 8).shard(0, 2)
    with pytest.raises(BadArgument, match="rank 2"):
        Loader(Y, 8, last="drop").shard(2, 2)


# ---------------------------------------------------------- states
@pytest.mark.parametrize("ahead", [0, 3])
@pytest.mark.parametrize("last", ["keep", "pad"])
def test_a_state_in_the_middle_of_an_epoch_gives_the_same_batches(ahead, last):
    def made():
        return Loader((X, Y), 4, shuffle=True, seed=5, last=last).map(noisy).prefetch(ahead)

    loader, want, states = made(), [], []
    for _ in range(3):
        for batch in loader:
            want.append(repr(batch))
            states.append(json.dumps(loader.state()))
    for done in (0, 2, 5, 6, 11):
        other = made()
        other.resume(json.loads(states[done]))
        got = [repr(batch) for _ in range(3) for batch in other]
        assert got[: len(want) - done - 1] == want[done + 1 :]


def test_a_state_of_another_loader_is_refused():
    state = Loader((X, Y), 4, shuffle=True).state()
    for other in (Loader((X, Y), 5, shuffle=True), Loader((X, Y), 4), Loader(X[:-1], 4, shuffle=True)):
        with pytest.raises(BadArgument, match="does not fit"):
            other.resume(state)
    with pytest.raises(BadArgument, match="no batch 9"):
        Loader((X, Y), 4, shuffle=True).resume({**state, "batch": 9})


def test_a_loop_that_is_left_is_followed_by_the_next_epoch_unless_it_is_resumed():
    epochs = Loader(Y, 5, shuffle=True)
    want = [[y.tolist() for y in epochs] for _ in range(2)]
    loader = Loader(Y, 5, shuffle=True)
    next(iter(loader))
    state = loader.state()
    assert (state["epoch"], state["batch"]) == (0, 1)
    assert [y.tolist() for y in loader] == want[1]
    loader.resume(state)
    assert [y.tolist() for y in loader] == want[0][1:]
    assert [y.tolist() for y in loader] == want[1]


def test_a_loop_that_was_never_begun_is_no_epoch():
    loader = Loader(Y, 5, shuffle=True)
    iter(loader)
    assert loader.state()["epoch"] == 0
    assert [y.tolist() for y in loader] == [y.tolist() for y in Loader(Y, 5, shuffle=True)]


def test_an_old_loop_does_not_move_the_state():
    loader = Loader(Y, 5)
    old, new = iter(loader), iter(loader)
    next(new)
    next(old), next(old)
    assert loader.state()["batch"] == 1


# ---------------------------------------------------------- caches
def doubled(sample):
    CALLS.append(sample["y"])
    return {"x": 2.0 * sample["x"], "y": sample["y"]}


CALLS: list = []


def test_a_cache_is_made_once_and_read_as_arrays(tmp_path):
    want = [{k: v.tolist() for k, v in batch.items()} for batch in Loader(Squares(100), 8, shuffle=True).map(doubled)]
    CALLS.clear()
    for again in range(3):
        data = cached(Squares(100), doubled, folder=tmp_path / "kept")
        assert isinstance(data["x"], np.memmap)
        assert [{k: v.tolist() for k, v in batch.items()} for batch in Loader(data, 8, shuffle=True)] == want
        assert len(CALLS) == 100 + 8 * (again + 1)  # the few that are looked at each time
    in_memory = cached(Squares(100), doubled)
    assert not isinstance(in_memory["x"], np.memmap)
    np.testing.assert_array_equal(in_memory["x"], data["x"])
    assert not list((tmp_path / "kept").glob("partial-*"))
    for file in (tmp_path / "kept").rglob("*.npy"):
        np.load(file, allow_pickle=False)


def test_a_stale_cache_is_not_read(tmp_path):
    class Others(Squares):
        def __getitem__(self, k):
            return {"x": np.full(2, -float(k)), "y": k * k}

    one = cached(Squares(20), doubled, folder=tmp_path)
    assert cached(Others(20), doubled, folder=tmp_path)["x"][3].tolist() == [-6.0, -6.0]
    assert len(cached(Squares(19), doubled, folder=tmp_path)["x"]) == 19
    assert cached(Squares(20), lambda s: s, folder=tmp_path)["x"][3].tolist() == [3.0, 3.0]
    cached(Squares(20), doubled, folder=tmp_path, key="2")
    data = np.arange(40.0)
    cached(data, folder=tmp_path)
    changed = data.copy()
    changed[1] = -1.0  # none of those that are looked at
    assert cached(changed, folder=tmp_path)[1] == -1.0
    assert len(list(tmp_path.iterdir())) == 7
    assert one["x"][3].tolist() == [6.0, 6.0]


KILLED = """
import os, signal, sys
import numpy as np
from tangentc.learn.data import cached

def f(x):
    if x == 70.0:
        os.kill(os.getpid(), signal.SIGKILL)
    return x * 2.0

cached(np.arange(1000.0), f, folder=sys.argv[1], key="k")
"""


def test_a_cache_whose_making_is_killed_is_not_read(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert [p.name.split("-")[0] for p in tmp_path.iterdir()] == ["partial"]
    data = cached(np.arange(1000.0), lambda x: x * 2.0, folder=tmp_path, key="k")
    assert data.tolist() == (2.0 * np.arange(1000.0)).tolist()


def test_two_that_make_one_cache_at_once(tmp_path):
    def make():
        made.append(cached(np.arange(500.0), slowly, folder=tmp_path))

    made: list = []
    threads = [threading.Thread(target=make) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(list(tmp_path.iterdir())) == 1 and len(made) == 3
    assert all(data.tolist() == np.arange(500.0).tolist() for data in made)


def slowly(x):
    time.sleep(0.0002)
    return x


def test_a_cache_that_fails_leaves_nothing(tmp_path):
    def failing(sample):
        if sample["y"] == 49:
            raise OSError("no such picture")
        return sample

    with pytest.raises(BadSample, match="no such picture") as caught:
        cached(Squares(100), failing, folder=tmp_path)
    assert caught.value.index == 7 and not list(tmp_path.iterdir())
    with pytest.raises(BadSample, match="another form, shape or dtype"):
        cached([np.ones(2 + (64 <= k < 128)) for k in range(1000)], folder=tmp_path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(BadArgument, match="random"):
        cached((X, Y), noisy)
