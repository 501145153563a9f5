"""An app that uses what the Python SDK offers. Argument `crash`: one that dies."""
import sys

import sentry_sdk
from sentry_sdk.crons import capture_checkin
from sentry_sdk.crons.consts import MonitorStatus

sentry_sdk.init(
    release="billing@1.4.0",
    environment="staging",
    traces_sample_rate=1.0,
    enable_logs=True,
)


def read_card():
    raise ValueError("card number is missing")


if len(sys.argv) > 1 and sys.argv[1] == "crash":
    raise RuntimeError("the pool is exhausted")

sentry_sdk.set_user({"id": "42", "email": "ann@example.com"})
sentry_sdk.set_tag("checkout", "express")
sentry_sdk.add_breadcrumb(category="ui.click", message="Pay now")
with sentry_sdk.start_transaction(op="task", name="charge"):
    with sentry_sdk.start_span(op="db", name="select 1"):
        pass
with sentry_sdk.new_scope() as scope:
    scope.add_attachment(bytes=b"cart=3", filename="state.txt")
    try:
        read_card()
    except ValueError as error:
        sentry_sdk.capture_exception(error)
sentry_sdk.capture_message("stock is low", level="warning")
check_in = capture_checkin(
    monitor_slug="nightly",
    status=MonitorStatus.IN_PROGRESS,
    monitor_config={"schedule": {"type": "crontab", "value": "0 3 * * *"}, "timezone": "UTC"},
)
capture_checkin(monitor_slug="nightly", check_in_id=check_in, status=MonitorStatus.OK, duration=2)
sentry_sdk.logger.info("cart paid {total}", total=12.5)
scope = sentry_sdk.get_isolation_scope()
scope.start_session(session_mode="application")
scope.end_session()
sentry_sdk.flush(10)
