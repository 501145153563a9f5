import { readUserAgent } from '../protocol/user-agent.ts'
import type { InboundFilters, LegacyBrowser } from './inbound-filters.api.ts'

const NAMES: Readonly<Record<string, LegacyBrowser>> = {
  'Internet Explorer': 'ie',
  'Microsoft Edge': 'edge',
  Chrome: 'chrome',
  Chromium: 'chrome',
  Firefox: 'firefox',
  Safari: 'safari',
  Opera: 'opera',
  'Opera Touch': 'opera',
  'Samsung Internet for Android': 'samsung',
  'Android Browser': 'android',
}

/** Which of the named browsers this is, when it is older than the first version wanted; else null. */
export function legacyBrowser(userAgent: string, first: InboundFilters['legacy_browsers']): LegacyBrowser | null {
  const { browser } = readUserAgent(userAgent)
  if (browser === null) return null
  const name = NAMES[browser.name]
  const least = name === undefined ? undefined : first[name]
  if (name === undefined || least === undefined) return null
  // Trident tells the truth where a compatibility mode claims to be an older one.
  const version = Number.parseInt(browser.version ?? '', 10)
  return Number.isFinite(version) && version < least ? name : null
}
