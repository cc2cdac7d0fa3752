"""What was measured, as a record for JSON and as tables in Markdown."""

import math
import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles

from .tools import CALLS, NEEDS, version_of

OTHERS = CALLS[1:]
WORDS = {"1": "One thread", "2": "Two threads"}
REGION = re.compile(r"(<!-- measured -->\n).*?(<!-- end of what was measured -->)", re.S)


def surroundings():
    """The machine and how busy it was before, the versions and the date."""
    cpu = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", cpu.read_text()) if cpu.exists() else []
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {
            "Python": platform.python_version(),
            "NumPy": version_of("by hand"),
            **{tool: version_of(tool) for tool in NEEDS if tool != "by hand"},
        },
    }


def quartiles(values):
    """The lower quartile, the median and the upper quartile."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    return tuple(quantiles(values, n=4, method="inclusive"))


def ratios(found, call):
    """A call's time over that by hand, of the same round; empty where there is none."""
    mine, by_hand = (found.get(c, {}).get("seconds", []) for c in (call, "by hand"))
    return [a / b for a, b in zip(mine, by_hand)]


def mean_ratio(workloads, call):
    """The geometric mean of the medians over the workloads that the call has, and how many these are."""
    medians = [median(r) for r in (ratios(found, call) for found in workloads.values()) if r]
    return (math.exp(sum(map(math.log, medians)) / len(medians)), len(medians)) if medians else (None, 0)


def markdown(record):
    """All tables of a record."""
    about = record["about"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items() if version)
    machine = f"{about['processor']}, {about['cores']} cores, {about['system']}"
    load = f"; load average {about['load']} before" if about.get("load") is not None else ""
    lines = [f"{about['date']}, {machine}{load}; {versions}.", ""]
    for threads, workloads in record["threads"].items():
        lines += [f"### {WORDS.get(threads, threads + ' threads')}", ""]
        lines += [*times(workloads), ""]
    first = next(iter(record["threads"].values()))
    return "\n".join([*lines, "### Compile time and memory, one thread", "", *costs(first)])


def times(workloads):
    """A row for each workload: the time by hand, and the others' as multiples of it, with quartiles."""
    yield "| | by hand | " + " | ".join(OTHERS) + " |"
    yield "|---" * (2 + len(OTHERS)) + "|"
    for name, found in workloads.items():
        cells = [_cell(found, call) for call in OTHERS]
        by_hand = found.get("by hand", {})
        own = _duration(median(by_hand["seconds"])) if "seconds" in by_hand else by_hand.get("error", "")
        yield f"| {name} | {own} | " + " | ".join(cells) + " |"
    means = (mean_ratio(workloads, call) for call in OTHERS)
    yield "| geometric mean | | " + " | ".join(f"{_digits(m)} of {n}" if n else "" for m, n in means) + " |"


def _cell(found, call):
    if "error" in found.get(call, {}):
        return found[call]["error"].replace("|", "/")
    of = ratios(found, call)
    if not of:
        return ""
    lower, middle, upper = (_digits(x) for x in quartiles(of))
    return f"{middle} ({lower}–{upper})"


def costs(workloads):
    """A row for each workload: compile time where there is any, and memory."""
    compiled, with_memory = ("tangentc", "JAX"), [c for c in CALLS if c != "tangentc, called"]
    heads = [f"compile, {c}" for c in compiled] + [f"memory, {c}" for c in with_memory]
    yield "| | " + " | ".join(heads) + " |"
    yield "|---" * (1 + len(heads)) + "|"
    for name, found in workloads.items():
        cells = [_duration(found[c]["compile"]) if "compile" in found.get(c, {}) else "" for c in compiled]
        cells += [_size(found.get(c, {}).get("memory")) for c in with_memory]
        yield f"| {name} | " + " | ".join(cells) + " |"


def _digits(x):
    return f"{x:.2f}" if x < 10 else f"{x:.3g}" if x < 1000 else f"{x:,.0f}"


def _duration(seconds):
    for unit, one in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= one or unit == "µs":
            return f"{seconds / one:.3g} {unit}"


def _size(count):
    if count is None:
        return ""
    return f"{count / 2**20:.1f} MiB" if count >= 0.05 * 2**20 else "< 0.1 MiB"


def put_into(page, text):
    """Put the tables into the marked region of a page, or write them as the page where there is none."""
    old = page.read_text() if page.exists() else "<!-- measured -->\n<!-- end of what was measured -->\n"
    page.write_text(REGION.sub(lambda found: f"{found[1]}{text}\n{found[2]}", old))
