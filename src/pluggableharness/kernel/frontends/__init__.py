"""What a person, or a program in a person's place, looks at.

Frontends hear the kernel's news and answer its questions; they decide nothing themselves and
know neither wire nor policy. The modules that draw import rich, so they are imported only by
runs that draw; `text`, `words`, `payloads`, `json_lines` and `piped` stay light.
"""
