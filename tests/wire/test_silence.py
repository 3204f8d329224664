from stella.wire.silence import FaultCode


def test_faults_are_spelled_as_the_contract_spells_them() -> None:
    """[W-50]"""
    assert [code.value for code in FaultCode] == [
        "NotAccepted", "Spawn", "Decode", "PointMismatch", "ProtocolVersion", "NoResponse", "Exit",
        "UnannouncedCall", "UnansweredCall", "AnswerChannelFailed", "OutputCap", "Timeout",
        "Transport", "Cancelled", "UndeclaredRole", "MistypedSignal", "Handler",
    ]  # fmt: skip
