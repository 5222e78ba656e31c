"""Ways out of a sandbox, each as a command that succeeds only if it got through.

Pure data: {words} in braces are filled in by the scene that they are tried in.
"""

from collections.abc import Mapping
from typing import Final


def _python(program: str) -> str:
    return f"{{python}} -c '{program}'"


WRITING: Final[Mapping[str, str]] = {
    "write to a file outside": "echo x >{outside}/kept",
    "make a file outside": "echo x >{outside}/new",
    "make a file in /etc": "echo x >/etc/sandbox-escaped",
    "write through a symbolic link": "ln -s {outside}/kept link; echo x >link",
    "write through a hard link": "ln {outside}/kept hard && echo x >hard",
    "empty a file outside": "truncate -s 0 {outside}/kept",
    "rename what is outside": "mv {outside}/kept {outside}/gone",
    "move what is outside in": "mv {outside}/kept .",
    "delete what is outside": "rm -f {outside}/kept && [ ! -e {outside}/kept ] && rm {outside}/x",
    "move the root itself": 'mv "$PWD" "$PWD.moved"',
    "write through /proc/1/root": "echo x >/proc/1/root{outside}/kept",
    "write through a guard's folder": "cd /proc/1/cwd && echo x >.{outside}/kept",
    "mount anew": "mount -o remount,rw / && echo x >{outside}/kept",
    "mount in a new namespace": "unshare -Urm true",
    "make a new user namespace by clone": _python(
        "import ctypes, os; libc = ctypes.CDLL(None, use_errno=True); "
        "pid = libc.syscall(56, 0x10000011, 0, 0, 0, 0); os._exit(0 if pid >= 0 else 1)"
    ),
    "make a disk's device": "mknod disk b 254 0 && head -c 1 disk",
    # The value that it has, since one that got through would stay.
    "set the program for core dumps": "at=/proc/sys/kernel/core_pattern; was=$(<$at) && "
    'echo "$was" >$at',
    "set a cgroup's release agent": "echo x >/sys/fs/cgroup/pids/release_agent",
    "open by a handle": _python(
        "import ctypes; libc = ctypes.CDLL(None); "
        'raise SystemExit(libc.syscall(304, 3, b"\\0" * 64, 0) < 0)'
    ),
}

CHANGING: Final[Mapping[str, str]] = {
    "become another user": "setpriv --reuid 12345 --clear-groups true",
    "change a mode outside": "chmod 777 {outside}/kept",
    "change a time outside": "touch -d 2001-01-01 {outside}/kept",
}
"""What Landlock does not see; bubblewrap refuses it."""

REACHING: Final[Mapping[str, str]] = {
    "connect to a port": _python(
        'import socket; socket.create_connection(("127.0.0.1", {port}), 2)'
    ),
    "send a datagram": _python(
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
        '.sendto(b"x", ("192.0.2.1", 9))'
    ),
    "connect with bash": "exec 3<>/dev/tcp/127.0.0.1/{port}",
    "connect to a socket by path": _python(
        'import socket; socket.socket(socket.AF_UNIX).connect("{socket}")'
    ),
    "connect to an abstract socket": _python(
        'import socket; socket.socket(socket.AF_UNIX).connect("\\0{word}")'
    ),
    "send to a path from a pair": _python(
        "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]"
        '.sendto(b"x", "{socket}")'
    ),
    "connect a pair elsewhere": _python(
        'import socket; socket.socketpair()[0].connect("{socket}")'
    ),
    "use io_uring": _python(
        "import ctypes; raise SystemExit(ctypes.CDLL(None).syscall(425, 1, bytes(120)) < 0)"
    ),
    "reach the hypervisor": _python("import socket; socket.socket(socket.AF_VSOCK)"),
    "use the processor's older calls": _python(
        "import ctypes; raise SystemExit(ctypes.CDLL(None).syscall(0x40000029, 1, 1, 0) < 0)"
    ),
}

PRYING: Final[Mapping[str, str]] = {
    "read an environment": "tr '\\0' '\\n' </proc/{pid}/environ | grep -q {secret}",
    "read a command line": "grep -q {secret} /proc/{pid}/cmdline",
    "find it in the list of processes": "ps -eo args | grep -v grep | grep -q 'victim[-]{secret}'",
    "read memory": "head -c 1 /proc/{pid}/mem",
    "read memory by a call": _python(
        "import ctypes; libc = ctypes.CDLL(None); "
        "raise SystemExit(libc.ptrace(16, {pid}, 0, 0) < 0)"
    ),
    "enter its folder": "ls /proc/{pid}/cwd/",
    "signal it": "kill -KILL {pid}",
    "end what guards the command": "kill -KILL $PPID && ! kill -0 $PPID",
    "read the guard's environment": "head -c 1 /proc/$PPID/environ",
    "read the guard's memory": "head -c 1 /proc/$PPID/mem",
    "use the guard's descriptors": "cat </proc/$PPID/fd/0",
}

HELPERS: Final[Mapping[str, str]] = {
    "docker": "[ -S /run/docker.sock ] && "
    + _python('import socket; socket.socket(socket.AF_UNIX).connect("/run/docker.sock")'),
    "systemd": "systemd-run --no-block true",
    "enter the first process's namespaces": "nsenter -t 1 -m -p true",
    "load a module": _python(
        'import ctypes; raise SystemExit(ctypes.CDLL(None).syscall(313, 0, b"", 0) != 0)'
    ),
    "the keyring": _python(
        "import ctypes; raise SystemExit(ctypes.CDLL(None).syscall(250, 0, -3, 1) < 0)"
    ),
    "type into a terminal": _python(
        'import fcntl, os, pty; fcntl.ioctl(pty.openpty()[1], 0x5412, b"x")'
    ),
    "init's pipe": "[ -p /run/initctl ] && echo >/run/initctl",
}

EVERYWHERE: Final = {**WRITING, **REACHING, **PRYING, **HELPERS}
"""What every kind of sandbox refuses."""
