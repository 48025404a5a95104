"""Logs: one line of JSON per event, without any of the users' text."""

from __future__ import annotations

import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

LOGGER = logging.getLogger("tongsa.server")


def log_event(event: str, fields: dict[str, Any], level: int = logging.INFO) -> None:
    if LOGGER.isEnabledFor(level):
        LOGGER.log(level, event, extra={"fields": fields})


def log_failure(event: str, error: BaseException, fields: dict[str, Any]) -> None:
    """Log the type and place of an error, not its message: that may contain what a user wrote."""
    frames = traceback.extract_tb(error.__traceback__)
    where = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
    log_event(event, {**fields, "failure": type(error).__name__, "where": where}, logging.ERROR)


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage().strip(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0]:
            line["failure"] = record.exc_info[0].__name__
        return orjson.dumps(line).decode()


def set_up(level: str) -> None:
    """Log to standard error; messages of other packages get the same form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.getLogger().handlers = [handler]
    for name in ("tongsa.server", "uvicorn"):
        logging.getLogger(name).setLevel(level.upper())
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # the client gets the error about its form
