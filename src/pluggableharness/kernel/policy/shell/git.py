"""git's options by position: the same letter pages, patches or executes, by where it stands."""

from collections.abc import Sequence
from typing import Final

from pluggableharness.kernel.policy.shell.options import Options, forbidden_option, names
from pluggableharness.kernel.policy.shell.words import NotUnderstood, Word

_HARMLESS_GLOBAL: Final = frozenset(
    ["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--version", "--help"]
)
_ANYWHERE: Final = Options(
    long=(
        *("--output", "--output-directory", "--ext-diff", "--textconv", "--open-files-in-pager"),
        *("--exec", "--extcmd", "--tool", "--upload-pack", "--receive-pack", "--config"),
        *("--template", "--edit-description", "--gpg-sign", "--show-signature", "--paginate"),
    )
)
_LETTERS: Final = {
    "grep": Options("O"),
    "archive": Options("o"),
    "format-patch": Options("o"),
    "rebase": Options("x"),
    "clone": Options("uc"),
    "difftool": Options("xt"),
    "commit": Options("S"),
    "tag": Options("su"),
}
_RUNS: Final = names(
    "difftool mergetool filter-branch daemon instaweb web--browse credential send-email "
    "submodule bisect hook maintenance for-each-repo cvsserver shell upload-pack config alias "
    "http-backend fast-import remote-ext p4 svn gui citool gitk"
)


def check(rest: Sequence[Word]) -> None:
    """Raise NotUnderstood when git's arguments may execute, redirect or write elsewhere.

    Before the subcommand nearly every option changes what runs (`-c`, `-C`, `-p`,
    `--exec-path`, `--git-dir`); after it the letters are the subcommand's own.
    """
    at = 0
    while at < len(rest) and rest[at].value.startswith("-"):
        if rest[at].value not in _HARMLESS_GLOBAL:
            raise NotUnderstood(f"git {rest[at].value} before the subcommand changes what runs")
        at += 1
    if at == len(rest):
        return
    subcommand = rest[at].value
    if not rest[at].fixed or subcommand in _RUNS:
        raise NotUnderstood(f"git {subcommand} runs more than its name says")
    after = rest[at + 1 :]
    found = forbidden_option(_ANYWHERE, after)
    if found is None and subcommand in _LETTERS:
        found = forbidden_option(_LETTERS[subcommand], after)
    if found is not None:
        raise NotUnderstood(f"git {subcommand} {found} executes or writes")
