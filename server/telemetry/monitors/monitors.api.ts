import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, pageSchema, pageQuery, Timestamp } from '../../platform/kernel/page.api.ts'
import { MAX_SLUG, SENT_STATUSES } from '../../events/protocol/telemetry.api.ts'
import { Notes, ofProject, plainText, receivedBetween, repeatable, TraceId } from '../logs/telemetry.api.ts'

const RunStatus = z.enum(SENT_STATUSES, { error: `status must be one of ${SENT_STATUSES.join(', ')}.` })

const Monitor = z.object({
  id: Id,
  slug: z.string(),
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
})

export const CheckInItem = z.object({
  id: z.string().describe('32 hex digits; unique within its monitor.'),
  project_id: Id,
  monitor: Monitor,
  status: RunStatus,
  environment: z.string(),
  release: z.string().nullable(),
  trace_id: TraceId,
  duration_ms: z.number().int().nullable().describe('As sent, else from start to end; null while the job runs.'),
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  received_at: Timestamp.describe('Receipt of its first check-in.'),
  updated_at: Timestamp,
  notes: Notes,
})
export type CheckInItem = z.infer<typeof CheckInItem>

export const monitorRoutes = routes({
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
