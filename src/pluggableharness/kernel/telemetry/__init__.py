"""Traces of sessions for those who collect them (K31).

`session` makes spans of what passes through a session's ports, `otlp` sends them to a
collector with the OpenTelemetry SDK, and `spans` is the little that the one asks of the other.
Without a configured collector none of it takes part, and no library of it is imported.
"""
