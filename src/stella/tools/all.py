"""The built-in tools, in the order they are listed [T2-10]."""

from typing import Final

from stella.tools import delete
from stella.tools import edit
from stella.tools import list as listing
from stella.tools import read
from stella.tools import search
from stella.tools import shell
from stella.tools import write
from stella.tools.tool import Offered

TOOLS: Final[tuple[Offered, ...]] = (
    read.TOOL,
    write.TOOL,
    edit.TOOL,
    delete.TOOL,
    listing.TOOL,
    search.TOOL,
    shell.TOOL,
)
