from quantshift.lab.analysis.methods import PAPER_METHODS, order_methods


def test_papers_order_then_others_by_name():
    assert order_methods(["b", "SLD", "a", "CC", "DyS"]) == ("CC", "DyS", "SLD", "a", "b")
    assert order_methods(reversed(PAPER_METHODS)) == PAPER_METHODS
