"""Every number that bounds something, in one place.

Nothing here is computed. A limit is tested at its value and one past it; a number that
bounds something and stands elsewhere is a defect.
"""

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

# Outside data [M-1, W-6, W-7]
MANIFEST_BYTES: Final = 1 * MIB
JSON_DEPTH: Final = 64
U8_MAX: Final = 255
U32_MAX: Final = 2**32 - 1
U64_MAX: Final = 2**64 - 1
I64_MAX: Final = 2**63 - 1
NEAR_DISTANCE: Final = 2
NEAR_SHOWN: Final = 3
VOCABULARY_SHOWN: Final = 20
EXCERPT_CHARS: Final = 2000

# Manifest [M-18, M-39]
EVENT_PATTERN_BYTES: Final = 128
STAGE_NAME_BYTES: Final = 32

# Package and roster [I-3, I-4, I-31]
PLUGIN_NAME_CHARS: Final = 64
PACKAGE_FILES: Final = 10_000
PACKAGE_BYTES: Final = 256 * MIB
PACKAGE_DEPTH: Final = 32
PACKAGE_PATH_BYTES: Final = 1024
CHANGED_PATHS_SHOWN: Final = 20
CONSENT_BYTES: Final = 64 * KIB
LOCK_BYTES: Final = 4 * MIB

# Processes [T-22 to T-29, T2-42 to T2-44]
POINT_SECS: Final = 600
CONVERSATION_BYTES: Final = 8 * MIB
DRAIN_SECS: Final = 1.0
KILL_GRACE_SECS: Final = 1.0
READ_BLOCK_BYTES: Final = 8 * KIB
STDERR_CHARS: Final = 2000

# Dispatch [D-45]
HOLDS_DEFAULT: Final = 2
HOLDS_MAX: Final = 8
HOST_CALLS_PER_POINT: Final = 8
CHILD_TURNS_PER_RUN: Final = 4
FANOUT_WIDTH: Final = 3

# Test plan and tamper watch [G-11, G-13, G-33]
TEST_SECS_DEFAULT: Final = 300
TEST_SECS_MAX: Final = 600
TEST_TAIL_CHARS: Final = 4000
TEST_MARKER_BYTES: Final = 64 * KIB
WATCHED_FILES: Final = 5000
WATCHED_ENTRIES: Final = 200_000

# Engine [E-20, E-27, E-80]
STEPS_DEFAULT: Final = 200
STEPS_MAX: Final = 1000
GROUP_WIDTH: Final = 8
TOOL_SECS: Final = 900
CALLS_PER_REPLY: Final = 256
CONTINUATIONS_PER_TURN: Final = 4
PROMPT_BYTES: Final = 1 * MIB
AGENTS_MD_CHARS: Final = 16_000

# Script models [M2-20]
SCRIPT_DELAY_MS: Final = 600_000
SCRIPT_BYTES: Final = 64 * MIB

# Tools [T2-3, T2-10 to T2-18, T2-34, T2-53]
RESULT_BYTES_SHELL: Final = 65_536
RESULT_BYTES_FILE: Final = 262_144
BATCH_ITEMS: Final = 32
READ_LINES: Final = 2000
READ_LINE_CHARS: Final = 2000
BINARY_PROBE_BYTES: Final = 8192
WRITE_BYTES: Final = 4 * MIB
LIST_DEPTH: Final = 32
LIST_ENTRIES: Final = 2000
SEARCH_MATCHES: Final = 500
SEARCH_CONTEXT: Final = 5
SEARCH_LINE_CHARS: Final = 300
SEARCH_SECS: Final = 20
BASH_SECS_DEFAULT: Final = 120
BASH_SECS_MAX: Final = 600
TREE_FILES: Final = 50_000
TREE_SECS: Final = 20
GIT_LIST_BYTES: Final = 32 * MIB
DIFF_BYTES: Final = 65_536

# Journal [J2-13, J2-22]
RECORD_BYTES: Final = 4 * MIB
RAW_BYTES: Final = 65_536
SECRET_CHARS: Final = 8
SESSION_PREFIX_CHARS: Final = 8

# Demo [S-45]
DEMO_SECS: Final = 30
