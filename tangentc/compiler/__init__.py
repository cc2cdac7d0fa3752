"""One compilation: the passes in their order, what is prepared and written once, what exported code was made for."""
