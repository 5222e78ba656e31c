"""How a session goes on, as `run` and `sessions resume` are told by options; imports no kernel."""

import argparse


def add_session_options(parser: argparse.ArgumentParser) -> None:
    """Take what `starting.as_asked` and `starting.shown` go by."""
    parser.add_argument(
        "--plan", action="store_true", help="offer nothing that changes anything: look and say"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line; nobody asked")
    parser.add_argument(
        "--allow-all", action="store_true", help="answer every question with yes; denials hold"
    )
