import type { Monitor } from '../../../api/monitor-queries.ts'

/** Code that sends the check-ins of a monitor, with its slug and schedule. Pure. */

export const SNIPPET_LANGUAGES = ['node', 'python', 'curl'] as const
export type SnippetLanguage = (typeof SNIPPET_LANGUAGES)[number]
export const LANGUAGE_NAMES: Readonly<Record<SnippetLanguage, string>> = {
  node: 'Node',
  python: 'Python',
  curl: 'curl',
}

type Job = Pick<Monitor, 'slug' | 'schedule' | 'timezone' | 'checkin_margin_minutes' | 'max_runtime_minutes'>

/** A job that runs every night, for a project without monitors. */
export const EXAMPLE_JOB: Job = {
  slug: 'nightly-backup',
  schedule: { type: 'crontab', value: '0 3 * * *', unit: null },
  timezone: null,
  checkin_margin_minutes: null,
  max_runtime_minutes: null,
}

export function checkInSnippet(language: SnippetLanguage, job: Job, dsn: string): string {
  if (language === 'curl') return curlSnippet(job, dsn)
  return language === 'node' ? nodeSnippet(job) : pythonSnippet(job)
}

const quoted = (text: string): string => JSON.stringify(text)

function nodeSnippet(job: Job): string {
  const { schedule } = job
  if (schedule === null) return `Sentry.withMonitor(${quoted(job.slug)}, runJob)`
  const fields = [
    schedule.type === 'crontab'
      ? `schedule: { type: "crontab", value: ${quoted(String(schedule.value))} },`
      : `schedule: { type: "interval", value: ${schedule.value}, unit: ${quoted(schedule.unit ?? 'minute')} },`,
    ...(job.timezone === null ? [] : [`timezone: ${quoted(job.timezone)},`]),
    ...(job.checkin_margin_minutes === null ? [] : [`checkinMargin: ${job.checkin_margin_minutes},`]),
    ...(job.max_runtime_minutes === null ? [] : [`maxRuntime: ${job.max_runtime_minutes},`]),
  ]
  return `Sentry.withMonitor(${quoted(job.slug)}, runJob, {\n${fields.map((line) => `  ${line}`).join('\n')}\n})`
}

function pythonSnippet(job: Job): string {
  const { schedule } = job
  const fields =
    schedule === null
      ? []
      : [
          schedule.type === 'crontab'
            ? `"schedule": {"type": "crontab", "value": ${quoted(String(schedule.value))}},`
            : `"schedule": {"type": "interval", "value": ${schedule.value}, "unit": ${quoted(schedule.unit ?? 'minute')}},`,
          ...(job.timezone === null ? [] : [`"timezone": ${quoted(job.timezone)},`]),
          ...(job.checkin_margin_minutes === null ? [] : [`"checkin_margin": ${job.checkin_margin_minutes},`]),
          ...(job.max_runtime_minutes === null ? [] : [`"max_runtime": ${job.max_runtime_minutes},`]),
        ]
  const given = fields.length === 0 ? '' : `, monitor_config={\n${fields.map((line) => `    ${line}`).join('\n')}\n}`
  return `from sentry_sdk.crons import monitor\n\n@monitor(monitor_slug=${quoted(job.slug)}${given})\ndef run_job():\n    ...`
}

/** `https://key@host/7` → `https://host/api/7/cron/slug/key/`. */
function curlSnippet(job: Job, dsn: string): string {
  const { origin, username, pathname } = new URL(dsn)
  const path = pathname.split('/')
  const project = path.pop() ?? ''
  const { schedule } = job
  const parameters = new URLSearchParams({ status: 'in_progress' })
  if (schedule !== null) {
    parameters.set(
      'schedule',
      schedule.type === 'crontab' ? String(schedule.value) : `${schedule.value} ${schedule.unit}`,
    )
    if (job.timezone !== null) parameters.set('timezone', job.timezone)
    if (job.checkin_margin_minutes !== null) parameters.set('checkin_margin', String(job.checkin_margin_minutes))
    if (job.max_runtime_minutes !== null) parameters.set('max_runtime', String(job.max_runtime_minutes))
  }
  // Stars and slashes need no encoding, and a crontab is legible with them.
  const query = parameters.toString().replaceAll('%2F', '/').replaceAll('%2C', ',')
  return [
    `job='${origin}${path.join('/')}/api/${project}/cron/${job.slug}/${username}/'`,
    `curl -fsS -m 10 "$job?${query}"`,
    'if run_job; then status=ok; else status=error; fi',
    'curl -fsS -m 10 "$job?status=$status"',
  ].join('\n')
}

/** One line that sends a check-in with its schedule. */
export function firstCheckIn(dsn: string): string {
  const [address = ''] = curlSnippet(EXAMPLE_JOB, dsn).split('\n')
  return `curl -fsS ${address.replace("job='", "'").replace(/'$/, "?status=ok&schedule=0+3+*+*+*'")}`
}
