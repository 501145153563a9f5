import { isLoopbackAddress, parseAddressRange } from '../../platform/kernel/address-range.ts'
import { compileGlob } from '../../platform/kernel/glob.ts'
import type { Event, Frame } from '../../events/protocol/event.api.ts'
import { findHeader } from '../../events/protocol/request.ts'
import type { InboundFilters, LegacyBrowser } from './inbound-filters.api.ts'
import { readUserAgent } from '../../events/protocol/user-agent.ts'

/** Reasons of the outcome `filtered`. */
const FILTER_REASONS = [
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
type FilterSubject = {
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
type Filter = {
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
type EventOrigin = {
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

type TransactionSubject = Partial<Omit<FilterSubject, 'event' | 'texts'>> & {
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

/** Names of robots. `bot` must end a name and not follow `cu`, because CUBOT is a brand of phones. */
const ROBOT =
  /(?<!cu)bot(?:[/;:,)\s_-]|$)|crawl|spider|slurp|mediapartners|facebookexternalhit|facebookcatalog|meta-external|feedfetcher|google-read-aloud|google-inspectiontool|googleother|lighthouse|pagespeed|bingpreview|whatsapp\/|embedly|quora link preview|pinterest\/\d|ia_archiver|archive\.org|bytespider|yandex(?:images|metrika|direct|accessibility|renderresources)|duckduckgo-favicons|prerender|monitoring|pingdom|uptime|statuscake|site24x7|validator|headless|phantomjs|wget\/|curl\/|scrapy|python-requests|go-http-client|okhttp-probe/i

const MAX_CHARACTERS = 512

/** Whether a user agent names a search engine, a link preview or another robot. */
const isCrawler = (userAgent: string): boolean => ROBOT.test(userAgent.slice(0, MAX_CHARACTERS))

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
function legacyBrowser(userAgent: string, firstVersions: InboundFilters['legacy_browsers']): LegacyBrowser | null {
  const { browser } = readUserAgent(userAgent)
  if (browser === null) return null
  const name = NAMES[browser.name]
  const first = name === undefined ? undefined : firstVersions[name]
  if (name === undefined || first === undefined) return null
  const version = Number.parseInt(browser.version ?? '', 10)
  return Number.isFinite(version) && version < first ? name : null
}

/** Whether a host is `localhost`, a subdomain of it, or a loopback address. */
function isLocalHost(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === 'localhost.localdomain' || isLoopbackAddress(name)
  )
}

/** Whether the host of a URL is local; false for null and for text that is not a URL. */
function isLocalUrl(url: string | null): boolean {
  if (url === null) return false
  const authority = /^[a-z][a-z0-9+.-]{0,20}:\/\/(?:[^/?#@]{0,200}@)?(\[[0-9a-f:.]{2,45}\]|[^/?#:]{1,255})/i.exec(
    url,
  )?.[1]
  return authority !== undefined && isLocalHost(authority.replace(/^\[|\]$/g, ''))
}

/** Addresses from which browsers load extensions; no page has such an address. */
const EXTENSION_URL =
  /^(?:chrome-extension|moz-extension|safari-extension|safari-web-extension|ms-browser-extension|webkit-masked-url|resource|chrome|extensions?):/i

/** Scripts that toolbars, ad blockers and download helpers insert into every page. */
const EXTENSION_HOSTS =
  /^https?:\/\/(?:[\w.-]+\.)?(?:texthelp\.com|widdit\.com|superfish\.com|conduit\.com|hotbar\.com|metrics\.itunes\.apple\.com\.edgesuite\.net)\//i

/**
 * Known messages of extensions, in-app browsers and mail scanners. They contain names of that code or of the extension
 * API, so an app's own errors do not match.
 */
const KNOWN_NOISE = new RegExp(
  [
    'Extension context invalidated',
    'runtime\\.(?:connect|sendMessage)\\b.*(?:extension|match definition)',
    'Could not establish connection\\. Receiving end does not exist',
    'message port closed before a response was received',
    'Object Not Found Matching Id:\\d+, MethodName:',
    'top\\.GLOBALS',
    'originalCreateNotification',
    'canvas\\.contentDocument',
    'MyApp_RemoveAllHighlights',
    'atomicFindClose',
    'conduitPage',
    'EBCallBackMessageReceived',
    'fb_xd_fragment',
    'bmi_SafeAddOnload',
    'jigsaw is not defined',
    'ComboSearch is not defined',
    'ceCurrentVideo\\.currentTime',
    'plugin\\.setSuspendState',
    '_AutofillCallbackHandler',
    'instantSearchSDKJSBridgeClearHighlight',
    'pktAnnotationHighlighter',
    '__gCrWeb',
    '__firefox__',
    "Can't find variable: (?:ZiteReader|gmo|PaymentAutofillBridge)",
    'zaloJSV2',
    'vid_mate_check',
    'DarkReader',
    'kwift\\.(?:CHROME|EDGE)',
  ].join('|'),
  'i',
)

const isExtensionUrl = (url: string | null): boolean =>
  url !== null && (EXTENSION_URL.test(url) || EXTENSION_HOSTS.test(url))

/**
 * Whether an extension threw the error, or the message is a known one of extensions. Only the innermost frame counts: an
 * extension that wraps a function of the page is further out.
 */
function isExtensionError(event: Event): boolean {
  for (const exception of event.exceptions) {
    const thrower = exception.stacktrace?.frames.findLast(hasSource)
    if (thrower !== undefined && (isExtensionUrl(thrower.abs_path) || isExtensionUrl(thrower.filename))) return true
    if (exception.value !== null && KNOWN_NOISE.test(exception.value.slice(0, 1_000))) return true
  }
  return event.message !== null && KNOWN_NOISE.test(event.message.slice(0, 1_000))
}

/** Whether a frame names its source; `<anonymous>` and `[native code]` do not. */
function hasSource(frame: Frame): boolean {
  const source = frame.abs_path ?? frame.filename
  return source !== null && source !== '' && !source.startsWith('<') && !source.startsWith('[')
}
