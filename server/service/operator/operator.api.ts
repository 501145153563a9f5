import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Rate, Timestamp } from '../../platform/kernel/page.api.ts'
import { CanaryReport } from '../canary/canary.api.ts'

const Count = z.number().int()
export const QUEUES = ['spool', 'deliveries', 'jobs'] as const

export const OperatorStatus = z.object({
  version: z.string(),
  started_at: Timestamp.describe('Of the process that answers.'),
  at: Timestamp.describe('When the figures were read.'),
  verdict: z
    .enum(['ok', 'attention', 'problem'])
    .describe('problem: something is lost, late or unsafe. attention: it works, and could be better.'),
  concerns: z
    .array(z.object({ level: z.enum(['note', 'problem']), part: z.string(), text: z.string() }))
    .describe('What is not well and what to do, as `doctor` says it; problems first.'),
  events: z.object({
    per_second: Rate.describe('Error events of all projects, over the last five whole minutes.'),
    busiest_per_second: Rate.describe('Of the busiest minute within 24 hours.'),
    busiest_at: Timestamp.nullable(),
    dropped_24h: Count.describe('Items that were lost on our side.'),
    by_quarter_hour: z.array(z.object({ t: Timestamp, per_second: Rate })).describe('The last 24 hours.'),
  }),
  queues: z.array(
    z.object({
      name: z.enum(QUEUES),
      waiting: Count.nullable().describe('Null where it is not counted.'),
      oldest_seconds: Rate.describe('Seconds for which the oldest is due; 0 when none is.'),
      given_up: Count.nullable().describe('What was tried too often; null for deliveries, which are not counted.'),
    }),
  ),
  canary: CanaryReport,
  backups: z.object({
    state: z
      .enum(['restorable', 'made', 'failed', 'none'])
      .describe('restorable: the last drill restored a backup and compared it. made: none was restored yet.'),
    is_scheduled: z.boolean(),
    every_hours: Rate.nullable(),
    last_complete_at: Timestamp.nullable(),
    last_drill_at: Timestamp.nullable(),
    last_restorable_at: Timestamp.nullable(),
    problem: z.string().nullable().describe('Why the last backup, else the last drill, failed; null when neither did.'),
  }),
  quarantine: z
    .array(z.object({ reason: z.string(), count: Count, oldest_at: Timestamp }))
    .describe('Requests that could not be digested, by cause; at most 20 causes.'),
  jobs: z.array(z.object({ name: z.string(), last_run_at: Timestamp.nullable() })).describe('What runs on a schedule.'),
  disk: z.object({
    database_bytes: Count,
    free_bytes: Count.nullable().describe('Of the disk of the embedded database; null for another one.'),
    total_bytes: Count.nullable(),
    bytes_per_day: Count.nullable().describe(
      'What the last whole days added, less what retention deletes next; null before three of them.',
    ),
    days_left: Count.nullable().describe('Until 90 % are used; null where nothing is added.'),
  }),
})
export type OperatorStatus = z.infer<typeof OperatorStatus>

export const operatorRoutes = routes({
  readOperatorStatus: {
    method: 'GET',
    path: '/api/operator/status',
    tag: 'Operator',
    summary: 'Whether anything is lost or late in this installation, and how long the disk lasts',
    description:
      'For owners of the organisation that set up the installation; 404 for everyone else. Read at most every five seconds. Holds no data of organisations.',
    permission: 'self',
    response: OperatorStatus,
    refusals: [404],
  },
})
