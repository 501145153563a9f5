import type { App } from '../../platform/context/app.ts'
import type { Category } from '../../events/protocol/envelope.ts'
import { writeRegularly, type RegularWrites } from '../limits/regular-writes.ts'
import { addFloodSampling, type FloodSamplingRow } from './outcomes.queries.ts'
import { OutcomeSums, type OutcomeFact } from './outcomes.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'

/** The outcome of an item that was rejected before the spool. */
export type Refusal = Pick<OutcomeFact, 'projectId' | 'keyId' | 'category' | 'outcome' | 'reason' | 'quantity'>

/**
 * The rejected-outcome buffer: outcomes of items that never reach the spool, and counts of flood sampling. It sums them
 * in memory, because a flood of refusals must not cause a flood of writes, and writes them every five seconds and on
 * close. A `kill -9` may lose these counts, never data.
 */
export type RejectedOutcomes = RegularWrites & {
  add(refusal: Refusal): void
  /** An event of a new kind that was accepted although its key was over its limit. */
  addLetThrough(projectId: string, keyId: string, isFirstOfItsKind: boolean): void
}

const WRITE_EVERY_MS = 5_000
/** Maximum sums kept while the database is unavailable: refusals with further keys and categories are not counted. */
const MAX_SUMS = 20_000

export function createRejectedOutcomes(app: App): RejectedOutcomes {
  let refusals = new Map<string, OutcomeFact>()
  let samples = new Map<string, FloodSamplingRow>()

  const add = (fact: OutcomeFact): void => {
    const name = `${fact.keyId} ${fact.category} ${fact.outcome} ${fact.reason} ${fact.receivedAt.getTime()}`
    const sum = refusals.get(name)
    if (sum === undefined && refusals.size >= MAX_SUMS) return
    refusals.set(name, sum === undefined ? fact : { ...sum, quantity: sum.quantity + fact.quantity })
  }

  const addSample = (row: FloodSamplingRow): void => {
    const name = `${row.keyId} ${row.hour.getTime()}`
    const sum = samples.get(name)
    if (sum === undefined && samples.size >= MAX_SUMS) return
    samples.set(
      name,
      sum === undefined
        ? row
        : {
            ...sum,
            letThrough: sum.letThrough + row.letThrough,
            fingerprints: sum.fingerprints + row.fingerprints,
            firstAt: sum.firstAt < row.firstAt ? sum.firstAt : row.firstAt,
            lastAt: sum.lastAt > row.lastAt ? sum.lastAt : row.lastAt,
          },
    )
  }

  const write = async (): Promise<void> => {
    if (refusals.size === 0 && samples.size === 0) return
    const taken = { refusals, samples }
    refusals = new Map()
    samples = new Map()
    try {
      const sums = new OutcomeSums()
      for (const fact of taken.refusals.values()) sums.add(fact)
      await app.tx(async (tx) => {
        sums.write(tx)
        await addFloodSampling(tx, [...taken.samples.values()])
      })
    } catch (error) {
      for (const fact of taken.refusals.values()) add(fact)
      for (const row of taken.samples.values()) addSample(row)
      throw error
    }
  }
  const failed = 'outcomes of refused items not written; retrying in 5 s'
  const hourOf = (time: Date): Date => new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS)

  return {
    ...writeRegularly(app, { everyMs: WRITE_EVERY_MS, failed, write }),
    add: (refusal) => add({ ...refusal, receivedAt: hourOf(app.clock.now()) }),
    addLetThrough(projectId, keyId, isFirstOfItsKind) {
      const now = app.clock.now()
      const fingerprints = isFirstOfItsKind ? 1 : 0
      addSample({ projectId, keyId, hour: hourOf(now), letThrough: 1, fingerprints, firstAt: now, lastAt: now })
    },
  }
}

/** One item of a project's key, or one request whose items are not known. */
export const buildRefusal = (
  key: { readonly id: string; readonly projectId: string },
  category: Category,
  outcome: Refusal['outcome'],
  reason: string,
  quantity = 1,
): Refusal => ({ projectId: key.projectId, keyId: key.id, category, outcome, reason, quantity })
