"""Pages under axe-core, the accessibility checker of browsers' tools."""

import pytest

GRAVE = ("serious", "critical")


def grave_violations(page):
    """What axe-core finds of serious or critical impact on an open page, line by line."""
    checker = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    found = checker.Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in found
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]
