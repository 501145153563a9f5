import type { EventLevel } from '../protocol/event.api.ts'
import type { IssueStatus, Severity } from '../issue-rules/issue.api.ts'

/** The query language of issues (docs/search.md) as a tree. Groups are flat, hold at least two parts, and never `not not`. */
export type Query =
  | { readonly kind: 'and'; readonly parts: readonly Query[] }
  | { readonly kind: 'or'; readonly parts: readonly Query[] }
  | { readonly kind: 'not'; readonly part: Query }
  | Term

export type Term =
  /** Free text: each of its words begins a word of the issue; `whole` (quoted): is one. */
  | { readonly kind: 'text'; readonly text: string; readonly whole: boolean }
  | { readonly kind: 'status'; readonly values: readonly IssueStatus[] }
  | { readonly kind: 'level'; readonly values: readonly EventLevel[] }
  | { readonly kind: 'severity'; readonly values: readonly Severity[] }
  | { readonly kind: 'platform'; readonly values: readonly Pattern[] }
  | { readonly kind: 'unhandled'; readonly value: boolean }
  /** `me`, `none`, `#team`, a member's address, name or id; looked up later, so `at` says where it stands. */
  | { readonly kind: 'assigned'; readonly values: readonly string[]; readonly at: number }
  /** Slug, name or id. */
  | { readonly kind: 'project'; readonly values: readonly string[]; readonly at: number }
  | { readonly kind: 'time'; readonly field: TimeField; readonly side: 'since' | 'before' | 'on'; readonly time: Time }
  | { readonly kind: 'count'; readonly field: CountField; readonly op: CountOp; readonly value: number }
  /** Release of the first or the newest event. */
  | { readonly kind: 'release'; readonly field: ReleaseField; readonly values: readonly Pattern[] }
  /** The key people of a project are known by. */
  | { readonly kind: 'user'; readonly values: readonly string[] }
  /** Any other fact of its events, tags among them; keys in lower case. */
  | Facet
  | { readonly kind: 'has'; readonly key: string }

/** `at`: where it stands, where a pattern of it goes on after a `*`. */
export type Facet = {
  readonly kind: 'facet'
  readonly key: string
  readonly values: readonly Pattern[]
  readonly at?: number
}

/** With `glob`, `*` stands for any characters; it never comes first. */
export type Pattern = { readonly text: string; readonly glob: boolean }

export type TimeField = 'first_seen' | 'last_seen'
export type Time =
  | { readonly day: string }
  /** RFC 3339, UTC, milliseconds. */
  | { readonly instant: string }
  | { readonly ago: number; readonly unit: TimeUnit }
export type TimeUnit = keyof typeof UNIT_MS
export const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

export type CountField = 'events' | 'users'
export const COUNT_OPS = ['>=', '<=', '>', '<', '='] as const
export type CountOp = (typeof COUNT_OPS)[number]
export type ReleaseField = 'first_release' | 'last_release'

/** Terms, the words of their texts and the values of their lists together. */
export const MAX_TERMS = 200
/** Terms whose pattern goes on after a `*`: the index knows beginnings only, every document found so is looked through. */
export const MAX_INFIXES = 5
/** Groups inside groups. */
export const MAX_DEPTH = 20

/** A group, flat: groups of the same kind dissolve in it; one part stands for itself, none is null. */
export function grouped(kind: 'and' | 'or', parts: readonly (Query | null)[]): Query | null {
  const flat = parts.flatMap((part) => (part === null ? [] : part.kind === kind ? part.parts : [part]))
  const [only] = flat
  return flat.length <= 1 ? (only ?? null) : { kind, parts: flat }
}

/** The opposite; of everything (null) there is none: what says nothing, negated, says nothing. */
export const negated = (part: Query | null): Query | null =>
  part === null ? null : part.kind === 'not' ? part.part : { kind: 'not', part }
