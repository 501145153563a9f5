"""An app that uses what the Python SDK offers. Argument `crash`: one that dies."""
import sys
from datetime import datetime, timedelta, timezone

import sentry_sdk
from sentry_sdk.crons import capture_checkin
from sentry_sdk.crons.consts import MonitorStatus


def parse_field():
    raise KeyError("field 3 is empty")


def read_card():
    try:
        parse_field()
    except KeyError as error:
        raise ValueError("card number is missing") from error


def checkout():
    try:
        read_card()
    except ValueError as error:
        with sentry_sdk.new_scope() as scope:
            scope.add_attachment(bytes=b"cart=3", filename="state.txt")
            sentry_sdk.capture_exception(error)


def draw_connection():
    raise RuntimeError("the pool is exhausted")


sentry_sdk.init(
    release="billing@1.4.0",
    environment="staging",
    traces_sample_rate=1.0,
    enable_logs=True,
    before_send=lambda event, hint: None if event.get("message") == "not needed" else event,
)
sentry_sdk.set_user({"id": "42", "email": "ann@example.com"})
sentry_sdk.set_tag("checkout", "express")
sentry_sdk.add_breadcrumb(category="ui.click", message="Pay now", data={"button": "pay"})
session = sentry_sdk.get_isolation_scope()
session.start_session(session_mode="application")

if sys.argv[1:] == ["crash"]:
    draw_connection()

started_at = datetime.now(timezone.utc) - timedelta(milliseconds=1200)
transaction = sentry_sdk.start_transaction(op="http.server", name="POST /checkout", start_timestamp=started_at)
with transaction:
    child = transaction.start_child(op="db", name="charge", start_timestamp=started_at + timedelta(milliseconds=200))
    child.finish(end_timestamp=started_at + timedelta(milliseconds=1000))
    checkout()
    sentry_sdk.logger.info("cart paid", attributes={"total": 12.5, "currency": "EUR"})
    transaction.finish(end_timestamp=started_at + timedelta(milliseconds=1200))
sentry_sdk.capture_message("stock is low", level="warning")
sentry_sdk.capture_message("not needed")
check_in = capture_checkin(
    monitor_slug="nightly",
    status=MonitorStatus.IN_PROGRESS,
    monitor_config={"schedule": {"type": "crontab", "value": "0 3 * * *"}, "timezone": "UTC"},
)
capture_checkin(monitor_slug="nightly", check_in_id=check_in, status=MonitorStatus.OK, duration=2)
sentry_sdk.metrics.count("orders.created", 1)
session.end_session()
sentry_sdk.flush(10)
