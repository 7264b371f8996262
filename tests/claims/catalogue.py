"""The catalogue of findings, read aloud: every code with example numbers.

    python tests/claims/catalogue.py

writes the sentences to `catalogue.txt`, to be read by a person.
"""

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import quantshift
from quantshift.claims.findings import Code, Finding
from quantshift.claims.sentences import Range, Value, filled

SENTENCES = Path(__file__).with_suffix(".txt")

_LABELS = {"which_labels": "some", "n_labels": 50, "half_width": 0.1386}
_LEFT_OUT = {"n": 12, "n_read": 300, "reasons": {"no label": 10, "no content": 2}}
_MOVED = {"share": 0.403, "expected": 0.12}
_SETTLED = {"first": 0.59, "second": 0.35, "label": "yes"}
_SPELLINGS = {"n": 5, "unseen": False, "spellings": ("'YES' (3), 'yes ' (2) as 'Yes'",)}
_COLUMN = {"column": "income"}
_TABLE = {"table": "new.csv"}
_TRIED = {
    "column": "date",
    "n": 8,
    "noun": "month",
    "which": "last",
    "error": 0.071,
    "largest": 0.15,
}

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    # Tables
    "copied_files": {"first": "a.csv", "second": "copy.csv"},
    "hidden_sheet": {"sheet": "Old", **_TABLE},
    "log_not_successful": {"status": "cancelled"},
    "samples_missing": {"n": 60, "n_expected": 120},
    "ended_in_error": {"n": 2},
    "several_values": {"n": 1, "name": "feedback.tone", "numbered": "feedback.tone 1"},
    "respelt_labels": _SPELLINGS,
    "respelt_verdicts": _SPELLINGS | {"n": 1, "unseen": True},
    "mistyped_label": {"label": "yess", "n": 5, "n_labels": 600, "usual": "yes"},
    "placeholder_label": {"label": "Unknown", "n": 10, "n_labels": 600},
    "synonymous_labels": {"n": 2, "labels": {"1": 80, "true": 20}},
    # Rows of all answers, and sheets
    "copies": {"n": 800, "n_items": 1000},
    "rows_left_out": _LEFT_OUT | _TABLE,
    "many_rows_left_out": _LEFT_OUT | {"n": 250, "reasons": {"no content": 250}} | _TABLE,
    "undecodable_cells": {"n": 1, **_TABLE},
    "rows_without_label": {"n": 2, "table": "sheet.csv"},
    "rows_of_plan_gone": {"n": 1, "n_rows": 60, "table": "sheet.csv"},
    "edited_cells": {"n": 3, "table": "sheet.csv"},
    # Columns that changed
    "median_moved": {"median": 41.2, "expected": 35.0},
    "small_values_moved": {"limit": 12.5, **_MOVED},
    "early_dates_moved": {"limit": "2026-02-01", **_MOVED},
    "missing_values_moved": _MOVED,
    "level_moved": {"level": "month", **_MOVED},
    "rare_levels_moved": _MOVED,
    "word_moved": {"word": "refund", **_MOVED},
    "gaps_in_texts_moved": _MOVED,
    # Training
    "too_accurate": {"accuracy": 0.9998},
    "little_separation": {"auc": 0.512},
    "revealing_column": {"column": "refund"},
    "hard_posteriors": {},
    "perfect_posteriors": {},
    "copied_rows": {"n": 1140, "n_rows": 1200},
    "decimal_commas": {"n": 2, "columns": ("age", "income")},
    "dead_column": {"death": "constant", "share": 0.0021, "column": "income", **_TABLE},
    "later_dates": {"column": "day", **_TABLE},
    "declaration_tried": _TRIED,
    "declaration_in_doubt": _TRIED | {"noun": "group", "which": "all"},
    "trained_on_a_part": {"n": 100_000, "n_rows": 123_456},
    "rows_without_group": {"n": 5},
    "groups_pooled": {"n": 2, "fewest": 30, "name": "(small groups)"},
    "groups_too_small": {"fewest": 30, "groups": ("e", "f")},
    "sets_without_a_class": {"n": 1},
    "group_not_learnt_without": {"group": "north", "error": "all labels are 'no'"},
    "rows_of_groups_drawn": {"most": 5000},
    "last_periods": {"n": 12, "n_groups": 40},
    "largest_groups": {"n": 20, "n_groups": 49},
    # Samples
    "random_part": {"n": 200_000, "n_items": 1_000_000},
    "unused_columns": {"columns": ("color", "part"), **_TABLE},
    "labels_ignored": _TABLE,
    "odd_cells": {"n": 1, "row": 6, "example": "many", **_COLUMN, **_TABLE},
    "respelt_levels": {"n": 7, "spellings": ("billing: 'PAPER' as 'Paper'",)},
    "no_longer_constant": {"usual": "FR", "example": "DE", "others": True, "n": 7, **_COLUMN},
    "dividing_column": {"column": "month"},
    "child_above_parent": {"child": "slur", "parent": "hate"},
    "label_not_learnt": {"label": "rare", "reason": "3 rows with it"},
    "cut_at_parent": {"parent": "hate"},
    "answered_together": {"method": "TiltedLabelSets"},
    "others_do_not_explain": {},
    # Batches
    "none_of_these": {"share": 0.07, "all": False, "classes": "open"},
    "not_without_labels": {"name": "yes", "low": 0.048, "high": 0.582},
    "not_estimated": {"name": "yes", "reason": "there are no items"},
    "no_items": {},
    "few_items": {"n": 1},
    "confused_classes": {"classes": ("a", "b")},
    "too_few_labels": {"n": 4, "fewest": 10},
    "no_values": {"expected": 0.06, **_COLUMN},
    "more_gaps": _MOVED | _COLUMN,
    "outside_the_range": {"share": 0.12, "low": 18.0, "high": 65.0, **_COLUMN},
    "outside_the_dates": {"share": 1.0, "low": "2026-01-01", "high": "2026-03-01", "column": "day"},
    "new_levels": {"share": 0.4, "example": "Oslo", "column": "city"},
    "new_words": _MOVED | {"column": "review"},
    # Advice
    "give_items": {},
    "labels_undecided": _SETTLED | {"n_more": 30},
    "labels_fit_neither": _SETTLED,
    "labels_settle_it": {
        "n_labels": 28,
        "share": 0.59,
        "other": 0.35,
        "label": "yes",
        "assume": "prior",
    },
    "audit_can_stop": {"half_width": 0.049, "precision": 0.05},
    "audit_goes_on": {"half_width": 0.08, "precision": 0.05, "n_more": 110},
    "audit_contradicts": {},
    "audit_agrees": {},
    "add_columns_or_label": _LABELS,
    "repair_or_label": _LABELS | {"columns": ("contract",), "which_labels": "all", "n_labels": 40},
    "labels_decide": {
        "n_labels": 28,
        "first": 0.59,
        "second": 0.35,
        "of": "other",
        "label": "7",
    },
    "label_some": _LABELS | {"why": "refuted"},
    "declare_columns": {},
    "declare_posteriors": {},
    "narrower": _LABELS | {"which_labels": "only"},
    "audit_would_confirm": {},
    "see_warnings": {},
    # Sketches
    "uncounted_items": {"n": 40, "n_items": 60, "table": "the audit"},
    "unscored_labels": {"n": 3, "table": "the audit"},
    "unknown_batches": {"batches": ("week 9",), "table": "the audit"},
    # Judges
    "labelled_but_left_out": {"n": 2, **_TABLE},
    "labels_not_on_sheet": {"n": 1, "sheet": "sheet", **_TABLE},
    "changed_verdicts": {"n": 1, "n_items": 100, "judge": "gpt", "source": "new.csv", "row": 12},
    "matched_verdicts": {"judge": "gpt", "source": "old.csv", "pairs": ("'1' as 'pass'",)},
    "repeated_ids": {"n": 60, **_TABLE},
    "verdicts_without_label": {"judge": "gpt", "verdicts": ("tie",)},
    "classes_without_label": {"classes": ("poor",)},
    "design_guessed": {"design": "random", "why": "their verdicts are those of all items"},
    "many_intervals": {"n": 12},
    "one_class_labelled": {},
    "one_verdict": {},
    "perfect_agreement": {},
    "counted_alone": {"n": 40},
    "strata_without_label": {"share": 0.021},
    "items_unlike_labelled": {"share": 0.052, "what": "verdicts"},
    "few_clusters": {"n": 8},
    "split_items": {"n": 3},
    "treated_differently": {"p_value": 0.00123},
    "elsewhere_not_used": {"reason": "their verdicts do not fit the labels"},
    "elsewhere_used": {"weight": 0.35, "p_value": 0.41},
    "uninformative_judge": {"youden": 0.11, "low": -0.03, "high": 0.24},
    "spread_assumed": {},
    "spread_learnt": {"n": 4},
    "naive_contradicted": {"by": "labels"},
    "naive_outside_range": {},
    "label_at_random": {"n": 100},
    "label_the_others": {"n": 100, "what": "verdicts"},
    "label_more": {},
}


