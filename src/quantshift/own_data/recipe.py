"""The model a call asks for: one at hand, one in a folder, or one to be trained as described."""

from dataclasses import dataclass

from quantshift.data.reading import Source
from quantshift.errors import UserError
from quantshift.own_data.columns import Columns
from quantshift.own_data.folder import load_model
from quantshift.own_data.model import AUTO, LOGISTIC, Model, train, without_training
from quantshift.own_data.pool import OnProgress


@dataclass(frozen=True)
class Recipe:
    """How a model is to be made, in the arguments of `train`."""

    columns: Columns
    method: str = AUTO
    classifier: str = LOGISTIC
    without: tuple[str, ...] = ()
    seed: int = 0


def model_for(
    recipe: Recipe, train_on: Source | None, model: Model | Source | None, progress: OnProgress
) -> Model:
    """The model given, or that of its folder, or one trained by the recipe."""
    columns = recipe.columns
    if model is not None:
        if train_on is not None:
            raise UserError("give a training table or a model, not both")
        fitted = model if isinstance(model, Model) else load_model(model)
        _check_same(fitted, recipe)
        return fitted
    if train_on is None:
        if columns.posteriors:
            return without_training(columns.posteriors, label=columns.label)
        raise UserError(
            "give a training table, a model, or columns of posteriors",
            arguments=["train_on", "model", "posteriors"],
        )
    if columns.label is None:
        raise UserError("name the column of the labels", arguments=["label"])
    progress("training", 0)
    return train(
        train_on,
        label=columns.label,
        text=columns.text,
        features=columns.features,
        posteriors=columns.posteriors,
        method=recipe.method,
        classifier=recipe.classifier,
        without=recipe.without,
        seed=recipe.seed,
    )


def _check_same(model: Model, recipe: Recipe) -> None:
    """A model is what it was trained to be: arguments that say otherwise would go unheard."""
    asked, own = recipe.columns, model.columns
    method = None if recipe.method == AUTO else recipe.method
    classifier = None if recipe.classifier == LOGISTIC else recipe.classifier
    for name, given, trained in (
        ("label", asked.label, own.label),
        ("text", asked.text, own.text),
        ("features", asked.features, own.features),
        ("posteriors", asked.posteriors, own.posteriors),
        ("method", method, model.method),
        ("classifier", classifier, model.training.classifier),
    ):
        if given and given != trained:
            shown = given if isinstance(given, str) else ",".join(given)
            raise UserError(
                f"the model was not trained with {name} {shown}; leave it out, or train a model "
                "with it",
                arguments=[name],
            )
