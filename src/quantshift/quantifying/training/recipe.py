"""The model for a call: one in memory, one from a folder, or one trained as described."""

from collections.abc import Sequence

from quantshift.base.progress import OnProgress
from quantshift.errors import UserError
from quantshift.quantifying.options import AUTO, Grouping, ModelRecipe, Sources
from quantshift.quantifying.training.methods import name_of
from quantshift.quantifying.training.model import Model, without_training
from quantshift.quantifying.training.train import train_on_table
from quantshift.tables.reading import OpenTable, Source, open_table


def model_for(
    recipe: ModelRecipe, sources: Sources, samples: Sequence[OpenTable], progress: OnProgress
) -> Model:
    """The given model, the one in the given folder, or one trained for these samples."""
    options, train, model = recipe.columns, sources.train, sources.model
    options.check_one_label()
    if model is not None:
        if train is not None:
            raise UserError("give a training table or a model, not both")
        fitted = given_model(model)
        check_same(fitted, recipe)
        return fitted
    if train is None:
        if options.posteriors:
            return without_training(
                options.posteriors, recipe.training.method, cure="train", label=options.label
            )
        raise UserError(
            "give a training table, a model, or columns of posteriors",
            arguments=["train", "model", "posteriors"],
        )
    if options.label is None:
        raise UserError("name the column of the labels", arguments=["label"])
    progress("training", 0, 0)
    table = open_table(train, name="the training table", lenient=options.lenient)
    offered = set.intersection(*(set(sample.columns) for sample in samples))
    return train_on_table(
        table,
        recipe,
        offered=offered,
        tied=tied_to_batches(recipe, samples, [name for name in table.columns if name in offered]),
        samples=samples,
        progress=progress,
    )


def given_model(model: Model | Source) -> Model:
    """The model itself, or the one in a folder."""
    if isinstance(model, Model):
        return model
    # Imported here because the validation of a model's description is slow to import.
    from quantshift.quantifying.training.folder import load_model

    return load_model(model)


def tied_to_batches(
    recipe: ModelRecipe, samples: Sequence[OpenTable], shared: Sequence[str]
) -> tuple[str, ...]:
    """The columns that are tied to the batches, among those that tables share."""
    options = recipe.columns
    if recipe.by is None or options.text or options.features or options.posteriors:
        return ()
    if not all(recipe.by in sample.columns for sample in samples):
        return ()
    # Imported here because most calls have no batches.
    from quantshift.quantifying.training.tied import tied_columns

    nested = {name for sample in samples for name in sample.nested}
    unused = {*options.label_columns, *nested, *options.drop}
    names = [name for name in shared if name not in unused]
    return tied_columns(samples, Grouping(recipe.by, recipe.every), names)


def check_same(model: Model, recipe: ModelRecipe) -> None:
    """Raise an error for arguments that a trained model would ignore."""
    options, training, columns = recipe.columns, recipe.training, model.columns
    method = None if training.method == AUTO else training.method
    classifier = None if training.classifier == AUTO else training.classifier
    used = {column.name for column in columns.features}
    content = {*used, *columns.posteriors}
    item_columns = (*options.text, *options.features)
    for name, value, same in (
        ("label", options.label, options.label == columns.label),
        (
            "text",
            options.text,
            set(options.text) <= set(columns.text) and set(item_columns) == used,
        ),
        ("features", options.features, set(item_columns) == used),
        ("categories", options.categories, set(options.categories) <= set(model.levels)),
        ("posteriors", options.posteriors, options.posteriors == columns.posteriors),
        ("drop", options.drop, not content & set(options.drop)),
        ("id", options.id, options.id not in content),
        ("weights", options.weights, options.weights not in content),
        (
            "groups",
            options.groups,
            model.groups is not None and options.groups == model.groups.column,
        ),
        (
            "time",
            options.time,
            model.groups is not None
            and model.groups.in_time
            and options.time == model.groups.column,
        ),
        ("positive", options.positive, options.positive in (model.headline, model.positive)),
        ("method", method, name_of(training.method) == model.method),
        ("classifier", classifier, classifier == model.training.classifier),
    ):
        if value and not same:
            text = value if isinstance(value, str) else ",".join(value)
            raise UserError(
                f"the model was not trained with {name} {text}; leave it out, or train a model "
                "with it",
                arguments=[name],
            )
