"""What lies beneath a root can be reached by every honest spelling."""

import os
from pathlib import Path

import pytest
from unit.jail.reading import Build, read

from pluggableharness.sdk.failures import ExecutionFailed, InvalidArguments, NotFound
from pluggableharness.sdk.jail import Jail, jail_for, unescaped, visible

pytestmark = pytest.mark.req("C1")


def test_plain_relative_absolute_and_dotted_spellings_reach_one_file(
    build: Build, root: Path
) -> None:
    (root / "d").mkdir()
    jail = build(root)
    for path in (
        "a",
        "./a",
        "d/../a",
        "d/.././/a",
        str(root / "a"),
        f"{root}/d/../a",
        f"{root.parent}/outside/../{root.name}/a",
        f"/no/../{root}/a",
    ):
        assert read(jail, path) == b"inside", path


def test_a_root_of_everything_allows_everything(build: Build, root: Path) -> None:
    """Case jail-01: a separator added to the root must not make it `//`."""
    jail = build("/")
    assert read(jail, "/etc/hostname") == Path("/etc/hostname").read_bytes()[:100]
    assert read(jail, str(root / "a")) == b"inside"
    assert read(jail, "/../../etc/hostname") == Path("/etc/hostname").read_bytes()[:100]


def test_a_root_may_be_given_and_asked_for_with_a_trailing_slash(build: Build, root: Path) -> None:
    """Case jail-01."""
    jail = build(f"{root}/")
    for path in (str(root), f"{root}/", ".", "./", f"{root}/."):
        os.close(jail.open(path))
        with jail.locate(path) as place:
            assert place.path == os.fsencode(root)


def test_a_root_reached_through_a_link_is_one_root_under_both_names(
    build: Build, tmp_path: Path, root: Path
) -> None:
    """Case jail-05."""
    (tmp_path / "lr").symlink_to(root)
    jail = build(tmp_path / "lr")
    assert read(jail, str(tmp_path / "lr" / "a")) == b"inside"
    assert read(jail, str(root / "a")) == b"inside"
    assert read(jail, "a") == b"inside"
    assert jail.roots == (root,)


def test_a_working_directory_spelled_through_a_link_is_looked_up(
    build: Build, tmp_path: Path, root: Path
) -> None:
    (tmp_path / "lr").symlink_to(root)
    assert read(build(root), "a", base=tmp_path / "lr") == b"inside"


@pytest.mark.req("P9")
def test_relative_paths_start_at_the_base_and_not_at_the_process(build: Build, root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "a").write_bytes(b"in sub")
    jail = build(root)
    assert read(jail, "a", base=root / "sub") == b"in sub"
    assert read(jail, "../a", base=root / "sub") == b"inside"


def test_links_that_stay_inside_work_whether_relative_absolute_or_chained(
    build: Build, root: Path
) -> None:
    """Case jail-02, the last part."""
    (root / "d").mkdir()
    (root / "relative").symlink_to("a")
    (root / "absolute").symlink_to(root / "a")
    (root / "d" / "up").symlink_to("../relative")
    (root / "folder").symlink_to(root / "d")
    (root / "out-and-in").symlink_to(f"../{root.name}/a")
    jail = build(root)
    for path in ("relative", "absolute", "d/up", "folder/up", "folder/../a", "out-and-in"):
        assert read(jail, path) == b"inside", path


