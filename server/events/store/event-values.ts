import { hash as digestOf } from 'node:crypto'
import type { RowTarget } from '../../platform/storage/database.ts'
import type { EventValues, StoredEvent } from './event.ts'
import * as sql from './event-values.queries.ts'

/** By `kind` in the table. */
const KINDS = ['os', 'device', 'exceptionType'] as const satisfies readonly (keyof EventValues)[]

/** The numbers of one event; null for unknown. */
type EventValueIds = readonly [os: number | null, device: number | null, exceptionType: number | null]
export const NO_VALUE_IDS: EventValueIds = [null, null, null]

/** Values of a kind that a project may have. Further ones are unknown: anyone who knows the project key can make them up. */
export const MAX_VALUES = 10_000
const MAX_CHARACTERS = 200

/** Numbers in memory, about 6 MB; all are forgotten above it. */
const MAX_KNOWN = 30_000
/** Numbers of one kind of one project, so that a project that makes values up costs others nothing. */
const MAX_KNOWN_OF_KIND = 2_000

/** A number is a hash of its value: every process computes the same, without a counter that batches wait for. */
export const numberValue = (value: string): number =>
  Buffer.from(digestOf('sha256', value, 'hex').slice(0, 8), 'hex').readInt32BE()

type Wanted = sql.ValueKey & { readonly value: string }

/** The numbers of values that were used on the newest day, which the database has. */
export class KnownValues {
  readonly #byProject = new Map<string, readonly Map<string, number | null>[]>()
  #day = ''
  #size = 0

  /** Forgets what was known on an earlier day. */
  on(day: string): void {
    if (day <= this.#day && this.#size <= MAX_KNOWN) return
    this.#byProject.clear()
    this.#size = 0
    if (day > this.#day) this.#day = day
  }

  /** @returns undefined when it is not known */
  get(projectId: string, kind: number, value: string): number | null | undefined {
    return this.#byProject.get(projectId)?.[kind]?.get(value)
  }

  set({ projectId, kind, value }: Wanted, id: number | null): void {
    let kinds = this.#byProject.get(projectId)
    if (kinds === undefined) this.#byProject.set(projectId, (kinds = KINDS.map(() => new Map<string, number | null>())))
    const ofKind = kinds[kind]
    if (ofKind === undefined) return
    if (ofKind.size >= MAX_KNOWN_OF_KIND) {
      this.#size -= ofKind.size
      ofKind.clear()
    }
    ofKind.set(value, id)
    this.#size++
  }
}

const known = new KnownValues()
/** Transactions that added values: what they read of them may be rolled back. */
const added = new WeakSet<RowTarget>()

/**
 * Numbers the values of events, and adds new ones to those of their projects. Known values need no statement.
 * @param into the transaction of the events
 * @param today the day of receipt, which the values are marked with
 * @returns in the given order
 */
export async function numberEventValues(
  into: RowTarget,
  today: string,
  events: readonly Pick<StoredEvent, 'projectId' | 'values'>[],
  memory: KnownValues = known,
): Promise<EventValueIds[]> {
  memory.on(today)
  const wanted = new Map<string, Wanted>()
  // A text is the key of a value that is not in memory.
  const found = events.map(({ projectId, values }) =>
    KINDS.map((name, kind): number | null | string => {
      const value = values?.[name]?.slice(0, MAX_CHARACTERS) ?? ''
      if (value === '') return null
      const id = memory.get(projectId, kind, value)
      if (id !== undefined) return id
      const key = `${projectId} ${kind} ${value}`
      if (!wanted.has(key)) wanted.set(key, { projectId, kind, id: numberValue(value), value })
      return key
    }),
  )
  const numbers = wanted.size === 0 ? new Map<string, number | null>() : await addValues(into, today, wanted, memory)
  const idOf = (one: number | null | string = null): number | null =>
    typeof one === 'string' ? (numbers.get(one) ?? null) : one
  return found.map(([os, device, type]) => [idOf(os), idOf(device), idOf(type)])
}

/** The numbers of values that are not in memory. */
async function addValues(
  into: RowTarget,
  today: string,
  wanted: ReadonlyMap<string, Wanted>,
  memory: KnownValues,
): Promise<Map<string, number | null>> {
  const stored = await sql.findValues(into, [...wanted.values()])
  const numbers = new Map<string, number | null>()
  const [old, fresh]: [Wanted[], [string, Wanted][]] = [[], []]
  for (const [text, one] of wanted) {
    const row = stored.get(sql.keyOfValue(one))
    if (row === undefined) fresh.push([text, one])
    else if (row.value !== one.value) numbers.set(text, null)
    else {
      numbers.set(text, one.id)
      if (row.lastDay < today) old.push(one)
    }
    // Rows of this transaction alone may not remain.
    if (row !== undefined && row.lastDay >= today && !added.has(into)) memory.set(one, numbers.get(text) ?? null)
  }
  const counts =
    fresh.length === 0
      ? new Map<string, number>()
      : await sql.countValues(
          into,
          fresh.map(([, one]) => one),
        )
  const admitted = new Map<string, Wanted>()
  for (const [text, one] of fresh) {
    const key = `${one.projectId} ${one.kind}`
    const count = counts.get(key) ?? 0
    // The same number of another value in this batch.
    const isTaken = admitted.has(sql.keyOfValue(one))
    numbers.set(text, count < MAX_VALUES && !isTaken ? one.id : null)
    if (count >= MAX_VALUES) memory.set(one, null)
    else if (!isTaken) {
      counts.set(key, count + 1)
      admitted.set(sql.keyOfValue(one), one)
    }
  }
  const rows = [...old, ...admitted.values()]
  if (rows.length > 0) {
    added.add(into)
    await sql.saveValues(into, today, rows)
  }
  return numbers
}
