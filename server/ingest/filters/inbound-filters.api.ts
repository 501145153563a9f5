import { z } from 'zod'
import { parseAddressRange } from '../../platform/kernel/address-range.ts'
import { MAX_GLOB_CHARACTERS } from '../../platform/kernel/glob.ts'

/** Browsers whose old versions can be filtered. */
export const LEGACY_BROWSERS = ['ie', 'edge', 'chrome', 'firefox', 'safari', 'opera', 'samsung', 'android'] as const
const LegacyBrowser = z.enum(LEGACY_BROWSERS, {
  error: `legacy_browsers knows ${LEGACY_BROWSERS.join(', ')}.`,
})
export type LegacyBrowser = z.infer<typeof LegacyBrowser>

const MAX_ENTRIES = 100

const globs = (name: string) =>
  z
    .array(
      z
        .string()
        .trim()
        .min(1, { error: `${name} must not contain an empty line.` })
        .max(MAX_GLOB_CHARACTERS, { error: `${name} takes lines of at most ${MAX_GLOB_CHARACTERS} characters.` })
        .refine((glob) => !/^\*+$/.test(glob), { error: `${name} must not contain only *: it would drop everything.` }),
    )
    .max(MAX_ENTRIES, { error: `${name} takes at most ${MAX_ENTRIES} lines.` })

/** Inbound filters of a project. `*` in a glob matches any characters; case does not matter. */
export const InboundFilters = z.strictObject({
  browser_extensions: z.boolean().describe('Errors thrown by browser extensions, and known messages of extensions.'),
  localhost: z.boolean().describe('Events of pages, servers and users with a loopback address.'),
  web_crawlers: z.boolean().describe('Events of search engines and other robots, by their user agent.'),
  legacy_browsers: z
    .partialRecord(LegacyBrowser, z.int().min(1).max(999))
    .describe('Browser and the first version that is not dropped.'),
  health_checks: z.boolean().describe('Transactions of health checks. Their errors are stored.'),
  health_check_names: globs('health_check_names').describe('Globs of transaction names that are health checks.'),
  releases: globs('releases').describe('Globs of releases.'),
  messages: globs('messages').describe('Globs of messages: matched with title, value and message.'),
  ip_addresses: z
    .array(
      z
        .string()
        .trim()
        .max(64)
        .refine((text) => parseAddressRange(text) !== null, {
          error: 'ip_addresses takes addresses and ranges such as 203.0.113.7 or 10.0.0.0/8.',
        }),
    )
    .max(MAX_ENTRIES, { error: `ip_addresses takes at most ${MAX_ENTRIES} lines.` })
    .describe('All items from these addresses.'),
})
export type InboundFilters = z.output<typeof InboundFilters>

/** By default, only health checks are dropped: they are frequent and contain no information. */
export const DEFAULT_INBOUND_FILTERS: InboundFilters = {
  browser_extensions: false,
  localhost: false,
  web_crawlers: false,
  legacy_browsers: {},
  health_checks: true,
  health_check_names: [
    '*/health',
    '*/healthz',
    '*/healthy',
    '*/healthcheck',
    '*/health-check',
    '*/health_check',
    '*/livez',
    '*/live',
    '*/liveness',
    '*/readyz',
    '*/ready',
    '*/readiness',
    '*/heartbeat',
    '*/ping',
  ],
  releases: [],
  messages: [],
  ip_addresses: [],
}

export const InboundFiltersPatch = InboundFilters.partial()
