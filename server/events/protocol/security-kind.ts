import type { SecurityKind } from '#shared/alert-rules.ts'
import type { Event } from './event.api.ts'

/** Which events say that an app, its device or its connection is under attack (docs/protocol.md §13.1). Pure. */

/** Reports of browsers, by type of the event. Network errors (NEL) are log entries, no events. */
const REPORTS: Readonly<Record<string, SecurityKind>> = {
  csp: 'csp',
  expectct: 'expect_ct',
  expectstaple: 'expect_staple',
  hpkp: 'hpkp',
}

/** Tags that name a kind as their value. */
const NAMING_KEYS = new Set(['security', 'security_event', 'security_kind', 'security_type'])

/** Words of apps for a kind: the value of such a tag, or the key of a tag that is true. */
const WORDS: ReadonlyMap<string, SecurityKind> = new Map([
  ...['root', 'rooted', 'root_detected', 'jailbreak', 'jailbroken', 'jailbreak_detected'].map(
    (word) => [word, 'root'] as const,
  ),
  ...['tamper', 'tampered', 'tampering', 'tamper_detected', 'repackaged', 'integrity_failure'].map(
    (word) => [word, 'tamper'] as const,
  ),
  ...['debugger', 'debugger_attached', 'debugger_detected'].map((word) => [word, 'debugger'] as const),
  ...[
    'pinning',
    'pinning_failure',
    'certificate_pinning',
    'certificate_pinning_failure',
    'cert_pinning',
    'cert_pinning_failure',
    'ssl_pinning',
    'ssl_pinning_failure',
  ].map((word) => [word, 'pinning'] as const),
  ...['auth_failure', 'auth_failures', 'repeated_auth_failure', 'repeated_auth_failures', 'brute_force'].map(
    (word) => [word, 'auth_failure'] as const,
  ),
])

const TRUE = new Set(['true', '1', 'yes', 'detected', 'failed'])
/** No key or value that names a kind is longer. */
const MAX_LENGTH = 60

/** The kind of a security event; null for other events. */
export function detectSecurityKind(event: Pick<Event, 'type' | 'tags' | 'contexts'>): SecurityKind | null {
  if (Object.hasOwn(REPORTS, event.type)) return REPORTS[event.type] ?? null
  for (const { key, value } of event.tags) {
    if (key.length > MAX_LENGTH || value.length > MAX_LENGTH) continue
    const name = wordOf(key)
    if (NAMING_KEYS.has(name)) {
      const kind = WORDS.get(wordOf(value))
      if (kind !== undefined) return kind
    }
    const kind = WORDS.get(name.startsWith('security_') ? name.slice('security_'.length) : name)
    if (kind !== undefined && TRUE.has(value.toLowerCase())) return kind
  }
  return event.contexts['os']?.['rooted'] === true ? 'root' : null
}

/** `Security.Event` and `security-event` are one word. */
const wordOf = (text: string): string => text.toLowerCase().replaceAll(/[ .:-]/g, '_')
