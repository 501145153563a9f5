import { isRecord } from '../../events/protocol/json.ts'
import { scrubConnection } from '../../events/protocol/scrub.ts'
import { readUserAgent } from '../../events/protocol/user-agent.ts'
import type { ItemInput } from './item.ts'

/**
 * Attributes that a container asks to infer from its request (docs/protocol.md §15.3), because browsers do not know their
 * address and not always their name.
 * @param fields of the container, which hold `ingest_settings`
 */
function inferredAttributes(
  fields: Readonly<Record<string, unknown>>,
  { entry, project }: ItemInput,
): Record<string, unknown> | null {
  const settings = fields['ingest_settings']
  if (!isRecord(settings)) return null
  const { clientIp, userAgent } = scrubConnection(entry, project.scrubbing)
  const inferred: Record<string, unknown> = {}
  if (settings['infer_ip'] === 'auto' && clientIp !== null) inferred['client.address'] = clientIp
  if (settings['infer_user_agent'] === 'auto' && userAgent !== null) {
    const { browser, os } = readUserAgent(userAgent)
    if (browser !== null) inferred['browser.name'] = browser.name
    if (browser !== null && browser.version !== null) inferred['browser.version'] = browser.version
    if (os !== null) inferred['os.name'] = os.name
  }
  return inferred
}

/** The entries of a container with inferred attributes; an entry's own attributes win. */
export function withInferred(
  container: { readonly entries: readonly unknown[]; readonly fields: Readonly<Record<string, unknown>> },
  input: ItemInput,
): readonly unknown[] {
  const inferred = inferredAttributes(container.fields, input)
  if (inferred === null) return container.entries
  return container.entries.map((entry) => {
    if (!isRecord(entry)) return entry
    const own = entry['attributes'] ?? {}
    return isRecord(own) ? { ...entry, attributes: { ...inferred, ...own } } : entry
  })
}
