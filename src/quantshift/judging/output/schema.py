"""The layout of the JSON of `judge`, as a JSON schema made from the dataclasses themselves."""

from typing import Any

from quantshift.judging.result import FORMAT, Judgement
from quantshift.quantifying.output.schema import schema_of


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of what `Judgement.to_json` gives."""
    return schema_of(Judgement, FORMAT)
