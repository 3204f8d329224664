from datetime import UTC
from datetime import date
from datetime import datetime
from datetime import time

import pytest

from stella.manifest.package import CLOSED_SECTIONS
from stella.manifest.package import Configure
from stella.manifest.package import Enforcement
from stella.manifest.package import ShippedRecord
from tests.making.manifests import loaded


@pytest.mark.behaviour("M-55")
def test_a_setting_holds_every_kind_of_leaf_and_a_list_as_a_tuple() -> None:
    """[M-55]"""
    text = 'name = "x"\n' + "".join(
        f'[[configure]]\nkey = "ui.k{number}"\nvalue = {value}\npurpose = "p"\n'
        for number, value in enumerate(
            [
                '"a"',
                "1",
                "1.5",
                "true",
                "1979-05-27T07:32:00Z",
                "1979-05-27",
                "07:32:00",
                "[1, 2]",
            ]
        )
    )
    assert [setting.value for setting in loaded(text).configure] == [
        "a",
        1,
        1.5,
        True,
        datetime(1979, 5, 27, 7, 32, tzinfo=UTC),
        date(1979, 5, 27),
        time(7, 32),
        (1, 2),
    ]


def test_a_setting_made_in_code_is_as_fixed_as_one_that_was_read() -> None:
    assert Configure(key="ui.a", value=[1], purpose="p").value == (1,)


@pytest.mark.behaviour("M-53")
def test_a_record_is_advisory_unless_it_says_otherwise() -> None:
    """[M-53]"""
    assert ShippedRecord(lineage="a", statement="b").enforcement is Enforcement.ADVISORY


@pytest.mark.behaviour("M-56")
def test_every_closed_section_says_what_it_governs() -> None:
    """[M-56]"""
    assert len(CLOSED_SECTIONS) == 19
    assert all(CLOSED_SECTIONS.values())
    assert "ui" not in CLOSED_SECTIONS
