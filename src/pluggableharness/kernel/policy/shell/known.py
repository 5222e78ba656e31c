"""Programs with what is known of their words. Data alone.

Never complete: it makes rules over well-known programs mean what their author thinks. A program
that is not here may be given anything, but for options whose name speaks of executing or writing.
"""

import re
from collections.abc import Mapping
from typing import Final

from pluggableharness.kernel.policy.shell.options import Shape, Targets, options

_REMOTE: Final = re.compile(r":")
_LINKS: Final = re.compile(r"extld|plugin")
_WRITE_OUT: Final = re.compile(r"%output|^@")


def _does(valued: str = "", *, writes: str = "", runs: str = "", flags: str = "") -> Shape:
    """A program of which only the options that write or execute are known."""
    return Shape(options(flags, valued, writes=writes, runs=runs))


def _writes(targets: Targets, valued: str = "", *, writes: str = "", runs: str = "") -> Shape:
    """A program that is there to write its operands."""
    return Shape(options(valued=valued, writes=writes, runs=runs), targets=targets, trade=True)


def _interprets(flags: str = "", valued: str = "", *, runs: str = "", writes: str = "") -> Shape:
    """An interpreter: what stands before its script is its own."""
    return Shape(
        options(f"{flags} --help --version", valued, writes=writes, runs=runs),
        closed=True,
        script=True,
    )


_PYTHON: Final = Shape(
    options("-u -B -E -s -S -I -O -q -v -V -b -P -R --help --version", "-W", runs="-c -i"),
    refused={"-W": re.compile(r"\.")},
    closed=True,
    script=True,
    starts=frozenset(["-m"]),
)
COMPILER: Final = Shape(
    options(
        "-E -f* -W* -O* -g* -m* -std* -I* -L* -l* -D* -U* -c -S -M*",
        "-I -L -D -U -l -x -isystem -include -iquote -MT -MQ -target -arch -T",
        writes="-o* -MF -dumpdir -dumpbase",
        runs="-fplugin* -fpass-plugin* -specs* --specs* -B* -wrapper --wrapper -fuse-ld* "
        "--ld-path* -Xclang* -Xassembler* -Xpreprocessor* -Xlinker* -Wl,* -Wa,* -Wp,* -load* "
        "--config* --prefix* -aux-info* --sysroot* --gcc-toolchain* -iplugindir* -fdump* "
        "-save-temps* --save-temps* -ftime-trace*",
    ),
    trade=True,
    whole=True,
    listed=True,
)
_LINKER: Final = Shape(
    options(
        writes="-o* --output* -Map*",
        runs="-plugin* --plugin* -dynamic-linker* --dynamic-linker* -fini -init -A*",
    ),
    trade=True,
    whole=True,
    listed=True,
)
_JAVA: Final = Shape(
    options(
        "-jar -X* -D* -ea -m --module -version",
        "-cp -classpath --class-path -p --module-path",
        runs="-javaagent* -agentlib* -agentpath* -XX:* -Xbootclasspath* --patch-module*",
    ),
    closed=True,
    script=True,
    whole=True,
    listed=True,
)

WRITERS: Final[Mapping[str, Shape]] = {
    "tee": Shape(options("--output-error"), targets=Targets.ALL),
    "sponge": Shape(targets=Targets.ALL),
    "pdftotext": Shape(targets=Targets.SECOND),
    "dd": Shape(targets=Targets.OF),
    "cp": _writes(Targets.LAST, "-S --suffix", writes="-t --target-directory"),
    "mv": _writes(Targets.ALL, "-S --suffix", writes="-t --target-directory"),
    "ln": _writes(Targets.ALL, "-S --suffix", writes="-t --target-directory"),
    "install": _writes(
        Targets.ALL,
        "-g -m -o -S --group --mode --owner --suffix",
        writes="-t --target-directory",
        runs="--strip-program",
    ),
    "touch": _writes(Targets.ALL, "-d -r -t --date --reference --time"),
    "truncate": _writes(Targets.ALL, "-s -r --size --reference"),
    "mkdir": _writes(Targets.ALL, "-m --mode"),
    "mkfifo": _writes(Targets.ALL, "-m --mode"),
    "rm": _writes(Targets.ALL),
    "rmdir": _writes(Targets.ALL),
    "unlink": _writes(Targets.ALL),
    "shred": _writes(Targets.ALL, "-n -s --iterations --size --random-source"),
    "chmod": _writes(Targets.SECOND, "--reference"),
    "chown": _writes(Targets.SECOND, "--reference --from"),
    "chgrp": _writes(Targets.SECOND, "--reference"),
    "patch": _writes(
        Targets.NONE,
        "-p -i -d -D -F -B -z -V -x --strip --input --directory --fuzz",
        writes="-o -r --output --reject-file",
        runs="-e --ed",
    ),
    "split": Shape(options(runs="--filter"), targets=Targets.SECOND, trade=True),
    "csplit": _writes(Targets.NONE, writes="-f --prefix"),
    "rsync": _writes(
        Targets.LAST,
        "-f -B -T --exclude --include --filter --exclude-from --include-from --files-from",
        writes="--log-file --backup-dir --temp-dir --partial-dir --write-batch",
        runs="-e --rsh --rsync-path -M --remote-option --only-write-batch --daemon --config",
    ),
    "scp": _writes(Targets.LAST, "-c -i -l -P", runs="-S -o -F -J -D"),
    "sftp": _does(runs="-S -o -F -b -D -J"),
    "gzip": _writes(Targets.ALL, "-S --suffix"),
    "gunzip": _writes(Targets.ALL, "-S --suffix"),
    "bzip2": _writes(Targets.ALL),
    "xz": _writes(Targets.ALL, "-T -S -F -C"),
    "zip": _writes(
        Targets.NONE, runs="-T -TT --test --unzip-command", writes="-O --output-file -b"
    ),
    "unzip": _writes(Targets.NONE, "-P -x", writes="-d"),
    "cpio": _writes(
        Targets.NONE, writes="-O -F --file", runs="--rsh-command --to-command -I --only-verify-crc"
    ),
}
"""Programs that write the files that they are given."""

