import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, offsetQuery, pageSchema, pageQuery, Timestamp } from '../../platform/kernel/page.api.ts'
import { MONITOR_KINDS } from '#shared/alert-rules.ts'
import { MAX_SLUG, SENT_STATUSES } from '../../events/protocol/telemetry.api.ts'
import { Notes, ofProject, plainText, receivedBetween, repeatable, TraceId } from '../logs/telemetry.api.ts'

export const RUN_KINDS = ['ok', 'late', 'long', 'failed', 'missed', 'running'] as const

const RunStatus = z.enum(SENT_STATUSES, { error: `status must be one of ${SENT_STATUSES.join(', ')}.` })

const config = {
  schedule: z
    .object({
      type: z.enum(['crontab', 'interval']),
      value: z.union([z.string(), z.number()]).describe('The crontab, or the number of units.'),
      unit: z.string().nullable(),
    })
    .nullable()
    .describe('Null until a check-in sends one.'),
  timezone: z.string().nullable(),
  checkin_margin_minutes: z.number().int().nullable(),
  max_runtime_minutes: z.number().int().nullable(),
  failure_issue_threshold: z.number().int().nullable(),
  recovery_threshold: z.number().int().nullable(),
  owner: z.string().nullable(),
}
const Monitor = z.object({ id: Id, slug: z.string(), ...config })

export const CheckInItem = z.object({
  id: z.string().describe('32 hex digits; unique within its monitor.'),
  project_id: Id,
  monitor: Monitor,
  status: RunStatus,
  environment: z.string(),
  release: z.string().nullable(),
  trace_id: TraceId,
  duration_ms: z
    .number()
    .int()
    .nullable()
    .describe('Milliseconds, as sent, else from start to end; null while the job runs.'),
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  received_at: Timestamp.describe('Receipt of its first check-in.'),
  updated_at: Timestamp,
  notes: Notes,
})
export type CheckInItem = z.infer<typeof CheckInItem>

export const MONITOR_STATES = ['active', 'paused', 'muted'] as const

export const MonitorView = z.object({
  id: Id,
  project_id: Id,
  slug: z.string(),
  state: z.enum(MONITOR_STATES).describe('paused: no run is expected. muted: it is judged, and fires no alert.'),
  state_at: Timestamp.nullable(),
  ...config,
  created_at: Timestamp,
  last_check_in_at: Timestamp,
  next_runs: z.array(Timestamp).describe('The next starts that a crontab expects, at most 5.'),
  environments: z.array(
    z.object({
      name: z.string(),
      status: z
        .enum(['ok', 'late', 'long', 'failed', 'missed', 'waiting'])
        .describe('The outcome of the newest run that is decided. waiting: none is.'),
      is_failing: z.boolean().describe('By failure_issue_threshold and recovery_threshold.'),
      problem: z.enum(MONITOR_KINDS).nullable().describe('Why it fails; null when it does not, or is paused.'),
      in_a_row: z.number().int().describe('Newest runs with this status, one after the other.'),
      since: Timestamp.nullable(),
      next_at: Timestamp.nullable(),
      runs: z
        .array(
          z.object({
            kind: z.enum(RUN_KINDS).describe('missed: no check-in came. late: after the grace. long: over its limit.'),
            expected_at: Timestamp.nullable(),
            check_in_id: z.string().nullable(),
            began_at: Timestamp.nullable(),
            duration_ms: z.number().int().nullable(),
            is_running: z.boolean(),
            release: z.string().nullable(),
            trace_id: TraceId,
          }),
        )
        .describe('Oldest first; 30 in lists, 100 of one monitor.'),
    }),
  ),
})
export type MonitorView = z.infer<typeof MonitorView>

const oneMonitor = z.object({ monitorId: Id })

export const monitorRoutes = routes({
  listMonitors: {
    method: 'GET',
    path: '/api/monitors',
    tag: 'Telemetry',
    summary: 'Monitors of scheduled jobs, by name, with their newest runs',
    description:
      'The first check-in of a job makes its monitor. Runs are judged when they are asked for: a check-in that comes late turns a missed run into a late one.',
    permission: 'issues.read',
    query: z.strictObject({ ...offsetQuery(25), projectId: Id.optional() }),
    response: pageSchema(MonitorView),
    refusals: [404],
  },
  readMonitor: {
    method: 'GET',
    path: '/api/monitors/:monitorId',
    tag: 'Telemetry',
    summary: 'A monitor with its runs',
    permission: 'issues.read',
    params: oneMonitor,
    response: MonitorView,
    refusals: [404],
  },
  listCheckIns: {
    method: 'GET',
    path: '/api/projects/:projectId/check-ins',
    tag: 'Telemetry',
    summary: 'Runs of scheduled jobs, newest first',
    description:
      'One item per run, with its monitor and schedule. `from` and `to` refer to the receipt of its first check-in.',
    permission: 'issues.read',
    params: ofProject,
    query: z.strictObject({
      ...pageQuery(25),
      ...receivedBetween,
      monitor: plainText('monitor', MAX_SLUG).optional().describe('Slug or name of a monitor.'),
      status: repeatable(RunStatus),
      environment: plainText('environment', 64).optional(),
    }),
    response: pageSchema(CheckInItem),
    refusals: [404],
  },
})
