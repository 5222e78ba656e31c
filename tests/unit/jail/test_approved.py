"""A path that was approved is opened as what it was, and never by way of a link (K10a, C1)."""

import os
from pathlib import Path

import pytest

from pluggableharness.sdk.failures import ConcurrencyConflict, PermissionDenied
from pluggableharness.sdk.jail import Jail, by_openat2, by_steps

pytestmark = pytest.mark.req("K10a", "C1")


@pytest.fixture(params=[by_openat2, by_steps], ids=["openat2", "steps"])
def jail(request: pytest.FixtureRequest, tmp_path: Path) -> Jail:
    for name in ("root/a", "root/b", "outside"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "f").write_text(name)
    (tmp_path / "root/ln").symlink_to("b")
    return Jail([tmp_path / "root"], descend=request.param)


def read(jail: Jail, path: str, approved: str) -> str:
    with jail.locate(path, approved=approved) as place:
        descriptor = place.open()
        try:
            return os.read(descriptor, 100).decode()
        finally:
            os.close(descriptor)


def test_it_is_the_place_wherever_the_text_leads_now(jail: Jail, tmp_path: Path) -> None:
    assert read(jail, "ln/f", f"{tmp_path}/root/a/f") == "root/a"
    assert read(jail, "ln/f", f"{tmp_path}/root/b/f") == "root/b"


@pytest.mark.parametrize(
    ("place", "target"),
    [("a/f", "../b/f"), ("a", "b"), ("a", "../outside"), ("a", "gone"), ("a/f", "moved")],
)
def test_a_link_that_has_come_in_since_ends_it(
    jail: Jail, tmp_path: Path, place: str, target: str
) -> None:
    """Also one that leads nowhere, or back to what was there."""
    swapped = tmp_path / "root" / place
    swapped.rename(swapped.with_name("moved"))
    swapped.symlink_to(target)
    with pytest.raises(ConcurrencyConflict, match="ln/f leads elsewhere"):
        jail.locate("ln/f", approved=f"{tmp_path}/root/a/f")


def test_no_folder_is_made_behind_such_a_link(jail: Jail, tmp_path: Path) -> None:
    (tmp_path / "root/n").symlink_to("b")
    with pytest.raises(ConcurrencyConflict):
        jail.locate("n/x/y", approved=f"{tmp_path}/root/n/x/y", make_folders=True)
    assert not (tmp_path / "root/b/x").exists()
    with jail.locate("m/x/y", approved=f"{tmp_path}/root/m/x/y", make_folders=True):
        assert (tmp_path / "root/m/x").is_dir()


def test_what_was_approved_outside_is_refused_and_called_what_the_model_called_it(
    jail: Jail, tmp_path: Path
) -> None:
    with pytest.raises(PermissionDenied, match="way/out is outside"):
        jail.locate("way/out", approved=f"{tmp_path}/outside/f")


def test_an_escaped_name_is_read_back_and_followed_nowhere(jail: Jail, tmp_path: Path) -> None:
    """A kernel knows nothing of escapes: it looked for the name as it is written."""
    root = tmp_path / "root"
    (root / "\u202fa").write_text("spaced")
    (root / "\u202fl").symlink_to("b")
    assert read(jail, "\\u202fa", f"{root}/\\u202fa") == "spaced"
    with pytest.raises(ConcurrencyConflict):
        jail.locate("\\u202fl/f", approved=f"{root}/\\u202fl/f")