OTHERS: Final[Mapping[str, Shape]] = {
    "curl": Shape(
        options(
            "--cookie --trace-time --trace-ids --include --head --data-raw",
            "-H -d -X -u -A -b -e -m -x -F -w -r --header --data --request --user --write-out",
            writes="-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr "
            "--libcurl --etag-save --hsts --alt-svc",
            runs="-O -J -K -T -Q --output-dir --remote-name --remote-name-all --remote-header-name "
            "--config --upload-file --quote --engine --proto-default --netrc-file --unix-socket",
        ),
        refused={"-w": _WRITE_OUT, "--write-out": _WRITE_OUT},
    ),
    "wget": _does(
        "-t -T -U -Q --tries --timeout --user-agent --header",
        writes=(
            "-O --output-document -o --output-file -a --append-output -P --directory-prefix "
            "--save-cookies --hsts-file --warc-file --rejected-log --warc-tempdir"
        ),
        runs="-e -i --input-file --execute --use-askpass --config --post-file --body-file",
    ),
    "fd": _does("-d -t -e -E -g", runs="-x -X --exec --exec-batch"),
    "fdfind": _does("-d -t -e -E -g", runs="-x -X --exec --exec-batch"),
    "ag": _does(runs="--pager"),
    "ack": _does(runs="--pager --ackrc"),
    "bat": _does(runs="--pager --config-file --generate-config-file"),
    "man": _does("-s -S -M", runs="-P -H -C -X -T -Z --pager --html --preprocessor --config-file"),
    "jq": _does("--arg --argjson -f", runs="-L"),
    "yq": _does(runs="-i -s --inplace --split-exp --from-file"),
    "make": Shape(
        options(
            valued="-j -l -o -W --jobs",
            runs="-f -C -I -E --eval --file --makefile --directory --include-dir --shell",
        ),
        refused={"": re.compile("=")},
    ),
    "npm": _does(runs="-C --script-shell --prefix --node-options --globalconfig --userconfig"),
    "pnpm": _does(runs="-C --script-shell --dir --node-options --shell-emulator"),
    "yarn": _does(runs="--cwd --script-shell --node-options --use-yarnrc"),
    "go": Shape(
        options(
            valued="-ldflags --ldflags",
            writes="-o --o -coverprofile --coverprofile -cpuprofile -memprofile -trace",
            runs="-exec* --exec* -toolexec* --toolexec* -vettool* --vettool* -C* -overlay* "
            "--overlay* -modfile* --modfile* -compiler*",
        ),
        refused={"-ldflags": _LINKS, "--ldflags": _LINKS},
        trade=True,
        whole=True,
    ),
    "cargo": _does(runs="-C --config --manifest-path"),
    "openssl": Shape(
        options(
            writes="-out -keyout -CAout",
            runs="-engine -provider -provider-path -config -rand -writerand",
        ),
        whole=True,
    ),
    "ctags": _does(runs="--options", writes="-f -o"),
    "groff": _does(runs="-U -P -x -F --unsafe"),
    "pandoc": _does(runs="-F -L --filter --lua-filter --defaults --pdf-engine -d", writes="-o"),
    "pdflatex": Shape(options(runs="-shell-escape* --shell-escape*"), whole=True),
    "tcpdump": _does("-i -c -s", writes="-w", runs="-z"),
    "nc": _does(runs="-e -c --exec --sh-exec --lua-exec"),
    "ncat": _does(runs="-e -c --exec --sh-exec --lua-exec", writes="-o -x --output"),
    "nmap": _does(runs="-o --script --script-args-file"),
    "cmake": Shape(options(runs="-P* -E -C* --toolchain*"), whole=True),
    "fzf": _does(runs="--preview --bind --listen --with-shell"),
    "gpg": _does(
        writes="-o --output --log-file",
        runs=(
            "--exec-path --agent-program --dirmngr-program --photo-viewer --options --homedir "
            "--pinentry-program --keyserver-options"
        ),
    ),
    "iconv": _does("-f -t", writes="-o --output"),
    "inotifywait": _does("-e -t", writes="-o --outfile", runs="--fromfile"),
    "ip": _does(runs="-b --batch"),
    "xmllint": _does(writes="--output", runs="--shell --load-trace"),
    "xsltproc": _does(writes="-o --output"),
    "ld": _LINKER,
    "ar": Shape(options(runs="--plugin"), listed=True),
    "as": Shape(options(writes="-o"), listed=True, trade=True),
    "java": _JAVA,
    "javac": Shape(
        options(writes="-d", runs="-processor* -J* -Xplugin*"), trade=True, whole=True, listed=True
    ),
}
"""Programs of which some options write or execute."""

