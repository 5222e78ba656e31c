"""Programs that are there to read, with all of their options that are harmless. Data alone."""

import re
from collections.abc import Mapping
from typing import Final

from pluggableharness.kernel.policy.shell.options import Shape, Targets, options


def _reads(flags: str = "", valued: str = "", *, writes: str = "", runs: str = "") -> Shape:
    """A program that is there to read: of its options all that are harmless are known."""
    return Shape(
        options(f"{flags} --help --version", valued, writes=writes, runs=runs), closed=True
    )


_GREP: Final = _reads(
    "-E -F -G -P -i -v -w -x -c -l -L -n -o -q -s -h -H -r -R -a -I -z -Z -b -y -T -U -u "
    "--extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case "
    "--no-ignore-case --invert-match --word-regexp --line-regexp --count --files-with-matches "
    "--files-without-match --line-number --only-matching --quiet --silent --no-messages "
    "--no-filename --with-filename --recursive --dereference-recursive --text --null "
    "--null-data --byte-offset --initial-tab --line-buffered --color --colour --binary",
    "-e -f -A -B -C -m -d -D --regexp --file --after-context --before-context --context "
    "--max-count --include --exclude --exclude-dir --exclude-from --binary-files --directories "
    "--devices --label --group-separator",
)
_HASH: Final = _reads(
    "-b -t -c -z -w --binary --text --tag --check --zero --ignore-missing --quiet --status "
    "--strict --warn"
)
READERS: Final[Mapping[str, Shape]] = {
    "ls": _reads(
        "-a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S "
        "-t -u -U -v -x -X -Z -1 --all --almost-all --author --escape --color --directory "
        "--dired --classify --file-type --format --full-time --group-directories-first "
        "--no-group --human-readable --si --dereference --hyperlink --indicator-style --inode "
        "--kibibytes --numeric-uid-gid --literal --quote-name --quoting-style --reverse "
        "--recursive --size --sort --time --time-style --context --zero --block-size "
        "--ignore-backups --hide-control-chars --show-control-chars",
        "-I -w -T --ignore --hide --width --tabsize",
    ),
    "cat": _reads(
        "-A -b -e -E -n -s -t -T -u -v -l --show-all --number-nonblank --show-ends --number "
        "--squeeze-blank --show-tabs --show-nonprinting"
    ),
    "head": _reads("-q -v -z --quiet --silent --verbose", "-n -c --lines --bytes"),
    "tail": _reads(
        "-q -v -z -f -F -r --quiet --silent --verbose --follow --retry",
        "-n -c -s --lines --bytes --pid --sleep-interval",
    ),
    "wc": _reads("-l -w -c -m -L --lines --words --bytes --chars --max-line-length --total"),
    "nl": _reads("-p", "-b -d -f -h -i -l -n -s -v -w"),
    "tac": _reads("-b -r --before --regex", "-s --separator"),
    "rev": _reads(),
    "cut": _reads(
        "-n -s -z --only-delimited --complement --zero-terminated",
        "-b -c -d -f --bytes --characters --delimiter --fields --output-delimiter",
    ),
    "tr": _reads("-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1"),
    "paste": _reads("-s -z --serial", "-d --delimiters"),
    "join": _reads("-i -z --ignore-case --header", "-a -e -j -o -t -v -1 -2"),
    "comm": _reads("-1 -2 -3 -z --total --check-order --nocheck-order", "--output-delimiter"),
    "fold": _reads("-b -s --bytes --spaces", "-w --width"),
    "seq": _reads("-w --equal-width", "-f -s --format --separator"),
    "stat": _reads("-L -f -t -x --dereference --file-system --terse", "-c --format --printf"),
    "du": _reads(
        "-a -b -c -h -k -m -s -S -x -l -0 -L -P -H -D --all --bytes --total --human-readable "
        "--summarize --separate-dirs --one-file-system --apparent-size --time --null --si",
        "-d -t -X -B --max-depth --threshold --exclude --exclude-from --block-size",
    ),
    "df": _reads(
        "-a -h -H -i -k -l -P -T --all --human-readable --si --inodes --local --portability "
        "--print-type --total --output --no-sync --sync",
        "-t -x -B --type --exclude-type --block-size",
    ),
    "basename": _reads("-a -z --multiple --zero", "-s --suffix"),
    "dirname": _reads("-z --zero"),
    "realpath": _reads(
        "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --no-symlinks "
        "--strip --quiet --zero",
        "--relative-to --relative-base",
    ),
    "readlink": _reads("-f -e -m -n -q -s -v -z --canonicalize --no-newline --verbose"),
    "uname": _reads("-a -s -n -r -v -m -p -i -o --all --kernel-name --machine --kernel-release"),
    "id": _reads("-a -g -G -n -r -u -z -Z --user --group --groups --name"),
    "whoami": _reads(),
    "which": _reads("-a -s --all"),
    "date": _reads(
        "-u -R -I --utc --rfc-email --iso-8601 --rfc-3339 --universal --debug",
        "-d -r --date --reference",
        runs="-s --set -f --file",
    ),
    "od": _reads("-a -b -c -d -f -i -l -o -s -x -v", "-A -j -N -t -w -S"),
    "xxd": Shape(
        options("-p -r -u -i -b -e -E -a -d -C", "-c -l -s -g -o -n"),
        targets=Targets.SECOND,
        closed=True,
    ),
    "hexdump": _reads("-b -c -C -d -o -x -v", "-n -s -e"),
    "strings": _reads("-a -f -w --all --print-file-name", "-n -t -e --bytes --radix"),
    "file": _reads(
        "-b -i -L -h -k -0 -N -s -z -r -p --brief --mime --mime-type --mime-encoding "
        "--dereference --keep-going --raw",
        "-F --separator",
        runs="-C --compile -m --magic-file",
    ),
    "cmp": _reads("-b -l -s --silent --quiet --print-bytes --verbose", "-i -n --bytes"),
    "diff": _reads(
        "-q -s -c -u -r -N -i -E -b -w -B -a -y -t -p -d -n -e --brief --unified --recursive "
        "--new-file --ignore-case --ignore-all-space --ignore-space-change "
        "--ignore-blank-lines --text --side-by-side --minimal --color --normal --no-dereference "
        "--report-identical-files --suppress-common-lines --strip-trailing-cr --context",
        "-U -C -x -X -I -W -F --exclude --label --width --ignore-matching-lines",
    ),
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep"), _GREP),
    "rg": _reads(
        "-a -c -F -H -h -I -i -L -l -n -N -o -P -p -q -S -s -u -U -v -V -w -x -0 -. -b --text "
        "--count --count-matches --fixed-strings --with-filename --no-filename --ignore-case "
        "--follow --files --files-with-matches --files-without-match --line-number "
        "--no-line-number --only-matching --pcre2 --pretty --quiet --smart-case "
        "--case-sensitive --unrestricted --multiline --multiline-dotall --invert-match "
        "--word-regexp --line-regexp --null --hidden --no-ignore --no-ignore-vcs "
        "--no-ignore-global --no-ignore-parent --no-ignore-dot --no-config --no-heading "
        "--heading --json --stats --column --no-column --vimgrep --trim --no-messages --debug "
        "--crlf --binary --one-file-system --type-list --passthru --color --block-buffered "
        "--line-buffered --glob-case-insensitive --byte-offset --no-mmap --mmap --no-pre "
        "--include-zero --hyperlink-format --trace --no-unicode --stop-on-nonmatch",
        "-A -B -C -d -E -e -f -g -j -M -m -r -T -t --after-context --before-context --context "
        "--max-depth --maxdepth --encoding --regexp --file --glob --iglob --threads "
        "--max-columns --max-count --replace --type --type-not --type-add --type-clear --sort "
        "--sortr --colors --context-separator --path-separator --max-filesize --engine "
        "--ignore-file --field-match-separator --dfa-size-limit --regex-size-limit",
        runs="-z --pre --pre-glob --hostname-bin --search-zip",
    ),
    **dict.fromkeys(("md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum", "cksum"), _HASH),
    "sort": _reads(
        "-b -c -C -d -f -g -h -i -m -M -n -r -R -s -u -V -z --ignore-leading-blanks --check "
        "--dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort "
        "--ignore-nonprinting --merge --month-sort --numeric-sort --reverse --random-sort "
        "--stable --unique --version-sort --zero-terminated --sort --debug",
        "-k -S -t --key --buffer-size --field-separator --parallel --batch-size --files0-from "
        "--random-source",
        writes="-o --output -T --temporary-directory",
        runs="--compress-program",
    ),
    "uniq": Shape(
        options(
            "-c -d -D -i -u -z --count --repeated --all-repeated --ignore-case --unique "
            "--zero-terminated --group --help --version",
            "-f -s -w --skip-fields --skip-chars --check-chars",
        ),
        targets=Targets.SECOND,
        closed=True,
    ),
    "tree": _reads(
        "-a -d -f -i -l -p -s -h -u -g -D -F -r -t -n -N -C -x -q -A -S -J -X -v -c -U "
        "--dirsfirst --noreport --du --si --inodes --prune --gitignore --filesfirst",
        "-L -P -I --filelimit --timefmt --charset --sort --matchdirs",
        writes="-o",
        runs="-R -H -T",
    ),
    "less": Shape(
        options(
            "-E -e -F -X -R -r -S -N -n -i -I -M -m -s -c -g -G -J -q -u -V -K --help",
            "-j -p -x -y -z -h -b",
            writes="-o -O --log-file --LOG-FILE",
            runs="-k --lesskey-file --lesskey-src --lesskey-context -t -T --tag --tag-file",
        ),
        refused={"": re.compile(r"^\+")},
        closed=True,
    ),
    "more": Shape(refused={"": re.compile(r"^\+")}, closed=True),
    "shuf": _reads("-e -r -z --echo --repeat", "-i -n --head-count", writes="-o --output"),
    "ps": _reads("-e -f -A -a -x -u -w -l -H -j -L --forest", "-o -p -C -U --sort"),
    "sleep": _reads(),
}
"""Programs that are there to read, so that few who allow one think of what else it may do."""
