import type { JsonValue } from '../../platform/kernel/json.api.ts'
import type { Event, Tag } from '../../events/protocol/event.api.ts'

/** Properties by which events are compared, in addition to their tags. Pure. */

const text = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : null

const named = (context: Record<string, JsonValue> | undefined): string | null => {
  const name = text(context?.['name'])
  if (name === null) return null
  const version = text(context?.['version'])
  return version === null ? name : `${name} ${version}`
}

/** `SM-A125F`, `iPhone14,2`; null when the SDK did not send it. */
export const eventDevice = ({ contexts }: Pick<Event, 'contexts'>): string | null =>
  text(contexts['device']?.['model']) ?? text(contexts['device']?.['family'])

/** `Android 14`. */
export const eventOs = ({ contexts }: Pick<Event, 'contexts'>): string | null =>
  named(contexts['os']) ?? named(contexts['client_os'])

/** `Chrome 131.0`. */
export const eventBrowser = ({ contexts }: Pick<Event, 'contexts'>): string | null => named(contexts['browser'])

/** The name under which events show their user: user name, e-mail, name, id or IP address, in this order. */
export const userLabel = ({ user }: Pick<Event, 'user'>): string | null =>
  user === null ? null : (user.username ?? user.email ?? user.name ?? user.id ?? user.ip_address)

/** The tags of an event, and its release, environment, device, os and browser unless a tag of that name exists. */
export function eventDimensions(event: Event): Tag[] {
  const known = new Set(event.tags.map(({ key }) => key))
  const more: [string, string | null][] = [
    ['release', event.release],
    ['environment', event.environment],
    ['device', eventDevice(event)],
    ['os', eventOs(event)],
    ['browser', eventBrowser(event)],
  ]
  return [
    ...event.tags,
    ...more.flatMap(([key, value]) => (value === null || value === '' || known.has(key) ? [] : [{ key, value }])),
  ]
}
