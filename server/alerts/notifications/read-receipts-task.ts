import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import { addJob, defineTask } from '../../platform/jobs/task.ts'
import { MAX_RECEIPTS, readReceipts, type ReceiptResult } from './expo.ts'
import { noteResults } from './pushes.queries.ts'
import { RECEIPTS_DELAY_MS, RECEIPTS_JOB } from './receipts-job.ts'
import { removeDead } from './settle-pushes.ts'

const Tickets = z.array(z.object({ id: z.string(), device_id: z.uuid() }))
type Tickets = z.infer<typeof Tickets>

/** After 15 and 30 minutes, 1, 2, 4 and 8 hours. */
const ROUNDS = 6

/** Removes devices whose app was removed, and notes what else went wrong. Receipts that are not there yet are asked for later. */
export const pushReceiptsTask = defineTask({
  name: RECEIPTS_JOB,
  payload: z.object({ tickets: Tickets, round: z.int().min(0) }),
  async run(app, { tickets, round }) {
    const { expo } = app.config.push
    if (expo === null) return
    const missing: Tickets = []
    for (let from = 0; from < tickets.length; from += MAX_RECEIPTS) {
      const asked = tickets.slice(from, from + MAX_RECEIPTS)
      const receipts = await readReceipts(
        app,
        expo,
        asked.map(({ id }) => id),
      )
      await record(app, asked, receipts)
      missing.push(...asked.filter(({ id }) => !receipts.has(id)))
    }
    if (missing.length === 0) return
    const next = round + 1
    if (next < ROUNDS)
      await addJob(
        app.db,
        RECEIPTS_JOB,
        { tickets: missing, round: next },
        { runAt: new Date(Date.now() + RECEIPTS_DELAY_MS * 2 ** round) },
      )
    else app.log.warn({ tickets: missing.length }, 'Expo gave no receipts for pushes')
  },
})

async function record(app: App, tickets: Tickets, receipts: ReadonlyMap<string, ReceiptResult>): Promise<void> {
  const failures = tickets.flatMap(({ id, device_id: deviceId }) => {
    const receipt = receipts.get(id)
    return receipt == null ? [] : [{ deviceId, ...receipt }]
  })
  if (failures.length === 0) return
  const at = app.clock.now()
  const byDevice = new Map(
    failures.map(({ deviceId, code, text }) => [deviceId, { deviceId, at, error: { code, text } }]),
  )
  await app.tx(async (tx) => {
    await noteResults(tx, [...byDevice.values()])
    const dead = failures.filter(({ isDead }) => isDead).map(({ deviceId }) => deviceId)
    if (dead.length > 0) await removeDead(tx, app, dead)
  })
  for (const { deviceId, code, text } of failures)
    app.log.warn({ device_id: deviceId, error_code: code, error: text }, 'a push did not arrive')
}
