import { z } from 'zod'
import { DIGESTION, factContext, type FactContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { lockRelation } from '../rows/groups.queries.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { foldSums } from './fold.ts'
import { addUp, type FoldedSums, GroupSums, type KnownGroup, type SameFingerprint } from './occurrence.ts'
import * as sql from './journal.queries.ts'

/**
 * The groups of fingerprints, as a digester last read them. An entry is valid for one generation of its project's
 * relation, see `issues/rows/groups.queries.ts`.
 */
class GroupCache {
  readonly #entries = new Map<string, Entry>()

  /** @param generations by project id, as locked by the transaction */
  begin(generations: ReadonlyMap<string, string>): GroupCacheStep {
    const added = new Map<string, Entry>()
    return {
      get: ({ key, projectId }) => {
        const entry = added.get(key) ?? this.#entries.get(key)
        return entry?.generation === generations.get(projectId) ? entry?.group : undefined
      },
      add: ({ key, projectId }, group) => {
        const generation = generations.get(projectId)
        if (generation !== undefined) added.set(key, { group, generation })
      },
      commit: () => {
        for (const [key, entry] of added) {
          this.#entries.delete(key)
          this.#entries.set(key, entry)
        }
        for (const key of this.#entries.keys()) {
          if (this.#entries.size <= MAX_ENTRIES) break
          this.#entries.delete(key)
        }
      },
    }
  }

  clear(): void {
    this.#entries.clear()
  }
}

/** Reads and additions of one transaction; other transactions see the additions after {@link commit}. */
export type GroupCacheStep = {
  get(fingerprint: Pick<SameFingerprint, 'key' | 'projectId'>): KnownGroup | undefined
  add(fingerprint: Pick<SameFingerprint, 'key' | 'projectId'>, group: KnownGroup): void
  commit(): void
}

type Entry = { readonly group: KnownGroup; readonly generation: string }

/** Entries of one shard: about 8 MB. */
const MAX_ENTRIES = 30_000

/**
 * Counts in two steps. While more batches wait, a batch appends what it adds to its groups as one row of the journal; a later
 * batch folds the sums of many batches into groups, issues, hours and users, and deletes the rows. In light traffic every batch
 * folds at once. The sums are also kept in memory; only after a restart, or when another process had the shards, are rows
 * read back.
 */

/** Minimum time between two folds while further batches follow at once. After the last one, {@link foldJournal} folds. */
export const FOLD_INTERVAL_MS = 600
/** Maximum time between two folds, when no batch follows because rows take long to prepare or to commit. */
const MAX_FOLD_INTERVAL_MS = 900
/** Rows of an ended process are looked for this often. */
const CHECK_INTERVAL_MS = 2_000

/** The journal of shards whose batches commit one after the other. */
export class ShardJournal {
  readonly #shards: () => readonly number[]
  readonly #clock: Clock
  readonly #cache = new GroupCache()
  /** Committed sums that are not folded, by group. */
  #pending = new Map<string, GroupSums>()
  #rowIds: string[] = []
  #foldedAtMs = Number.NEGATIVE_INFINITY
  #checkedAtMs = Number.NEGATIVE_INFINITY

  /** @param shards those that the process has; none after it lost them */
  constructor(shards: () => readonly number[], clock: Clock) {
    this.#shards = shards
    this.#clock = clock
  }

  /** Whether rows wait for a fold. Rows of an ended process are looked for now and then. */
  async needsFold(db: Connection): Promise<boolean> {
    if (this.#rowIds.length > 0) return true
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#checkedAtMs < CHECK_INTERVAL_MS) return false
    if (await sql.hasJournalRows(db, this.#shards())) return true
    this.#checkedAtMs = nowMs
    return false
  }

  /** The time until what batches appended must be folded without waiting for another one, ms; Infinity when nothing is. */
  dueInMs(): number {
    return this.#rowIds.length === 0 ? Infinity : this.#foldedAtMs + MAX_FOLD_INTERVAL_MS - this.#clock.monotonicMs()
  }

  /** Whether sums of a project are in memory that are not folded. */
  isPending(projectId: string): boolean {
    for (const sums of this.#pending.values()) if (sums.projectId === projectId) return true
    return false
  }

  /**
   * @param isMoreWaiting whether a further batch follows at once, and so may fold what this one appends
   * @throws JournalTakenOverError when the process lost the shards
   */
  begin(isMoreWaiting: boolean): JournalStep {
    const shards = this.#shards()
    if (shards.length === 0) {
      this.reset()
      throw new JournalTakenOverError('The shards of the journal are not locked.')
    }
    const nowMs = this.#clock.monotonicMs()
    const isFold = !isMoreWaiting || nowMs - this.#foldedAtMs >= FOLD_INTERVAL_MS
    const mayHaveRows = this.#rowIds.length > 0 || nowMs - this.#checkedAtMs >= CHECK_INTERVAL_MS
    const state = { shards, pending: this.#pending, rowIds: this.#rowIds, isFold, mayHaveRows }
    return new JournalStep(state, this.#cache, (appended) => {
      if (isFold) {
        if (mayHaveRows) this.#checkedAtMs = nowMs
        this.#pending = new Map()
        this.#rowIds = []
        this.#foldedAtMs = this.#clock.monotonicMs()
        return
      }
      if (appended === null) return
      this.#pending = addUp(this.#pending.values(), appended.sums)
      this.#rowIds.push(appended.rowId)
    })
  }

  /** Forgets the sums and groups in memory, after an error: the next fold reads the rows back. */
  reset(): void {
    this.#cache.clear()
    this.#pending = new Map()
    this.#rowIds = []
    this.#foldedAtMs = Number.NEGATIVE_INFINITY
    this.#checkedAtMs = Number.NEGATIVE_INFINITY
  }
}

/** How `recordEvents` finds groups and counts. */
export type Counting = Pick<JournalStep, 'lockRelation' | 'count'>

/** Without a journal and a cache. */
export const FOLD_AT_ONCE: Counting = {
  lockRelation: async (tx, projectIds) => new GroupCache().begin(await lockRelation(tx, [...projectIds].sort())),
  count: (tx, context, sums, facts) => foldSums(tx, context, [...addUp(sums).values()], facts),
}

type Appended = { readonly rowId: string; readonly sums: readonly GroupSums[] }

/** The rows of a journal changed in another process, or may: its shards were taken over. */
export class JournalTakenOverError extends Error {}

type StepState = {
  /** At least one. */
  readonly shards: readonly number[]
  readonly pending: ReadonlyMap<string, GroupSums>
  readonly rowIds: readonly string[]
  readonly isFold: boolean
  /** Whether the table may have rows of the shards. */
  readonly mayHaveRows: boolean
}

/** The handling of sums that the database refuses. */
export type Refusals = {
  /** Whether an error is about the data, so that trying again fails again. */
  readonly isRefusal: (error: unknown) => boolean
  /** Called for sums that are dropped; null when they cannot be read. */
  readonly onDropped: (sums: GroupSums | null, error: unknown) => void
}

/** The part of one transaction. */
export class JournalStep {
  readonly #state: StepState
  readonly #cache: GroupCache
  readonly #onCommit: (appended: Appended | null) => void
  #cacheStep: GroupCacheStep | null = null
  /** Sums that a fold counts beside the batch. */
  #taken: readonly GroupSums[] = []
  #appended: Appended | null = null
  #isDone = false

  constructor(state: StepState, cache: GroupCache, onCommit: (appended: Appended | null) => void) {
    this.#state = state
    this.#cache = cache
    this.#onCommit = onCommit
  }

  /**
   * Locks the relation of projects, and of those that a fold counts. Returns the groups of fingerprints that are known.
   * @throws JournalTakenOverError when rows of this process are gone
   */
  async lockRelation(tx: Tx, projectIds: ReadonlySet<string>): Promise<GroupCacheStep> {
    if (this.#state.isFold) this.#taken = await this.#take(tx)
    const generations = await lockRelation(tx, sortedProjects(projectIds, this.#taken))
    this.#cacheStep = this.#cache.begin(generations)
    return this.#cacheStep
  }

  /**
   * Counts what a batch adds: new groups now, the others now or in a later fold.
   * @param facts about new issues
   */
  async count(tx: Tx, context: FactContext, sums: readonly FoldedSums[], facts: readonly Fact[] = []): Promise<void> {
    this.#isDone = true
    if (this.#state.isFold) return foldSums(tx, context, [...addUp<FoldedSums>(this.#taken, sums).values()], facts)
    const created = sums.filter(({ created: issue }) => issue !== undefined)
    const known = sums.filter(({ created: issue }) => issue === undefined)
    await foldSums(tx, context, [...addUp(created).values()], facts)
    if (known.length === 0) return
    const rowId = await sql.insertJournalRow(tx, this.#state.shards[0] ?? 0, JSON.stringify(known))
    this.#appended = { rowId, sums: known }
  }

  /** Folds what is due when the batch had no events. */
  async finish(tx: Tx, context: FactContext): Promise<void> {
    if (this.#isDone || !this.#state.isFold || !this.#state.mayHaveRows) return
    await this.lockRelation(tx, new Set())
    await this.count(tx, context, [])
  }

  /**
   * Locks all projects of a batch that is recorded entry by entry, before its first one.
   * @param refusals for sums of another version
   */
  async lockOneByOne(tx: Tx, projectIds: ReadonlySet<string>, { onDropped }: Refusals): Promise<void> {
    this.#taken = await this.#take(tx, (error) => onDropped(null, error))
    await lockRelation(tx, sortedProjects(projectIds, this.#taken))
  }

  /**
   * Folds what is due group by group, after an error. What the database refuses is dropped: it must not stop its shards for
   * ever.
   */
  async finishOneByOne(tx: Tx, context: FactContext, { isRefusal, onDropped }: Refusals): Promise<void> {
    for (const sums of this.#taken)
      try {
        await tx.savepoint(() => foldSums(tx, context, [sums]))
      } catch (error) {
        if (!isRefusal(error)) throw error
        onDropped(sums, error)
      }
  }

  committed(): void {
    this.#cacheStep?.commit()
    this.#onCommit(this.#appended)
  }

  /**
   * Returns the sums that are not folded, and deletes their rows.
   * @param onUnreadable called for each sum of another version; without it such a sum is an error
   */
  async #take(tx: Tx, onUnreadable?: (error: unknown) => void): Promise<GroupSums[]> {
    const { shards, pending, rowIds, mayHaveRows } = this.#state
    if (!mayHaveRows) return []
    const rows = await sql.takeJournalRows(tx, shards, rowIds)
    const taken = new Set(rows.map(({ id }) => id))
    if (!rowIds.every((id) => taken.has(id))) throw new JournalTakenOverError('The journal was folded elsewhere.')
    const read = rows
      .flatMap(({ body }): unknown[] => (body === null ? [] : z.array(z.unknown()).catch([{}]).parse(JSON.parse(body))))
      .flatMap((sums) => {
        const { success, data, error } = GroupSums.safeParse(sums)
        if (success) return [data]
        if (onUnreadable === undefined) throw new Error('The journal has sums of another version.', { cause: error })
        onUnreadable(error)
        return []
      })
    return [...addUp(pending.values(), read).values()]
  }
}

const sortedProjects = (projectIds: Iterable<string>, sums: readonly GroupSums[]): string[] =>
  [...new Set([...projectIds, ...sums.map(({ projectId }) => projectId)])].sort()

/** Folds what batches appended, in a transaction of its own; after the last batch, and after a restart. */
export async function foldJournal(app: App, journal: ShardJournal, refusals: Refusals): Promise<void> {
  if (!(await journal.needsFold(app.db))) return
  const context = factContext(app, DIGESTION)
  const step = journal.begin(false)
  try {
    await app.tx((tx) => step.finish(tx, context))
  } catch (error) {
    journal.reset()
    if (!refusals.isRefusal(error)) throw error
    app.log.error({ err: error }, 'counts cannot be folded; folding them one by one')
    const again = journal.begin(false)
    await app.tx(async (tx) => {
      await again.lockOneByOne(tx, new Set(), refusals)
      await again.finishOneByOne(tx, context, refusals)
    })
    return
  }
  step.committed()
}
