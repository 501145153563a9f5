/** The filter of an issue's events: `release:2.4.0 user:7 device:"Pixel 7a" timeout`. Pure. */

export type EventOnly = {
  release?: string[]
  environment?: string[]
  level?: ('fatal' | 'error' | 'warning' | 'info' | 'debug')[]
  user?: string
  tag?: string[]
  q?: string
}

const TERM = /(?:([\w.-]+):)?(?:"([^"]*)"?|(\S+))/gu
const LEVELS = ['fatal', 'error', 'warning', 'info', 'debug'] as const

/** Parses a filter. Unknown keys are tags; text without a key is searched. Never fails. */
export function eventOnly(text: string): EventOnly {
  const only: EventOnly = {}
  const words: string[] = []
  const tags: string[] = []
  for (const [, key, quoted, plain] of text.matchAll(TERM)) {
    const value = quoted ?? plain ?? ''
    const level = LEVELS.find((one) => one === value.toLowerCase())
    if (key === undefined) words.push(value)
    else if (key === 'release') only.release = [...(only.release ?? []), value]
    else if (key === 'environment') only.environment = [...(only.environment ?? []), value]
    else if (key === 'level' && level !== undefined) only.level = [...(only.level ?? []), level]
    else if (key === 'user') only.user = value
    else tags.push(`${key}:${value}`)
  }
  if (tags.length > 0) only.tag = tags
  const q = words.join(' ').trim()
  if (q !== '') only.q = q.slice(0, 200)
  return only
}

/** A term, quoted if needed. */
export const onlyTerm = (key: string, value: string): string =>
  /^[^\s":]+$/u.test(value) && value !== '' ? `${key}:${value}` : `${key}:"${value.replaceAll('"', '')}"`

/** The terms of a filter, each as it is written. */
export const onlyTerms = (text: string): string[] => [...text.matchAll(TERM)].map(([term]) => term)

/** Adds a term, or removes it if the filter has it. */
export function toggleTerm(text: string, term: string): string {
  const terms = onlyTerms(text)
  return (terms.includes(term) ? terms.filter((one) => one !== term) : [...terms, term]).join(' ')
}
