"""The way through the compiler: the passes in their order, what a variant was compiled for, what it depends on."""
