import type { App } from '../context/app.ts'
import type { InHand } from './in-hand.ts'
import { createOutage } from './outage.ts'
import { isDatabaseAway } from '../storage/pool.ts'
import { settleAttempts, type EndedAttempt, type SettleMode } from './settle-attempts.ts'
import { pause } from './waker.ts'

/** Attempts that end within this time are recorded in one transaction. */
const COLLECT_MS = 10
const MAX_SETTLED = 250
/** After so many failures an attempt is recorded without details and without the part of its channel. */
const MAX_FAILURES = 3
const RETRY_MS = 100
const MAX_RETRY_MS = 30_000

export type Settler = {
  /** An attempt ended: records it soon. While the database is away, it waits; the bound of what is in flight bounds it. */
  ended(): void
  /** Resolves when nothing waits to be recorded. */
  idle(): Promise<void>
  /** Gives up what still waits. */
  close(): void
}

/** @param settled called with attempts that were recorded, and with those whose lease another worker has now */
export function createSettler(
  app: App,
  inHand: ReadonlyMap<string, InHand>,
  settled: (recorded: readonly InHand[], fenced: readonly InHand[]) => void,
): Settler {
  const closing = new AbortController()
  const outage = createOutage(app, 'recording attempts', closing.signal)
  let running: Promise<void> | null = null

  const settle = async (entries: readonly InHand[], mode: SettleMode): Promise<void> => {
    const attempts = new Map(
      entries.flatMap((entry) => (entry.ended === null ? [] : [[attemptOf(entry, entry.ended), entry]])),
    )
    const recorded = await settleAttempts(app, [...attempts.keys()], mode)
    const others = [...attempts].filter(([attempt]) => !recorded.has(attempt))
    settled(
      [...recorded].flatMap((attempt) => attempts.get(attempt) ?? []),
      // A claim of this process renewed the lease meanwhile: recorded the next time.
      others.filter(([attempt, entry]) => attempt.token === entry.token).map(([, entry]) => entry),
    )
  }

  const settleAlone = async (entry: InHand): Promise<void> => {
    try {
      await settle([entry], entry.failures < MAX_FAILURES ? 'isolated' : 'bare')
    } catch (error) {
      if (isDatabaseAway(error)) throw error
      entry.retryMs = performance.now() + Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** entry.failures++)
      app.log.error(
        { err: error, channel: entry.channel.name, delivery_id: entry.delivery.id, failures: entry.failures },
        'an attempt could not be recorded and is recorded again',
      )
    }
  }

  const settleAll = async (entries: readonly InHand[]): Promise<void> => {
    const [fresh, failed] = [
      entries.filter(({ failures }) => failures === 0),
      entries.filter((one) => one.failures > 0),
    ]
    try {
      if (fresh.length > 0) await settle(fresh, 'together')
    } catch (error) {
      if (isDatabaseAway(error)) throw error
      // One of them, or a channel, is at fault: the others must not wait for it.
      app.log.error({ err: error, attempts: fresh.length }, 'attempts could not be recorded together')
      for (const entry of fresh) await settleAlone(entry)
    }
    for (const entry of failed) await settleAlone(entry)
  }

  const run = async (): Promise<void> => {
    await pause(COLLECT_MS)
    while (!closing.signal.aborted) {
      const ended = [...inHand.values()].filter((entry) => entry.ended !== null)
      if (ended.length === 0) return
      const nowMs = performance.now()
      const ready = ended.filter(({ retryMs }) => retryMs <= nowMs).slice(0, MAX_SETTLED)
      if (ready.length === 0) await pause(COLLECT_MS, closing.signal)
      else await outage.guard(() => settleAll(ready))
    }
  }

  return {
    ended() {
      running ??= run().finally(() => {
        running = null
      })
    },
    async idle() {
      await running
    },
    close() {
      closing.abort()
    },
  }
}

const attemptOf = ({ delivery, channel, token }: InHand, ended: NonNullable<InHand['ended']>): EndedAttempt => ({
  delivery,
  channel,
  token,
  ...ended,
})
