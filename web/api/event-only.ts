import { splitQuery } from '#shared/query-terms.ts'

/** The filter of an issue's events: `release:2.4.0 user:7 device:"Pixel 7a" timeout`. Pure. */

export type EventOnly = {
  release?: string[]
  environment?: string[]
  level?: ('fatal' | 'error' | 'warning' | 'info' | 'debug')[]
  user?: string
  tag?: string[]
  q?: string
}

const LEVELS = ['fatal', 'error', 'warning', 'info', 'debug'] as const
/** A term whose quote is open. */
const OPEN_TERM = /^([A-Za-z_][\w.-]*):"([^]*)$/

/**
 * Parses a filter, which is split as issue queries are. Unknown keys are tags; text without a key is searched, and so is
 * what only issue queries know. Never fails.
 */
export function eventOnly(text: string): EventOnly {
  const only: EventOnly = {}
  const words: string[] = []
  for (const { kind, text: piece, term } of splitQuery(text)) {
    const [, openKey, openValue = ''] = kind === 'broken' ? (OPEN_TERM.exec(piece) ?? []) : []
    const key = (term?.isNegated === true ? undefined : term?.key) ?? openKey
    if (kind === 'space') continue
    if (key === undefined) words.push(/^".*"$/s.test(piece) ? piece.slice(1, -1) : piece)
    else for (const value of term?.values.map((one) => one.text) ?? [openValue]) addValue(only, key, value)
  }
  const q = words.join(' ').trim()
  if (q !== '') only.q = q.slice(0, 200)
  return only
}

function addValue(only: EventOnly, key: string, value: string): void {
  const level = LEVELS.find((one) => one === value.toLowerCase())
  if (key === 'release') only.release = [...(only.release ?? []), value]
  else if (key === 'environment') only.environment = [...(only.environment ?? []), value]
  else if (key === 'level' && level !== undefined) only.level = [...(only.level ?? []), level]
  else if (key === 'user') only.user = value
  else only.tag = [...(only.tag ?? []), `${key}:${value}`]
}
