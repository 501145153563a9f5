/** Which events of an issue are looked at, as people write it: `release:2.4.0 user:7 device:"Pixel 7a" words`. Pure. */

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

/** Terms of a filter; a key that is none of the event's own names a tag. Never fails: what is no term is a word. */
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

/** One term, quoted where it must be. */
export const onlyTerm = (key: string, value: string): string =>
  /^[^\s":]+$/u.test(value) && value !== '' ? `${key}:${value}` : `${key}:"${value.replaceAll('"', '')}"`
