import { AppError } from '../../platform/kernel/errors.ts'
import { parseEnvelopeHeader, type RawItem, itemCategory, type Category } from '../../events/protocol/envelope.ts'
import { buildRefusal, type RejectedOutcomes } from '../outcomes/rejected-outcomes.ts'
import type { Counted, Outcome } from '../../events/items/recorder.ts'
import { mayBeStored } from '../spool/write.ts'
import { claimedQuantity, DROP_OUTCOMES, type DropReason } from '../outcomes/dropped-items.ts'
import type { App } from '../../platform/context/app.ts'
import { writeRegularly } from '../limits/regular-writes.ts'
import { writeRefusals } from '../../projects/registry/projects.queries.ts'
import type { RefusalReason } from '../../projects/registry/projects.api.ts'

/**
 * Outcomes of rejected requests and items. A request whose items are not known counts as one item of category `default`;
 * otherwise each item counts (docs/decisions/admission-and-outcomes.md).
 */

type Key = { readonly id: string; readonly projectId: string }
type Deps = { readonly rejected: RejectedOutcomes }
type Ended = { readonly outcome: Outcome; readonly reason: string }

export const SECOND_EVENT: Ended = { outcome: 'discarded', reason: 'second_event' }

export const countItem = (item: RawItem): Counted => ({
  category: itemCategory(item.type),
  quantity: claimedQuantity(item),
})

/** Outcomes of the items of an envelope that is not stored. @param others the outcome of items not in `dropped` */
export function envelopeOutcomes(
  items: readonly RawItem[],
  dropped: readonly { readonly index: number; readonly reason: DropReason }[],
  others: Ended,
): (Counted & Ended)[] {
  const reasons = new Map(dropped.map(({ index, reason }) => [index, reason]))
  return items.map((item, index) => {
    const reason = reasons.get(index)
    return { ...countItem(item), ...(reason === undefined ? others : DROP_OUTCOMES[reason]) }
  })
}

export function countItems({ rejected }: Deps, key: Key, items: readonly (Counted & Ended)[]): void {
  for (const { category, outcome, reason, quantity } of items)
    rejected.add(buildRefusal(key, category, outcome, reason, quantity))
}

/** Counts a request whose items are not known. */
export function countRequest({ rejected }: Deps, key: Key, outcome: Outcome, reason: string): void {
  const category: Category = 'default'
  rejected.add(buildRefusal(key, category, outcome, reason))
}

/** Counts a request whose body was not received or decoded because it is too large or the service is busy. */
export function countUnreceived(deps: Deps, key: Key, error: unknown): void {
  if (!(error instanceof AppError)) return
  if (error.code === 'too_large') countRequest(deps, key, 'invalid', 'too_large')
  else if (error.code === 'rate_limited') countRequest(deps, key, 'rate_limited', 'busy')
}

/** Counts a body that decodes to too many bytes. */
export function countedIfTooLarge<T>(deps: Deps, key: Key, read: () => T): T {
  try {
    return read()
  } catch (error) {
    countUnreceived(deps, key, error)
    throw error
  }
}

/** Counts an envelope whose header is valid and whose rest is not. */
export function countedIfUnreadable<T>(deps: Deps, key: Key, decoded: Buffer, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError && hasHeader(decoded))
      countRequest(deps, key, 'invalid', error.code === 'too_large' ? 'too_large' : 'envelope')
    throw error
  }
}

function hasHeader(decoded: Buffer): boolean {
  try {
    parseEnvelopeHeader(decoded)
    return true
  } catch {
    return false
  }
}

/**
 * Counts the items of a request that the spool rejected. Those that may be stored nevertheless are counted by
 * digestion.
 */
export async function countedIfRefused(
  deps: Deps,
  key: Key,
  storing: Promise<void>,
  items: () => readonly Counted[],
): Promise<void> {
  try {
    await storing
  } catch (error) {
    if (error instanceof AppError && !mayBeStored(error)) {
      const ended: Ended =
        error.code === 'rate_limited'
          ? { outcome: 'rate_limited', reason: 'busy' }
          : { outcome: 'dropped', reason: 'database' }
      countItems(
        deps,
        key,
        items().map((item) => ({ ...item, ...ended })),
      )
    }
    throw error
  }
}

/** Onboarding shows a refused request within two seconds. */
const WRITE_EVERY_MS = 500
/** One write per project in this time: anyone may send requests with a wrong key. */
const REFUSED_EVERY_MS = 10_000
const MAX_PROJECTS = 1_000

export type RefusedKeys = {
  /** Records that a request to this project was refused because of its key or body; written in the background. */
  mark(projectNumber: string | null, reason: RefusalReason): void
  close(): Promise<void>
}

/** Remembers when and why requests of projects were refused. Not counted here: the key is no secret. */
export function createRefusedKeys(app: App): RefusedKeys {
  let due = new Map<number, { reason: RefusalReason; at: Date }>()
  const writtenAtMs = new Map<number, number>()

  const write = async (): Promise<void> => {
    if (due.size === 0) return
    const batch = due
    due = new Map()
    const nowMs = app.clock.monotonicMs()
    for (const number of batch.keys()) writtenAtMs.set(number, nowMs)
    await writeRefusals(
      app.db,
      [...batch].map(([number, refusal]) => ({ number, ...refusal })),
    )
  }
  const wasWritten = (number: number): boolean => {
    const atMs = writtenAtMs.get(number)
    return atMs !== undefined && app.clock.monotonicMs() - atMs < REFUSED_EVERY_MS
  }
  const { close } = writeRegularly(app, { everyMs: WRITE_EVERY_MS, failed: 'refused keys not written', write })

  return {
    mark(projectNumber, reason) {
      const number = Number(projectNumber)
      if (projectNumber === null || !Number.isSafeInteger(number) || number > 2 ** 31 - 1) return
      if (wasWritten(number) || due.size >= MAX_PROJECTS) return
      // Numbers can be made up: those of the past are forgotten together.
      if (writtenAtMs.size >= 10 * MAX_PROJECTS) writtenAtMs.clear()
      due.set(number, { reason, at: app.clock.now() })
    },
    close,
  }
}