def test_a_link_may_lead_from_one_root_into_another(build: Build, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    (two / "file").write_bytes(b"two")
    (one / "across").symlink_to(two)
    (one / "sideways").symlink_to("../two/file")
    jail = build(one, two)
    assert read(jail, "across/file") == b"two"
    assert read(jail, "sideways") == b"two"


def test_a_place_is_named_alike_however_it_was_reached(build: Build, root: Path) -> None:
    (root / "d").mkdir()
    (root / "link").symlink_to("a")
    (root / "here").symlink_to(root)
    jail = build(root)
    keys = set()
    for path in ("a", "link", "here/a", "d/../a", "here/here/link", str(root / "a")):
        with jail.locate(path) as place:
            keys.add(place.key)
            assert place.path == os.fsencode(root / "a")
    assert len(keys) == 1


def test_what_does_not_exist_has_a_place_too(build: Build, root: Path) -> None:
    (root / "dangling").symlink_to("new")
    jail = build(root)
    for path in ("new", "dangling"):
        with jail.locate(path) as place:
            assert place.status is None
            assert place.path == os.fsencode(root / "new")


def test_a_file_can_be_created_beneath_a_root(build: Build, root: Path) -> None:
    descriptor = build(root).open("new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, b"x")
    os.close(descriptor)
    assert (root / "new").read_bytes() == b"x"


def test_a_place_is_that_of_the_target_of_a_link(build: Build, root: Path) -> None:
    (root / "d").mkdir()
    (root / "d" / "link").symlink_to("../a")
    with build(root).locate("d/link") as place:
        assert place.name == b"a"
        assert os.readlink(f"/proc/self/fd/{place.folder}") == str(root)


def test_folders_on_the_way_are_made_beneath_the_root_when_asked(build: Build, root: Path) -> None:
    (root / "link").symlink_to("made")
    with build(root).locate("link/x/y/file", make_folders=True) as place:
        assert place.path == os.fsencode(root / "made" / "x" / "y" / "file")
    assert (root / "made" / "x" / "y").is_dir()


def test_no_folder_is_made_for_a_path_that_leaves_it_again(build: Build, root: Path) -> None:
    for path in ("made/../a", "made/../../outside/new"):
        with pytest.raises(NotFound):
            build(root).locate(path, make_folders=True)
    assert os.listdir(root) == ["a"]


def test_a_root_that_comes_into_being_later_is_good(build: Build, root: Path) -> None:
    jail = build(root / "later")
    with pytest.raises(NotFound):
        jail.open("file")
    (root / "later").mkdir()
    (root / "later" / "file").write_bytes(b"late")
    assert read(jail, "file") == b"late"


def test_the_jail_of_a_call_is_its_working_directory_unless_roots_are_set(root: Path) -> None:
    assert jail_for((), root).roots == (root,)
    assert jail_for((), root) is jail_for((), root)
    assert jail_for(("sub", "/tmp"), root).roots == (root / "sub", Path("/tmp"))


def test_missing_things_are_not_found_with_the_names_that_look_like_them(
    build: Build, root: Path
) -> None:
    """Cases filesystem-24 and filesystem-25: composed letters and special spaces."""
    os.mkdir(os.fsencode(root) + b"/Abscha\xcc\x88tze")
    (root / "Shot at 1.01\u202fAM.png").write_bytes(b"")
    jail = build(root)
    with pytest.raises(NotFound, match=r"Abscha\\u0308tze") as caught:
        jail.open("Abschätze/x")
    assert caught.value.details == {"near": ["Abscha\\u0308tze"]}
    with pytest.raises(NotFound, match=r"1\.01\\u202fAM"):
        jail.open("Shot at 1.01 AM.png")
    with pytest.raises(NotFound, match="there is no other"):
        jail.open("other")


def test_names_shown_with_escapes_can_be_given_back(build: Build, root: Path) -> None:
    """A name that is not UTF-8 cannot travel as text; its visible spelling can."""
    for name in (b"caf\xe9", "Shot\u202fAM".encode(), b"two\nlines", b"bell\x07\x7f"):
        (root / os.fsdecode(name)).write_bytes(name)
        assert read(build(root), visible(name)) == name


def test_a_name_exactly_as_written_goes_before_its_escapes(build: Build, root: Path) -> None:
    (root / "caf\\xe9").write_bytes(b"literal")
    (root / os.fsdecode(b"caf\xe9")).write_bytes(b"byte")
    assert read(build(root), "caf\\xe9") == b"literal"


def test_escapes_cannot_spell_what_could_be_written_plainly(build: Build, root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "config").write_bytes(b"x")
    with pytest.raises(NotFound):
        build(root).open("\\x2egit/config")
    assert unescaped("\\u002e\\x2F\\ud800\\UFFFFFFFF") == "\\u002e\\x2F\\ud800\\UFFFFFFFF"


def test_what_cannot_be_a_path_says_so(build: Build, root: Path) -> None:
    """Case exec-15 for paths: half of a surrogate pair."""
    jail = build(root)
    for path, reason in (("", "empty"), ("a\0b", "NUL"), ("a\ud800", "surrogate")):
        with pytest.raises(InvalidArguments, match=reason):
            jail.open(path)
    with pytest.raises(InvalidArguments, match="too long"):
        jail.open("n" * 300)


def test_links_in_a_circle_end(build: Build, root: Path) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    (root / "self").symlink_to("self/x")
    for path in ("one", "self", "one/x"):
        with pytest.raises(ExecutionFailed, match="circle"):
            build(root).open(path)


def test_no_descriptor_is_left_behind(root: Path) -> None:
    (root / "leak").symlink_to("/etc/passwd")
    (root / "link").symlink_to("a")
    os.mkfifo(root / "fifo")
    jail = Jail([root])
    before = os.listdir("/proc/self/fd")
    for path in ("a", "link", "leak", "missing", "missing/x", "a/x", "../x", "fifo", "a/", ""):
        try:
            os.close(jail.open(path))
        except Exception:  # whatever it is, it must not leak
            continue
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.req("P16")
@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("utils.p", ["utils.py"]),
        ("util.py", ["utils.py"]),
        ("README", ["README.md"]),
        ("Readme.md", ["README.md"]),  # of names that only look alike no others are told
        ("nothing-like-it", None),
    ],
)
def test_a_slip_in_a_name_is_told_the_names_that_may_be_meant(
    build: Build, root: Path, asked: str, near: list[str] | None
) -> None:
    for name in ("utils.py", "README.md", "readme-2.md"):
        (root / name).write_text("x")
    with pytest.raises(NotFound) as caught:
        build(root).open(asked)
    assert caught.value.details == (near and {"near": near})
