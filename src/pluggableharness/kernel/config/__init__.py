"""agent.hcl: from its text to a frozen `Config`, with every mistake at its file, line and column.

Owns the language and what each block may hold, and the files that belong to it (the lock, the rules
of "always", instructions). Knows neither processes nor sessions: what a `Config` becomes there is
`kernel.configured`'s to say.
"""
