import { expect, test } from 'vitest'
import { checkInSnippet, EXAMPLE_JOB, firstCheckIn } from './snippets.ts'

const DSN = 'https://abc@faultline.example/errors/7'
const PRICES = {
  slug: 'price-feed',
  schedule: { type: 'interval' as const, value: 5, unit: 'minute' },
  timezone: 'Europe/Berlin',
  checkin_margin_minutes: 2,
  max_runtime_minutes: 3,
}

test('the snippets name slug, schedule, zone, grace and limit', () => {
  expect(checkInSnippet('node', PRICES, DSN)).toBe(`Sentry.withMonitor("price-feed", runJob, {
  schedule: { type: "interval", value: 5, unit: "minute" },
  timezone: "Europe/Berlin",
  checkinMargin: 2,
  maxRuntime: 3,
})`)
  expect(checkInSnippet('python', PRICES, DSN)).toBe(`from sentry_sdk.crons import monitor

@monitor(monitor_slug="price-feed", monitor_config={
    "schedule": {"type": "interval", "value": 5, "unit": "minute"},
    "timezone": "Europe/Berlin",
    "checkin_margin": 2,
    "max_runtime": 3,
})
def run_job():
    ...`)
  expect(checkInSnippet('curl', PRICES, DSN)).toBe(`job='https://faultline.example/errors/api/7/cron/price-feed/abc/'
curl -fsS -m 10 "$job?status=in_progress&schedule=5+minute&timezone=Europe/Berlin&checkin_margin=2&max_runtime=3"
if run_job; then status=ok; else status=error; fi
curl -fsS -m 10 "$job?status=$status"`)
})

test('a job without a schedule sends none', () => {
  const job = { ...EXAMPLE_JOB, schedule: null }
  expect(checkInSnippet('node', job, DSN)).toBe('Sentry.withMonitor("nightly-backup", runJob)')
  expect(checkInSnippet('curl', job, DSN)).toContain('?status=in_progress"')
})

test('the first check-in is one line', () => {
  expect(firstCheckIn(DSN)).toBe(
    "curl -fsS 'https://faultline.example/errors/api/7/cron/nightly-backup/abc/?status=ok&schedule=0+3+*+*+*'",
  )
})
