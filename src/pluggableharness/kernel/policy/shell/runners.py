"""Programs that run what they are given. Data alone, and never complete."""

from collections.abc import Mapping
from typing import Final

from pluggableharness.kernel.policy.shell.words import names

SHELLS: Final = names(
    "sh bash dash zsh ksh ash fish rbash mksh lksh yash posh csh tcsh nu xonsh elvish oil osh"
)
RUNS_ARGUMENTS: Final = names(
    "time parallel watch entr strace ltrace gdb lldb script su "
    "runuser sg flock chroot unshare nsenter setpriv capsh systemd-run ssh rsh mosh tmux screen at "
    "batch crontab awk gawk mawk nawk npx uvx bunx expect tclsh m4 ed ex vi vim nvim emacs "
    "osascript powershell pwsh cmd wsl torsocks proxychains firejail bwrap fakeroot "
    "dbus-run-session xvfb-run chronic unbuffer prlimit taskset numactl chrt run-parts "
    "start-stop-daemon ld.so ld-linux-x86-64.so.2 toybox perf valgrind "
    "hyperfine direnv runcon nixos-rebuild view rview vimdiff gvim rvim nvi kak hx micro joe nano "
    "pico mg busybox-static rlwrap socat faketime choom pkexec chpst setuidgid softlimit envdir "
    "envuidgid pgrphack setlock cgexec srun sbatch mpirun mpiexec qsub pssh irb ghci jshell dc "
    "gnuplot octave sqlite3 psql mysql mariadb mongosh redis-cli ts-node tsx watchexec nodemon "
    "reptyr byobu dtach abduco scriptreplay sshpass autossh pexec rush wine mono qemu "
    "guile racket sbcl clisp ocaml elixir erl iex groovy scala raku mail mailx mutt "
    "vim.tiny vim.basic vim.nox vim.gtk3 ipython bpython ldd rename prename vidir vipe ifne pee "
    "mispipe zrun setarch linux32 linux64 uname26 eatmydata catchsegv rr heaptrack pnpx ssh-agent "
    "newgrp xdg-open gio dbus-launch lynx w3m links imap-send "
    "R tcc dotenv dotenvx flatpak-spawn nix-shell runghc runhaskell corepack zellij cpulimit "
    "trickle tsocks torify daemonize daemon nq ts sem env_parallel xe dumb-init tini gosu su-exec "
    "s6-setuidgid with-contenv honcho foreman concurrently cross-env npm-run-all run-one "
    "run-this-one keep-one-running proxychains4 systemd-inhibit systemd-nspawn machinectl lxc "
    "incus nerdctl crictl toolbox distrobox devcontainer vagrant tsh envchain retry ccache distcc "
    "sccache bear coverage nyc c8 kcov memusage nsjail minijail0 landrun "
    "winpty mintty xterm konsole kitty alacritty foot gnome-terminal swaymsg i3-msg "
    "hyprctl scsh kotlin kotlinc-jvm bsh jbang rust-script cargo-script "
    "swipl gprolog maxima gp sage sagemath chez chibi gosh janet fennel newlisp picolisp rebol "
    "gforth picat escript lfe tclkit wish"
)
"""Those of which not even a part is read: their words are code, or another command."""

BY_SUBCOMMAND: Final[Mapping[str, frozenset[str]]] = {
    "uv": names("run tool"),
    "poetry": names("run shell"),
    "pipenv": names("run shell"),
    "pipx": names("run"),
    "pdm": names("run"),
    "rye": names("run tools"),
    "hatch": names("run shell"),
    "pixi": names("run exec shell"),
    "conda": names("run"),
    "mamba": names("run"),
    "micromamba": names("run"),
    "npm": names("exec x explore"),
    "pnpm": names("exec dlx"),
    "yarn": names("exec dlx"),
    "bun": names("x"),
    "bundle": names("exec"),
    "docker": names("run exec create"),
    "docker-compose": names("run exec"),
    "podman": names("run exec create unshare"),
    "kubectl": names("exec run debug"),
    "oc": names("exec run debug rsh"),
    "flatpak": names("run enter"),
    "snap": names("run"),
    "op": names("run plugin"),
    "doppler": names("run"),
    "chamber": names("exec"),
    "aws-vault": names("exec"),
    "sops": names("exec-env exec-file"),
    "mise": names("exec x run watch"),
    "asdf": names("exec"),
    "rtx": names("exec x run"),
    "rbenv": names("exec"),
    "pyenv": names("exec"),
    "devbox": names("run shell"),
    "rustup": names("run"),
    "stack": names("exec runghc runhaskell ghci eval"),
    "cabal": names("exec repl"),
    "opam": names("exec"),
    "dune": names("exec"),
    "lerna": names("exec"),
    "nx": names("exec"),
    "heroku": names("run"),
    "fly": names("ssh"),
    "nix": names("run shell develop eval repl"),
    "deno": names("eval repl"),
    "crystal": names("eval play i"),
    "zig": names("run"),
    "ip": names("exec"),
}
"""Subcommands that run what follows, by program."""
