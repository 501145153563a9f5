import { invalid } from '../../platform/kernel/errors.ts'
import { type JsonRecord, isRecord } from '../../events/protocol/json.ts'
import { parseEntries } from '../../events/protocol/container.ts'
import { writeEnvelope } from '../../events/protocol/envelope.ts'
import { answerWith } from './answers.ts'
import type { Arrival, Endpoint } from './endpoint.ts'

const MAX_BYTES = 100 * 1024

/**
 * `/cron/{slug}/{public_key}/` and `/cron/{slug}/`: a check-in by plain URL (docs/protocol.md §11.3), sent by `curl` at
 * the end of a crontab line. Fields missing in the query may be in a JSON or form body. Rate limits are not announced:
 * crontab lines would ignore them.
 */
export const cronEndpoint: Endpoint = {
  methods: 'POST, GET',
  match(path) {
    const [, slug, key] = /^cron\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? []
    if (slug === undefined) return null
    return { slug, ...(key === undefined ? {} : { key }) }
  },
  maxWireBytes: MAX_BYTES,
  announcesLimits: false,
  async toEnvelope(arrival) {
    const slug = decodedSlug(arrival.params.slug ?? '')
    const body = await arrival.decoded()
    const payload = bodyOf(body, arrival)
    // Not JSON: digestion records the outcome `invalid`.
    if (payload === null) return writeEnvelope({}, [{ type: 'check_in', payload: body }])
    const checkIn = { status: 'ok', ...payload, ...fieldsOf(new URLSearchParams(arrival.query)), monitor_slug: slug }
    return writeEnvelope({}, [{ type: 'check_in', payload: JSON.stringify(checkIn) }])
  },
  accepted: (response) => answerWith(response, 202, 'application/json', '{}'),
}

function decodedSlug(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid('The slug in the path is not valid percent-encoding.')
  }
}

function bodyOf(body: Buffer, { mediaType }: Arrival): Record<string, unknown> | null {
  if (body.length === 0) return {}
  if (mediaType === 'application/x-www-form-urlencoded' && body[0] !== 0x7b)
    return fieldsOf(new URLSearchParams(body.toString()))
  const parsed = parseEntries(body, 0, body.length)
  return 'value' in parsed && isRecord(parsed.value) ? parsed.value : null
}

const PLAIN_FIELDS = ['status', 'check_in_id', 'duration', 'environment', 'release'] as const
const CONFIG_FIELDS = [
  'timezone',
  'checkin_margin',
  'max_runtime',
  'failure_issue_threshold',
  'recovery_threshold',
  'owner',
] as const

/** The fields of a check-in from parameters: `status=ok&duration=3.2`, and `schedule=0 3 * * *` or `schedule=1 day`. */
function fieldsOf(query: URLSearchParams): JsonRecord {
  const fields: JsonRecord = {}
  for (const name of PLAIN_FIELDS) {
    const value = query.get(name)
    if (value !== null) fields[name] = value
  }
  const schedule = query.get('schedule')
  if (schedule === null) return fields
  const config: JsonRecord = { schedule: scheduleOf(schedule) }
  for (const name of CONFIG_FIELDS) {
    const value = query.get(name)
    if (value !== null) config[name] = value
  }
  return { ...fields, monitor_config: config }
}

function scheduleOf(text: string): JsonRecord {
  const [, value, unit] = /^\s*(\d{1,5})\s*(minute|hour|day|week|month|year)s?\s*$/i.exec(text) ?? []
  if (value === undefined || unit === undefined) return { type: 'crontab', value: text }
  return { type: 'interval', value: Number(value), unit: unit.toLowerCase() }
}
