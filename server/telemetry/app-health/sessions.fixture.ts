import { createHash } from 'node:crypto'
import type { App } from '../../platform/context/app.ts'
import type { SessionAttributes, SessionCounts, SessionUpdate } from '../../events/protocol/session.ts'
import { USER_SETS } from './dimensions.ts'
import { foldHealth } from './fold-health.ts'
import type { ReceivedSession } from './record-sessions.ts'

export const NOW = Date.parse('2026-11-20T12:00:00.000Z')

/** 32 hex digits derived from a name. */
export const sidOf = (name: string): string => createHash('md5').update(name).digest('hex')

export const anAttribute = (fields: Partial<SessionAttributes> = {}): SessionAttributes => ({
  release: 'shop@1.0.0',
  environment: 'production',
  os: null,
  device: null,
  ...fields,
})

/** The first update of a healthy session, ten minutes ago. */
export function anUpdate(fields: Partial<SessionUpdate> = {}): SessionUpdate {
  const startedAt = fields.startedAt ?? NOW - 600_000
  return {
    sid: sidOf('one'),
    did: null,
    isInit: false,
    status: 'ok',
    errors: 0,
    startedAt,
    timestamp: startedAt,
    durationMs: null,
    mechanism: null,
    attributes: anAttribute(),
    ...fields,
  }
}

export const sessionFact = (projectId: string, update: SessionUpdate): ReceivedSession => ({
  projectId,
  fact: { update },
})

export const countsFact = (
  projectId: string,
  counts: readonly Partial<SessionCounts>[],
  attributes: SessionAttributes = anAttribute(),
): ReceivedSession => ({
  projectId,
  fact: {
    aggregates: {
      attributes,
      counts: counts.map((one) => ({
        startedAt: NOW - 600_000,
        did: null,
        exited: 0,
        errored: 0,
        crashed: 0,
        abnormal: 0,
        unhandled: 0,
        ...one,
      })),
    },
  },
})

const SKETCHES = [...USER_SETS, 'durations'].map((name) => `s.${name}`).join()

/** Everything recorded for a project, folded, in a fixed order. */
export async function everythingOf(app: App, projectId: string) {
  await foldHealth(app)
  const { db } = app
  const sessions = await db.query<Record<string, unknown>>(
    'select * from app_sessions where project_id = $1 order by sid',
    [projectId],
  )
  const rollups = await db.query<Record<string, unknown> & { durations: Buffer | null; total: number }>(
    `select r.*, ${SKETCHES}, coalesce(a.level, 0) as level from health_rollups r
     left join health_sketches s using (project_id, source, bucket_seconds, attributes_id, bucket)
     left join health_attributes a on a.project_id = r.project_id and a.id = r.attributes_id
     where r.project_id = $1 order by r.source, r.bucket_seconds, r.attributes_id, r.bucket`,
    [projectId],
  )
  return { sessions: sessions.rows, rollups: rollups.rows }
}
