import { SECURITY_KINDS, type SecurityKind } from '#shared/alert-rules.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'

/** The first security event of a kind and group in an hour. */
export type SecurityHour = {
  readonly projectId: string
  readonly groupId: string
  readonly kind: SecurityKind
  readonly hour: Date
  readonly at: Date
}

/** Adds rows that are not there yet, in the given order. */
export async function insertHours(tx: Tx, rows: readonly SecurityHour[]): Promise<void> {
  await tx.query({
    name: 'security-events-insert',
    text: `insert into security_hours (project_id, hour, group_id, kind, at)
           select * from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::smallint[], $5::timestamptz[])
           on conflict do nothing`,
    values: [
      rows.map(({ projectId }) => projectId),
      rows.map(({ hour }) => hour),
      rows.map(({ groupId }) => groupId),
      rows.map(({ kind }) => SECURITY_KINDS.indexOf(kind)),
      rows.map(({ at }) => at),
    ],
  })
}

export const SECURITY_ROWS = ownRows('security_hours')
export const SECURITY_PART = projectPart(5_000, [SECURITY_ROWS])
