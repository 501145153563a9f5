import type { App } from '../context/app.ts'
import type { Category } from '../protocol/categories.ts'

/** Items that were refused before the spool saw them, summed up: a flood of refusals must not become a flood of writes. */
export type RefusedRow = {
  readonly projectId: string
  readonly keyId: string
  readonly hour: Date
  readonly category: Category
  readonly reason: 'rate_limited' | 'too_large'
  readonly quantity: number
}

export type Refusals = {
  add(projectId: string, keyId: string, category: Category, reason: RefusedRow['reason'], quantity?: number): void
  close(): Promise<void>
}

const WRITE_EVERY_MS = 5_000
const HOUR_MS = 3_600_000
/** Sums kept while the database is away; more projects × categories than that in one outage are not worth memory. */
const MOST_SUMS = 20_000

/**
 * Sums refusals in memory and hands them over every few seconds.
 * @param write adds the quantities to the outcomes; called by one at a time, again with the same rows after it threw
 */
export function createRefusals(app: App, write: (rows: readonly RefusedRow[]) => Promise<void>): Refusals {
  let sums = new Map<string, RefusedRow>()
  let writing: Promise<void> = Promise.resolve()

  const add = (row: RefusedRow): void => {
    const name = `${row.keyId} ${row.category} ${row.reason} ${row.hour.getTime()}`
    const sum = sums.get(name)
    if (sum === undefined && sums.size >= MOST_SUMS) return
    sums.set(name, sum === undefined ? row : { ...sum, quantity: sum.quantity + row.quantity })
  }

  const flush = async (): Promise<void> => {
    if (sums.size === 0) return
    const taken = sums
    sums = new Map()
    try {
      await write([...taken.values()])
    } catch (error) {
      app.log.warn({ err: error instanceof Error ? error.message : String(error) }, 'refused items not recorded yet')
      for (const row of taken.values()) add(row)
    }
  }

  const timer = setInterval(() => {
    writing = writing.then(flush)
  }, WRITE_EVERY_MS)
  timer.unref()

  return {
    add(projectId, keyId, category, reason, quantity = 1) {
      const hour = new Date(Math.floor(app.clock.now().getTime() / HOUR_MS) * HOUR_MS)
      add({ projectId, keyId, hour, category, reason, quantity })
    },
    async close() {
      clearInterval(timer)
      await writing
      await flush()
    },
  }
}
