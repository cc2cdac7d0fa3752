"""The chain rule: reverse and forward."""