COMPILERS: Final = re.compile(
    r"(?:[a-z0-9_]+-)*(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|cpp|gfortran)(?:-[0-9.]+)?"
)

_MODES_OF_TAR: Final = (
    "-x -t -v -z -j -J -a -k -m -O -p -P -h -l -o -S -w -U -W "
    "--extract --get --list --verbose --gzip --bzip2 --xz --zstd"
)
_VALUES_OF_TAR: Final = "-C -X -b -N -K -L -V -H --directory --exclude --strip-components --file"
_RUNS_OF_TAR: Final = (
    "-I -F -T --files-from --to-command --checkpoint-action --use-compress-program "
    "--rsh-command --info-script --new-volume-script --rmt-command --transform --xform"
)
TAR: Final = Shape(
    options(
        _MODES_OF_TAR,
        f"-f {_VALUES_OF_TAR}",
        writes="--index-file -g --listed-incremental",
        runs=_RUNS_OF_TAR,
    ),
    refused={"-f": _REMOTE, "--file": _REMOTE},
    trade=True,
    old=True,
)
TAR_THAT_WRITES: Final = Shape(
    options(
        f"{_MODES_OF_TAR} -c -r -u -A -d --create --append --update --delete",
        _VALUES_OF_TAR.removesuffix("--file"),
        writes="-f --file --index-file -g --listed-incremental",
        runs=_RUNS_OF_TAR,
    ),
    refused={"-f": _REMOTE, "--file": _REMOTE},
    trade=True,
    old=True,
)
TAR_WRITES: Final = re.compile(r"-?[a-zA-Z]*[cruA][a-zA-Z]*|--(?:cre|app|upd|cat|conc|del)[a-z]*")

_NODE: Final = _interprets(
    "-v -c --check --test --watch --no-warnings --trace-warnings --trace-deprecation "
    "--enable-source-maps --max-old-space-size --expose-gc --stack-size --no-deprecation",
    runs=(
        "-e -p -r -i -C --eval --print --require --import --loader --experimental-loader "
        "--experimental-default-type --env-file --interactive --conditions --inspect* "
        "--openssl-config --icu-data-dir --snapshot-blob --experimental-sea-config --run "
        "--experimental-config-file"
    ),
    writes=(
        "--redirect-warnings --trace-event-file-pattern --diagnostic-dir --cpu-prof-dir "
        "--heap-prof-dir --report-dir --report-filename"
    ),
)

INTERPRETERS: Final[Mapping[str, Shape]] = {
    "python": _PYTHON,
    "pypy": _PYTHON,
    "perl": _interprets(
        "-w -W -t -T -c -v", runs="-e -E -M -m -I -d -D -i -x -s -S -n -p -a -F -l -C"
    ),
    "ruby": _interprets("-w -W -v -c -y", runs="-e -r -I -C -x -S -n -p -i -l -a -s -F --require"),
    "node": _NODE,
    "nodejs": _NODE,
    "deno": Shape(options(runs="--eval --preload --import --require")),
    "php": _interprets("-v -i -l -m", runs="-r -B -R -E -F -d -c -z -a -S -t --run --define"),
    "lua": _interprets("-v -E", runs="-e -l -i"),
    "luajit": _interprets("-v", runs="-e -l -i -j -b -O"),
    "Rscript": _interprets("--vanilla --verbose", runs="-e --default-packages"),
    "swift": _interprets(runs="-e -load* -Xfrontend* -Xllvm* -Xcc* -I -F"),
    "dart": _interprets(runs="--packages --enable-vm-service --observe -D"),
    "hy": _interprets(runs="-c -i -m --spy"),
    "bb": _interprets(runs="-e -m -x -f -I -O -o -i -cp --eval --main --exec --init --classpath"),
    "julia": _interprets("-q --project --threads", runs="-e -E -L -i -P -J --eval --load"),
}
"""Interpreters; a version may stand behind the name."""
