"""`HeldPort` of scripts/dev/chaos, for servers that must be told their port."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/dev"))

from chaos.ports import HeldPort  # noqa: E402

__all__ = ["HeldPort"]
