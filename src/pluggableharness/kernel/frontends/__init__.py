"""What a person, or a program in a person's place, looks at.

Frontends hear the kernel's news and answer its questions; they decide nothing themselves and
know neither wire nor policy. The modules that draw say so, since rich takes a while to
import: only runs that draw import them.
"""
