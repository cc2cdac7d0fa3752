"""Facts about a program in core form, one kind a file.  An analysis changes nothing."""
