"""The documentation of several versions side by side.

    python -m website.versions SITE PAGES NAME

puts the built site SITE into the folder PAGES/NAME (a version, or `dev`), replacing what was there;
writes PAGES/versions.json, newest first; and lets PAGES/index.html lead to the newest release, or
to `dev` as long as there is none.
"""

import json
import re
import shutil
import sys
from pathlib import Path

DEVELOPMENT = "dev"
INDEX = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>quantshift</title>
<meta http-equiv="refresh" content="0; url={name}/">
<link rel="canonical" href="{name}/">
</head>
<body><p><a href="{name}/">The documentation of quantshift {name}</a></p>
<ul>
{others}
</ul>
</body>
</html>
"""


def add_version(site: Path, pages: Path, name: str) -> list[str]:
    """Put the site among the others; returns all versions, newest first."""
    if name != DEVELOPMENT and not _is_version(name):
        raise ValueError(f"{name!r} is neither a version such as 1.2.3 nor {DEVELOPMENT!r}")
    if not (site / "index.html").is_file():
        raise ValueError(f"{site} has no index.html; build the site first")
    target = pages / name
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(site, target)
    folders = [path.name for path in pages.iterdir() if path.is_dir()]
    versions = sorted(filter(_is_version, folders), key=_key, reverse=True)
    if DEVELOPMENT in folders:
        versions.append(DEVELOPMENT)
    (pages / "versions.json").write_text(json.dumps(versions, indent=1) + "\n", encoding="utf-8")
    others = "\n".join(f'<li><a href="{each}/">{each}</a></li>' for each in versions)
    index = INDEX.format(name=versions[0], others=others)
    (pages / "index.html").write_text(index, encoding="utf-8")
    (pages / ".nojekyll").touch()
    return versions


def _is_version(name: str) -> bool:
    return re.fullmatch(r"\d+\.\d+\.\d+", name) is not None


def _key(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


if __name__ == "__main__":
    try:
        print("\n".join(add_version(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])))
    except ValueError as error:
        sys.exit(str(error))
