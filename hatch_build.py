"""Steps of building a distribution: the README gets links that a package index resolves."""

import sys
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))

from website.package_readme import for_package_index  # noqa: E402


class ReadmeHook(MetadataHookInterface):
    """Sets the dynamic field `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Adds the README to the metadata of the project."""
        text = for_package_index(
            (ROOT / "README.md").read_text(encoding="utf-8"),
            metadata.get("urls", {}).get("Repository"),
            f"v{metadata['version']}",
        )
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
