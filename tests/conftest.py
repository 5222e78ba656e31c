"""What holds for every test. Fixtures live beside the tests that use them."""

import os

pytest_plugins = ["requirements_report"]

# What a process compiles is kept for the hundreds that tests start after it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Terminals are forked, beside whatever gRPC has running by then: a child in which gRPC starts its
# threads anew, as it does unless told otherwise, dies with the descriptors that are closed for the
# program it is about to become.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
