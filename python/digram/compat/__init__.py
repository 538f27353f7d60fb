"""Modules with the interface of other libraries, for programs that were written for them.

tiktoken    `import digram.compat.tiktoken as tiktoken`
"""

from __future__ import annotations
