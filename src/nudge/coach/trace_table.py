from __future__ import annotations

import json
from collections.abc import Sequence

from nudge.coach.traces import Trace
from nudge.database import Database
from nudge.instants import Instant

_WITH_DETAIL = ("outcomes", "letters")


class SqlTraces:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def since(self, agent: str, since: Instant) -> Sequence[Trace]:
        rows = await self._db.all("traces_since", {"agent": agent, "since": since})
        return [Trace(row["place"], row["id"], row["words"], json.loads(row["detail"])) for row in rows]

    async def rewrite(self, trace: Trace) -> None:
        params = {"id": trace.id, "words": trace.words}
        if trace.place in _WITH_DETAIL:
            params["detail"] = json.dumps(dict(trace.detail), ensure_ascii=False)
        await self._db.run(f"traces_rewrite_{trace.place}", params)
