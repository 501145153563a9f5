import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Timestamp } from '../../platform/kernel/page.api.ts'

export const CANARY_STEPS = ['intake', 'digestion', 'alert', 'delivery'] as const
export type CanaryStep = (typeof CANARY_STEPS)[number]

export const CanaryReport = z.object({
  state: z
    .enum(['ok', 'late', 'broken', 'off', 'pending'])
    .describe(
      'late: a test event takes longer than a minute. broken: longer than two, or no test ran for two periods.',
    ),
  last_started_at: Timestamp.nullable(),
  last_arrived_at: Timestamp.nullable(),
  duration_ms: z
    .number()
    .int()
    .nullable()
    .describe(
      'Milliseconds from sending to arrival, of the test that arrived last; null before one did, and when the clock was set back meanwhile.',
    ),
  failed_step: z
    .enum(CANARY_STEPS)
    .nullable()
    .describe('The step behind which the test event did not come; null unless late or broken.'),
  explanation: z.string().describe('What happened and what to do; empty unless late or broken.'),
  interval_minutes: z.number().int().describe('Minutes between two tests; 0 when the test is switched off.'),
})
export type CanaryReport = z.infer<typeof CanaryReport>

export const canaryRoutes = routes({
  readCanary: {
    method: 'GET',
    path: '/api/alerts/canary',
    tag: 'Alerts',
    summary: 'Whether alerts arrive: the result of the end-to-end test',
    description:
      'Faultline sends itself an event at this interval and follows it through intake, digestion, an alert rule and the delivery of the alert. The live message `canary` says that the state changed.',
    permission: 'alerts.read',
    response: CanaryReport,
  },
})
