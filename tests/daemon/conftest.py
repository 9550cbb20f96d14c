from __future__ import annotations

from tests.coach.conftest import coach as coach
