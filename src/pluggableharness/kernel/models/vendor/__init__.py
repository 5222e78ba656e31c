"""The vendors' models, through one library that knows them all.

Its modules import that library, which takes a second: nothing imports them before a session
needs such a model.
"""
