"""One turn: a model's message and everything that its calls lead to (K1).

The steps stand in files of their own in the order in which a call passes them: `turn.py`
strings them together, `reads.py` runs what is not gated, `gate.py` builds and decides the
plan, `apply.py` runs what was allowed, `calls.py` runs one call. What a step needs from
outside are the Protocols of `ports.py`; nothing here knows gRPC, SQLite or a screen.
"""
