import type { WebhookEndpoint } from '../../../api/webhook-queries.ts'
import { isRateText } from './model.ts'

/** The draft of an endpoint as it is typed into the form. Pure. */

export const MAX_OWN_HEADERS = 10

export type HeaderDraft = {
  key: string
  name: string
  value: string
  /** The service has a value for it and never shows it; an empty field keeps it. */
  isStored: boolean
}

export type EndpointDraft = {
  url: string
  description: string
  /** Whether it receives all types, also later ones. */
  isAll: boolean
  types: ReadonlySet<string>
  isStrict: boolean
  rate: string
  isAutoPaused: boolean
  isStandard: boolean
  headers: readonly HeaderDraft[]
}

export function toEndpointDraft(endpoint: WebhookEndpoint | null): EndpointDraft {
  return {
    url: endpoint?.url ?? '',
    description: endpoint?.description ?? '',
    isAll: endpoint === null || endpoint.events.length === 0,
    types: new Set(endpoint?.events),
    isStrict: endpoint?.ordering === 'strict',
    rate: endpoint?.max_per_second == null ? '' : String(endpoint.max_per_second),
    isAutoPaused: endpoint?.auto_pause ?? false,
    isStandard: endpoint?.standard_headers ?? false,
    headers: (endpoint?.headers ?? []).map(({ name }, index) => ({
      key: `stored ${index}`,
      name,
      value: '',
      isStored: true,
    })),
  }
}

/** The fields of the API, without headers. */
const fieldsOf = (draft: EndpointDraft) => ({
  url: draft.url.trim(),
  description: draft.description.trim(),
  events: draft.isAll ? [] : [...draft.types],
  ordering: draft.isStrict ? ('strict' as const) : ('none' as const),
  max_per_second: draft.rate.trim() === '' ? null : Number(draft.rate.replaceAll(',', '').trim()),
  auto_pause: draft.isAutoPaused,
  standard_headers: draft.isStandard,
})

const written = (headers: readonly HeaderDraft[]): HeaderDraft[] =>
  headers.filter(({ name, value, isStored }) => isStored || name.trim() !== '' || value !== '')

/** The body that registers an endpoint. */
export const newEndpointBody = (draft: EndpointDraft) => ({
  ...fieldsOf(draft),
  headers: written(draft.headers).map(({ name, value }) => ({ name: name.trim(), value })),
})

/** The body that changes an endpoint: only what differs; null when nothing does. */
export function endpointChangeBody(draft: EndpointDraft, endpoint: WebhookEndpoint) {
  const before = toEndpointDraft(endpoint)
  const old = fieldsOf(before)
  const fresh = fieldsOf(draft)
  const differs = (key: keyof typeof fresh): boolean => JSON.stringify(fresh[key]) !== JSON.stringify(old[key])
  const headers = written(draft.headers)
  const body = {
    ...(differs('url') ? { url: fresh.url } : {}),
    ...(differs('description') ? { description: fresh.description } : {}),
    ...(differs('events') ? { events: fresh.events } : {}),
    ...(differs('ordering') ? { ordering: fresh.ordering } : {}),
    ...(differs('max_per_second') ? { max_per_second: fresh.max_per_second } : {}),
    ...(differs('auto_pause') ? { auto_pause: fresh.auto_pause } : {}),
    ...(differs('standard_headers') ? { standard_headers: fresh.standard_headers } : {}),
    ...(JSON.stringify(headers) === JSON.stringify(before.headers)
      ? {}
      : {
          headers: headers.map(({ name, value, isStored }) => ({
            name: name.trim(),
            ...(isStored && value === '' ? {} : { value }),
          })),
        }),
  }
  return Object.keys(body).length === 0 ? null : body
}

export type EndpointProblem = 'url' | 'types' | 'rate' | 'headers'

/** Problems that the form finds itself; the service decides about the rest. */
export function endpointProblems(draft: EndpointDraft): ReadonlySet<EndpointProblem> {
  const found = new Set<EndpointProblem>()
  if (!/^https?:\/\/\S+$/i.test(draft.url.trim()) || !URL.canParse(draft.url.trim())) found.add('url')
  if (!draft.isAll && draft.types.size === 0) found.add('types')
  if (!isRateText(draft.rate)) found.add('rate')
  if (written(draft.headers).some(({ name, value, isStored }) => name.trim() === '' || (value === '' && !isStored)))
    found.add('headers')
  return found
}
