"""Functions of one example as functions of a batch: an axis is added to each operation of the core form."""
