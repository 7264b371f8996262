"""A sample that is given by rows of tables."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from quantshift.answers.columns import LeftOutColumn
from quantshift.answers.rows import Rows
from quantshift.base.progress import OnProgress
from quantshift.base.types import Indices
from quantshift.claims import decide
from quantshift.claims.findings import Finding
from quantshift.diagnosis.unseen_class import unlike_every_class
from quantshift.items.items import Items
from quantshift.measuring.adapting.correction import Correction
from quantshift.measuring.columns.dead_columns import DeadColumn
from quantshift.quantifying.estimating.accuracy import accuracy_of
from quantshift.quantifying.estimating.changes import columns_that_moved, with_changes
from quantshift.quantifying.estimating.evidence import (
    RESAMPLING,
    examine,
    tested_samples,
    with_adjusted_p_values,
)
from quantshift.quantifying.estimating.gone import gone_columns, why_gone
from quantshift.quantifying.estimating.guarded_evidence import GuardedSamples
from quantshift.quantifying.estimating.performance import (
    PerformanceOfBatches,
    correction_for,
    corrections_for_either,
    facts_of,
)
from quantshift.quantifying.estimating.sample import AbstractSample, ScoredBatch
from quantshift.quantifying.estimating.summary import all_findings
from quantshift.quantifying.estimating.unlabelled import Evidence
from quantshift.quantifying.findings import SampleFindings
from quantshift.quantifying.options import EstimationOptions, Request
from quantshift.quantifying.output.advice import FEW_LABELS
from quantshift.quantifying.output.commands import SHEET, plan_command
from quantshift.quantifying.reading.audited import AuditTable, audited_codes
from quantshift.quantifying.reading.levels import why_unknown
from quantshift.quantifying.reading.pool import (
    NOTHING,
    Pool,
    read_pool,
    sample_sources,
    unused_columns,
)
from quantshift.quantifying.reading.spool import RowSpool
from quantshift.quantifying.result import Batch
from quantshift.quantifying.training.model import Model
from quantshift.tables.reading import OpenTable


@dataclass(frozen=True, eq=False)
class RowSample(AbstractSample):
    """The items of tables.

    codes: of labelled items, by their position among the items, in the order of labelling.
    commands: for each batch that is a file, the commands that draw items of it to label: a number
        of them, or as many as it takes to tell two shares apart.
    corrections: of the probabilities in each batch that is completed; either: under prior and under
        covariate shift, in those where the items cannot tell which.
    others: findings about columns of the tables and about the audit.
    """

    model: Model
    by: str | None
    pool: Pool
    codes: Mapping[int, int]
    commands: Mapping[str, tuple[str, str]]
    others: tuple[Finding, ...]
    performance: PerformanceOfBatches
    n_skipped: int = 0
    corrections: dict[str, Correction] = field(default_factory=dict)
    either: dict[str, tuple[Correction, Correction]] = field(default_factory=dict)
    _shares_unlike: dict[int, Sequence[float | None]] = field(default_factory=dict)
    _tested: dict[tuple[EstimationOptions, int], GuardedSamples] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        tables: Sequence[OpenTable],
        model: Model,
        request: Request,
        audited: AuditTable | None,
        progress: OnProgress,
        spool: RowSpool | None = None,
    ) -> "RowSample":
        """Read the items of the tables, and classify them. spool: keeps the scores of all rows."""
        pool = read_pool(
            tables,
            model,
            request.batches.grouping,
            seed=request.training.seed,
            progress=progress,
            weights=request.columns.weights or model.columns.weights,
            to_find=NOTHING if audited is None else audited.to_find,
            spool=spool,
        )
        return cls.of_pool(pool, tables, model, request, audited)

    @classmethod
    def of_pool(
        cls,
        pool: Pool,
        tables: Sequence[OpenTable],
        model: Model,
        request: Request,
        audited: AuditTable | None = None,
    ) -> "RowSample":
        """The items of the tables, read and classified."""
        by, columns, seed = request.batches.by, request.columns, request.training.seed
        commands = {}
        if request.batches.grouping is None:
            commands = dict(zip(pool.batches, _commands(request), strict=True))
        others = (
            *unused_columns(tables, model, [by, columns.id, columns.weights]),
            *_divided_by_content(by, model),
            *(() if audited is None else audited.findings),
        )
        options = request.estimation
        performance = PerformanceOfBatches(
            model, level=options.level, n_bootstrap=options.replicates, seed=seed
        )
        codes = {} if audited is None else audited_codes(audited, pool)
        n_skipped = 0 if audited is None else audited.skipped
        return cls(model, by, pool, codes, commands, others, performance, n_skipped)

    def sizes(self) -> Mapping[str, int]:
        """How many items each batch has, in the order of the batches."""
        return self.pool.sizes

    def left_out(self, name: str) -> int:
        """How many rows of a batch are not among its items."""
        return self.pool.left_out[name]

    def evidence(
        self, options: EstimationOptions, seed: int, progress: OnProgress
    ) -> Mapping[str, Evidence]:
        """The evidence on every batch that has items."""
        progress(RESAMPLING, 0, options.replicates)
        items, filled = self._distinct
        examined = examine(
            self.model,
            items,
            list(filled.values()),
            options,
            seed=seed,
            progress=progress,
            tested=self._tested_at(options, seed, progress),
        )
        unlike = self._unlike(filled, seed)
        sizes = {name: len(rows) for name, rows in filled.items()}
        batches = {name: each for name, each in self.pool.compared.items() if name in sizes}
        gone = gone_columns(self.model, batches, sizes, seed=seed)
        return {
            name: self._unless_unknown(name, evidence.with_unlike(share), gone.get(name, ()))
            for name, evidence, share in zip(
                filled, with_adjusted_p_values(examined), unlike, strict=True
            )
        }

    def _tested_at(
        self, options: EstimationOptions, seed: int, progress: OnProgress
    ) -> GuardedSamples | None:
        """The samples, tested once for limits at every level, if the method tests itself."""
        items, filled = self._distinct
        if not (filled and self.model.tests_itself):
            return None
        drawn_with = replace(options, level=0.95), seed
        if drawn_with not in self._tested:
            samples = list(filled.values())
            self._tested[drawn_with] = tested_samples(
                self.model, items, samples, options, seed, progress
            )
        return self._tested[drawn_with].at(options.level)

    @cached_property
    def _distinct(self) -> tuple[Items, dict[str, Indices]]:
        """The items, weighted by their copies, and those of every batch without its copies.

        An item that occurs k times is one item that is seen k times: its copies say nothing more.
        """
        items, guard = self.pool.items, self.model.guard
        filled = {name: rows for name, rows in self.pool.batches.items() if len(rows)}
        if guard is None or not filled or items.weights is not None:
            return items, filled
        positions, weights = guard.positions(items), np.ones(len(items))
        for name, rows in filled.items():
            kept, times = guard.reference_.distinct(positions[rows])
            if times is not None:
                weights[rows[kept]] = times
            filled[name] = rows[kept]
        unequal = bool((weights != 1).any())
        return (replace(items, weights=weights) if unequal else items), filled

    @property
    def n_copies(self) -> int:
        """How many items are copies of others."""
        return sum(map(len, self.pool.batches.values())) - sum(map(len, self._distinct[1].values()))

    def _unlike(self, batches: Mapping[str, Indices], seed: int) -> Sequence[float | None]:
        """The share of items like those of no class in each batch; the same at every level."""
        guard = self.model.guard
        if guard is None:
            return [None] * len(batches)
        if seed not in self._shares_unlike:
            self._shares_unlike[seed] = unlike_every_class(
                guard,
                self._distinct[0],
                list(batches.values()),
                ignored=[self.model.features_of(self._moved(name)) for name in batches],
                seed=seed,
            )
        return self._shares_unlike[seed]

    def _moved(self, name: str) -> Collection[str]:
        """The columns of a batch by which items of every class look new."""
        profile, compared = self.model.profile, self.pool.compared.get(name)
        if profile is None or compared is None:
            return ()
        return columns_that_moved(profile, compared.cells())

    def _unless_unknown(
        self, name: str, evidence: Evidence, gone: Sequence[DeadColumn]
    ) -> Evidence:
        """The evidence, unless columns are gone, or most values of one unknown from training."""
        unknown = self.pool.unknown.get(name)
        if evidence.no_estimate_reason and not gone:
            return evidence
        if unknown is not None:
            return evidence.refused(why_unknown(unknown), tuple(each.column for each in unknown))
        if gone:
            return evidence.refused(why_gone(gone), tuple(each.name for each in gone))
        return evidence

    def scored(self, name: str) -> ScoredBatch:
        """The items of a batch."""
        rows = self.pool.batches[name]
        position = {row: i for i, row in enumerate(rows.tolist())}
        return ScoredBatch(
            name=name,
            posteriors=self.model.posteriors(self.pool.items)[rows],
            n_items=self.pool.sizes[name],
            n_left_out=self.pool.left_out[name],
            # The order of the sheet is the order of labelling: a sequential audit relies on it.
            labelled={position[row]: code for row, code in self.codes.items() if row in position},
            command=self.commands.get(name, ("", ""))[0],
            deciding_command=self.commands.get(name, ("", ""))[1],
            n_skipped=self.n_skipped,
            weights=None if self.pool.items.weights is None else self.pool.items.weights[rows],
        )

    def completed(self, batch: Batch, evidence: Evidence) -> Batch:
        """The batch with the classifier's accuracy on it, and the columns that have changed."""
        items = self.pool.items.take(self.pool.batches[batch.name])
        if batch.audit is None or not batch.audit.contradicts:
            self.corrections[batch.name] = correction_for(self.model, evidence, len(items))
        both = corrections_for_either(self.model, evidence, len(items))
        if both is not None:
            self.either[batch.name] = both
        performance = self.performance.of(items, evidence, batch.audit)
        if performance is not None:
            by_confidence = decide(facts_of(self.model, evidence)).declares_covariate
            accuracy = accuracy_of(performance, self.performance.level, by_confidence=by_confidence)
            batch = replace(batch, accuracy=accuracy, performance=performance)
        return with_changes(batch, self.model.profile, self.pool.compared.get(batch.name))

    def rows(self) -> tuple[Rows, ...]:
        """How many rows of each table were used."""
        return self.pool.rows

    def findings(self) -> tuple[Finding, ...]:
        """Findings that are not about a single batch."""
        n_items = sum(map(len, self.pool.batches.values()))
        n_copies = self.n_copies
        copied = (SampleFindings.COPIES.found(n=n_copies, n_items=n_items),) if n_copies else ()
        return all_findings(self.model, self.pool, (*self.others, *copied))

    def left_out_columns(self) -> Sequence[LeftOutColumn]:
        """The columns of the training table that are not used."""
        return self.model.columns.left_out


def _divided_by_content(by: str | None, model: Model) -> Iterator[Finding]:
    if by in model.columns.content:
        yield SampleFindings.DIVIDING_COLUMN.found(column=by)


def _commands(request: Request) -> Iterator[tuple[str, str]]:
    """For every table of the sample the commands that draw items of it to label."""
    tables = sample_sources(request.sources.sample)
    for number, table in enumerate(tables, start=1):
        at_once, in_steps = (
            plan_command(
                replace(request.sources, sample=table),
                request.recipe,
                n_labels=n_labels,
                out=SHEET if len(tables) == 1 else f"audit-{number}.csv",
            )
            for n_labels in (FEW_LABELS, None)
        )
        yield at_once, in_steps
