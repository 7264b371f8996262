"""Messages without passwords: whatever the shape of a URL, its credentials are not shown.

People write URLs that parsers misread: passwords with / # ? or @, a forgotten @, the scheme of a
driver. So these are not parsed: everything that may be a password is left out, even if this
sometimes hides more than that.
"""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

HIDDEN = "..."

PUBLIC = frozenset({"table", "schema", "host", "port", "dbname", "sslmode", "connect_timeout"})
"""The parameters of a URL that are always shown."""

SHORTEST = 4
"""The fewest characters of a part of a password that is looked for by itself."""

_START = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/{1,2}(?!/)")
_PORT = r"\d{0,5}(?:[/?#,]|[^\w@\s]*(?:\s|$))"
_USER = rf"[^\s/?#@:\[]*:(?:(?!{_PORT})[^@]*|\d{{1,5}}\s[^\s@]*)@"
"""A user and a password that may have blanks; what follows the colon is no port."""

_URL = re.compile(rf"{_START.pattern}(?:{_USER})?\S+")
_OPTION = re.compile(r"\A--?[\w-]+=")
_BARE_USER = re.compile(r"[^\s/:@]+:(?P<password>[^@].*)@[^@]+", re.DOTALL)
"""A user and a password of a URL whose scheme was forgotten."""

_SECRET = re.compile(r"user|pass|pwd|secret|token|auth|sig|key|cred", re.IGNORECASE)
_ASSIGNED = re.compile(
    r"""\b(\w*(?:pass|passwd|password|passphrase|pwd|secret|token))=[^\s&;'")]+""", re.IGNORECASE
)
_HOST = re.compile(r"(\[[^@]*|[^:@\[]*)(:\d{0,5}[^\w@]*)?")
"""A host and perhaps a port, perhaps followed by marks of the sentence."""

_MARKS = re.compile(r"[/?#@&;:=\s]")


def without_credentials(text: str, sources: Iterable[str] = ()) -> str:
    """A message without the user names and passwords of the URLs in it.

    sources: what the user gave, such as the words of a command; the passwords of URLs among them
        are left out wherever they occur.

    >>> without_credentials("http://ann:s3cret@host/: no answer")
    'http://host/: no answer'
    >>> without_credentials("invalid port 's3cret'", ["postgresql://ann:s3cret/sales"])
    "invalid port '...'"
    """
    for source in sources:
        text = _without_secrets_of(_OPTION.sub("", source, count=1), text)
    text = _URL.sub(lambda match: public_url(match.group()), text)
    return _ASSIGNED.sub(rf"\1={HIDDEN}", text)


def _without_secrets_of(source: str, text: str) -> str:
    bare = None if _START.match(source) else _BARE_USER.fullmatch(source)
    if bare is not None:
        password = bare["password"]
        return _hidden([password], text.replace(f":{password}@", f":{HIDDEN}@"))
    public = public_url(source)
    if public == source:
        return text
    # Names of files are shown with a single slash.
    for form in (source, re.sub("//+", "/", source)):
        text = text.replace(form, public)
    user = source.rpartition("@")[0]
    for blank in re.finditer(r"\s", user):
        # Messages that were taken to end at the blank have been shortened up to it.
        text = text.replace(f"{user[blank.start() :]}@", f"{HIDDEN}@")
    return _hidden(_secrets(source, public), text)


def _hidden(secrets: Iterable[str], text: str) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
    return text


def public_url(url: str) -> str:
    """A URL without user, password and secret parameters; any other text is not changed.

    >>> public_url("postgresql+psycopg2://ann:a/b#c?d@host/sales?table=t&PASSWORD=x&y")
    'postgresql+psycopg2://host/sales?table=t'
    >>> public_url("postgresql://ann:s3cret-host/sales?table=t")
    'postgresql://...'
    >>> public_url("https://host/scores.csv?v=2&sv=2026-01-01&sig=aGVsbG8%3D")
    'https://host/scores.csv'
    """
    start = _START.match(url)
    if start is None:
        return _without_parameters(url) if "://" in url else url
    rest = url[start.end() :]
    if has_credentials(url):
        rest = rest.rpartition("@")[2]
    host = re.split("[/?#]", rest, maxsplit=1)[0]
    if not all(map(_HOST.fullmatch, host.split(","))):
        return f"{start.group()}{HIDDEN}"
    return start.group() + _without_parameters(rest)


def has_credentials(url: str) -> bool:
    """Whether a URL gives a user or a password before the host, in whatever shape.

    >>> [has_credentials(url) for url in ("http://ann:a/b@host/", "ann:b@host", "http://host:1/a")]
    [True, True, False]
    """
    start = _START.match(url)
    rest = url[start.end() :] if start else url
    host = re.split("[/?#]", rest, maxsplit=1)[0]
    return "@" in rest and re.search("[:@]", host) is not None


def _without_parameters(rest: str) -> str:
    """The part of a URL after the scheme, without parameters that may be secret."""
    parts = re.split("[?&]", rest)
    if not any(map(_may_be_secret, parts[1:])):
        return rest
    # What follows a secret may belong to it.
    public = [part for part in parts[1:] if _key(part) in PUBLIC and "#" not in part]
    return f"{parts[0]}?{'&'.join(public)}" if public else parts[0]


def _may_be_secret(parameter: str) -> bool:
    """Whether it is not one of the public ones; of names that say nothing, by its length."""
    key, _, value = parameter.partition("=")
    if _SECRET.search(_key(parameter)):
        return True
    length = len(re.split(r"[#\s]", value or key, maxsplit=1)[0])
    return _key(parameter) not in PUBLIC and length >= SHORTEST


def _key(parameter: str) -> str:
    return unquote(parameter.partition("=")[0]).casefold()


def _secrets(url: str, public: str) -> Iterator[str]:
    """Passwords of a URL, and their parts, that its public form does not show."""
    start = _START.match(url)
    rest = url[start.end() :] if start else url
    values = [part.partition("=")[2] for part in re.split("[?&]", rest)[1:]]
    host = re.split("[/?#]", rest, maxsplit=1)[0]
    user = rest.rpartition("@")[0] if "@" in rest else host
    values.append(user.partition(":")[2])
    for secret in {form for value in values for form in (value, unquote(value))}:
        if secret and secret not in public:
            yield secret
        for part in _MARKS.split(secret):
            if len(part) >= SHORTEST and part not in public:
                yield part
