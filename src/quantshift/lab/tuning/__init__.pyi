from .prevalence_search import (
    PrevalenceScorer as PrevalenceScorer,
    PrevalenceSearchCV as PrevalenceSearchCV,
)
