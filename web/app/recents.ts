/** The recently visited pages, newest first, of every tab until log-out; the palette shows them while its field is empty. */
export type Recent = { href: string; title: string }

const KEY = 'faultline.recent'
const MOST = 6

export function readRecents(): Recent[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(value) ? value.filter(isRecent).slice(0, MOST) : []
  } catch {
    return []
  }
}

const isRecent = (value: unknown): value is Recent =>
  typeof value === 'object' &&
  value !== null &&
  'href' in value &&
  typeof value.href === 'string' &&
  value.href.startsWith('/') &&
  'title' in value &&
  typeof value.title === 'string'

/** Addresses that differ only in the query string are one page. */
const pageOf = (href: string): string => href.split('?')[0] ?? href

export function addRecent(recent: Recent): void {
  const others = readRecents().filter((other) => pageOf(other.href) !== pageOf(recent.href))
  try {
    localStorage.setItem(KEY, JSON.stringify([recent, ...others].slice(0, MOST)))
  } catch {
    // Without storage, the palette starts empty.
  }
}

/** The next member of this browser has not been there. */
export function forgetRecents(): void {
  try {
    localStorage.removeItem(KEY)
  } catch {
    // Without storage there are none.
  }
}
