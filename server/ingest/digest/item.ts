import type { EnvelopeHeader, RawItem } from '../../events/protocol/envelope.ts'
import type { SpoolEntry } from '../spool/entry.ts'
import type { FactKind, FactOf } from './kinds.ts'
import type { Counted, Outcome } from '../../events/items/recorder.ts'
import type { ProjectFacts } from './project-facts.ts'
import type { Turn } from './fair-turns.ts'

/** One item of an envelope, and the context of its request. */
export type ItemInput = {
  readonly entry: SpoolEntry
  readonly project: ProjectFacts
  readonly header: EnvelopeHeader
  /** All items of the envelope: an attachment may depend on its event. */
  readonly items: readonly RawItem[]
  readonly item: RawItem
  /** Long work pauses, so that other projects are prepared meanwhile. */
  readonly turn: Turn
  /**
   * The whole decoded envelope; the payload is `decoded.subarray(item.start, item.end)`. Copy bytes that outlive the
   * call.
   */
  readonly decoded: Buffer
  readonly receivedAt: Date
  /** The client's clock when it sent, to correct drift (docs/protocol.md §15.1); null when not given. */
  readonly sentAt: Date | null
  /** The envelope's event id, 32 hex digits; null when it has no event. */
  readonly eventId: string | null
  /** The received body when it may be stored unchanged, because it holds only this item and no secrets beside it. */
  readonly original: Pick<SpoolEntry, 'body' | 'encoding'> | null
}

/** The outcome of (a part of) an item that is not stored. */
export type UnrecordedPart = Counted & { readonly outcome: Exclude<Outcome, 'accepted'>; readonly reason: string }

/** A fact for the recorder of its kind (ingest/digest/recorders.ts). */
export type PreparedFact = { [K in FactKind]: Counted & { readonly kind: K; readonly fact: FactOf<K> } }[FactKind]

/**
 * The result of (a part of) an item. The quantities of all parts add up to the item's quantity; a part of quantity 0 is
 * counted with another one.
 */
export type PreparedItem = PreparedFact | UnrecordedPart

/** Prepares one item type: bytes → facts. Pure; does not throw for any bytes that an SDK sends. */
export type Preparer = (input: ItemInput) => readonly PreparedItem[] | Promise<readonly PreparedItem[]>
