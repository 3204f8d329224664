from stella.wire.grade import Grade


def test_grades_are_a_ladder() -> None:
    """[M-59]"""
    assert [(grade.value, grade.rank) for grade in Grade] == [
        ("none", 0),
        ("observer", 1),
        ("steering", 2),
        ("arbiter", 3),
    ]
