"""What the measurements of training steps share: networks of PyTorch with the weights of ours, and turns."""

import math
import time

import numpy as np

from examples.models import gnmt, ncf, resnet
from tangentc import learn
from tangentc.learn import functions as F

TURNS = 9


class Torch:
    """Makes networks of PyTorch with copies of our arrays, which ``parameters`` has by the places of ours in memory."""

    def __init__(self, device="cpu"):
        import torch

        self.torch, self.device, self.parameters = torch, device, {}
        nn = torch.nn
        self.functions = {
            F.relu: nn.ReLU, F.tanh: nn.Tanh, learn.flatten: nn.Flatten,
            F.global_average_pool: lambda: nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        }  # fmt: skip
        self.classes = {
            learn.Sequential: lambda m: nn.Sequential(*map(self.of, m.layers)), learn.Conv: self.conv,
            learn.BatchNorm: self.norm,
            learn.Linear: self.linear, learn.LSTM: self.lstm, resnet.Block: self.block,
            learn.Dropout: lambda m: nn.Dropout(m.rate if m.training else 0.0),
            learn.MaxPool: lambda m: nn.MaxPool2d(m.size, m.stride, m.padding),
            learn.Embedding: lambda m: self.filled(nn.Embedding(*m.table.shape), m, weight="table"),
        }  # fmt: skip

    def of(self, layer):
        """The module for one of our layers, or for a function."""
        found = self.functions.get(layer) if callable(layer) and not hasattr(layer, "__dataclass_fields__") else None
        return found() if found else self.classes[type(layer)](layer)

    def parameter(self, array):
        """An array of ours as a parameter."""
        held = self.torch.tensor(np.array(getattr(array, "get", lambda: array)()), device=self.device)
        self.parameters[id(array)] = self.torch.nn.Parameter(held)
        return self.parameters[id(array)]

    def filled(self, module, layer, *names, **others):
        """The module with parameters from the layer, of the same names or of others."""
        for name, ours in {**dict(zip(names, names)), **others}.items():
            if getattr(layer, ours) is not None:
                setattr(module, name, self.parameter(getattr(layer, ours)))
        return module.to(self.device)

    def conv(self, m):
        out, depth, *kernel = m.weight.shape
        made = self.torch.nn.Conv2d(
            depth * m.groups, out, kernel, m.stride, m.padding, m.dilation, m.groups, m.bias is not None
        )
        return self.filled(made, m, "weight", "bias")

    def norm(self, m):
        dtype = getattr(self.torch, str(m.weight.dtype))
        return self.filled(self.torch.nn.BatchNorm2d(len(m.weight), dtype=dtype), m, "weight", "bias")

    def linear(self, m):
        return self.filled(self.torch.nn.Linear(*m.weight.shape[::-1], m.bias is not None), m, "weight", "bias")

    def lstm(self, m):
        units, features = m.w_hidden.shape[1], m.w_in.shape[1]
        names = {"weight_ih_l0": "w_in", "weight_hh_l0": "w_hidden", "bias_ih_l0": "b_in", "bias_hh_l0": "b_hidden"}
        return self.filled(self.torch.nn.LSTM(features, units, batch_first=True), m, **names)

    def block(self, m):
        torch, inner, short = self.torch, self.of(m.inner), self.of(m.short) if m.short else None

        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner, self.short = inner, short

            def forward(self, x):
                return torch.relu(self.inner(x) + (x if self.short is None else self.short(x)))

        return Block()

    def gnmt(self, model):
        """The loss of `gnmt.GNMT`, as a function of a batch."""
        torch, T = self.torch, self.torch.nn.functional
        e, d = model.encoder, model.decoder
        tables, ways = [self.of(e.table), self.of(d.table)], [self.of(e.forth), self.of(e.back)]
        above = [[self.of(layer) for layer in (side.second, *side.rest)] for side in (e, d)]
        first, logits, see = d.first, self.of(d.logits), self.attention(d.attention)
        cell = [self.parameter(a) for a in (first.w_in, first.w_hidden, first.b_in, first.b_hidden)]

        def encoded(source):
            x = tables[0](source)
            x = above[0][0](torch.cat([ways[0](x)[0], ways[1](x.flip(1))[0].flip(1)], -1))[0]
            for layer in above[0][1:]:
                x = x + layer(x)[0]
            return x

        def loss(source, target):
            memory, x = encoded(source), tables[1](target[:, :-1])
            keys, states, seen = see.key(memory), [], []
            h = c = torch.zeros_like(memory[:, 0])
            for t in range(x.shape[1]):
                seen.append(see(h, keys, memory))
                h, c = torch.lstm_cell(torch.cat([x[:, t], seen[-1]], -1), (h, c), *cell)
                states.append(h)
            seen = torch.stack(seen, 1)
            x = above[1][0](torch.cat([torch.stack(states, 1), seen], -1))[0]
            for layer in above[1][1:]:
                x = x + layer(torch.cat([x, seen], -1))[0]
            return T.cross_entropy(logits(x).flatten(0, -2), target[:, 1:].flatten())

        return loss

    def attention(self, m):
        """`gnmt.Attention`, as a module."""
        torch, query, key, v = self.torch, self.of(m.query), self.of(m.key), self.parameter(m.v)

        class Attention(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.query, self.key, self.v = query, key, v

            def forward(self, h, keys, memory):
                weights = torch.softmax(torch.tanh(self.query(h)[:, None] + keys) @ self.v, -1)
                return (weights[:, None] @ memory)[:, 0]

        return Attention()

    def ncf(self, m):
        """The loss of `ncf.NeuMF`, as a function of a batch."""
        torch, last = self.torch, self.parameter(m.last)
        users, items, wide_users, wide_items, hidden = map(
            self.of, (m.users, m.items, m.wide_users, m.wide_items, m.hidden)
        )

        def loss(u, i, wanted):
            deep = hidden(torch.cat([wide_users(u), wide_items(i)], -1))
            found = torch.cat([users(u) * items(i), deep], -1) @ last
            return torch.nn.functional.binary_cross_entropy_with_logits(found, wanted)

        return loss

    def loss(self, model):
        """The loss of a model, as a function of a batch: of images and labels unless it is known here."""
        if isinstance(model, (gnmt.GNMT, ncf.NeuMF)):
            return (self.gnmt if isinstance(model, gnmt.GNMT) else self.ncf)(model)
        return self.classified(self.of(model))

    def classified(self, net):
        """The cross-entropy of what a network says, as a function of a batch."""
        T = self.torch.nn.functional
        return lambda x, labels: T.cross_entropy(net(x).flatten(0, -2), labels.flatten())

    def step(self, loss, batch, rate=None):
        """A function that runs both sweeps on a batch, and with a rate moves what has been made here."""
        torch = self.torch
        torch.set_num_threads(1)
        batch = [torch.tensor(getattr(a, "get", lambda a=a: a)(), device=self.device) for a in batch]
        made = list(self.parameters.values())
        optimiser = torch.optim.SGD(made, rate or 0.0)

        def run():
            optimiser.zero_grad()
            loss(*batch).backward()
            if rate:
                optimiser.step()
            if self.device != "cpu":
                torch.cuda.synchronize()

        return run


def loss(model, x, labels):
    return F.cross_entropy(model(x), labels)


def seconds(f):
    begun = time.perf_counter()
    f()
    return time.perf_counter() - begun


def measured(name, size, ours, theirs, turns=TURNS):
    """Print the times of one step of each, in turns of which the first two do not count, and give their ratio."""
    compiling, _ = seconds(ours), theirs and theirs()
    times = [(seconds(ours), seconds(theirs) if theirs else math.nan) for _ in range(turns)]
    own, other = (np.median(each) * 1e3 for each in zip(*times[1:]))
    ratio = float(np.median([a / b for a, b in times[1:]]))
    print(f"{name:12} {size:>12,} {own:9.1f} ms {other:9.1f} ms {ratio:7.2f} {compiling:9.1f} s", flush=True)
    return ratio


def table(names, measure):
    """Print the times of all, and the geometric mean of their ratios."""
    print(f"{'':12} {'parameters':>12} {'ours':>12} {'PyTorch':>12} {'ratio':>7} {'first call':>11}")
    ratios = [measure(name) for name in names]
    if not any(map(math.isnan, ratios)):
        print(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
