"""The `[subloop]` and `[roles.<name>]` tables: model calls a plugin causes [M-29, M-30]."""

import msgspec


class Subloop(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the plugin spends model calls on; free text, no stage names [M-29]."""

    stages: tuple[str, ...]


class Role(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tier a role asks for, a word of an open vocabulary; never a model [M-30, M-31]."""

    tier: str
