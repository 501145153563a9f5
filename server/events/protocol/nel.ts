import { isList, isRecord, nearestNumber } from './json.ts'

/**
 * Network error logging (docs/protocol.md §13): each report becomes a log entry of level info, in the form of §11.1.
 * The query of URLs is left out, because it may contain personal data.
 */

const MAX_AGE_MS = 7 * 86_400_000

/** The reports of a payload: a list, or a single report; else null. */
export function nelReports(value: unknown): readonly unknown[] | null {
  if (isList(value)) return value
  return isRecord(value) ? [value] : null
}

/** A report as a raw log entry; null when it is no network error report. */
export function nelLog(report: unknown, receivedAt: Date): Record<string, unknown> | null {
  if (!isRecord(report) || report['type'] !== 'network-error') return null
  const { body } = report
  if (!isRecord(body)) return null
  const url = addressOf(report['url'])
  const attributes: Record<string, unknown> = {
    'sentry.origin': 'auto.http.browser_report.nel',
    'report.type': 'network-error',
    'url.full': url?.full,
    'url.domain': url?.domain,
    'url.scheme': url?.scheme,
    'user_agent.original': report['user_agent'],
    'nel.phase': body['phase'],
    'nel.type': body['type'],
    'nel.elapsed_time': withUnit(body['elapsed_time'], 'millisecond'),
    'nel.sampling_fraction': body['sampling_fraction'],
    'nel.referrer': addressOf(body['referrer'])?.full,
    'http.request.method': body['method'],
    'http.response.status_code': body['status_code'] === 0 ? undefined : body['status_code'],
    'network.protocol.name': body['protocol'],
    'server.address': body['server_ip'],
  }
  for (const name of Object.keys(attributes)) {
    if (attributes[name] === undefined || attributes[name] === null || attributes[name] === '') delete attributes[name]
  }
  return {
    timestamp: new Date(happenedAt(report['age'], receivedAt)).toISOString(),
    level: 'info',
    body: sentence(body, url?.domain),
    attributes,
  }
}

/** Receipt minus age; an age that is not credible counts as 0. */
function happenedAt(sentAge: unknown, receivedAt: Date): number {
  const received = receivedAt.getTime()
  const age = nearestNumber(sentAge)
  const isAge = typeof age === 'number' && Number.isFinite(age) && age >= 0 && age <= MAX_AGE_MS
  return isAge ? received - age : received
}

function sentence(body: Record<string, unknown>, domain: string | undefined): string {
  const type = typeof body['type'] === 'string' ? body['type'].slice(0, 100) : 'unknown'
  const phase = typeof body['phase'] === 'string' ? ` in phase ${body['phase'].slice(0, 40)}` : ''
  const status = typeof body['status_code'] === 'number' && body['status_code'] > 0 ? ` (${body['status_code']})` : ''
  const where = domain === undefined ? '' : ` at ${domain}`
  return type === 'ok' ? `Request succeeded${where}${status}` : `Network error ${type}${status}${phase}${where}`
}

const withUnit = (value: unknown, unit: string): unknown =>
  typeof nearestNumber(value) === 'number' ? { value, type: 'integer', unit } : undefined

function addressOf(raw: unknown): { full: string; domain: string; scheme: string } | null {
  if (typeof raw !== 'string' || raw.length > 8_192 || !URL.canParse(raw)) return null
  const url = new URL(raw)
  return { full: `${url.origin}${url.pathname}`, domain: url.hostname, scheme: url.protocol.replace(':', '') }
}
