"""A plugin's manifest as one value: everything it says of itself [M-13].

A value of this type that came from `read_manifest` has passed every load rule; one built in
code has passed none, which is why run-time questions go to `Loop`'s own predicates [M-17].
"""

import msgspec

from stella.manifest.capability import Capability
from stella.manifest.driver import Driver
from stella.manifest.loop import Loop
from stella.manifest.oracle import Oracle
from stella.manifest.package import Configure
from stella.manifest.package import ShippedRecord
from stella.manifest.package import ShippedSkill
from stella.manifest.package import ShippedTool
from stella.manifest.runtime import Runtime
from stella.manifest.stages import EXECUTE
from stella.manifest.stages import Stage
from stella.manifest.stages import Wrapper
from stella.manifest.subloop import Role
from stella.manifest.subloop import Subloop


class PluginManifest(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The root table of `plugin.toml`; there is no version, license or protocol key [M-14]."""

    name: str
    description: str | None = None
    loop: Loop = Loop()
    driver: Driver | None = None
    requirements: dict[str, str] = {}
    oracle: Oracle | None = None
    subloop: Subloop | None = None
    roles: dict[str, Role] = {}
    wrapper: Wrapper | None = None
    runtime: Runtime | None = None
    capabilities: tuple[Capability, ...] = ()
    tools: tuple[ShippedTool, ...] = ()
    skills: tuple[ShippedSkill, ...] = ()
    records: tuple[ShippedRecord, ...] = ()
    configure: tuple[Configure, ...] = ()

    @property
    def pipeline(self) -> str:
        """The value of `wrapper` on the wire: the wrapper's id, else the name [M-36]."""
        return self.name if self.wrapper is None else self.wrapper.id

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of the plugin's program: the wrapper's, else `execute` alone [M-36]."""
        return (Stage(name=EXECUTE),) if self.wrapper is None else self.wrapper.stages
