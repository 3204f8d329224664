"""A rules file is a list of records."""

from stella.content.record import read_rules


def test_each_record_has_a_lineage_and_a_statement() -> None:
    found = read_rules(b'[[record]]\nlineage_id = "a"\nstatement = "Do."\n').value
    assert found is not None
    assert [(each.lineage_id, each.statement) for each in found.records] == [("a", "Do.")]


def test_what_is_no_toml_has_a_reason() -> None:
    assert read_rules(b"[[").faults
