"""The host's side of provider processes: launch, handshake, callbacks, calls, restarts.

Owns everything between "this call may run" and its outcome. A provider is hostile until the
contract check and the stream guard have said otherwise; its faults become values, never
exceptions. Knows nothing of policy, plans, sessions or screens.
"""
