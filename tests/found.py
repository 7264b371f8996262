"""Findings of an answer, by their codes."""

from collections.abc import Iterable, Mapping
from typing import Any

from quantshift.claims.findings import Code, Finding


def codes_of(findings: Iterable[Finding]) -> list[Code]:
    """What was found, in its order."""
    return [finding.code for finding in findings]


def only(findings: Iterable[Finding], code: Code) -> Finding:
    """The one finding with this code."""
    (found,) = (finding for finding in findings if finding.code is code)
    return found


def numbers_of(findings: Iterable[Finding], code: Code) -> Mapping[str, Any]:
    """The numbers of the one finding with this code."""
    return only(findings, code).numbers


def recorded(findings: Iterable[Mapping[str, Any]], code: Code) -> Mapping[str, Any]:
    """The numbers of the one finding with this code in JSON."""
    (found,) = (finding for finding in findings if finding["code"] == code.value)
    numbers: Mapping[str, Any] = found["numbers"]
    return numbers
