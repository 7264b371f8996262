"""Names of folders that belong to one of several labels."""

from quantshift.base.storage.integrity import checksum

PLAIN = " -_"
"""Signs that stay in the name of a label's folder, beside letters and digits."""

MOST_BYTES = 120
"""The longest name of a label's folder; most file systems allow 255 bytes."""


def target_folder_name(label: str) -> str:
    """The name of the folder of a label, among those of other labels.

    >>> target_folder_name("hate speech"), target_folder_name("a/b")
    ('hate speech', 'a%2Fb')
    """
    signs = [c if c.isalnum() or c in PLAIN else _escaped(c) for c in label]
    name = "".join(signs)
    if len(name.encode()) <= MOST_BYTES:
        return name
    # A beginning that can be read, and a hash that tells it from others with the same beginning.
    ending = f"-{checksum(label.encode('utf-8', 'surrogatepass'))[:16]}"
    kept = signs[:MOST_BYTES]
    while len("".join(kept).encode()) > MOST_BYTES - len(ending):
        kept.pop()
    return "".join(kept) + ending


def _escaped(sign: str) -> str:
    """The bytes of a sign as in a URL, so that no two names have the same escapes."""
    return "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "surrogatepass"))
