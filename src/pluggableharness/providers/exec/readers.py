"""The programs of shell_read with the options that they may be given (C15). Data alone.

An option is here if whatever it is combined with it can neither write, nor run another program,
nor use the network, nor wait for ever. Whoever adds one adds it to the tests too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

_ANY_NUMBER: Final = 10_000


@dataclass(frozen=True, slots=True)
class Program:
    """What one program, or one subcommand, may be given.

    `flags` take no value, `valued` need one (the next word, or attached), `optional` take one
    only after "=". Where `bundles`, letters of several short ones may stand together.
    """

    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    bundles: bool = True
    numbers: bool = False
    """Whether -5 is an option."""
    operands: int = _ANY_NUMBER
    """How many words that are no options it may be given."""
    ends_options: bool = True
    """Whether the program takes everything after "--" for operands."""
    first: tuple[str, ...] = ()
    """What it is always given before all else."""
    subcommands: Mapping[str, Program] = field(default_factory=dict)


def _program(
    flags: str = "",
    valued: str = "",
    optional: str = "",
    *,
    numbers: bool = False,
    operands: int = _ANY_NUMBER,
) -> Program:
    return Program(
        _words(flags), _words(valued), _words(optional), numbers=numbers, operands=operands
    )


def _git(
    flags: str = "",
    valued: str = "",
    optional: str = "",
    *,
    numbers: bool = False,
    operands: int = _ANY_NUMBER,
    first: tuple[str, ...] = (),
) -> Program:
    plain = _program(flags, valued, optional, numbers=numbers, operands=operands)
    return replace(plain, bundles=False, first=first)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What a repository's configuration or attributes name must not be run.
_NO_PROGRAMS: Final = ("--no-ext-diff", "--no-textconv")
_DIFF: Final = (
    "-p --patch -s --no-patch --raw --patch-with-raw --minimal --patience --histogram --numstat "
    "--shortstat --summary --patch-with-stat -z --name-only --name-status --no-color "
    "--no-renames --check --full-index --binary -R -a --text -b -w --ignore-space-change "
    "--ignore-all-space --ignore-blank-lines --ignore-space-at-eol --ignore-cr-at-eol "
    "-W --function-context --exit-code --quiet --no-ext-diff --no-textconv --no-prefix "
    "--find-copies-harder --pickaxe-all --pickaxe-regex"
)
_DIFF_VALUED: Final = "-U -S -G --diff-filter --unified --inter-hunk-context"
_DIFF_OPTIONAL: Final = "--stat --dirstat --color --word-diff --abbrev --submodule"
_LOG: Final = (
    "--oneline --graph --all --no-merges --merges --first-parent --reverse --date-order "
    "--topo-order --decorate --no-decorate --follow --full-history --simplify-merges "
    "--abbrev-commit --no-abbrev-commit --left-right --cherry-pick -i --regexp-ignore-case "
    "-E -F --all-match --invert-grep --name-only --source --boundary -m -c --cc"
)
_LOG_VALUED: Final = (
    "-n --max-count --skip --since --after --until --before --author --committer --grep -L"
)
_LOG_OPTIONAL: Final = "--format --pretty --date --branches --tags --remotes --decorate"

GIT: Final[Mapping[str, Program]] = {
    "status": _git(
        "-s --short -b --branch -z --show-stash --ahead-behind --no-ahead-behind --long "
        "--no-renames -v",
        optional="--porcelain --untracked-files --ignored --ignore-submodules",
        first=("--ignore-submodules=all",),
    ),
    "log": _git(
        f"{_DIFF} {_LOG}",
        f"{_DIFF_VALUED} {_LOG_VALUED}",
        f"{_DIFF_OPTIONAL} {_LOG_OPTIONAL}",
        numbers=True,
        first=_NO_PROGRAMS,
    ),
    "show": _git(
        f"{_DIFF} --oneline --no-decorate --decorate --abbrev-commit",
        _DIFF_VALUED,
        f"{_DIFF_OPTIONAL} --format --pretty --date",
        first=_NO_PROGRAMS,
    ),
    "diff": _git(
        f"{_DIFF} --cached --staged -1 -2 -3 --base --ours --theirs",
        _DIFF_VALUED,
        _DIFF_OPTIONAL,
        first=(*_NO_PROGRAMS, "--ignore-submodules=all"),
    ),
    "blame": _git(
        "-l -t -w -e -s -c -f -n -p --porcelain --line-porcelain --root --show-name "
        "--show-number --show-email",
        "-L --since --date",
        first=("--no-textconv",),
    ),
    "rev-parse": _git(
        "--show-toplevel --git-dir --is-inside-work-tree --is-bare-repository --show-prefix "
        "--verify --quiet -q --all --branches --tags --remotes --symbolic --symbolic-full-name",
        optional="--short --abbrev-ref",
    ),
    "ls-files": _git(
        "-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -u "
        "--unmerged -z --directory --exclude-standard --full-name --eol -t -v",
        "-x --exclude",
    ),
    "ls-tree": _git("-d -r -t -l --long -z --name-only --name-status --full-name --full-tree"),
    "branch": _git(
        "-a --all -r --remotes -v -vv --verbose --list --show-current --no-color -i",
        "--sort --points-at",
        "--contains --no-contains --merged --no-merged --format --column",
        operands=0,
    ),
    "tag": _git("-l --list", "--sort", "--contains --merged --no-merged --format", operands=0),
    "remote": _git("-v --verbose", operands=0),
    "describe": _git("--all --tags --long --always --contains --first-parent", "--match"),
    "shortlog": _git("-n --numbered -s --summary -e --email"),
    "rev-list": _git(
        "--all --count --no-merges --merges --first-parent --reverse --left-right --objects",
        "-n --max-count --skip --since --until --author --grep",
        numbers=True,
    ),
    "merge-base": _git("-a --all --is-ancestor --octopus --independent"),
    "cat-file": _git("-p -t -s -e"),
    "count-objects": _git("-v -H --verbose --human-readable", operands=0),
    "grep": _git(
        "-i --ignore-case -w --word-regexp -v --invert-match -E -G -F -P -n --line-number -l "
        "--files-with-matches -L -c --count -h -H -q --heading --break -p -W --cached --untracked "
        "--no-index -z --all-match --column -o --only-matching -a --text -I",
        "-e -A -B -C --max-depth --threads",
        first=("--no-textconv",),
    ),
}

_HASH: Final = _program("-b --binary -t --text --tag -z --zero")

PROGRAMS: Final[Mapping[str, Program]] = {
    "ls": _program(
        "-a --all -A --almost-all -l -h --human-readable -1 -d --directory -F -i --inode -n "
        "-o -g -G -p -q -Q -r --reverse -R --recursive -s --size -S -t -u -U -v -x -X -c -C -m "
        "-L -H --full-time --group-directories-first --numeric-uid-gid",
        "-I --ignore --time-style -w -T",
        "--color --sort --time --indicator-style --format --block-size",
    ),
    "cat": _program(
        "-A --show-all -b --number-nonblank -e -E --show-ends -n --number -s --squeeze-blank "
        "-t -T --show-tabs -v --show-nonprinting"
    ),
    "head": _program("-q --quiet -v --verbose -z", "-n --lines -c --bytes", numbers=True),
    "tail": _program("-q --quiet -v --verbose -z", "-n --lines -c --bytes", numbers=True),
    "wc": _program("-l --lines -w --words -c --bytes -m --chars -L --max-line-length"),
    "nl": _program("-p", "-b -f -h -i -n -s -v -w"),
    "tac": _program("-b -r", "-s"),
    "stat": _program("-L --dereference -f --file-system -t --terse", "-c --format --printf"),
    "file": _program("-b --brief -i --mime --mime-type -L -h -k -0 -N"),
    "du": _program(
        "-a --all -b --bytes -c --total -h --human-readable -k -m -s --summarize -S -x -l -0",
        "-d --max-depth --exclude -t",
        "--time --apparent-size",
    ),
    "df": _program("-a -h --human-readable -H -i --inodes -k -l -P -T", "-t -x"),
    "sort": _program(
        "-b -d -f -g -h -i -M -n -r -R -s -u -V -z -c -C --reverse --unique --numeric-sort "
        "--human-numeric-sort --version-sort --stable",
        "-k --key -t --field-separator",
    ),
    # A second operand of uniq is written to.
    "uniq": _program(
        "-c --count -d --repeated -D -i --ignore-case -u --unique -z",
        "-f --skip-fields -s --skip-chars -w --check-chars",
        operands=1,
    ),
    "cut": _program(
        "-n -s --only-delimited -z --complement",
        "-b --bytes -c --characters -d --delimiter -f --fields --output-delimiter",
    ),
    "grep": _program(
        "-E -F -G -P -i --ignore-case -v --invert-match -w --word-regexp -x --line-regexp -c "
        "--count -l --files-with-matches -L --files-without-match -n --line-number -o "
        "--only-matching -q --quiet -s --no-messages -h --no-filename -H --with-filename -r "
        "--recursive -R -a --text -I -z -Z -b",
        "-e --regexp -A --after-context -B --before-context -C --context -m --max-count "
        "--include --exclude --exclude-dir",
        "--color",
        numbers=True,
    ),
    "diff": _program(
        "-q --brief -s -c -u -r --recursive -N --new-file -i -E -b -w -B -a --text -y -t -p "
        "--ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines",
        "-U -C -x --exclude -I -W",
    ),
    "cmp": _program("-b -l -s --silent --quiet", "-i -n"),
    "basename": _program("-a -z", "-s"),
    "dirname": _program("-z"),
    "realpath": _program("-e -m -L -P -q -s -z", "--relative-to --relative-base"),
    "readlink": _program("-f -e -m -n -q -v -z"),
    "pwd": _program("-L -P", operands=0),
    "uname": _program("-a -s -n -r -v -m -p -i -o", operands=0),
    "id": _program("-a -g -G -n -r -u -z"),
    "date": _program("-u -R --utc", "-d --date", "-I --iso-8601", operands=0),
    "od": _program("-a -b -c -d -f -i -l -o -s -x -v", "-A -j -N -t -w"),
    "strings": _program("-a -f -w", "-n -t -e"),
    "md5sum": _HASH,
    "sha1sum": _HASH,
    "sha256sum": _HASH,
    "sha512sum": _HASH,
    "tree": _program("-a -d -f -i -l -p -s -h -u -g -D -F -r -t -n -N", "-L -P -I"),
    "find": Program(
        flags=_words(
            "-H -L -P -print -print0 -ls -empty -o -or -a -and -not -prune -readable -writable "
            "-executable -xdev -mount -depth -daystart -true -false -quit -nouser -nogroup"
        ),
        valued=_words(
            "-name -iname -path -ipath -wholename -lname -regex -iregex -regextype -type -xtype "
            "-size -mtime -mmin -atime -amin -ctime -cmin -newer -newermt -maxdepth -mindepth "
            "-perm -user -group -uid -gid -links -inum -samefile -printf"
        ),
        bundles=False,
        ends_options=False,
    ),
    "git": Program(
        first=(
            "--no-pager",
            "--no-optional-locks",
            # A repository's configuration names programs; a format may ask for a signature,
            # which git has a program look at.
            *("-c", "core.fsmonitor=false", "-c", "log.showSignature=false"),
            *("-c", "gpg.program=false", "-c", "gpg.ssh.program=false"),
            *("-c", "gpg.x509.program=false", "-c", "protocol.allow=never"),
        ),
        bundles=False,
        subcommands=GIT,
    ),
}
