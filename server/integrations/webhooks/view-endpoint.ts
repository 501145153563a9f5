import { z } from 'zod'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { Connection } from '../../platform/storage/database.ts'
import type { Opener } from '../../platform/storage/seal.ts'
import { type EndpointRow, selectDays, selectEndpoint } from './endpoints.queries.ts'
import { MASK } from '#shared/webhook-headers.ts'
import { lenientOpener } from '../../identity/auth/lenient-sealer.ts'
import { isSuccess } from '../../platform/requests/send-request.ts'
import { openHeaders } from './own-headers.ts'
import type { WebhookEndpoint } from './webhooks.api.ts'

const DAYS = 30

export const TlsError = z.object({ code: z.string(), text: z.string(), at: z.string(), delivery_id: z.string() })
export type TlsError = z.infer<typeof TlsError>

/** @throws AppError not_found */
export async function viewEndpoint(
  app: App,
  db: Connection,
  actor: OrgActor,
  endpointId: string,
): Promise<WebhookEndpoint> {
  const row = await selectEndpoint(db, actor, endpointId)
  const [view] = row === undefined ? [] : await viewEndpoints(app, db, actor, [row])
  if (view === undefined) throw notFound('Endpoint')
  return view
}

export async function viewEndpoints(
  app: App,
  db: Connection,
  actor: OrgActor,
  rows: readonly EndpointRow[],
): Promise<WebhookEndpoint[]> {
  if (rows.length === 0) return []
  const now = app.clock.now()
  const first = dayPlus(utcDay(now), 1 - DAYS)
  const opener = await lenientOpener(app, actor.orgId, db)
  const counts = new Map(
    (
      await selectDays(
        db,
        rows.map(({ id }) => id),
        first,
      )
    ).map((row) => [`${row.endpoint_id}/${row.day}`, row]),
  )
  return rows.map((row) => {
    const days = Array.from({ length: DAYS }, (_, index) => {
      const day = dayPlus(first, index)
      const { delivered = 0, failed = 0 } = counts.get(`${row.id}/${day}`) ?? {}
      return { day, delivered, failed }
    })
    const delivered = days.reduce((sum, day) => sum + day.delivered, 0)
    const attempts = days.reduce((sum, day) => sum + day.failed, delivered)
    const names = headerNames(opener, actor.orgId, row)
    return {
      id: row.id,
      app_id: row.app_id,
      url: row.url,
      description: row.description,
      events: row.events,
      secret_prefix: row.secret_prefix,
      state: row.paused_at === null ? 'active' : row.auto_paused_at === null ? 'paused' : 'auto_paused',
      last_status: row.last_status,
      last_attempt_at: row.last_attempt_at?.toISOString() ?? null,
      needs_attention: row.last_attempt_at !== null && !isSuccess(row.last_status),
      ordering: row.is_strict ? 'strict' : 'none',
      max_per_second: row.max_per_second,
      auto_pause: row.auto_pause,
      standard_headers: row.standard_headers,
      headers: (names ?? []).map((name) => ({ name, value: MASK })),
      headers_unreadable: names === null,
      overlap_ends_at: row.overlap_until !== null && row.overlap_until > now ? row.overlap_until.toISOString() : null,
      tls_error: row.tls_error === null ? null : TlsError.parse(row.tls_error),
      days,
      success_rate: attempts === 0 ? null : delivered / attempts,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    }
  })
}

/** Null when they cannot be opened; each attempt then fails and logs why. */
function headerNames(opener: Opener, orgId: string, { id, headers_sealed }: EndpointRow): string[] | null {
  try {
    return openHeaders(opener, orgId, id, headers_sealed).map(({ name }) => name)
  } catch {
    return null
  }
}
