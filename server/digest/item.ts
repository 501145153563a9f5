import type { EnvelopeHeader, RawItem } from '../protocol/envelope.ts'
import type { SpoolEntry } from '../spool/entry.ts'
import type { FactKind, FactOf } from './kinds.ts'
import type { Counted, Outcome } from '../outcomes/outcomes.ts'
import type { ProjectFacts } from './project-facts.ts'

/** One item of an envelope, and the context of its request. */
export type ItemInput = {
  readonly entry: SpoolEntry
  readonly project: ProjectFacts
  readonly header: EnvelopeHeader
  /** All items of the envelope: an attachment may depend on an event beside it. */
  readonly items: readonly RawItem[]
  readonly item: RawItem
  /** The whole decoded envelope; the payload is `decoded.subarray(item.start, item.end)`. Copy what is kept. */
  readonly decoded: Buffer
  readonly receivedAt: Date
  /** The client's clock when it sent, for drift (docs/protocol.md §15.1); null when it did not say. */
  readonly sentAt: Date | null
  /** The envelope's event id, 32 hex digits; null where nothing of it makes an event. */
  readonly eventId: string | null
  /** The body as it came, when it may be stored like that: nothing beside this item worth removing. */
  readonly asItCame: Pick<SpoolEntry, 'body' | 'encoding'> | null
}

/** The end of (a part of) an item that is not stored. */
export type UnrecordedPart = Counted & { readonly outcome: Exclude<Outcome, 'accepted'>; readonly reason: string }

/** Something to record, with its kind's recorder (digest/recorders.ts). */
export type PreparedFact = { [K in FactKind]: Counted & { readonly kind: K; readonly fact: FactOf<K> } }[FactKind]

/**
 * What (a part of) an item comes to. The quantities of all parts add up to what the item holds; a part of quantity 0
 * rides along with another one and is not counted.
 */
export type PreparedItem = PreparedFact | UnrecordedPart

/** Bytes → facts, for one item type. Pure; never throws for anything an SDK could send. */
export type Preparer = (input: ItemInput) => readonly PreparedItem[] | Promise<readonly PreparedItem[]>
