"""The survival runs: what is done to a kernel, how often, and what is left of it.

A row is a module with `ID`, `SIZE`, the number of times for the full run, and
`run(count) -> Survived`; the test suite runs each at a size of seconds.
"""
