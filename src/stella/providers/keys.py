"""The variables that model providers read their keys from [M2-26].

No child ever gets one [M2-28], and the value of each that is set is cleared from everything
that is stored or shown.
"""

from typing import Final

KEY_VARIABLES: Final = frozenset(
    {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"}
)
