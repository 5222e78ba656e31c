"""What git believes in a repository: where it keeps it, and what it would run there (K5a, K7).

Looks by itself and starts no git. Knows nothing of rules: what a call that would make git run more
than its words say comes to is policy's to say.
"""
