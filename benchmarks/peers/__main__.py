"""Measure the gradients of tangentc beside those of its peers, and beside an expert's.

python -m benchmarks.peers                    all workloads, printed
python -m benchmarks.peers lstm cholesky      some of them
python -m benchmarks.peers --out docs         docs/benchmarks.json, the tables in docs/benchmarks.md, and the figure
python -m benchmarks.peers --from docs/benchmarks.json --out docs     tables and figure anew, nothing measured
"""

import argparse
import json
import sys
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="workloads; all where none is named")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--out", type=Path, help="a folder for benchmarks.json, benchmarks.md and the figure")
    parser.add_argument("--from", type=Path, dest="given", help="a record that was written before")
    return parser.parse_args()


def measured(names, threads, rounds):
    """The record of all workloads, for each number of threads."""
    from .report import surroundings
    from .rounds import Failed, Workers, measure
    from .workloads import WORKLOADS

    unknown = set(names) - set(WORKLOADS)
    if unknown:
        sys.exit(f"no workload {', '.join(sorted(unknown))}; there are {', '.join(WORKLOADS)}")
    record = {"about": surroundings(), "rounds": rounds, "threads": {}}
    for count in threads:
        found = record["threads"][str(count)] = {}
        with Workers(count) as workers:
            for name in names or WORKLOADS:
                print(f"{name}, {count} thread{'s' * (count > 1)}", file=sys.stderr, flush=True)
                try:
                    found[name] = measure(workers, name, rounds)
                except Failed as failed:  # a process that answered before does not any more
                    found[name] = {"by hand": {"error": str(failed)}}
    return record


def main():
    from .figure import draw
    from .report import markdown, put_into

    given = arguments()
    if given.given:
        record = json.loads(given.given.read_text())
    else:
        record = measured(given.names, given.threads, given.rounds)
    text = markdown(record)
    print(text)
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "benchmarks.json").write_text(json.dumps(record, indent=1) + "\n")
        put_into(given.out / "benchmarks.md", text)
        try:
            draw(record, given.out / "pictures" / "benchmarks.svg")
        except ImportError:
            print("no figure: matplotlib is not installed", file=sys.stderr)


if __name__ == "__main__":
    main()
