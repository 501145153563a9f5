import type { EventLevel } from '../../events/protocol/event.api.ts'
import type { UserKey } from './facts.ts'
import type { Span } from './query-error.ts'
import type { IssueStatus, Severity } from '../rules/issue.api.ts'

/** A query (docs/search.md) as a tree. Groups are flat and have at least two parts; there is no `not` of a `not`. */
export type Query =
  | { readonly kind: 'and'; readonly parts: readonly Query[] }
  | { readonly kind: 'or'; readonly parts: readonly Query[] }
  | { readonly kind: 'not'; readonly part: Query }
  | Term

export type Term =
  /** Free text: each word is a prefix of a word of the issue; with `whole` (quoted), a whole word. */
  | { readonly kind: 'text'; readonly text: string; readonly whole: boolean }
  | { readonly kind: 'status'; readonly values: readonly IssueStatus[] }
  | { readonly kind: 'level'; readonly values: readonly EventLevel[] }
  | { readonly kind: 'severity'; readonly values: readonly Severity[] }
  | { readonly kind: 'platform'; readonly values: readonly Pattern[] }
  | { readonly kind: 'unhandled'; readonly value: boolean }
  /** `me`, `none`, `#team`, or a member's address, name or id. `at` is the position, for errors of the later lookup. */
  | { readonly kind: 'assigned'; readonly values: readonly string[]; readonly at: Span }
  /** Slug, name or id. */
  | { readonly kind: 'project'; readonly values: readonly string[]; readonly at: Span }
  | { readonly kind: 'time'; readonly field: TimeField; readonly side: 'since' | 'before' | 'on'; readonly time: Time }
  | { readonly kind: 'count'; readonly field: CountField; readonly op: CountOp; readonly value: number }
  /** Release of the first or the newest event. */
  | { readonly kind: 'release'; readonly field: ReleaseField; readonly values: readonly Pattern[] }
  /** The key of an app's user. */
  | { readonly kind: 'user'; readonly values: readonly string[] }
  /** An identity that events gave to the app's user. `at` is the position, for errors of the later lookup. */
  | Identity
  /** Short ids in upper case, or ids. */
  | { readonly kind: 'issue'; readonly values: readonly string[] }
  | Field
  /** Any other fact of its events, including tags; keys in lower case. */
  | Facet
  | { readonly kind: 'has'; readonly key: string }

export type Identity = {
  readonly kind: 'identity'
  /** `user` is any of them, or the key of {@link Term} `user`. */
  readonly key: UserKey | 'user'
  readonly values: readonly Pattern[]
  readonly at: Span
}

/** A text of the newest event: contains the value at the beginning of a word or, with `*`, is like it. */
export type Field = {
  readonly kind: 'field'
  readonly field: TextField
  readonly values: readonly Pattern[]
  readonly at: Span
}
/** `message` is the title or the value of the error. */
export type TextField = 'title' | 'message' | 'culprit'

/** `at` is the position of a term with an infix pattern. */
export type Facet = {
  readonly kind: 'facet'
  readonly key: string
  readonly values: readonly Pattern[]
  readonly at?: Span
}

/** With `glob`, `*` stands for any characters. */
export type Pattern = { readonly text: string; readonly glob: boolean }

export type TimeField = 'first_seen' | 'last_seen'
export type Time =
  | { readonly day: string }
  /** RFC 3339, UTC, milliseconds. */
  | { readonly instant: string }
  | { readonly ago: number; readonly unit: TimeUnit }
export type TimeUnit = keyof typeof UNIT_MS
export const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

type CountField = 'events' | 'users'
export const COUNT_OPS = ['>=', '<=', '>', '<', '='] as const
type CountOp = (typeof COUNT_OPS)[number]
type ReleaseField = 'first_release' | 'last_release'

/** Maximum of terms, counting words of texts and values of lists. */
export const MAX_TERMS = 200
/**
 * Maximum of values of terms with text after a `*`: the index answers prefixes only, so issues are scanned, and each value
 * is compared with all of them.
 */
export const MAX_SCANNED_VALUES = 5
/** Maximum depth of groups. */
export const MAX_DEPTH = 20

/** Returns a flat group: it includes the parts of groups of the same kind. Returns a single part as it is, and null for none. */
export function grouped(kind: 'and' | 'or', parts: readonly (Query | null)[]): Query | null {
  const flat = parts.flatMap((part) => (part === null ? [] : part.kind === kind ? part.parts : [part]))
  const [only] = flat
  return flat.length <= 1 ? (only ?? null) : { kind, parts: flat }
}

/** Returns the negation. An empty query (null) stays empty. */
export const negated = (part: Query | null): Query | null =>
  part === null ? null : part.kind === 'not' ? part.part : { kind: 'not', part }
