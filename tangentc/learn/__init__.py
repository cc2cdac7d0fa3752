"""Learning: functions, layers, optimisers, data and training on plain arrays, whose derivatives are emitted text."""
