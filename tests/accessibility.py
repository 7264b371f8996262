"""Pages under axe-core, the accessibility checker of browsers' tools, and under the Tab key."""

import pytest

GRAVE = ("serious", "critical")
ANY = ("minor", "moderate", *GRAVE)

OPERABLE = "a[href], button, input, select, textarea, summary, [tabindex='0']"
MOST_STOPS = 2000
"""More presses of Tab than any page has stops."""

_REMAINING = """operable => {
    const shown = (element) => element.checkVisibility({ visibilityProperty: true });
    const reached = new Set(document.querySelectorAll("[data-reached]"));
    const isReached = (element) => reached.has(element)
        // Of the buttons of a group only one is a stop; arrows lead to the others.
        || (element.type === "radio"
            && [...reached].some((other) => other.type === "radio" && other.name === element.name));
    const all = [...document.querySelectorAll(operable)].filter(
        (element) => shown(element) && !element.disabled);
    // What looks as if it could be clicked: it is a stop, is within one, or names one.
    const isPointed = (element) => getComputedStyle(element).cursor === "pointer";
    const clickable = [...document.body.querySelectorAll("*")].filter((element) => shown(element)
        && isPointed(element) && !isPointed(element.parentElement)
        && !element.closest(operable) && !element.querySelector(operable));
    return [...all.filter((element) => !isReached(element)), ...clickable]
        .map((element) => element.outerHTML.slice(0, 200));
}"""


COLOURS = ("color-contrast",)
"""The rules that another scheme of colours can break."""


def violations(page, impacts=ANY, rules=()):
    """What axe-core finds of these impacts on an open page, line by line.

    rules: the only ones to check; all of them if there are none.
    """
    checker = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found = checker.Axe().run(page, options=options).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in found
        if violation["impact"] in impacts
        for node in violation["nodes"]
    ]


def grave_violations(page):
    """What axe-core finds of serious or critical impact on an open page, line by line."""
    return violations(page, GRAVE)


def unreachable(page):
    """What can be operated on an open page and is no stop of the Tab key, line by line."""
    stops = 0
    page.evaluate("document.activeElement.blur()")
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        is_new = page.evaluate(
            """() => {
                const stop = document.activeElement;
                if (stop === document.body || "reached" in stop.dataset) return false;
                stop.dataset.reached = "";
                return true;
            }"""
        )
        if not is_new:
            break
        stops += 1
    assert 0 < stops < MOST_STOPS
    return page.evaluate(_REMAINING, OPERABLE)
