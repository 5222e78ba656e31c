"""git's options by position: the same letter pages, patches or executes, by where it stands."""

from collections.abc import Sequence
from typing import Final

from pluggableharness.kernel.policy.shell.options import Judged, Shape, judged, options
from pluggableharness.kernel.policy.shell.words import NotUnderstood, Word, names

_HARMLESS_GLOBAL: Final = frozenset(
    ["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--version", "--help"]
)
_RUNNING: Final = (
    "--ext-diff --textconv --open-files-in-pager --exec --extcmd --tool --upload-pack "
    "--receive-pack --config --template --filters --edit-description --gpg-sign --show-signature "
    "--paginate --submodule --recurse-submodules"
)
_PLAIN: Final = (
    # Shortened, others would be taken for those above.
    "--text --no-ext-diff --no-textconv --output-indicator-new --output-indicator-old "
    "--output-indicator-context --oneline"
)


def _subcommand(runs: str = "", valued: str = "", *, writes: str = "") -> Shape:
    written = f"--output --output-directory {writes}"
    return Shape(options(_PLAIN, valued, writes=written, runs=f"{_RUNNING} {runs}"))


_SUBCOMMANDS: Final = {
    "add": _subcommand("-e --edit"),
    "am": _subcommand("-S"),
    "archive": _subcommand("--remote", writes="-o"),
    "apply": _subcommand(valued="-p -C --directory --include --exclude"),
    "cherry-pick": _subcommand("-S", "-m -X"),
    "clone": _subcommand("-u -c", "-b -o -j --depth --branch --origin --reference"),
    "commit": _subcommand("-S", "-m -F -C -c -t --message --file --author --date --fixup"),
    "difftool": _subcommand("-x -t"),
    "fast-export": _subcommand(writes="--export-marks"),
    "format-patch": _subcommand(valued="-n -v", writes="-o"),
    "grep": _subcommand("-O", "-e -f -A -B -C -m"),
    "init": _subcommand(writes="--separate-git-dir"),
    "ls-files": _subcommand(valued="-x -X --exclude"),
    "merge": _subcommand("-S", "-m -F -s -X"),
    "rebase": _subcommand("-x -S", "-s -X -C --onto"),
    "revert": _subcommand("-S", "-m -X"),
    "tag": _subcommand("-s -u", "-m -F --message --file --sort --format"),
}
_OTHER: Final = _subcommand()
_RUNS: Final = names(
    "difftool mergetool filter-branch daemon instaweb web--browse credential send-email "
    "submodule bisect hook maintenance for-each-repo cvsserver shell upload-pack config alias "
    "http-backend fast-import remote-ext p4 svn gui citool gitk help imap-send bugreport "
    "diagnose"
)


def inside(rest: Sequence[Word]) -> Judged:
    """What git's arguments come to. Raises NotUnderstood when they may execute or redirect.

    Before the subcommand nearly every option changes what runs (`-c`, `-C`, `-p`,
    `--exec-path`, `--git-dir`); after it the letters are the subcommand's own.
    """
    at = 0
    while at < len(rest) and rest[at].value.startswith("-"):
        if rest[at].value not in _HARMLESS_GLOBAL:
            raise NotUnderstood(f"git {rest[at].value} before the subcommand changes what runs")
        at += 1
    if at == len(rest):
        return Judged()
    subcommand = rest[at].value
    if not rest[at].fixed or subcommand in _RUNS:
        raise NotUnderstood(f"git {subcommand} runs more than its name says")
    shape = _SUBCOMMANDS.get(subcommand, _OTHER)
    return judged(f"git {subcommand}", shape, rest[at + 1 :])
