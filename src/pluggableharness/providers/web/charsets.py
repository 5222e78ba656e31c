"""Bytes to text: by the byte order mark, the header, the document, and only then by looking.

Labels mean what browsers take them for: `iso-8859-1` is windows-1252, `gb2312` is gb18030.
Never fails: what cannot be decoded becomes U+FFFD.
"""

import codecs
import re
from typing import Final

_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_WIDER: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "utf-16": "utf-16-le",
}
_KNOWN: Final = re.compile(
    r"utf-8|utf-16-[lb]e|cp(?:866|874|932|949|125[0-8])|iso8859-(?:[2-8]|1[03-6])|koi8-[ru]"
    r"|mac-(?:roman|cyrillic)|gb18030|big5hkscs|euc_jp|iso2022_jp"
)
"""The codecs of the web. Python has others under a charset's name that execute escapes."""
_META: Final = re.compile(
    rb"""<meta[^>]{0,400}?charset\s*=\s*["']?\s*([a-zA-Z0-9_:.-]{1,40})""", re.I
)
_XML: Final = re.compile(rb"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([a-zA-Z0-9_:.-]{1,40})""")
_HEAD: Final = 4096
_LOOKED_AT: Final = 256 * 1024


def text_of(data: bytes | bytearray, label: str | None, *, markup: bool, cut: bool) -> str:
    """Decode a body; `label` is the header's charset, and a `cut` one may end in mid-character."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], codec, cut)
    return _decoded(data, _codec(data, label, markup, cut), cut)


def codec_of(label: str) -> str | None:
    """The codec that a label stands for on the web, or None where it is unknown there."""
    try:
        name = codecs.lookup(label.strip()).name
    except (LookupError, ValueError):
        return None
    name = _WIDER.get(name, name)
    return name if _KNOWN.fullmatch(name) else None


def _codec(data: bytes | bytearray, label: str | None, markup: bool, cut: bool) -> str:
    labels = [label] if label else []
    found = (_META.search(data, 0, _HEAD) or _XML.match(data)) if markup else None
    if found is not None:
        # A page that can say so in ASCII is not in UTF-16, whatever it says.
        labels.append(re.sub("utf-?16.*", "utf-8", found[1].decode("ascii").lower()))
    known = next(filter(None, map(codec_of, labels)), None)
    if known is not None:
        return known
    if labels or _is_utf8(data, cut):
        return "utf-8"
    return _detected(data)


def _is_utf8(data: bytes | bytearray, cut: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=not cut)
    except UnicodeDecodeError:
        return False
    return True


def _detected(data: bytes | bytearray) -> str:
    # 24 ms to import, and only bytes that nothing else explains need it.
    import chardet

    label = chardet.detect(data[:_LOOKED_AT])["encoding"]
    return (codec_of(label) if label else None) or "utf-8"


def _decoded(data: bytes | bytearray, codec: str, cut: bool) -> str:
    return codecs.getincrementaldecoder(codec)("replace").decode(data, final=not cut)
