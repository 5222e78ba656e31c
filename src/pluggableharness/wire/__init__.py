"""Generated messages of the contract, and the facts of the plugin handshake."""
