from .show.answer import AbstractAnswer as AbstractAnswer
from .outputs.output import AbstractOutput as AbstractOutput, Circumstances as Circumstances
from .shares import Share as Share
from .targets.answer import TargetAnswers as TargetAnswers
