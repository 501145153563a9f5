import { isLoopbackAddress, parseAddressRange } from '../../platform/kernel/address-range.ts'
import { compileGlob } from '../../platform/kernel/glob.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import { findHeader } from '../../events/protocol/request.ts'
import type { InboundFilters, LegacyBrowser } from './inbound-filters.api.ts'
import { isExtensionError } from './browser-extensions.ts'
import { isCrawler } from './crawlers.ts'
import { legacyBrowser } from './legacy-browsers.ts'
import { isLocalHost, isLocalUrl } from './localhost.ts'

/** Reasons of the outcome `filtered`. */
export const FILTER_REASONS = [
  'ip_address',
  'localhost',
  'web_crawler',
  'legacy_browser',
  'browser_extension',
  'release',
  'message',
  'health_check',
] as const
export type FilterReason = (typeof FILTER_REASONS)[number]

/** The data that filters check; unknown values are null or empty. */
export type FilterSubject = {
  /** Addresses of the connection and of the user. */
  readonly addresses: readonly (string | null)[]
  /** The user's address that the client sent; not one taken from the connection. */
  readonly claimedAddress: string | null
  /** User agent of the browser of the event, not of the SDK. */
  readonly userAgent: string | null
  readonly url: string | null
  readonly serverName: string | null
  readonly release: string | null
  /** Title, value and message. */
  readonly texts: readonly (string | null)[]
  /** Name of a transaction. */
  readonly transaction: string | null
  readonly event: Event | null
}

/** One condition of the settings. */
export type Filter = {
  readonly reason: FilterReason
  /** The glob, range or browser; null for filters that are only on or off. */
  readonly pattern: string | null
  drops(subject: FilterSubject): boolean
}

export type CompiledFilters = {
  /** The first filter that drops an event gives the reason. */
  readonly ofEvents: readonly Filter[]
  readonly ofTransactions: readonly Filter[]
  /** Whether everything from an address is dropped; null if no address is. */
  readonly ofAddresses: ((address: string) => boolean) | null
}

/** Compiles the settings to filters, once per change of the settings. */
export function compileFilters(settings: InboundFilters): CompiledFilters {
  const addresses = settings.ip_addresses.flatMap((pattern): Filter[] => {
    const range = parseAddressRange(pattern)
    return range === null
      ? []
      : [
          {
            reason: 'ip_address',
            pattern,
            drops: (subject) => subject.addresses.some((one) => one !== null && range(one)),
          },
        ]
  })
  const common = [
    ...addresses,
    ...(settings.localhost ? [LOCALHOST] : []),
    ...(settings.web_crawlers ? [CRAWLERS] : []),
    ...legacyFilters(settings.legacy_browsers),
    ...globFilters('release', settings.releases, (subject) => [subject.release]),
  ]
  const ranges = settings.ip_addresses.map(parseAddressRange).filter((range) => range !== null)
  return {
    ofEvents: [
      ...common,
      ...(settings.browser_extensions ? [EXTENSIONS] : []),
      ...globFilters('message', settings.messages, (subject) => subject.texts),
    ],
    ofTransactions: [
      ...common,
      ...(settings.health_checks
        ? globFilters('health_check', settings.health_check_names, (subject) => [subject.transaction])
        : []),
    ],
    ofAddresses: ranges.length === 0 ? null : (address) => ranges.some((range) => range(address)),
  }
}

const LOCALHOST: Filter = {
  reason: 'localhost',
  pattern: null,
  // The address of the connection is ignored: behind an unknown proxy every connection is local.
  drops: ({ url, serverName, claimedAddress }) =>
    isLocalUrl(url) ||
    (serverName !== null && isLocalHost(serverName)) ||
    (claimedAddress !== null && isLoopbackAddress(claimedAddress)),
}

const CRAWLERS: Filter = {
  reason: 'web_crawler',
  pattern: null,
  drops: ({ userAgent }) => userAgent !== null && isCrawler(userAgent),
}

const EXTENSIONS: Filter = {
  reason: 'browser_extension',
  pattern: null,
  drops: ({ event }) => event !== null && isExtensionError(event),
}

function legacyFilters(first: InboundFilters['legacy_browsers']): Filter[] {
  return (Object.keys(first) as LegacyBrowser[]).map((name) => ({
    reason: 'legacy_browser',
    pattern: name,
    drops: ({ userAgent }) => userAgent !== null && legacyBrowser(userAgent, { [name]: first[name] }) !== null,
  }))
}

function globFilters(
  reason: FilterReason,
  globs: readonly string[],
  textsOf: (subject: FilterSubject) => readonly (string | null)[],
): Filter[] {
  return globs.map((pattern) => {
    const matches = compileGlob(pattern)
    return { reason, pattern, drops: (subject) => textsOf(subject).some((text) => text !== null && matches(text)) }
  })
}

/** Address and user agent of the connection, and the user's address that the client sent. */
export type EventOrigin = {
  readonly clientIp: string | null
  readonly userAgent: string | null
  readonly claimedAddress: string | null
}

/** Returns the data of an event that filters check. */
export function toFilterSubject(event: Event, { clientIp, userAgent, claimedAddress }: EventOrigin): FilterSubject {
  return {
    addresses: [clientIp, claimedAddress],
    claimedAddress,
    userAgent: findHeader(event.request, 'user-agent') ?? (event.platform === 'javascript' ? userAgent : null),
    url: event.request?.url ?? null,
    serverName: event.server_name,
    release: event.release,
    texts: [event.title, event.error_value, event.message],
    transaction: event.transaction,
    event,
  }
}

const firstOf = (filters: readonly Filter[], subject: FilterSubject): FilterReason | null =>
  filters.find((filter) => filter.drops(subject))?.reason ?? null

/** Returns the reason to drop an event, or null to keep it. */
export const filteredEvent = (filters: CompiledFilters, event: Event, origin: EventOrigin): FilterReason | null =>
  filters.ofEvents.length === 0 ? null : firstOf(filters.ofEvents, toFilterSubject(event, origin))

export type TransactionSubject = Partial<Omit<FilterSubject, 'event' | 'texts'>> & {
  readonly transaction: string | null
}

/** Returns the reason to drop a transaction or a segment of streamed spans. Omit what is unknown. */
export function filteredTransaction(filters: CompiledFilters, transaction: TransactionSubject): FilterReason | null {
  if (filters.ofTransactions.length === 0) return null
  return firstOf(filters.ofTransactions, {
    addresses: [],
    claimedAddress: null,
    userAgent: null,
    url: null,
    serverName: null,
    release: null,
    ...transaction,
    texts: [],
    event: null,
  })
}
