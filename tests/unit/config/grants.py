"""Projects with rules of "always", for the tests of them."""

from pathlib import Path

from pluggableharness.kernel.config.given import Given
from pluggableharness.kernel.config.granted import GRANTED_NAME, GrantedFile


def granted_in(project: Path, state: Path | None = None) -> GrantedFile:
    """The file of a project; `state` is the user's, by default beside the project."""
    project.mkdir(exist_ok=True)
    folder = project.with_name("state") if state is None else state
    return GrantedFile(project / GRANTED_NAME, "granted.hcl", Given(folder, project))
