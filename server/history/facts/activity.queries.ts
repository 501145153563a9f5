import { memberBehind, type Actor } from '../../platform/context/actor.ts'
import type { Tx } from '../../platform/storage/database.ts'

export type NewActivity = {
  readonly id: string
  readonly issueId: string
  readonly kind: string
  readonly sentence: string
  readonly data: object
  readonly at: Date
}

/** Writes entries of the activity of issues. An entry with a known id replaces the earlier one. */
export async function writeActivity(tx: Tx, actor: Actor, entries: readonly NewActivity[]): Promise<void> {
  await tx.query({
    name: 'facts-write-activity',
    text: `insert into issue_activity (id, issue_id, kind, actor_id, sentence, data, created_at)
           select k.id, k.issue_id, k.kind, $7::uuid, k.sentence, k.data::jsonb, k.at
           from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
             k (id, issue_id, kind, sentence, data, at)
           on conflict (id) do update set sentence = excluded.sentence, data = excluded.data`,
    values: [
      entries.map(({ id }) => id),
      entries.map(({ issueId }) => issueId),
      entries.map(({ kind }) => kind),
      entries.map(({ sentence }) => sentence),
      entries.map(({ data }) => JSON.stringify(data)),
      entries.map(({ at }) => at),
      memberBehind(actor)?.userId ?? null,
    ],
  })
}
