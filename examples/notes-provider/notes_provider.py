#!/usr/bin/env python3
"""Notes in a folder of the project, published to a server that wants a token.

It has what hello does not: settings with a secret, an operation that is asked about and shown
before it runs, one call at a time for each note, and failures that say how to go on.
"""

import os
from dataclasses import dataclass
from typing import Annotated, Any

from pluggableharness.sdk import Context, Doc, NotFound, Pattern, PermissionDenied, Provider, Secret
from pluggableharness.sdk.jail import Jail, jail_for
from pluggableharness.sdk.render import CodeBlock, Group, Node, Text

Name = Annotated[str, Pattern(r"^[a-z-]+$"), Doc("The note's name, such as to-do")]


@dataclass(frozen=True, slots=True)
class Settings:
    token: Annotated[str, Secret, Doc("What the server knows you by")]
    folder: Annotated[str, Doc("Where notes are, from the working directory on")] = "notes"

    def __post_init__(self) -> None:
        if not self.token.isalnum():
            raise ValueError("token: expected letters and digits alone")


@dataclass(frozen=True, slots=True)
class Note:
    path: str
    text: str


provider = Provider("notes", settings=Settings, version="1.0.0")


@provider.data_source(idempotent=True)
async def load(ctx: Context[Settings], name: Name) -> Note:
    """Read a note."""
    path = path_of(ctx, name)
    try:
        file = jail_of(ctx).open(path)
    except NotFound:
        raise NotFound(f"there is no note {name}; write it with notes.save") from None
    with os.fdopen(file, encoding="utf-8") as note:
        return Note(path, note.read())


@provider.resource(risk="low", safe=True, key_fields=("name",), idempotent=True)
async def save(ctx: Context[Settings], name: Name, text: str) -> Note:
    """Write a note, or write it anew."""
    path = path_of(ctx, name)
    if ctx.settings.token in text:
        raise PermissionDenied(f"the text holds {ctx.settings.token}; leave the token out")
    with jail_of(ctx).locate(path, make_folders=True) as place:
        file = place.open(os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with os.fdopen(file, "w", encoding="utf-8") as note:
        note.write(text)
    return Note(path, text)


@save.preview
async def preview_save(ctx: Context[Settings], name: str, text: str) -> Node:
    return Group([Text(f"write {path_of(ctx, name)}"), CodeBlock(text)])


@load.render
@save.render
def render_note(payload: dict[str, Any]) -> Node:
    return Group([Text(payload["path"]), CodeBlock(payload["text"])])


def path_of(ctx: Context[Settings], name: str) -> str:
    return f"{ctx.settings.folder}/{name}.txt"


def jail_of(ctx: Context[Settings]) -> Jail:
    """What keeps a link in the folder from leading out of the project."""
    return jail_for((), ctx.working_directory)


if __name__ == "__main__":
    provider.serve()
