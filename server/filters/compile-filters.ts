import { isLoopbackAddress, parseAddressRange } from '../kernel/address-range.ts'
import { compileGlob } from '../kernel/glob.ts'
import type { Event } from '../protocol/event.api.ts'
import { headerOf } from '../protocol/request.ts'
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

/** What filters look at; null or empty where it is not known. */
export type FilterSubject = {
  /** Where it was sent from, and whose address it claims. */
  readonly addresses: readonly (string | null)[]
  /** The address the client itself gives its user; one taken from the connection is not meant. */
  readonly claimedAddress: string | null
  /** Of the browser it is about, not of the SDK that sent it. */
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

/** One thing to drop, and by which line of the settings. */
export type Filter = {
  readonly reason: FilterReason
  /** The glob, range or browser of a filter that has several; null for those that are on or off. */
  readonly pattern: string | null
  drops(subject: FilterSubject): boolean
}

export type CompiledFilters = {
  /** In the order they are asked; the first one gives the reason. */
  readonly ofEvents: readonly Filter[]
  readonly ofTransactions: readonly Filter[]
  /** Addresses from which nothing is taken at all; null when there are none. */
  readonly ofAddresses: ((address: string) => boolean) | null
}

/** Settings → what to ask of every item. Compile once per change of the settings. */
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
  // Never by the connection: behind a proxy nobody told us of, every one comes from here.
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

/** What is known of an event beside its normalised form: address and agent of the connection, and the claim. */
export type EventOrigin = {
  readonly clientIp: string | null
  readonly userAgent: string | null
  readonly claimedAddress: string | null
}

/** The facts of an event filters look at. */
export function subjectOf(event: Event, { clientIp, userAgent, claimedAddress }: EventOrigin): FilterSubject {
  return {
    addresses: [clientIp, claimedAddress],
    claimedAddress,
    userAgent: headerOf(event.request, 'user-agent') ?? (event.platform === 'javascript' ? userAgent : null),
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

/** Why an event is not wanted; null when it is. Costs nothing in a project without filters. */
export const filteredEvent = (filters: CompiledFilters, event: Event, origin: EventOrigin): FilterReason | null =>
  filters.ofEvents.length === 0 ? null : firstOf(filters.ofEvents, subjectOf(event, origin))

export type TransactionSubject = Partial<Omit<FilterSubject, 'event' | 'texts'>> & {
  readonly transaction: string | null
}

/** The same for a transaction, or the segment of streamed spans. Leave out what is not known. */
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