def codes() -> Iterator[Code]:
    """Every code of every room."""
    source = Path(quantshift.__file__).parent
    for path in sorted(source.rglob("findings.py")):
        name = ".".join(("quantshift", *path.relative_to(source).with_suffix("").parts))
        for entry in vars(importlib.import_module(name)).values():
            if isinstance(entry, type) and issubclass(entry, Code) and entry is not Code:
                yield from entry


def example(code: Code) -> Finding:
    """The finding with its example numbers."""
    return code.found().with_numbers() if not EXAMPLES[code] else code.found(**EXAMPLES[code])


def of_many(code: Code) -> str:
    """The sentence for many findings: counts go up to three times themselves, shares to one."""
    numbers: dict[str, Value | Range] = {}
    for key, value in example(code).numbers.items():
        numbers[key] = value
        if isinstance(value, int | float) and not isinstance(value, bool):
            numbers[key] = Range(value, 1.0 if 0 < value < 1 else 3 * value)
    return filled(code.of_many, numbers)


def read_aloud() -> Iterator[str]:
    """Every sentence with its code, and that for many where it is another."""
    for code in codes():
        yield f"{code.value} ({code.severity.value}): {example(code).sentence}"
        if code.of_many != code.template:
            yield f"  of many: {of_many(code)}"


if __name__ == "__main__":
    SENTENCES.write_text("".join(f"{line}\n" for line in read_aloud()), encoding="utf-8")
