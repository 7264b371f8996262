"""Real tables as a new user would import them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression

from quantshift.base.seeding import generator
from quantshift.lab.data import ImportOptions, import_table, open_source, source_at

TABLES = {
    # name: label, share of the last class, options
    "bank_churn": ("Exited", 0.204, {"categories": "Geography", "groups": ["Gender"]}),
    "telco_churn": ("Churn", 0.265, {"categories": "Contract"}),
    "dutch_census": ("occupation", 0.476, {"groups": ["cur_eco_activity"], "codes": ["age"]}),
    "law_school": ("pass_bar", 0.110, {"options": ImportOptions(positive="0")}),
    "communities_crime": ("high_violent_crime", 0.5, {"groups": ["state"]}),
    "student_grade": ("grade", 0.117, {"options": ImportOptions(ordinal=True)}),
    "hospital_readmission": ("readmitted", 0.474, {"categories": "medical_specialty"}),
    "support_hospital_death": ("hospdead", 0.259, {"groups": ["dzgroup"]}),
    "weather_australia": ("RainTomorrow", 0.221, {"categories": "Location"}),
    "uci_cmc": ("label", 0.347, {}),
    "uci_page_block": ("label", 0.021, {"options": ImportOptions(fewest=100)}),
    "uci_yeast": ("label", 0.125, {"options": ImportOptions(fewest=100)}),
    "uci_abalone": ("label", 0.027, {"options": ImportOptions(fewest=100), "codes": ["x0"]}),
    "uci_image_seg": ("label", 0.143, {}),
    "uci_waveform-v1": ("label", 0.339, {}),
    "llm_judge_relevance": ("human", 0.092, {"options": ImportOptions(ordinal=True)}),
    "llm_judge_mtbench": ("human", 0.238, {"groups": ["category", "turn"]}),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_real_table_is_imported_and_learnt_from(name, tables_dir, tmp_path):
    label, share, options = TABLES[name]
    data = import_table(tables_dir / f"{name}.csv", tmp_path / name, label=label, **options)
    data.verify()
    dataset = open_source(source_at(tmp_path / name))
    last = np.mean(dataset.labels == dataset.classes[-1])
    assert_allclose(last, share, atol=0.0006)
    order = generator(0, purpose="real table").permutation(len(dataset))
    train, test = order[:600], order[600:1000]
    view = dataset.view(train)
    matrix = view.transform(train)
    assert matrix.shape == (600, len(view.names))
    assert np.isfinite(matrix.data if issparse(matrix) else matrix).all()
    model = LogisticRegression(max_iter=5000).fit(matrix, dataset.labels[train])
    right = np.mean(model.predict(view.transform(test)) == dataset.labels[test])
    most_common = max(np.mean(dataset.labels[test] == k) for k in dataset.classes)
    assert right > most_common - 0.05
