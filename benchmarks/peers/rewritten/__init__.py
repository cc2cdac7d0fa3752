"""The workloads whose own source a peer does not run, as one writes them for that peer.

What is not here runs from its own source, with the peer's NumPy in NumPy's place.
"""
