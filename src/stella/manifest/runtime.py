"""The `[runtime]` table: the process a plugin runs as [M-32]."""

from typing import Final

import msgspec

from stella.codec import U64

PLUGIN_DIR: Final = "${plugin_dir}"
"""What the host replaces with the installed directory in `argv`; nothing else expands [M-34]."""


class Runtime(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Program and arguments, the deadline in seconds, the names it inherits [M-32, M-33].

    `argv` is as written; the loader replaces nothing in it [M-34].
    """

    argv: tuple[str, ...]
    timeout_secs: U64
    env: tuple[str, ...] = ()
