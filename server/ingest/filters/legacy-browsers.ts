import { readUserAgent } from '../../events/protocol/user-agent.ts'
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

/** Returns the browser if it is older than its first supported version, otherwise null. */
export function legacyBrowser(
  userAgent: string,
  firstVersions: InboundFilters['legacy_browsers'],
): LegacyBrowser | null {
  const { browser } = readUserAgent(userAgent)
  if (browser === null) return null
  const name = NAMES[browser.name]
  const first = name === undefined ? undefined : firstVersions[name]
  if (name === undefined || first === undefined) return null
  const version = Number.parseInt(browser.version ?? '', 10)
  return Number.isFinite(version) && version < first ? name : null
}
