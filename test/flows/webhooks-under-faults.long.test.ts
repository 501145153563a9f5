import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { deliverUnderFaults } from '#test/torture/webhook-run.ts'

/** Short forms of T-15 and T-16; `npm run torture -- webhooks` runs the long ones. */

const SHARED = { seed: 11, perSecond: 250, scale: 0.000_05, timeoutMs: 1_000, leaseMs: 4_000 } as const

/** Claims in seconds depend on how busy the machine is: only the long forms make them. */
const isTimed = ({ asked }: { readonly asked: string }): boolean => asked.endsWith(' s')

const broken = async (run: Parameters<typeof deliverUnderFaults>[0]): Promise<unknown> =>
  (await deliverUnderFaults(run)).filter((claim) => !claim.holds && !isTimed(claim))

const calm = await testApp({ realTime: true })
test(
  'T-15: every delivery ends as the schedule says, with receivers that fail, hang and reset',
  { timeout: 60_000 },
  async () => {
    expect(await broken({ ...SHARED, ...calm, leaseMs: 30_000, deliveries: 500, workers: 2, kills: 0 })).toEqual([])
  },
)

const killed = await testApp({ realTime: true })
test('T-16: no worker that is killed loses a delivery', { timeout: 60_000 }, async () => {
  expect(await broken({ ...SHARED, ...killed, deliveries: 500, workers: 2, kills: 5 })).toEqual([])
})
