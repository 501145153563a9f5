import type { App } from '../context/app.ts'
import type { InHand } from './in-hand.ts'
import { createOutage } from './outage.ts'
import { isDatabaseAway } from '../storage/pool.ts'
import { settleAttempts, type EndedAttempt } from './settle-attempts.ts'
import { pause } from './waker.ts'

/** Attempts that end within this time are recorded in one transaction. */
const COLLECT_MS = 10
const MAX_SETTLED = 250

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

  const settle = async (entries: readonly InHand[], isolated: boolean): Promise<void> => {
    const attempts = new Map(
      entries.flatMap((entry) => (entry.ended === null ? [] : [[attemptOf(entry, entry.ended), entry]])),
    )
    const recorded = await settleAttempts(app, [...attempts.keys()], { isolated })
    const others = [...attempts].filter(([attempt]) => !recorded.has(attempt))
    settled(
      [...recorded].flatMap((attempt) => attempts.get(attempt) ?? []),
      // A claim of this process renewed the lease meanwhile: recorded the next time.
      others.filter(([attempt, entry]) => attempt.token === entry.token).map(([, entry]) => entry),
    )
  }

  const run = async (): Promise<void> => {
    await pause(COLLECT_MS)
    while (!closing.signal.aborted) {
      const entries = [...inHand.values()].filter(({ ended }) => ended !== null).slice(0, MAX_SETTLED)
      if (entries.length === 0) return
      await outage.guard(async () => {
        try {
          await settle(entries, false)
        } catch (error) {
          if (isDatabaseAway(error)) throw error
          // One of them, or a channel, is at fault: the others must not wait for it.
          app.log.error({ err: error, attempts: entries.length }, 'attempts could not be recorded together')
          for (const entry of entries) await settle([entry], true)
        }
      })
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
