"""Facts from which each reason follows, for tests of what is made of an answer."""

from quantshift.claims import Assumption, Facts, Labelled, Reason, decide

FACTS = {
    Reason.EVIDENCE: Facts(Assumption.PRIOR, doubles=0.001),
    Reason.AGREEMENT: Facts(Assumption.PRIOR, apart=0.01),
    Reason.DECLARED: Facts(Assumption.PRIOR, declared=Assumption.PRIOR),
    Reason.REFUTED: Facts(Assumption.COVARIATE, refuted=True),
    Reason.NO_EVIDENCE: Facts(Assumption.PRIOR),
    Reason.UNINFORMATIVE: Facts(Assumption.PRIOR, informative=False),
    Reason.GONE: Facts(Assumption.PRIOR, gone=True),
    Reason.LABELS: Facts(None, labelled=Labelled()),
    Reason.GUESSED: Facts(None, labelled=Labelled(stated=False)),
    Reason.NO_ITEMS: Facts(None, n_items=0),
}
BY_COVARIATE = Facts(Assumption.COVARIATE, declared=Assumption.COVARIATE)
TOO_WIDE = Facts(Assumption.PRIOR, width=0.5)
GROUNDS = {reason: decide(facts) for reason, facts in FACTS.items()}
EVIDENT = GROUNDS[Reason.EVIDENCE]
RANGED = GROUNDS[Reason.NO_EVIDENCE]
UNKNOWN = decide(TOO_WIDE)
