from quantshift.lab.results import status


def test_done_failed_and_to_do_are_counted(store, signatures, cells):
    both = signatures(["CC", "SLD"])
    store.drop("prior", "reviews", cells[0], "SLD")
    store.write_failure("prior", "reviews", cells[0], signatures(["SLD"]), ValueError("x"))
    store.drop("prior", "reviews", cells[1], "SLD")
    store.drop("prior", "reviews", cells[2])
    changed = both | {"CC": "another"}
    planned = {
        "prior": {
            "reviews": [*((cell, both) for cell in cells[:5]), (cells[5], changed)],
            "churn": [(cells[0], both), (cells[1], both)],
        },
        "local": {"reviews": [(cells[0], both)]},
    }
    assert status(store, planned).to_dicts() == [
        {
            "experiment": "prior",
            "dataset": "reviews",
            "cells": 6,
            "cells_done": 2,
            "cells_failed": 1,
            "cells_to_do": 3,
            "results": 12,
            "done": 7,
            "failed": 1,
            "to_do": 4,
        },
        {
            "experiment": "prior",
            "dataset": "churn",
            "cells": 2,
            "cells_done": 0,
            "cells_failed": 0,
            "cells_to_do": 2,
            "results": 4,
            "done": 0,
            "failed": 0,
            "to_do": 4,
        },
        {
            "experiment": "local",
            "dataset": "reviews",
            "cells": 1,
            "cells_done": 0,
            "cells_failed": 0,
            "cells_to_do": 1,
            "results": 2,
            "done": 0,
            "failed": 0,
            "to_do": 2,
        },
    ]


def test_nothing_planned_is_an_empty_table(store):
    assert status(store, {}).is_empty()
    assert "cells_done" in status(store, {}).columns
