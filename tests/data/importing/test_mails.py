"""Folders of mails: what of a mail is kept, labels and categories, and what is refused."""

import pytest

from quantshift.data import ImportOptions, MailFolder, import_mails
from quantshift.data.importing.mails import read_mail
from quantshift.errors import DataError, UserError

PLAIN = b"""From someone@example.org  Thu Aug 22 12:36:23 2002
Return-Path: <someone@example.org>
Subject: =?iso-8859-1?q?Caf=E9?= tonight
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Meet at the caf=E9.
"""

BOTH = b"""Subject: Offer
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=XX

--XX
Content-Type: text/html; charset=no-such-charset

<style>p { color: red }</style><p>Buy &amp; save</p>
--XX
Content-Type: application/octet-stream

secret attachment
--XX--
"""


@pytest.fixture
def folders(tmp_path):
    for name, n in {"easy": 6, "hard": 3, "junk": 5}.items():
        (tmp_path / name).mkdir()
        for i in range(n):
            (tmp_path / name / f"{i:05}.txt").write_bytes(BOTH if name == "junk" else PLAIN)
    (tmp_path / "easy" / "00000.json").write_text("{}")
    (tmp_path / "easy" / "cmds").write_text("mv 1 00001")
    (tmp_path / "easy" / ".hidden").write_text("")
    return [
        MailFolder("ham", tmp_path / "easy"),
        MailFolder("ham", tmp_path / "hard"),
        MailFolder("spam", tmp_path / "junk"),
    ]


def test_labels_are_those_given_and_folders_are_categories(folders, tmp_path):
    data = import_mails(folders, tmp_path / "d")
    data.verify()
    made = data.dataset()
    assert data.kind == "text"
    assert made.labels.tolist() == ["ham"] * 9 + ["spam"] * 5
    assert made.categories.tolist() == ["easy"] * 6 + ["hard"] * 3 + ["junk"] * 5
    assert [source["files"] for source in data.manifest["sources"]] == [6, 3, 5]


def test_the_subject_and_the_text_are_kept_and_nothing_else(tmp_path):
    file = tmp_path / "mail"
    file.write_bytes(PLAIN)
    assert read_mail(file) == "Café tonight\nMeet at the café.\n"
    file.write_bytes(BOTH)
    assert read_mail(file).split() == ["Offer", "Buy", "&", "save"]
    file.write_bytes(
        b"Subject: \xff\xfe broken\nContent-Type: text/plain; charset=utf-8\n\n\xe9t\xe9"
    )
    assert read_mail(file).endswith("été")


PLAIN_VERSION = "Content-Type: text/plain\n\nMeet at noon.\n"
HTML_VERSION = "Content-Type: text/html\n\n<p>Meet at <b>noon</b>, in colour.</p>\n"


def multipart(kind, *parts):
    boundary = f"of-{kind}"
    inner = "".join(f"--{boundary}\n{part}" for part in parts)
    return f"Content-Type: multipart/{kind}; boundary={boundary}\n\n{inner}--{boundary}--\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (multipart("alternative", PLAIN_VERSION, HTML_VERSION), "Meet at noon."),
        (multipart("alternative", HTML_VERSION, PLAIN_VERSION), "Meet at noon."),
        (multipart("alternative", HTML_VERSION), "Meet at noon , in colour."),
        # A plain version without a word is none.
        (
            multipart("alternative", "Content-Type: text/plain\n\n \n", HTML_VERSION),
            "Meet at noon , in colour.",
        ),
        (multipart("alternative", "Content-Type: image/png\n\nxyz\n"), ""),
        # Versions can be made of parts: a page with its pictures.
        (
            multipart(
                "mixed",
                multipart("alternative", PLAIN_VERSION, multipart("related", HTML_VERSION)),
                "Content-Type: text/plain\n\nSent by phone.\n",
            ),
            "Meet at noon. Sent by phone.",
        ),
        (
            multipart("alternative", multipart("related", HTML_VERSION), PLAIN_VERSION),
            "Meet at noon.",
        ),
        # Parts that are no versions of one another count once each.
        (
            multipart("mixed", PLAIN_VERSION, HTML_VERSION),
            "Meet at noon. Meet at noon , in colour.",
        ),
        # A mail that is passed on is part of the text.
        (
            multipart("mixed", f"Content-Type: message/rfc822\n\nSubject: Old\n{PLAIN_VERSION}"),
            "Meet at noon.",
        ),
    ],
)
def test_versions_of_a_text_count_once(tmp_path, body, words):
    file = tmp_path / "mail"
    file.write_text(f"Subject: Today\nMIME-Version: 1.0\n{body}")
    assert " ".join(read_mail(file).split()) == f"Today {words}".strip()


NESTED = b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no headers at all",
        b"\x89PNG\r\n\x1a\n",
        b"".join(NESTED % (depth, depth) for depth in range(3000)),
    ],
    ids=["empty", "text", "picture", "parts within parts"],
)
def test_what_is_no_mail_is_refused_by_its_name(content, folders, tmp_path):
    (tmp_path / "hard" / "00001.txt").write_bytes(content)
    with pytest.raises(DataError, match=r"00001.txt: not a mail"):
        import_mails(folders, tmp_path / "d")
    assert not (tmp_path / "d").exists()


def test_missing_empty_and_repeated_folders_are_refused(folders, tmp_path):
    with pytest.raises(DataError, match="not a folder of mails"):
        import_mails([MailFolder("ham", tmp_path / "none")], tmp_path / "d")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no mails in it"):
        import_mails([*folders, MailFolder("ham", tmp_path / "empty")], tmp_path / "d")
    with pytest.raises(UserError, match="the folder is given twice"):
        import_mails([*folders, folders[0]], tmp_path / "d")
    with pytest.raises(UserError, match="nothing to import"):
        import_mails([], tmp_path / "d")
    with pytest.raises(UserError, match="have no samples"):
        import_mails(folders, tmp_path / "d", options=ImportOptions(samples=tmp_path))
    with pytest.raises(DataError, match="labels in easy are all 'ham'"):
        import_mails(folders[:2], tmp_path / "d")


@pytest.mark.parametrize("text", ["spam", "=folder", "spam="])
def test_a_label_and_a_folder_are_needed(text):
    with pytest.raises(UserError, match="write NAME=FOLDER"):
        MailFolder.parse(text)
