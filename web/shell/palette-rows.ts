import { SEVERITIES } from '#shared/issue-values.ts'
import type { QueryClient } from '@tanstack/react-query'
import type { IconName } from '../ui/icon.tsx'
import type { SeverityName } from '../ui/status.tsx'

export type PaletteGroup = 'recent' | 'places' | 'commands' | 'issues' | 'members' | 'ask'
/** The groups that are known at once come first; results of the server are added below. */
const ORDER: readonly PaletteGroup[] = ['recent', 'places', 'commands', 'issues', 'members', 'ask']

export type PaletteRow = {
  key: string
  group: PaletteGroup
  label: string
  meta?: string | undefined
  keys?: string
  icon:
    | { kind: 'icon'; name: IconName }
    | { kind: 'severity'; severity: SeverityName }
    | { kind: 'platform'; platform: string }
  run: () => void
}

/** Rows grouped under headings, in a fixed order. */
export const groupPaletteRows = (rows: readonly PaletteRow[]): { name: PaletteGroup; rows: PaletteRow[] }[] =>
  ORDER.map((name) => ({ name, rows: rows.filter((row) => row.group === name) })).filter(
    (group) => group.rows.length > 0,
  )

const KINDS = [
  [/^\/issues\/./, 'issue'],
  [/^\/alerts\/rules\/./, 'rule'],
  [/^\/performance\/t\/./, 'transaction'],
  [/^\/monitors\/./, 'monitor'],
  [/^\/releases\/./, 'release'],
  [/^\/traces\/./, 'trace'],
  [/^\/projects\/./, 'settings'],
  [/^\/org\//, 'organisation'],
  [/^\/me\//, 'account'],
] as const

/** The kind of a place whose title does not say it: the title of an issue may be any text. Null for pages. */
export const kindOfPlace = (href: string): (typeof KINDS)[number][1] | null =>
  KINDS.find(([pattern]) => pattern.test(href))?.[1] ?? null

/** From this length on a typed word is found inside words too: `pass` begins many. */
const MIN_INSIDE = 3

/** Whether every typed word begins a word of the texts, or is part of one. */
export function matchesWords(typed: string, texts: readonly (string | undefined)[]): boolean {
  const text = texts.join(' ').toLowerCase()
  const words = text.split(/[^\p{L}\p{N}]+/u)
  return typed
    .trim()
    .toLowerCase()
    .split(/\s+/u)
    .every((part) => words.some((word) => word.startsWith(part)) || (part.length >= MIN_INSIDE && text.includes(part)))
}

/** The label, split at the typed text, which is shown bold. */
export function boldParts(label: string, typed: string): { text: string; bold: boolean }[] {
  const needle = typed.trim().toLowerCase()
  const at = needle === '' ? -1 : label.toLowerCase().indexOf(needle)
  if (at < 0) return [{ text: label, bold: false }]
  return [
    { text: label.slice(0, at), bold: false },
    { text: label.slice(at, at + needle.length), bold: true },
    { text: label.slice(at + needle.length), bold: false },
  ].filter((part) => part.text !== '')
}

export type PaletteIssue = { id: string; short_id: string; title: string; severity: SeverityName; last_seen: string }

const isIssue = (value: unknown): value is PaletteIssue =>
  typeof value === 'object' &&
  value !== null &&
  'id' in value &&
  typeof value.id === 'string' &&
  'short_id' in value &&
  typeof value.short_id === 'string' &&
  'title' in value &&
  typeof value.title === 'string' &&
  'last_seen' in value &&
  typeof value.last_seen === 'string' &&
  'severity' in value &&
  typeof value.severity === 'string' &&
  (SEVERITIES as readonly string[]).includes(value.severity)

const itemsOf = (data: unknown): unknown[] => {
  if (typeof data !== 'object' || data === null) return []
  if ('items' in data && Array.isArray(data.items)) return data.items
  if ('pages' in data && Array.isArray(data.pages)) return data.pages.flatMap(itemsOf)
  return [data]
}

/** Loaded issues that match: those that begin with the text first, then the most recent. */
export function knownIssues(client: QueryClient, typed: string): PaletteIssue[] {
  const needle = typed.trim().toLowerCase()
  const known = new Map<string, PaletteIssue>()
  for (const [, data] of client.getQueriesData({ queryKey: ['issues'] })) {
    for (const item of itemsOf(data)) if (isIssue(item)) known.set(item.id, item)
  }
  const rank = (issue: PaletteIssue): number =>
    issue.title.toLowerCase().startsWith(needle) || issue.short_id.toLowerCase().startsWith(needle) ? 0 : 1
  return [...known.values()]
    .filter((issue) => issue.title.toLowerCase().includes(needle) || issue.short_id.toLowerCase().includes(needle))
    .toSorted((a, b) => rank(a) - rank(b) || Date.parse(b.last_seen) - Date.parse(a.last_seen))
    .slice(0, 6)
}
